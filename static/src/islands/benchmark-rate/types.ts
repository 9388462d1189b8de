// What the page of a rater starts with, and what one gives an answer.

export interface Facet {
  id: string;
  short: string;
  title: string;
  help: string;
  /** What 1, 2, 3, 4 and 5 mean. */
  levels: string[];
}

export interface Cue {
  kind: "visual" | "audio";
  timeframe: string;
  /** Microseconds of clip time, first and last included. */
  intervals: [start: number, end: number][];
  description: string;
  analysis: string;
}

export interface AnswerText {
  cues: Cue[];
  final_answer: string;
  text: string;
  /** Names these texts: goes back with each rating. */
  shown: string;
}

export interface Clip {
  title: string;
  media: string;
  playback: string;
  duration_us: number;
  has_audio: boolean;
  preparing: boolean;
  /** Why it cannot be played, "" where it can. */
  why: string;
}

export interface ItemText {
  number: number;
  question: string;
  options: string[];
  final_answer: string;
  cues: Cue[];
  clip: Clip;
}

export interface Texts {
  answers: Record<string, AnswerText>;
  items: Record<string, ItemText>;
}

export interface Rating {
  /** 1 to 5; null where nothing is given. */
  value: number | null;
  note: string;
}

export interface SavedRating extends Rating {
  version: number;
  saved_at: string;
}

export interface RatePayload extends Texts {
  benchmark: { slug: string; name: string };
  facets: Facet[];
  user: { id: number; username: string };
  /** Answer and item, in this person's order. */
  queue: [answer: number, item: number][];
  /** By answer, by facet. */
  said: Record<string, Record<string, SavedRating>>;
  /** Answers that were rated in an earlier version. */
  earlier: number[];
  limits: { note: number; at_once: number };
  /** `items` is the address of an item's page with 0 for its number, "" for those who cannot open it. */
  urls: { save: string; texts: string; relogin: string; items: string };
}

export const NOTHING: Rating = { value: null, note: "" };
export const LEVELS: readonly number[] = [1, 2, 3, 4, 5];

export const sameRating = (a: Rating, b: Rating): boolean => a.value === b.value && a.note === b.note;

export const ratingOf = (body: Partial<Rating> | null | undefined): Rating => ({ value: body?.value ?? null, note: body?.note ?? "" });

/** One rating is one lane of the queue of changes. */
export const laneOf = (answer: number, facet: string): string => `a${answer}.${facet}`;
export const partsOf = (lane: string): [answer: number, facet: string] => {
  const [answer = "", facet = ""] = lane.slice(1).split(".");
  return [Number(answer), facet];
};
