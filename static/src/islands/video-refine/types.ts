// The payload of one question, as the server sends it.
import type { Difference, Side } from "../../lib/video/comparison";
import type { VideoDocument } from "../../lib/video/document";
import type { Said } from "../../lib/video/said";

export interface VideoFacts {
  title: string;
  /** Stored pictures. */
  n: number;
  /** Size as shown, in pixels. */
  width: number;
  height: number;
  duration_us: number;
  /** Pictures a second as an exact fraction, for reading only: "30000/1001". */
  mean_rate: string;
  /** Clip time of the first sample of sound; null without sound. */
  audio_offset_us: number | null;
  has_audio: boolean;
  /** Level 0 has `rate` points a second and begins at `offset_us` of clip time; null without sound, or until it is made. */
  peaks?: { rate: number; levels: number; offset_us: number } | null;
  spectrogram?: { count: number; seconds: number } | null;
  /** Whether there is a file that plays exactly; left out: there is. */
  playback?: Playback;
  urls: { media: string; index: string; peaks: string; spectrogram: string; pictures: string; crops: string };
}

export interface Playback {
  state: "original" | "ready" | "waiting" | "making" | "failed" | "none" | "unavailable";
  reason?: string;
  done?: number | null;
  total?: number | null;
  message?: string;
}

/** A question of the same clip, in the order of the person's list. */
export interface OtherQuestion {
  number: number;
  /** Its page. */
  url: string;
  state: string;
  here?: boolean;
  /** Its payload, and who it is; without them its page is loaded anew. */
  id?: string;
  detail?: string;
}

/** What an adjudicator decides on: people are letters. */
export interface AdjudicationPart {
  letters: string[];
  sides: Side[];
  differences: Difference[];
  /** Agreement of the sides, 0 to 1, and parts that only one has; null where it cannot be said. */
  measures: { boxes: number | null; boxes_unmatched: number; events: number | null; events_unmatched: number; timeframes: number | null; texts: number | null };
  note: string;
  decided: { note: string; overall: string; by_agreement: boolean } | null;
  may_reopen: boolean;
  /** All agree; the question is looked at a second time. */
  sampled: boolean;
  history: { what: string }[];
}

/** A reported problem: an empty kind is none. `kinds` are names with their words. */
export interface Flag {
  kind: string;
  note: string;
  at: string | null;
  editable: boolean;
  kinds: [string, string][];
}

export interface RefinePayload {
  id: string;
  user: { id: number; username: string };
  question: {
    text: string;
    answer: string;
    options: string[] | null;
    number: number;
    of: number;
    difficulty: string | null;
    others: OtherQuestion[];
  };
  video: VideoFacts;
  transcript: Said[];
  document: VideoDocument;
  /** What the model proposed; null where nothing was. */
  generated: VideoDocument | null;
  /** Operations that the server has. */
  version: number;
  /** Version of the work as a whole: what a submission is based on. */
  assignment_version?: number;
  active_ms?: number;
  state: string;
  state_words?: string;
  returned?: { reason: string } | null;
  recall?: { allowed: boolean };
  editable: boolean;
  why_not: string;
  limits: { comment: number; notes?: number; note?: number };
  /** The person's own notes on the question, read by nobody else; left out where there are none to be had. */
  notes?: { text: string; version: number; editable: boolean };
  /** What the person reports of the question; left out where nothing can be. */
  flag?: Flag;
  guideline: { version: number; html: string } | null;
  /** The question is decided on here, not answered; left out for annotators. */
  adjudication?: AdjudicationPart;
  urls: Record<"detail" | "save" | "submit" | "relogin" | "work", string> & Record<"recall" | "tab", string | null> & { reopen?: string | null; give_back?: string | null; next?: string | null; proposals?: string | null; drafts?: string | null; export?: string | null; import?: string | null; vidat?: string | null; notes?: string | null; flag?: string | null };
}
