// Undo and redo over operations: whatever was done, undoing all of it gives the first document, and redoing it the last one.
import { describe, expect, it } from "vitest";
import type { AudioEvent, Change, Link, VideoDocument } from "./document";
import { apply, canonical, emptyDocument, inverse } from "./document";
import { answerChange, cueChange, eventChange, linkChange, operation, removeEvent, removeTrack, targetChange, trackChanges } from "./edits";
import * as history from "./history";
import type { Track } from "./tracks";
import * as tracking from "./tracks";

let seed = 1;
const random = (): number => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 2147483648;
};
const whole = (most: number): number => Math.floor(random() * most);
let ids = 0;
const uuid = (): string => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`;
const pick = <T>(from: readonly T[]): T | undefined => from[whole(from.length)];

const FRAMES = 60;
const box = (): [number, number, number, number] => [whole(100), whole(100), 1 + whole(50), 1 + whole(50)];
const newTrack = (): Track => {
  const start = whole(40);
  return { id: uuid(), label: "dog", color: null, attributes: {}, source: "model", run: "r", external: {}, visible: [[start, start + 10]], keyframes: { [start + whole(10)]: { box: box(), occluded: false, source: "model", run: "r" } } };
};

/** Something a person might do next; null: nothing fits. */
function something(document: VideoDocument): [string, Change[]] | null {
  const track = pick(Object.values(document.tracks));
  const event = pick(Object.values(document.events));
  const frame = whole(FRAMES);
  const change = (after: Track | null): [string, Change[]] => ["change", after ? trackChanges(track as Track, after) : removeTrack(document, track as Track)];
  switch (whole(14)) {
    case 0: return ["new track", trackChanges(null, newTrack())];
    case 1: return track ? change(tracking.withBox(track, frame, box(), 8, FRAMES)) : null;
    case 2: return track ? change(tracking.removeFrom(track, frame)) : null;
    case 3: {
      const parts = track && tracking.split(track, frame, uuid());
      return parts && track ? ["split", [...trackChanges(track, parts[0]), ...trackChanges(null, parts[1])]] : null;
    }
    case 4: return track ? change(tracking.propagate(track, frame, whole(30) - 15, FRAMES)) : null;
    case 5: return track && tracking.intervalAt(track, frame) ? change(tracking.hideFrom(track, frame)) : null;
    case 6: {
      const other = pick(Object.values(document.tracks).filter((one) => one.id !== track?.id));
      return track && other ? ["merge", [...trackChanges(track, tracking.merge(track, other, "a")), ...removeTrack(document, other)]] : null;
    }
    case 7: return ["target", [targetChange(document, `label ${whole(9)}`)]];
    case 8: {
      const start = whole(1000);
      const made: AudioEvent = { id: uuid(), label: "bark", start_us: start, end_us: start + 1 + whole(500), note: "", source: "human", run: null };
      return ["sound", [eventChange(null, made)]];
    }
    case 9: return event ? ["remove sound", removeEvent(document, event)] : null;
    case 10: {
      const link: Link = { id: uuid(), step: "visual", kind: "track", target: track?.id ?? "", frames: null, relation: "supports" };
      return track ? ["link", [linkChange(null, link)]] : null;
    }
    case 11: return ["text", [cueChange(document, "visual", "description", `text ${whole(9)}`)]];
    case 12: return ["answer", [answerChange(document, `answer ${whole(9)}`)]];
    default: return track ? ["rename", trackChanges(track, { ...track, label: `dog ${whole(5)}` })] : null;
  }
}

describe("undo and redo", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])("give the first and the last document, whatever was done (%i)", (start) => {
    seed = start * 7919;
    let document = emptyDocument();
    let past = history.NO_HISTORY;
    const first = canonical(document);
    let done = 0;
    for (let k = 0; k < 120; k++) {
      const what = something(document);
      const made = what && operation(what[0], what[1], uuid());
      if (!made) continue;
      document = apply(document, made, { frames: FRAMES });
      past = history.record(past, { operation: made, frame: 0, group: random() < 0.3 ? "g" : null, at: k * 800 });
      done++;
    }
    expect(done).toBeGreaterThan(60);
    const last = canonical(document);
    for (let step = history.undo(past, uuid()); step.done; step = history.undo(past, uuid())) {
      document = apply(document, step.done.operation);
      past = step.history;
    }
    expect(canonical(document)).toBe(first);
    for (let step = history.redo(past, uuid()); step.done; step = history.redo(past, uuid())) {
      document = apply(document, step.done.operation);
      past = step.history;
    }
    expect(canonical(document)).toBe(last);
  });

  it("joins typing in one field, not after a pause, not over an undo", () => {
    let document = emptyDocument();
    let past = history.NO_HISTORY;
    const type = (text: string, at: number): void => {
      const made = operation("Edit", [cueChange(document, "visual", "description", text)], uuid());
      if (!made) return;
      document = apply(document, made);
      past = history.record(past, { operation: made, frame: 3, group: "text", at });
    };
    type("a", 0);
    type("ab", 1000);
    type("abc", 2000);
    expect(past.past.length).toBe(1);
    type("abcd", 9000);
    expect(past.past.length).toBe(2);
    const step = history.undo(past, uuid());
    document = apply(document, step.done?.operation as never);
    expect(document.cot.visual.description).toBe("abc");
    past = history.redo(step.history, uuid()).history;
    document = apply(document, inverse(step.done?.operation as never, uuid()));
    type("abcde", 9100);
    expect(past.past.length).toBe(3);
  });

  it("forgets what was typed and taken back at once", () => {
    let past = history.NO_HISTORY;
    const change = (before: string, after: string, at: number): void => {
      past = history.record(past, { operation: { id: uuid(), words: "Edit", changes: [{ path: ["target_label"], before, after }] }, frame: 0, group: "t", at });
    };
    change("", "a", 0);
    change("a", "", 100);
    expect(past.past).toEqual([]);
  });

  it("knows where something happened", () => {
    const track = newTrack();
    const frame = Number(Object.keys(track.keyframes)[0]);
    expect(history.placeOf({ id: uuid(), words: "", changes: trackChanges(null, track) })).toEqual({ track: track.id, event: null, step: null, frame });
    expect(history.placeOf({ id: uuid(), words: "", changes: [{ path: ["tracks", track.id, "keyframes", "7"], before: null, after: null }] }).frame).toBe(7);
    expect(history.placeOf({ id: uuid(), words: "", changes: [answerChange(emptyDocument(), "x")] }).step).toBe("final");
  });
});
