// What a person says of one segment, and the payload it comes in. Pure: nothing is stored or sent here.
import type { GoldWord } from "./payload";
import type { Span } from "./text-spans";
import { countCodePoints } from "./text-spans";

export interface Draft {
  label: GoldWord | null;
  /** A state beside the label: the person cannot judge the segment. `label` is null then. */
  cannot_judge: boolean;
  reasons: string[];
  comment: string;
  spans: Span[];
  flagged: boolean;
}

export interface LabelPayload extends Draft {
  version: number;
  active_ms: number;
  complete: boolean;
  saved_at: string | null;
}

/** A label of round 2, given after the audit was shown; `reason` says why it was revised. */
export interface RevisionPayload extends Draft {
  version: number;
  reason: string;
  saved_at: string | null;
}

export interface CaseSegment {
  index: number;
  context: boolean;
  text: string;
  label?: LabelPayload | null;
  revision?: RevisionPayload | null;
}

export interface Reason {
  code: string;
  words: string;
}

export interface AssignmentPayload {
  id: string;
  user: { id: number; username: string };
  study: { slug: string; name: string; in_order: boolean; blinding: "blind" | "reveal" | "open" };
  kind: "main" | "training";
  position: { number: number; of: number };
  state: string;
  editable: boolean;
  why_not: string;
  version: number;
  round: number;
  /** The person's own notes on the case. Their version is no counter: it only tells texts apart. */
  notes: { text: string; version: number; editable: boolean };
  guideline: { version: number; html: string; reasons: Record<GoldWord, Reason[]>; question: string };
  case: { title: string; sections: [string, string][]; question: string; reference?: string | null };
  segments: CaseSegment[];
  returned: { reason: string; segments: Record<string, string> } | null;
  limits: { comment: number; notes: number };
  next: string | null;
  progress: { submitted: number; of: number };
  recall?: { allowed: boolean };
  reveal: { allowed: boolean; done: boolean; url: string; others_url?: string | null };
  urls: Record<"detail" | "save" | "submit" | "tab" | "recall" | "reveal" | "revise" | "notes" | "relogin" | "work", string> & { next?: string | null; feedback?: string | null };
}

/** A study without a guideline shows its cases, but nothing can be said of them. */
export const withGuideline = (payload: AssignmentPayload): AssignmentPayload => ({
  ...payload,
  guideline: payload.guideline ?? { version: 0, html: "", reasons: { correct: [], uncertain: [], incorrect: [] }, question: "" },
});

export const EMPTY_DRAFT: Draft = { label: null, cannot_judge: false, reasons: [], comment: "", spans: [], flagged: false };

/** Order on the screen and of the keys 1, 2, 3. */
export const LABEL_ORDER: GoldWord[] = ["correct", "uncertain", "incorrect"];

export const draftOf = (from: Partial<Draft> | null | undefined): Draft => ({
  label: from?.label ?? null,
  cannot_judge: from?.cannot_judge ?? false,
  reasons: [...(from?.reasons ?? [])],
  comment: from?.comment ?? "",
  spans: (from?.spans ?? []).map(([start, end]): Span => [start, end]),
  flagged: from?.flagged ?? false,
});

export const sameDraft = (a: Draft, b: Draft): boolean => JSON.stringify(draftOf(a)) === JSON.stringify(draftOf(b));

export const isEmpty = (draft: Draft): boolean => sameDraft(draft, EMPTY_DRAFT);

/** A word has a letter or a digit of whatever script; the server asks the same. */
export const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

export const isJudged = (draft: Draft): boolean => draft.label !== null || draft.cannot_judge;

export const needsComment = (draft: Draft): boolean => draft.cannot_judge || draft.label === "uncertain" || draft.label === "incorrect";

export const isComplete = (draft: Draft): boolean => isJudged(draft) && (!needsComment(draft) || hasWord(draft.comment));

/** Why the draft is not complete, as a sentence; "" when it is. */
export function whatIsMissing(draft: Draft, name: string): string {
  if (!isJudged(draft)) return `${name} has no label yet: press 1, 2 or 3, or U if it cannot be judged.`;
  if (isComplete(draft)) return "";
  const what = draft.cannot_judge ? "Say in a word why it cannot be judged" : `Say in a word why it is ${draft.label}`;
  return `${what} before you move on.`;
}

export const setLabel = (draft: Draft, label: GoldWord): Partial<Draft> => ({
  label,
  cannot_judge: false,
  // Each label has its own reasons: those of another label would say nothing here.
  reasons: draft.label === label ? draft.reasons : [],
});

export const toggleReason = (draft: Draft, code: string): Partial<Draft> => ({
  reasons: draft.reasons.includes(code) ? draft.reasons.filter((one) => one !== code) : [...draft.reasons, code],
});

/** Code points over the limit, 0 when the comment fits. */
export const overLimit = (comment: string, limit: number): number => Math.max(0, countCodePoints(comment) - limit);

/** Judged segments in reading order. */
export const judgedSegments = (segments: readonly CaseSegment[]): CaseSegment[] => segments.filter((segment) => !segment.context);

/** The first judged segment that is not complete, or null: in an ordered study nothing after it may be opened. */
export function frontier(segments: readonly CaseSegment[], draft: (index: number) => Draft): number | null {
  return judgedSegments(segments).find((segment) => !isComplete(draft(segment.index)))?.index ?? null;
}

/** A plain text of what was said, for a person to keep when the server takes no more. */
export function asPlainText(title: string, drafts: readonly [number, Draft][], words: (code: string) => string): string {
  const lines = drafts.map(([index, draft]) => {
    const label = draft.cannot_judge ? "cannot judge" : (draft.label ?? "no label");
    const parts = [`S${index}: ${label}`, ...draft.reasons.map(words)];
    if (draft.flagged) parts.push("flagged for discussion");
    return [parts.join("; "), draft.comment].filter(Boolean).join("\n");
  });
  return [title, ...lines].join("\n\n");
}
