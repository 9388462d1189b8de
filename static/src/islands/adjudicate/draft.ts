// What the adjudicator is about to say of one segment. Pure.
import { hasWord } from "../../lib/label-draft";
import type { GoldWord } from "../../lib/payload";
import { countCodePoints } from "../../lib/text-spans";
import { GOLD_WORDS, segmentName } from "../../lib/words";
import type { DecisionState, GivenLabel, JudgedSegment, QueueRow } from "./types";

export interface Draft {
  label: GoldWord | null;
  reasons: string[];
  note: string;
}

export const draftOf = (state: DecisionState): Draft => {
  const from = state.draft ?? state.final;
  return { label: from?.label ?? null, reasons: [...(from?.reasons ?? [])], note: from?.note ?? "" };
};

export const sameDraft = (a: Draft, b: Draft): boolean => a.label === b.label && a.note === b.note && [...a.reasons].sort().join() === [...b.reasons].sort().join();

/** Whose label a decision would be: "as A", "as A and B", "neither". */
export function whose(label: GoldWord, labels: Record<string, GivenLabel>): string {
  const letters = Object.keys(labels).sort();
  const same = letters.filter((letter) => labels[letter]?.label === label);
  if (same.length === 0) return letters.length === 2 ? "neither" : "nobody";
  return same.length === 1 ? `as ${same[0]}` : `as ${same.slice(0, -1).join(", ")} and ${same.at(-1)}`;
}

export const matchesNobody = (label: GoldWord, labels: Record<string, GivenLabel>): boolean => !Object.values(labels).some((given) => given.label === label);

/** Why the decision cannot be saved yet, as a sentence; "" when it can. */
export function whatIsMissing(draft: Draft, segment: JudgedSegment, limit: number): string {
  const name = segmentName(segment.index);
  if (!draft.label) return `${name} has no decision yet: press 1, 2 or 3.`;
  if (countCodePoints(draft.note) > limit) return `The note has ${countCodePoints(draft.note).toLocaleString("en")} characters; the limit is ${limit.toLocaleString("en")}.`;
  if (matchesNobody(draft.label, segment.labels) && !hasWord(draft.note)) return "The decision matches nobody's label, so it needs a note.";
  return "";
}

export const toggle = (reasons: readonly string[], code: string): string[] => (reasons.includes(code) ? reasons.filter((one) => one !== code) : [...reasons, code]);

export const labelWord = (label: GoldWord | null): string => (label ? GOLD_WORDS[label].word : "Cannot judge");

/** "gap 2: opposite labels". */
export function gapWords(segment: Pick<JudgedSegment, "gap" | "labels" | "sampled">): string {
  if (Object.values(segment.labels).some((given) => given.cannot_judge)) return "somebody cannot judge";
  if (segment.gap === 2) return "gap 2: opposite labels";
  if (segment.gap === 1) return "gap 1: neighbouring labels";
  return segment.sampled ? "agreed, drawn for a second look" : "agreed";
}

/** "1st", "2nd", "3rd", "11th". */
export function ordinal(n: number): string {
  const tens = n % 100;
  const end = tens >= 11 && tens <= 13 ? "th" : (({ 1: "st", 2: "nd", 3: "rd" } as Record<number, string>)[n % 10] ?? "th");
  return `${n}${end}`;
}

export const against = (row: QueueRow): string => row.labels.map(labelWord).join(" against ");

export const sameRow = (a: { item: string; index: number } | null, b: { item: string; index: number } | null): boolean => a?.item === b?.item && a?.index === b?.index;

/** Decided ones first, then what is open, both in the order of the queue. */
export const inOrder = (rows: readonly QueueRow[]): QueueRow[] => [...rows.filter((row) => row.decided), ...rows.filter((row) => !row.decided)];

/** At most `room` rows around the current one: a few that are decided, the current one, and what comes next. */
export function windowOf(rows: readonly QueueRow[], current: { item: string; index: number } | null, room: number): QueueRow[] {
  if (rows.length <= room) return [...rows];
  const at = Math.max(0, rows.findIndex((row) => sameRow(row, current)));
  const start = Math.min(Math.max(0, at - Math.min(3, room - 1)), rows.length - room);
  return rows.slice(start, start + room);
}

/** A row of the middle pane: a folded group of agreed segments, another disagreement, the one before, or the current one. */
export type Fold = { kind: "agreed"; segments: JudgedSegment[] } | { kind: "before" | "other" | "current"; segment: JudgedSegment };

export function folds(segments: readonly JudgedSegment[], current: number): Fold[] {
  const rows: Fold[] = [];
  segments.forEach((segment, k) => {
    const quiet = segment.agrees && !segment.queued && !segment.open && !segment.decision.final;
    if (segment.index === current) rows.push({ kind: "current", segment });
    else if (!quiet) rows.push({ kind: "other", segment });
    else if (segments[k + 1]?.index === current) rows.push({ kind: "before", segment });
    else {
      const last = rows.at(-1);
      if (last?.kind === "agreed") last.segments.push(segment);
      else rows.push({ kind: "agreed", segments: [segment] });
    }
  });
  return rows;
}
