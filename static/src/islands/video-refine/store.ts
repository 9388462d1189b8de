// State of the workspace: the document, what is selected, what is in sight, and every change as an operation. No requests here.
import { batch, computed, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { QueueState } from "../../lib/save-queue";
import type { AudioEvent, Change, Limits, Operation, Step, VideoDocument } from "../../lib/video/document";
import { Conflict, InvalidChange, apply } from "../../lib/video/document";
import { operation } from "../../lib/video/edits";
import * as undoing from "../../lib/video/history";
import type { PictureIndex } from "../../lib/video/index";
import type { Interval } from "../../lib/video/intervals";
import type { View } from "../../lib/video/timeline";
import { boundsOf, clampView, fitClip, fitSpan, reveal } from "../../lib/video/timeline";
import type { Track } from "../../lib/video/tracks";
import { firstFrame, lastFrame, shownAt } from "../../lib/video/tracks";
import type { Player } from "./player";
import type { RefinePayload } from "./types";

export type Selection = { kind: "track" | "event"; id: string };
export type StepName = Step | "final";
export type Tool = "select" | "draw";
export type DialogName = "submit" | "login" | "conflict" | "sheet" | "guideline" | "export" | "import" | "changes" | "notes" | "flag" | "give-back" | "reopen";

export interface Toast {
  text: string;
  /** The operation can be taken back from the toast. */
  undo: boolean;
  kind: "info" | "bad";
  number: number;
}

/** Typing is sent after this pause. */
export const TYPING_MS = 1500;
/** How long a new box lives unless somebody says otherwise. */
export const NEW_BOX_US = 1_000_000;

const COLORS = ["#38b6ff", "#f2b84b", "#6fdc8c", "#ff7eb6", "#be95ff", "#ff8a5b", "#3ddbd9", "#d2e05a"];

const NOTHING_WAITS: QueueState = { pending: 0, sending: false, offline: false, hold: null, parked: new Map(), savedAt: null, durable: true };

export interface Outside {
  changed(operation: Operation, delayMs: number, joins: boolean): void;
  now(): number;
  uuid(): string;
}

export type Store = ReturnType<typeof createStore>;

export function createStore(first: RefinePayload, index: PictureIndex, player: Player, outside: Outside) {
  const payload = signal(first);
  const doc = signal<VideoDocument>(first.document);
  const history = signal(undoing.NO_HISTORY);
  const selection = signal<Selection | null>(null);
  const step = signal<StepName>("visual");
  const tool = signal<Tool>("select");
  const hidden = signal<ReadonlySet<string>>(new Set());
  const locked = signal<ReadonlySet<string>>(new Set());
  const filter = signal("");
  /** A stretch chosen on the timelines, in microseconds. */
  const span = signal<Interval | null>(null);
  const mark = signal<number | null>(null);
  const dialog = signal<DialogName | null>(null);
  const toast = signal<Toast | null>(null);
  const says = signal("");
  const save = signal<QueueState>(NOTHING_WAITS);
  const savedAt = signal<string | null>(null);
  const tab = signal<"held" | "asking" | { since: string }>("asking");
  const problem = signal("");
  const busy = signal(false);
  const spectrogram = signal(false);
  const zoom = signal({ scale: 1, x: 0, y: 0 });
  /** The other half of a merge that waits for its second track. */
  const mergeWith = signal<string | null>(null);
  const compare = signal(false);

  const bounds = boundsOf(index);
  const view = signal<View>(fitClip(1000, bounds));
  const limits: Limits = { frames: index.n, width: first.video.width, height: first.video.height, duration_us: Math.max(index.durationUs, first.video.duration_us) };

  const isDraftState = computed(() => ["assigned", "draft", "returned"].includes(payload.value.state));
  const stopped = computed(() => {
    const hold = save.value.hold;
    return hold?.kind === "not_editable" || hold?.kind === "other_user" ? hold : null;
  });
  const editable = computed(() => payload.value.editable && typeof tab.value === "string" && stopped.value === null);

  /** All tracks in a stable order: by where they begin, then by name. */
  const tracks: ReadonlySignal<Track[]> = computed(() => Object.values(doc.value.tracks).sort((a, b) => firstFrame(a) - firstFrame(b) || a.label.localeCompare(b.label) || (a.id < b.id ? -1 : 1)));
  const listed = computed(() => {
    const words = filter.value.trim().toLowerCase();
    return words ? tracks.value.filter((track) => track.label.toLowerCase().includes(words) || track.source.includes(words)) : tracks.value;
  });
  const events: ReadonlySignal<AudioEvent[]> = computed(() => Object.values(doc.value.events).sort((a, b) => a.start_us - b.start_us || (a.id < b.id ? -1 : 1)));
  const selectedTrack = computed(() => (selection.value?.kind === "track" ? (doc.value.tracks[selection.value.id] ?? null) : null));
  const selectedEvent = computed(() => (selection.value?.kind === "event" ? (doc.value.events[selection.value.id] ?? null) : null));
  /** Colours by order of id, so that they stay when a track begins earlier or gets a new name. */
  const colors = computed(() => new Map(Object.keys(doc.value.tracks).sort().map((id, k) => [id, doc.value.tracks[id]?.color ?? (COLORS[k % COLORS.length] as string)])));
  const colorOf = (id: string): string => colors.value.get(id) ?? (COLORS[0] as string);

  let toasts = 0;
  function say(text: string, options: { undo?: boolean; bad?: boolean } = {}): void {
    batch(() => {
      says.value = text;
      toast.value = { text, undo: options.undo ?? false, kind: options.bad ? "bad" : "info", number: ++toasts };
    });
  }

  function whyNot(): string {
    if (!payload.peek().editable) return payload.peek().why_not || "This question cannot be changed now.";
    if (stopped.peek()) return stopped.peek()?.message ?? "";
    return "This question is open in another tab. Take it over here first.";
  }

  /** Boxes may be changed only on the picture that is really on the screen. */
  function onPicture(): boolean {
    if (player.exact.peek()) return true;
    say("The picture is not there yet: try again in a moment.");
    return false;
  }

  /** Does what a person wants; false when nothing changed. */
  function edit(words: string, changes: readonly Change[], group: string | null = null): boolean {
    const made = operation(words, changes, outside.uuid());
    if (!made) return false;
    if (!editable.peek()) {
      say(whyNot(), { bad: true });
      return false;
    }
    return perform(made, (next) => {
      const done: undoing.Done = { operation: next, frame: player.frame.peek(), group, at: outside.now() };
      const joins = undoing.joins(history.peek(), done);
      history.value = undoing.record(history.peek(), done);
      // Its "Undo" would take this step back now, not the one that it speaks of.
      if (toast.peek()?.undo) toast.value = null;
      outside.changed(next, group ? TYPING_MS : 0, joins);
    });
  }

  function perform(made: Operation, done: (made: Operation) => void): boolean {
    try {
      const next = apply(doc.peek(), made, limits);
      batch(() => {
        doc.value = next;
        forgetGone();
        done(made);
      });
      return true;
    } catch (error) {
      if (error instanceof InvalidChange || error instanceof Conflict) say(error.message, { bad: true });
      else throw error;
      return false;
    }
  }

  function forgetGone(): void {
    const chosen = selection.peek();
    if (chosen && !doc.peek()[chosen.kind === "track" ? "tracks" : "events"][chosen.id]) selection.value = null;
    if (mergeWith.peek() && !doc.peek().tracks[mergeWith.peek() as string]) mergeWith.value = null;
  }

  function unwind(taken: undoing.Taken, verb: "undo" | "redo"): void {
    if (!editable.peek()) return say(whyNot(), { bad: true });
    if (!taken.done) return say(`Nothing to ${verb}.`);
    const { operation: made, of } = taken.done;
    perform(made, () => {
      history.value = taken.history;
      outside.changed(made, 0, false);
      const place = undoing.placeOf(of.operation);
      const frame = place.frame ?? of.frame;
      // What happens out of sight would be taken for a loss: go there and say so.
      const away = place.step === null && !inSight(frame, place.track);
      if (place.track && doc.peek().tracks[place.track]) selection.value = { kind: "track", id: place.track };
      else if (place.event && doc.peek().events[place.event]) selection.value = { kind: "event", id: place.event };
      if (place.step) step.value = place.step;
      const what = `${verb === "undo" ? "Undone" : "Done again"}: ${of.operation.words}`;
      if (away) goTo(frame);
      say(away ? `${what}, on frame ${frame}` : what);
    });
  }

  function inSight(frame: number, track: string | null): boolean {
    if (player.frame.peek() === frame) return true;
    const about = track ? doc.peek().tracks[track] : null;
    // A box between keyframes changes with them.
    return about ? shownAt(about, player.frame.peek()) !== null && [shownAt(about, player.frame.peek())?.from, shownAt(about, player.frame.peek())?.to].includes(frame) : false;
  }

  /** Shows a frame, and brings it into sight on the timelines. */
  function goTo(frame: number): void {
    void player.seek(frame);
    view.value = reveal(view.peek(), index.clipUs(index.clamp(frame)), bounds);
  }

  function select(next: Selection | null): void {
    selection.value = next;
  }

  const toggled = (set: ReadonlySet<string>, id: string): Set<string> => {
    const copy = new Set(set);
    if (!copy.delete(id)) copy.add(id);
    return copy;
  };

  /** What the current selection covers, in microseconds: the chosen stretch, else event, track or step. */
  function selectedSpan(): Interval | null {
    if (span.peek()) return span.peek();
    const event = selectedEvent.peek();
    if (event) return [event.start_us, event.end_us];
    const track = selectedTrack.peek();
    if (track) return [index.clipUs(firstFrame(track)), index.clipUs(lastFrame(track) + 1)];
    return stepSpan(step.peek());
  }

  function stepSpan(name: StepName): Interval | null {
    if (name === "final") return null;
    const { whole, intervals } = doc.peek().cot[name].timeframe;
    if (whole) return [0, index.durationUs];
    const first = intervals[0];
    return first ? [Math.min(...intervals.map(([start]) => start)), Math.max(...intervals.map(([, end]) => end))] : null;
  }

  function fit(stretch: Interval | null): void {
    if (stretch) view.value = fitSpan(view.peek(), stretch[0], stretch[1], bounds);
  }

  function load(next: RefinePayload, document: VideoDocument): void {
    batch(() => {
      payload.value = next;
      doc.value = document;
      history.value = undoing.NO_HISTORY;
      forgetGone();
    });
  }

  return {
    payload, doc, history, selection, step, tool, hidden, locked, filter, span, mark, dialog, toast, says, save, savedAt, tab, problem, busy,
    spectrogram, zoom, mergeWith, compare, view, bounds, limits, index, player, isDraftState, stopped, editable, tracks, listed, events,
    selectedTrack, selectedEvent, colorOf, say, onPicture, edit, goTo, select, selectedSpan, stepSpan, fit, load, whyNot, uuid: outside.uuid,
    undo: () => unwind(undoing.undo(history.peek(), outside.uuid()), "undo"),
    redo: () => unwind(undoing.redo(history.peek(), outside.uuid()), "redo"),
    toggleHidden: (id: string) => void (hidden.value = toggled(hidden.peek(), id)),
    toggleLocked: (id: string) => void (locked.value = toggled(locked.peek(), id)),
    setView: (next: View) => void (view.value = clampView(next, bounds)),
    fitClip: () => void (view.value = fitClip(view.peek().width, bounds)),
  };
}
