import { describe, expect, it } from "vitest";
import { changesOf, isNone, lowestIou } from "./changes";
import { emptyDocument } from "./document";
import type { VideoDocument } from "./document";
import type { Track } from "./tracks";

const DOG = "00000000-0000-4000-8000-000000000001";
const CAT = "00000000-0000-4000-8000-000000000002";
const trackOf = (id: string, boxes: Record<number, number>, visible: [number, number][]): Track => ({
  id, label: id === DOG ? "dog" : "cat", color: null, attributes: {}, source: "model", run: null, external: {}, visible,
  keyframes: Object.fromEntries(Object.entries(boxes).map(([frame, x]) => [frame, { box: [x, 0, 10, 10] as const, occluded: false, source: "model" as const, run: null }])),
});
const documentOf = (...tracks: Track[]): VideoDocument => ({ ...emptyDocument(), tracks: Object.fromEntries(tracks.map((track) => [track.id, track])) });

describe("what was changed", () => {
  it("is nothing of the same", () => {
    const one = documentOf(trackOf(DOG, { 0: 0 }, [[0, 5]]));
    expect(isNone(changesOf(one, structuredClone(one)))).toBe(true);
  });

  it("names texts with both sides", () => {
    const after = emptyDocument();
    after.cot.visual.description = "A dog.";
    after.cot.audio.timeframe = { whole: false, intervals: [[1_000_000, 2_500_000]], raw: "" };
    expect(changesOf(emptyDocument(), after).texts.map(({ name, before }) => [name, before])).toEqual([["Visual cue, description", ""], ["Audio cue, time", ""]]);
  });

  it("tells what happened to objects", () => {
    // The box moves by 5 of 10 pixels: intersection 50, union 150.
    const before = documentOf(trackOf(DOG, { 0: 0, 10: 0 }, [[0, 11]]));
    const after = documentOf(trackOf(DOG, { 0: 0, 10: 5, 14: 5 }, [[0, 15]]), trackOf(CAT, { 3: 0 }, [[3, 4]]));
    expect(changesOf(before, after).tracks).toEqual([
      { id: DOG, label: "dog", kind: "changed", words: ["1 keyframe more", "1 keyframe changed", "seen on 4 frames more", "boxes agree to 33 per cent (IoU) on frame 10, the lowest"] },
      { id: CAT, label: "cat", kind: "added", words: ["1 keyframe, 1 frame"] },
    ]);
    expect(changesOf(after, before).tracks.map(({ label, kind }) => [label, kind])).toEqual([["dog", "changed"], ["cat", "removed"]]);
    expect(lowestIou(trackOf(DOG, { 0: 0 }, [[0, 2]]), trackOf(DOG, { 5: 0 }, [[5, 6]]))).toBeNull();
  });

  it("counts links", () => {
    const link = { id: CAT, step: "visual" as const, kind: "track" as const, target: DOG, frames: null, relation: "supports" as const };
    const [with_, without] = [{ ...emptyDocument(), links: { [CAT]: link } }, emptyDocument()];
    expect([changesOf(without, with_).links, changesOf(with_, without).links, changesOf(with_, { ...with_, links: { [CAT]: { ...link, relation: "contradicts" } } }).links]).toEqual([
      { added: 1, removed: 0, changed: 0 },
      { added: 0, removed: 1, changed: 0 },
      { added: 0, removed: 0, changed: 1 },
    ]);
  });
});
