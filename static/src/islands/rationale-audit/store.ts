// State of the page: which step is chosen and unfolded, and what of the clip a step or a leaf shows.
import { batch, computed, effect, signal } from "@preact/signals";
import type { AuditPayload } from "../../lib/payload";
import { formatClock } from "../../lib/video/cot";
import type { Interval } from "../../lib/video/intervals";
import { intersect } from "../../lib/video/intervals";
import { joinSegments } from "../../lib/words";
import type { Film, Side } from "../grounded-video/film";
import { playOrShow } from "../grounded-video/rows";
import type { Store as AuditStore } from "../trace-audit/store";
import { createStore as createAudit } from "../trace-audit/store";
import { findingsOf, leavesBelow, usesOf } from "./findings";
import type { Leaf, RationalePayload, Step } from "./types";

export type Rationale = ReturnType<typeof createRationale>;

/** `film` is null where the clip cannot be played; the page reads all the same. */
export function createRationale(payload: RationalePayload, film: Film | null, startAt: number | null = null) {
  const leaves = new Map(payload.leaves.map((leaf) => [leaf.index, leaf]));
  const steps = new Map(payload.steps.map((step) => [step.index, step]));
  const first = startAt !== null && steps.has(startAt) ? startAt : null;
  const stored = payload.audit ? createAudit(inShort(payload.audit, leaves), "", first, { whatIf: false }) : null;
  const selected = signal(first ?? stored?.selected.peek() ?? payload.steps[0]?.index ?? 0);
  const unfolded = signal(false);
  /** The leaf last shown. */
  const leaf = signal<number | null>(null);
  const findings = findingsOf(payload, stored?.model.peek() ?? null);
  const side: Side | null = film ? ([film.payload.reference, ...film.payload.answers].find((one) => one?.id === payload.side) ?? null) : null;
  /** Leaves that the chosen step rests on, directly or by other steps, or that speak against it. */
  const lit = computed(() => {
    const found = findings.steps.find((one) => one.step.index === selected.value);
    return new Set([...leavesBelow(findings, selected.value), ...(found?.against ?? []).filter((index) => leaves.has(index)), ...(leaf.value === null ? [] : [leaf.value])]);
  });

  function select(index: number): void {
    if (!steps.has(index)) return;
    batch(() => {
      if (index !== selected.peek()) leaf.value = null;
      selected.value = index;
      stored?.select(index);
      if (film) film.lit.value = null;
    });
  }

  /** Times to look at first when an object is shown: what the chosen step cites. */
  const cited = (): Interval[] => steps.get(selected.peek())?.times_us.filter(([start, end]) => end > start) ?? [];

  function evidenceOf(index: number): Leaf[] {
    const found = findings.steps.find((one) => one.step.index === index);
    const below = leavesBelow(findings, index);
    const pieces = (below.length ? below : (found?.against ?? [])).map((one) => leaves.get(one));
    return pieces.filter((one): one is Leaf => one !== undefined && one.spans_us.length > 0);
  }

  async function showLeaf(index: number): Promise<void> {
    const one = leaves.get(index);
    if (!one) return;
    leaf.value = index;
    if (!film) return;
    if (one.kind === "track" && side) {
      await film.showTrack(side, one.id, cited());
      return;
    }
    film.lit.value = null;
    const [span] = one.spans_us;
    if (span) await film.playSpan(span);
  }

  // A click on a box of the picture chooses its leaf; a box that is no evidence chooses none.
  if (film && side) {
    effect(() => {
      const key = film.lit.value;
      if (key !== null) leaf.value = payload.leaves.find((one) => one.kind === "track" && key === `${side.id}:${one.id}`)?.index ?? null;
      else if (leaves.get(leaf.peek() ?? 0)?.kind === "track") leaf.value = null;
    });
  }

  const order = payload.steps.map((step) => step.index);
  /** Steps that want a look: all that are not supported. */
  const doubtful = findings.steps.filter((one) => one.label && one.label !== "supported").map((one) => one.step.index);

  const audit: AuditStore | null = stored && {
    ...stored,
    /** In the tree a leaf is no place to go to but something to see or hear. */
    select: (index: number): void => {
      if (leaves.has(index)) void showLeaf(index);
      else select(index);
    },
  };

  return {
    payload, film, side, audit, leaves, steps, findings, selected, unfolded, leaf, lit, doubtful, select, showLeaf,
    /** Whether the address names the step to begin with. */
    byAddress: first !== null,
    textOf: (index: number): string => leaves.get(index)?.text ?? steps.get(index)?.text ?? "",
    move(by: number): void {
      const at = order.indexOf(selected.peek());
      const next = order[Math.min(order.length - 1, Math.max(0, at + by))];
      if (next !== undefined) select(next);
    },
    /** To the next step that is not supported, or the one before; round at the end. */
    moveDoubtful(by: 1 | -1): void {
      const here = selected.peek();
      const next = by > 0 ? (doubtful.find((index) => index > here) ?? doubtful[0]) : (doubtful.findLast((index) => index < here) ?? doubtful.at(-1));
      if (next !== undefined) select(next);
    },
    /** What is known of the chosen leaf, in words; "" where none is chosen. */
    leafSays(): string {
      const one = leaves.get(leaf.value ?? 0);
      if (!one) return "";
      if (!stored) return one.text;
      const { below, against } = usesOf(findings, one.index);
      const said = [below.length ? `${joinSegments(below)} ${below.length === 1 ? "rests" : "rest"} on it.` : "", against.length ? `It speaks against ${joinSegments(against)}.` : ""].filter(Boolean);
      return `${one.text} ${said.length ? said.join(" ") : "No step rests on it."}`;
    },
    toggle(index: number): void {
      const same = index === selected.peek();
      select(index);
      unfolded.value = same ? !unfolded.peek() : true;
    },
    /** Plays the evidence of the chosen step, the next piece with each call: what it rests on, else what speaks against it, else what it cites. */
    async playEvidence(): Promise<void> {
      const pieces = evidenceOf(selected.peek());
      const one = pieces[(pieces.findIndex((piece) => piece.index === leaf.peek()) + 1) % Math.max(1, pieces.length)];
      const [cite] = steps.get(selected.peek())?.times_us ?? [];
      if (!film) return;
      if (!one) {
        if (cite) await playOrShow(film, cite);
        return;
      }
      leaf.value = one.index;
      film.lit.value = one.kind === "track" && side ? `${side.id}:${one.id}` : null;
      // An object may be there for hours: the time that the step cites comes first.
      const [span] = [...intersect(one.spans_us, cited()), ...one.spans_us];
      if (span) await film.playSpan(span);
    },
  };
}

/** A leaf in a few words: what it is, and when. */
export function leafWords(leaf: Leaf): string {
  const [span] = leaf.spans_us;
  if (!span) return leaf.text;
  const name = leaf.kind === "speech" ? `“${leaf.label}”` : leaf.label;
  return `${name}, ${formatClock(span[0], 1)} to ${formatClock(leaf.spans_us.at(-1)?.[1] ?? span[1], 1)}`;
}

/** Boxes of a tree have room for a few words: there a leaf is its name and time, not the sentence that was asked. */
function inShort(audit: AuditPayload, leaves: ReadonlyMap<number, Leaf>): AuditPayload {
  const segments = audit.segments.map((segment) => {
    const leaf = leaves.get(segment.index);
    return leaf ? { ...segment, text: leafWords(leaf) } : segment;
  });
  return { ...audit, segments };
}

const FIELD_WORDS: Record<string, string> = {
  "visual.description": "Visual cue, description",
  "visual.analysis": "Visual cue, analysis",
  "audio.description": "Audio cue, description",
  "audio.analysis": "Audio cue, analysis",
  final_answer: "Final answer",
};
export const fieldWords = (step: Step): string => FIELD_WORDS[step.field] ?? step.field;

export const LEAF_ICONS: Record<Leaf["kind"], string> = { question: "question-circle", track: "bounding-box", sound: "music-note", speech: "chat-square-text" };
export const LEAF_WORDS: Record<Leaf["kind"], string> = { question: "Question", track: "Object", sound: "Sound", speech: "Speech" };
