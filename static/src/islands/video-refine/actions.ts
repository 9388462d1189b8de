// What a person can do to boxes, tracks and sounds. Each action is one operation, so one step of undo.
import { signal } from "@preact/signals";
import { cueChange, eventChange, linkChange, moveLinks, removeEvent, removeTrack, trackChanges } from "../../lib/video/edits";
import type { AudioEvent, Link, Step } from "../../lib/video/document";
import type { Box } from "../../lib/video/geometry";
import { moveBox, nudge } from "../../lib/video/hit";
import { madeTimeframe } from "../../lib/video/cot";
import type { Interval } from "../../lib/video/intervals";
import { nearestEdge } from "../../lib/video/timeline";
import type { Keyframe, Track } from "../../lib/video/tracks";
import * as tracking from "../../lib/video/tracks";
import { plural } from "../../lib/words";
import { NEW_BOX_US } from "./store";
import type { Selection, Store } from "./store";

export type Actions = ReturnType<typeof createActions>;

export const nameOf = (track: Pick<Track, "label">): string => track.label || "object";

export function createActions(store: Store) {
  const { doc, index, player } = store;
  const copied = signal<{ box: Box; label: string } | null>(null);
  const frame = (): number => player.frame.peek();

  const free = (track: Track | null): track is Track => {
    if (!track) {
      store.say("Select an object first.");
      return false;
    }
    if (store.locked.peek().has(track.id)) {
      store.say(`${nameOf(track)} is locked: unlock it in its row first.`);
      return false;
    }
    return true;
  };
  const selected = (): Track | null => store.selectedTrack.peek();
  const change = (words: string, before: Track, after: Track | null): boolean =>
    store.edit(words, after ? trackChanges(before, after) : removeTrack(doc.peek(), before));

  /** Frames that a new box lives from here. */
  const life = (): number => Math.max(1, nearestEdge(index, index.clipUs(frame()) + NEW_BOX_US) - frame());

  function setBox(id: string, box: Box, what: "Move" | "Resize" | "Draw" = "Move"): boolean {
    const track = doc.peek().tracks[id] ?? null;
    if (!free(track) || !store.onPicture()) return false;
    // A click moves nothing and says nothing: it must not make a keyframe.
    const present = tracking.boxAt(track, frame());
    if (present && present.every((value, k) => value === box[k])) return false;
    return change(`${what} box of ${nameOf(track)}`, track, tracking.withBox(track, frame(), box, life(), index.n));
  }

  function newTrack(box: Box, label = ""): string | null {
    if (!store.onPicture()) return null;
    const id = store.uuid();
    const name = label || doc.peek().target_label || `object ${Object.keys(doc.peek().tracks).length + 1}`;
    const key: Keyframe = { box, occluded: false, source: "human", run: null };
    const at = frame();
    const track: Track = { id, label: name, color: null, attributes: {}, source: "human", run: null, keyframes: { [String(at)]: key }, visible: [[at, Math.min(index.n, at + life())]], external: {} };
    if (!store.edit(`New box of ${name}`, trackChanges(null, track))) return null;
    store.select({ kind: "track", id });
    return id;
  }

  /** A box drawn by hand: of the selected object where it is not shown, else of a new one. */
  function drawn(box: Box): void {
    const track = selected();
    store.tool.value = "select";
    if (track && !tracking.shownAt(track, frame()) && !store.locked.peek().has(track.id)) setBox(track.id, box, "Draw");
    else newTrack(box);
  }

  function nudgeBox(key: string, shift: boolean): boolean {
    const track = selected();
    const way = nudge(key, shift);
    const box = track && tracking.boxAt(track, frame());
    if (!track || !way || !box) return false;
    const { width, height } = store.payload.peek().video;
    return setBox(track.id, moveBox(box, way[0], way[1], width, height));
  }

  /** Takes the keyframe here away, or keeps the box shown here as one. */
  function togglePin(): void {
    const track = selected();
    if (!free(track) || !store.onPicture()) return;
    if (tracking.shownAt(track, frame())?.status === "keyframe") unpinAt(track.id, frame());
    else pinAt(track.id, frame());
  }

  /** Keeps the box of a frame as a keyframe that a person stands for; a proposed one becomes that. */
  function pinAt(id: string, at: number): void {
    const track = doc.peek().tracks[id] ?? null;
    if (!free(track)) return;
    const shown = tracking.shownAt(track, at);
    if (!shown) return store.say(`${nameOf(track)} is not on this frame.`);
    change(`Keep box of ${nameOf(track)}`, track, tracking.withBox(track, at, shown.box, 1, index.n));
  }

  function unpinAt(id: string, at: number): void {
    const track = doc.peek().tracks[id] ?? null;
    if (!free(track)) return;
    const within = tracking.intervalAt(track, at);
    if (!within || !tracking.keyframeAt(track, at)) return store.say("There is no keyframe here.");
    if (tracking.keyframesIn(track, within).length === 1) return store.say("This is its only keyframe here. Del takes the object away from here on.");
    change(`Remove keyframe of ${nameOf(track)}`, track, tracking.withoutKeyframe(track, at));
  }

  function toggleOccluded(): void {
    const track = selected();
    if (!free(track) || !store.onPicture()) return;
    const shown = tracking.shownAt(track, frame());
    if (!shown) return store.say(`${nameOf(track)} is not on this frame.`);
    change(shown.occluded ? `Mark ${nameOf(track)} as seen` : `Mark ${nameOf(track)} as occluded`, track, tracking.withBox(track, frame(), shown.box, 1, index.n, !shown.occluded));
  }

  const gone = (before: Track, after: Track | null): number => count(before) - (after ? count(after) : 0);
  const count = (track: Track): number => track.visible.reduce((sum, [start, end]) => sum + end - start, 0);

  function hide(): void {
    const track = selected();
    if (!free(track) || !store.onPicture()) return;
    if (!tracking.intervalAt(track, frame())) return store.say(`${nameOf(track)} is not on this frame.`);
    const after = tracking.hideFrom(track, frame());
    if (!after) return store.say(`${nameOf(track)} would be shown nowhere. Shift Del removes it.`);
    if (change(`Hide ${nameOf(track)} from frame ${frame()}`, track, after)) store.say(`${nameOf(track)} leaves here: ${plural(gone(track, after), "frame")} fewer.`, { undo: true });
  }

  /** Del: an event, or the object from this frame to the end of the clip. */
  function remove(): void {
    const event = store.selectedEvent.peek();
    if (event) {
      if (store.edit(`Remove sound ${event.label}`, removeEvent(doc.peek(), event))) store.say(`Sound ${event.label} removed.`, { undo: true });
      return;
    }
    const track = selected();
    if (!free(track) || !store.onPicture()) return;
    const after = tracking.removeFrom(track, frame());
    if (after && gone(track, after) === 0) return store.say(`${nameOf(track)} is not shown from here on.`);
    if (!after) return store.say(`That would remove all of ${nameOf(track)}. Shift Del does it.`);
    if (change(`Remove ${nameOf(track)} from frame ${frame()} on`, track, after)) store.say(`${nameOf(track)} removed from here on: ${plural(gone(track, after), "frame")} fewer.`, { undo: true });
  }

  function removeAll(): void {
    if (store.selectedEvent.peek()) return remove();
    const track = selected();
    if (!free(track)) return;
    if (change(`Remove ${nameOf(track)}`, track, null)) store.say(`${nameOf(track)} removed with its ${plural(count(track), "frame")}.`, { undo: true });
  }

  function splitHere(): void {
    const track = selected();
    if (!free(track) || !store.onPicture()) return;
    const parts = tracking.split(track, frame(), store.uuid());
    if (!parts) return store.say(`${nameOf(track)} begins or ends here: there is nothing to split.`);
    const [one, two] = parts;
    if (store.edit(`Split ${nameOf(track)}`, [...trackChanges(track, one), ...trackChanges(null, two)])) {
      store.select({ kind: "track", id: two.id });
      store.say(`${nameOf(track)} is two objects from frame ${frame()} on.`, { undo: true });
    }
  }

  function startMerge(): void {
    const track = selected();
    if (!free(track)) return;
    store.mergeWith.value = store.mergeWith.peek() === track.id ? null : track.id;
    if (store.mergeWith.peek()) store.say(`Select the object to join to ${nameOf(track)}, then press Shift M.`);
  }

  function commitMerge(prefer: "a" | "b" | null = null): void {
    const a = doc.peek().tracks[store.mergeWith.peek() ?? ""] ?? null;
    const b = selected();
    if (!a || !free(a) || !free(b)) return;
    if (a.id === b.id) return store.say("Select the other object first.");
    try {
      const joined = tracking.merge(a, b, prefer);
      const links = moveLinks(doc.peek(), b.id, a.id);
      if (!store.edit(`Join ${nameOf(b)} to ${nameOf(a)}`, [...trackChanges(a, joined), ...links, { path: ["tracks", b.id], before: b, after: null }])) return;
      store.mergeWith.value = null;
      store.select({ kind: "track", id: a.id });
      store.say(`${nameOf(b)} is part of ${nameOf(a)} now.`, { undo: true });
    } catch (error) {
      if (!(error instanceof tracking.OverlapError)) throw error;
      store.say(error.message, { bad: true });
      overlap.value = error.frames;
    }
  }
  /** Frames on which both halves of a merge have a box: somebody has to choose. */
  const overlap = signal<Interval[] | null>(null);

  function copy(): void {
    const track = selected();
    const box = track && tracking.boxAt(track, frame());
    if (!track || !box) return store.say("Select an object that is on this frame.");
    copied.value = { box, label: track.label };
    store.say(`Box of ${nameOf(track)} copied.`);
  }

  /** The copied box at the same place: of the selected object, or of a new one. */
  function paste(asNew = false): void {
    const from = copied.peek();
    if (!from) return store.say("No box is copied yet.");
    const track = selected();
    if (track && !asNew) setBox(track.id, from.box);
    else newTrack(from.box, from.label);
  }

  function duplicate(): void {
    const track = selected();
    const box = track && tracking.boxAt(track, frame());
    if (!track || !box) return store.say("Select an object that is on this frame.");
    const { width, height } = store.payload.peek().video;
    newTrack(moveBox(box, 12, 12, width, height), track.label);
  }

  function propagate(frames: number): void {
    const track = selected();
    if (!free(track) || !store.onPicture()) return;
    if (!tracking.shownAt(track, frame())) return store.say(`${nameOf(track)} is not on this frame.`);
    const after = tracking.propagate(track, frame(), frames, index.n);
    if (change(`Copy box of ${nameOf(track)} over ${plural(Math.abs(frames), "frame")}`, track, after)) store.say(`The box stays for ${plural(Math.abs(frames), "frame")}.`, { undo: true });
  }

  function nextKeyframe(way: 1 | -1): void {
    const track = selected();
    const at = player.wanted.peek() ?? frame();
    const all = track ? [track] : store.tracks.peek();
    const found = all.map((one) => (way > 0 ? tracking.nextKeyframe(one, at) : tracking.previousKeyframe(one, at))).filter((one): one is number => one !== null);
    if (found.length) store.goTo(way > 0 ? Math.min(...found) : Math.max(...found));
    else store.say(`No ${way > 0 ? "later" : "earlier"} keyframe.`);
  }

  /** Objects that the picture shows now. */
  const onFrame = (): Track[] => store.tracks.peek().filter((track) => !store.hidden.peek().has(track.id) && tracking.shownAt(track, frame()));

  /** On to the next object shown on this frame. */
  function cycle(way: 1 | -1): void {
    const here = onFrame();
    if (!here.length) return store.say("No object is on this frame.");
    const at = here.findIndex((track) => track.id === store.selection.peek()?.id);
    const next = here[(at + way + here.length) % here.length] ?? here[0];
    if (next) store.select({ kind: "track", id: next.id });
  }

  const rename = (track: Track, label: string): boolean => store.edit(`Rename ${nameOf(track)} to ${label}`, trackChanges(track, { ...track, label: label.trim() }));

  const setInterval = (track: Track, which: number, next: Interval): boolean => {
    const after = free(track) ? tracking.withInterval(track, which, next) : null;
    return after ? change(`Change when ${nameOf(track)} is seen`, track, after) : false;
  };

  const moveKeyframe = (track: Track, from: number, to: number): boolean => {
    const key = tracking.keyframeAt(track, from);
    if (!free(track) || !key || from === to || tracking.keyframeAt(track, to) || !tracking.intervalAt(track, to)) return false;
    const keyframes: Record<string, Keyframe> = { ...track.keyframes, [String(to)]: { ...key, source: "human", run: null } };
    delete keyframes[String(from)];
    return change(`Move keyframe of ${nameOf(track)}`, track, { ...track, keyframes });
  };

  // ---- sounds ----------------------------------------------------------------------------------------------------------

  function addEvent(stretch: Interval | null = store.span.peek()): boolean {
    if (!stretch || stretch[1] <= stretch[0]) {
      store.say("Choose a stretch first: drag on the waveform, or press [ and ].");
      return false;
    }
    const id = store.uuid();
    const made: AudioEvent = { id, label: "sound", start_us: Math.max(0, Math.round(stretch[0])), end_us: Math.min(store.limits.duration_us as number, Math.round(stretch[1])), note: "", source: "human", run: null };
    if (!store.edit("New sound", [eventChange(null, made)])) return false;
    store.span.value = null;
    store.mark.value = null;
    store.select({ kind: "event", id });
    return true;
  }

  const changeEvent = (event: AudioEvent, next: Partial<AudioEvent>, words: string, group: string | null = null): boolean => store.edit(words, [eventChange(event, { ...event, ...next })], group);

  /** From the end of the sound before to here. */
  function extendFromPrevious(): void {
    const here = index.clipUs(frame());
    const before = store.events.peek().findLast((event) => event.end_us <= here);
    if (!before || before.end_us === here) return store.say("There is no earlier sound to go on from.");
    addEvent([before.end_us, here]);
  }

  function setMark(): void {
    store.mark.value = index.clipUs(frame());
    store.span.value = null;
  }

  function closeSpan(): void {
    const from = store.mark.peek();
    const to = index.clipUs(frame() + 1);
    if (from === null) return store.say("Press [ at the start first.");
    store.span.value = from < to ? [from, to] : [index.clipUs(frame()), from];
  }

  // ---- reasoning -------------------------------------------------------------------------------------------------------

  function setTimeframe(step: Step, intervals: readonly Interval[], whole = false, group: string | null = null): boolean {
    return store.edit(`Change timeframe of the ${step} cue`, [cueChange(doc.peek(), step, "timeframe", madeTimeframe(intervals, whole))], group);
  }

  function linkTo(step: Step, target: Selection): void {
    const there = Object.values(doc.peek().links).find((link) => link.step === step && link.target === target.id);
    if (there) return store.say("That is linked already.");
    const id = store.uuid();
    const link: Link = { id, step, kind: target.kind, target: target.id, frames: null, relation: "supports" };
    const track = target.kind === "track" ? doc.peek().tracks[target.id] : null;
    const name = track ? nameOf(track) : (doc.peek().events[target.id]?.label ?? "sound");
    store.edit(`Link ${name} to the ${step} cue`, [linkChange(null, link)]);
  }

  function linkSelected(): void {
    const step = store.step.peek();
    const target = store.selection.peek();
    if (!target) return store.say("Select an object or a sound first.");
    if (step === "final") return store.say("Evidence is linked to a cue: choose the visual or the audio cue.");
    linkTo(step, target);
  }

  const unlink = (link: Link): boolean => store.edit("Remove a link", [linkChange(link, null)]);
  const changeLink = (link: Link, next: Partial<Link>): boolean => store.edit("Change a link", [linkChange(link, { ...link, ...next })]);

  return {
    copied, overlap, setBox, newTrack, drawn, nudgeBox, togglePin, pinAt, unpinAt, toggleOccluded, hide, remove, removeAll, splitHere, startMerge, commitMerge,
    copy, paste, duplicate, propagate, nextKeyframe, onFrame, cycle, rename, setInterval, moveKeyframe, addEvent, changeEvent, extendFromPrevious, setMark,
    closeSpan, setTimeframe, linkTo, linkSelected, unlink, changeLink,
  };
}
