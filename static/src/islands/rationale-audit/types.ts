// The payload of a rationale and its audit, as the server sends it.
import type { AuditPayload } from "../../lib/payload";
import type { Interval } from "../../lib/video/intervals";
import type { FilmPayload } from "../grounded-video/film";

export type LeafKind = "question" | "track" | "sound" | "speech";

/** What is given: a segment of the trace that stands for something in the clip. */
export interface Leaf {
  index: number;
  kind: LeafKind;
  /** Of the track or the sound. */
  id: string;
  /** The sentence that the labeller read. */
  text: string;
  /** What the object or sound is called, the words that are said; "" for the question. */
  label: string;
  spans_us: Interval[];
}

/** A sentence of the rationale. */
export interface Step {
  index: number;
  /** "visual.description", "audio.analysis", "final_answer", … */
  field: string;
  text: string;
  /** As the audit takes it. */
  asked: string;
  times_us: Interval[];
}

export interface RationalePayload {
  film: FilmPayload;
  /** Side of the film that the evidence is from. */
  side: string;
  name: string;
  leaves: Leaf[];
  steps: Step[];
  audit: AuditPayload | null;
}
