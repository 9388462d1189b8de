// The payload of one question, as the server sends it.
import type { VideoDocument } from "../../lib/video/document";

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

export interface TranscriptWord {
  start_us: number;
  end_us: number;
  text: string;
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
    others: { number: number; url: string; state: string; here?: boolean }[];
  };
  video: VideoFacts;
  transcript: TranscriptWord[];
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
  limits: { comment: number; notes?: number };
  /** The person's own notes on the question, read by nobody else; left out where there are none to be had. */
  notes?: { text: string; version: number; editable: boolean };
  guideline: { version: number; html: string } | null;
  urls: Record<"detail" | "save" | "submit" | "recall" | "tab" | "relogin" | "work", string> & { next?: string | null; proposals?: string | null; export?: string | null; import?: string | null; notes?: string | null };
}
