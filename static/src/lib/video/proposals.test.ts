import { describe, expect, it } from "vitest";
import { apply, emptyDocument } from "./document";
import type { VideoDocument } from "./document";
import type { Run } from "./proposals";
import { acceptance, flagSpans, framesOf, gapAt, isIn, windowOf, withProposal } from "./proposals";
import type { Source, Track } from "./tracks";
import { shownAt } from "./tracks";

const DOG = "00000000-0000-4000-8000-000000000001";
const NEW = "00000000-0000-4000-8000-000000000002";
const RUN = "00000000-0000-4000-8000-00000000000a";

type Boxes = Record<number, [x: number, source: Source]>;
const trackOf = (id: string, boxes: Boxes, visible: [number, number][], run: string | null = null): Track => ({
  id, label: id === DOG ? "dog" : "", color: null, attributes: {}, source: "model", run, external: {}, visible,
  keyframes: Object.fromEntries(Object.entries(boxes).map(([frame, [x, source]]) => [frame, { box: [x, 0, 10, 10] as const, occluded: false, source, run }])),
});
const runOf = (tracks: Track[], prompt: Partial<Run["prompt"]> = {}): Run => ({
  id: RUN, proposer: "opencv", state: "done", done: 1, total: 1, message: "", created_at: "", version: {}, flags: {}, tracks,
  prompt: { proposer: "opencv", label: "dog", track: DOG, frame: 10, box: [0, 0, 10, 10], text: "", start: 10, end: 20, direction: "forward", ...prompt },
});
const documentOf = (track: Track): VideoDocument => ({ ...emptyDocument(), target_label: "dog", tracks: { [track.id]: track } });
const x = (track: Track | null | undefined, frame: number): number | undefined => (track ? shownAt(track, frame)?.box[0] : undefined);

describe("a proposal goes into a track", () => {
  it("grows the visible time, and leaves what a person set", () => {
    const track = trackOf(DOG, { 10: [0, "human"], 14: [40, "human"] }, [[10, 15]]);
    const proposal = trackOf(NEW, { 10: [1, "model"], 12: [30, "model"], 14: [90, "model"], 29: [200, "model"] }, [[10, 30]], RUN);
    const after = withProposal(track, proposal);
    expect(after?.visible).toEqual([[10, 30]]);
    expect([10, 12, 14, 29].map((frame) => [x(after, frame), after?.keyframes[frame]?.source])).toEqual([[0, "human"], [30, "model"], [40, "human"], [200, "model"]]);
  });

  it("changes nothing outside the frames taken over", () => {
    // 10 -> 0, 30 -> 200: ten pixels a frame.
    const track = trackOf(DOG, { 10: [0, "model"], 30: [200, "model"] }, [[10, 40]]);
    const proposal = trackOf(NEW, { 0: [500, "model"], 50: [500, "model"] }, [[0, 51]], RUN);
    const after = withProposal(track, proposal, [15, 20]);
    for (const frame of [10, 14, 20, 25, 30, 39]) expect([frame, x(after, frame)]).toEqual([frame, x(track, frame)]);
    expect(x(after, 14)).toBe(40);
    for (const frame of [15, 17, 19]) expect(x(after, frame)).toBe(500);
    expect(after?.visible).toEqual([[10, 40]]);
  });

  it("needs no seam beside a keyframe that a person set", () => {
    const track = trackOf(DOG, { 0: [0, "human"], 10: [100, "human"], 20: [200, "human"] }, [[0, 21]]);
    const proposal = trackOf(NEW, { 10: [0, "model"], 15: [0, "model"], 20: [0, "model"] }, [[10, 21]], RUN);
    const after = withProposal(track, proposal);
    expect(Object.keys(after?.keyframes ?? {})).toEqual(["0", "10", "15", "20"]);
    expect([5, 10, 15, 20].map((frame) => x(after, frame))).toEqual([50, 100, 0, 200]);
  });

  it("is nothing where the proposal is not there, or says the same", () => {
    const track = trackOf(DOG, { 10: [0, "human"] }, [[10, 11]]);
    expect(withProposal(track, trackOf(NEW, { 30: [0, "model"] }, [[30, 40]], RUN), [0, 20])).toBeNull();
    expect(withProposal(track, trackOf(NEW, { 10: [7, "model"] }, [[10, 11]], RUN))).toBeNull();
  });
});

describe("accepting a run", () => {
  it("is one operation that the document takes, on the track that was asked about", () => {
    const track = trackOf(DOG, { 10: [0, "human"] }, [[10, 11]]);
    const document = documentOf(track);
    const got = acceptance(document, runOf([trackOf(NEW, { 10: [1, "model"], 19: [90, "model"] }, [[10, 20]])]));
    expect(got?.tracks).toEqual([DOG]);
    expect(got?.frames).toBe(10);
    const after = apply(document, { id: RUN, words: "Accept", changes: got?.changes ?? [] });
    expect(after.tracks[DOG]?.keyframes["10"]).toEqual(track.keyframes["10"]);
    expect(after.tracks[DOG]?.keyframes["19"]).toEqual({ box: [90, 0, 10, 10], occluded: false, source: "model", run: RUN });
    expect([isIn(document, RUN), isIn(after, RUN)]).toEqual([false, true]);
  });

  it("adds objects for what a text found, a part first and the rest into the same object", () => {
    const document = emptyDocument();
    const run = runOf([trackOf(NEW, { 10: [0, "model"], 20: [100, "model"] }, [[10, 21]])], { track: null, text: "brown dog", label: "" });
    const first = apply(document, { id: RUN, words: "a", changes: acceptance(document, run, [10, 15])?.changes ?? [] });
    expect([first.tracks[NEW]?.label, first.tracks[NEW]?.visible, x(first.tracks[NEW], 14)]).toEqual(["brown dog", [[10, 15]], 40]);
    const all = apply(first, { id: RUN, words: "b", changes: acceptance(first, run)?.changes ?? [] });
    expect([all.tracks[NEW]?.visible, x(all.tracks[NEW], 20), Object.keys(all.tracks)]).toEqual([[[10, 21]], 100, [NEW]]);
    expect(acceptance(all, run)).toBeNull();
  });

  it("makes a new object where the one asked about is gone", () => {
    const got = acceptance(emptyDocument(), runOf([trackOf(NEW, { 10: [0, "model"] }, [[10, 20]])]));
    expect(got?.tracks).toEqual([NEW]);
  });
});

describe("what a run covers", () => {
  it("is cut at the ends of the clip", () => {
    expect([windowOf(10, 100, "forward", 60), windowOf(10, 5, "backward", 60), windowOf(10, 20, "both", 60)]).toEqual([[10, 60], [5, 11], [0, 31]]);
  });

  it("a gap lies between two keyframes of one interval", () => {
    const track = trackOf(DOG, { 10: [0, "human"], 20: [0, "human"], 21: [0, "human"], 30: [0, "human"] }, [[10, 25], [30, 40]]);
    expect([10, 15, 20, 22, 35, 50].map((frame) => gapAt(track, frame))).toEqual([[10, 20], [10, 20], null, null, null, null]);
    expect([framesOf({ start: 10, end: 20, direction: "gap" }), framesOf({ start: 10, end: 20, direction: "both" })]).toEqual([[10, 21], [10, 20]]);
  });

  it("flags of frames beside each other are one span", () => {
    expect(flagSpans({ 12: ["lost"], 9: ["jump"], 10: ["jump", "lost"], 13: ["lost"] })).toEqual([
      { flag: "jump", start: 9, end: 11 },
      { flag: "lost", start: 10, end: 11 },
      { flag: "lost", start: 12, end: 14 },
    ]);
  });
});
