// State of the workspace: what was said of each segment, where the person is, and what may be done. No requests here.
import { batch, computed, signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type { AssignmentPayload, Draft, LabelPayload, RevisionPayload } from "../../lib/label-draft";
import { EMPTY_DRAFT, draftOf, frontier, isComplete, isJudged, judgedSegments, needsComment, setLabel, toggleReason, whatIsMissing } from "../../lib/label-draft";
import type { AuditPayload, GoldWord } from "../../lib/payload";
import type { QueueState } from "../../lib/save-queue";
import type { Span } from "../../lib/text-spans";
import { addSpan, removeSpan } from "../../lib/text-spans";
import * as undoing from "../../lib/undo";
import { segmentName } from "../../lib/words";

/** Typing is sent after this pause, two seconds at most being promised. */
export const TYPING_MS = 1500;

export interface FeedbackPayload {
  segments: Record<string, { expected: GoldWord; why: string; agrees?: boolean }>;
}

export interface OthersPayload {
  others: { name: string; segments: Record<string, { label: GoldWord | null; cannot_judge: boolean; comment: string }> }[];
}

/** What the store needs from outside: where changes go and what time it is. */
export interface Outside {
  changed(index: number, delayMs: number): void;
  noted(text: string): void;
  selected(index: number, before: number | null): void;
  now(): number;
}

export type Store = ReturnType<typeof createStore>;

const NOTHING_WAITS: QueueState = { pending: 0, sending: false, offline: false, hold: null, parked: new Map(), savedAt: null, durable: true };

export function createStore(first: AssignmentPayload, outside: Outside, startAt: number | null = null) {
  const payload = signal(first);
  const drafts = new Map<number, Signal<Draft>>();
  const saved = signal<ReadonlyMap<number, LabelPayload>>(new Map());
  const revisions = signal<ReadonlyMap<number, RevisionPayload>>(new Map());
  const history = signal(undoing.NO_HISTORY);
  const blocked = signal<{ segment: number; sentence: string } | null>(null);
  const says = signal("");
  const focusOn = signal<"card" | "comment" | "submit" | null>(null);
  const save = signal<QueueState>(NOTHING_WAITS);
  /** "held": this tab writes; "asking": not known yet, writing is kept here; else since when another tab writes. */
  const tab = signal<"held" | "asking" | { since: string }>("asking");
  const dialog = signal<"submit" | "login" | "conflict" | "logout" | "reveal" | null>(null);
  const problem = signal("");
  const busy = signal(false);
  const audit = signal<AuditPayload | null>(null);
  const noAudit = signal("");
  const feedback = signal<FeedbackPayload | null>(null);
  const others = signal<OthersPayload | null>(null);
  const comparing = signal(first.reveal.done);
  const sideView = signal<"main" | "guideline">("main");
  const premises = signal<ReadonlySet<number>>(new Set());
  const selection = signal<Span | null>(null);
  const notes = signal(first.notes.text);
  /** Label and reasons that "cannot judge" put aside, to come back when it is taken away. */
  const asideOf = new Map<number, Partial<Draft>>();

  const draft = (index: number): Signal<Draft> => {
    let found = drafts.get(index);
    if (!found) drafts.set(index, (found = signal(EMPTY_DRAFT)));
    return found;
  };
  const valueOf = (index: number): Draft => draft(index).value;

  const judged = computed(() => judgedSegments(payload.value.segments));
  const isDraftState = computed(() => ["assigned", "draft", "returned"].includes(payload.value.state));
  const stopped = computed(() => {
    const hold = save.value.hold;
    return hold?.kind === "not_editable" || hold?.kind === "other_user" ? hold : null;
  });
  const editable = computed(() => payload.value.editable && typeof tab.value === "string" && stopped.value === null);
  /** The comment takes words even when the server takes none any more: who is typing must not type into nothing. */
  const writable = computed(() => editable.value || stopped.value !== null);
  /** Notes may be written longer than labels: also after handing in. */
  const mayNote = computed(() => (payload.value.notes.editable && typeof tab.value === "string") || stopped.value !== null);
  /** In an ordered study: the last segment that may be opened. */
  const reach = computed(() => (payload.value.study.in_order && isDraftState.value ? frontier(payload.value.segments, valueOf) : null));
  const opened = (index: number): boolean => reach.value === null || index <= reach.value;
  const done = computed(() => judged.value.filter((segment) => isComplete(valueOf(segment.index))).length);
  const revealed = computed(() => payload.value.reveal.done && audit.value !== null);

  const firstOpen = (): number => frontier(payload.peek().segments, (index) => draft(index).peek()) ?? judgedSegments(payload.peek().segments)[0]?.index ?? 1;
  const current = signal(0);

  /** Takes in a payload; `waiting` is what the browser holds that the server does not have yet. */
  function load(next: AssignmentPayload, waiting: (index: number) => Partial<Draft> | null, unsentNotes: string | null = null): void {
    batch(() => {
      payload.value = next;
      notes.value = unsentNotes ?? next.notes.text;
      saved.value = new Map(next.segments.flatMap((segment) => (segment.label ? [[segment.index, segment.label] as const] : [])));
      revisions.value = new Map(next.segments.flatMap((segment) => (segment.revision ? [[segment.index, segment.revision] as const] : [])));
      for (const segment of judgedSegments(next.segments)) draft(segment.index).value = draftOf(waiting(segment.index) ?? segment.label);
      history.value = undoing.NO_HISTORY;
      blocked.value = null;
      asideOf.clear();
    });
  }

  function apply(index: number, change: Partial<Draft>, delayMs: number): void {
    batch(() => {
      draft(index).value = { ...draft(index).peek(), ...change };
      if (blocked.peek()?.segment === index && isComplete(draft(index).peek())) blocked.value = null;
    });
    outside.changed(index, delayMs);
  }

  function edit(index: number, change: Partial<Draft>, what: string, group: string | null = null): boolean {
    if (!(group ? writable : editable).peek()) return false;
    const made = undoing.command(index, draft(index).peek(), change, what, outside.now(), group);
    if (!made) return false;
    history.value = undoing.record(history.peek(), made);
    apply(index, change, group ? TYPING_MS : 0);
    return true;
  }

  function unwind({ history: next, step }: undoing.Step, verb: "undo" | "redo"): void {
    if (!editable.peek()) return;
    if (!step) {
      says.value = `Nothing to ${verb}.`;
      return;
    }
    batch(() => {
      history.value = next;
      // What happens out of sight would be taken for a loss: go there and say so.
      if (step.segment !== current.peek()) go(step.segment);
      says.value = `${verb === "undo" ? "Undone" : "Done again"}: ${step.what} of ${segmentName(step.segment)}.`;
    });
    apply(step.segment, step.change, 0);
  }

  function go(index: number, focus: "card" | "comment" | null = "card"): void {
    const before = current.peek();
    if (!payload.peek().segments.some((segment) => segment.index === index)) return;
    batch(() => {
      current.value = index;
      selection.value = null;
      if (before !== index) blocked.value = null;
      focusOn.value = focus;
    });
    if (before !== index) outside.selected(index, before || null);
  }

  function block(segment: number, sentence: string): false {
    blocked.value = { segment, sentence };
    says.value = sentence;
    const said = draft(segment).peek();
    if (segment === current.peek() && isJudged(said)) focusOn.value = "comment";
    return false;
  }

  /** Whether the person may move on from where they are to a later segment; says why not. */
  function mayLeave(to: number): boolean {
    const from = current.peek();
    if (to <= from || !editable.peek()) return true;
    const segment = payload.peek().segments.find((one) => one.index === from);
    const said = draft(from).peek();
    if (segment && !segment.context && needsComment(said) && !isComplete(said)) return block(from, whatIsMissing(said, segmentName(from)));
    if (reach.peek() !== null && to > (reach.peek() ?? 0)) {
      const missing = reach.peek() ?? from;
      return block(from, missing === from ? whatIsMissing(said, segmentName(from)) : `${segmentName(missing)} comes first: ${whatIsMissing(draft(missing).peek(), segmentName(missing))}`);
    }
    return true;
  }

  function tryGo(index: number, focus: "card" | "comment" | null = "card"): void {
    if (mayLeave(index)) go(index, focus);
  }

  load(first, () => null);
  current.value = startAt !== null && first.segments.some((one) => one.index === startAt) && opened(startAt) ? startAt : firstOpen();

  return {
    payload, saved, revisions, history, blocked, says, focusOn, save, tab, dialog, problem, busy, audit, noAudit, feedback, others,
    comparing, sideView, premises, selection, notes, judged, isDraftState, stopped, editable, writable, mayNote, reach, opened, done, revealed, current,
    draft, load, edit, go, tryGo,
    undo: () => unwind(undoing.undo(history.peek()), "undo"),
    redo: () => unwind(undoing.redo(history.peek()), "redo"),
    /** Sets the label of the current segment; `toComment` moves on to the field that must be filled. */
    choose(label: GoldWord, toComment: boolean): void {
      const index = current.peek();
      if (!editable.peek() || !judged.peek().some((segment) => segment.index === index)) return;
      edit(index, setLabel(draft(index).peek(), label), "the label");
      asideOf.delete(index);
      if (toComment && label !== "correct") focusOn.value = "comment";
    },
    toggleCannotJudge(): void {
      const index = current.peek();
      const said = draft(index).peek();
      const aside = asideOf.get(index);
      if (!said.cannot_judge) asideOf.set(index, { label: said.label, reasons: said.reasons });
      const change = said.cannot_judge ? { cannot_judge: false, ...aside } : { cannot_judge: true, label: null, reasons: [] };
      if (edit(index, change, "cannot judge") && change.cannot_judge) focusOn.value = "comment";
    },
    toggleReason: (code: string) => edit(current.peek(), toggleReason(draft(current.peek()).peek(), code), "a reason"),
    toggleFlag: () => edit(current.peek(), { flagged: !draft(current.peek()).peek().flagged }, "the flag"),
    comment: (text: string) => edit(current.peek(), { comment: text }, "the comment", "comment"),
    note(text: string): void {
      if (!mayNote.peek()) return;
      notes.value = text;
      outside.noted(text);
    },
    /** Underlines what is selected, or takes the underline away where the selection lies in one. */
    underline(): void {
      const index = current.peek();
      const chosen = selection.peek();
      const text = payload.peek().segments.find((segment) => segment.index === index)?.text ?? "";
      if (!chosen) {
        says.value = "Select words of the segment first, then underline them.";
        return;
      }
      const spans = draft(index).peek().spans;
      const inside = spans.findIndex(([start, end]) => start <= chosen[0] && chosen[1] <= end);
      edit(index, { spans: inside >= 0 ? removeSpan(spans, inside) : addSpan(spans, chosen, text) }, "the underline");
      selection.value = null;
      window.getSelection()?.removeAllRanges();
    },
    removeUnderline: (place: number) => edit(current.peek(), { spans: removeSpan(draft(current.peek()).peek().spans, place) }, "the underline"),
    move(step: number): void {
      const order = payload.peek().segments.map((segment) => segment.index);
      const next = order[order.indexOf(current.peek()) + step];
      if (next !== undefined) tryGo(next);
    },
    /** On to the next segment when this one is complete; after the last to what is open, or to "Submit". */
    saveAndNext(): void {
      const index = current.peek();
      const said = draft(index).peek();
      if (editable.peek() && judged.peek().some((one) => one.index === index) && !isComplete(said)) {
        block(index, whatIsMissing(said, segmentName(index)));
        return;
      }
      const next = payload.peek().segments.find((segment) => segment.index > index && !segment.context)?.index;
      if (next !== undefined) return tryGo(next);
      const open = frontier(payload.peek().segments, (one) => draft(one).peek());
      if (open !== null) return go(open);
      batch(() => {
        says.value = "All segments are labelled. Submit the case when you are content.";
        focusOn.value = "submit";
      });
    },
    /** Without a label on to the next one, where the study lets people choose their order. */
    skip(): void {
      const next = judged.peek().find((segment) => segment.index > current.peek())?.index ?? frontier(payload.peek().segments, (one) => draft(one).peek());
      if (next !== null && next !== undefined) tryGo(next);
    },
    /** Puts the server's text, or a merged one, in place; a step that can be undone. */
    replace(index: number, next: Draft, what: string): void {
      const made = undoing.command(index, draft(index).peek(), next, what, outside.now());
      if (made) history.value = undoing.record(history.peek(), made);
      draft(index).value = next;
    },
    firstOpen,
  };
}
