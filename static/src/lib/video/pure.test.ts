// Arithmetic of the workspace: drawing and dragging boxes, the time axis, the sound's outline, speeds, differences of texts.
import { describe, expect, it, vi } from "vitest";
import { diff } from "./diff";
import type { Box } from "./geometry";
import { HANDLES, boxesAt, drawnBox, handleAt, moveBox, nudge, resizeBox } from "./hit";
import { PictureIndex } from "./index";
import { PeakTiles, TILE_POINTS, columns, levelFor, loudest, pointsIn } from "./peaks";
import { diamonds, stretches } from "./rows";
import { faster, shuttle, slower } from "./shuttle";
import * as timeline from "./timeline";
import { propagate, removeFrom, shownAt, withBox, withInterval, withoutKeyframe } from "./tracks";
import type { Track } from "./tracks";
import { uuid5 } from "./uuid5";

const W = 640;
const H = 360;
const box: Box = [100, 50, 80, 40];
const index25 = PictureIndex.of(Array.from({ length: 100 }, (_, k) => k), 100, 1, 25);

const track = (keyframes: Record<number, Box>, visible: [number, number][]): Track => ({
  id: "t", label: "dog", color: null, attributes: {}, source: "human", run: null, external: {}, visible,
  keyframes: Object.fromEntries(Object.entries(keyframes).map(([frame, one]) => [frame, { box: one, occluded: false, source: "model", run: "r1" }])),
});

describe("changing a box by hand", () => {
  it("moves and stops at the border of the picture", () => {
    expect(moveBox(box, 10, -5, W, H)).toEqual([110, 45, 80, 40]);
    expect(moveBox(box, -900, 900, W, H)).toEqual([0, 320, 80, 40]);
    expect(moveBox(box, 0, 0, W, H)).toBe(box);
  });

  it("resizes by each handle, keeping the side across", () => {
    expect(resizeBox(box, "se", 10, 20, W, H)).toEqual([100, 50, 90, 60]);
    expect(resizeBox(box, "nw", 10, 20, W, H)).toEqual([110, 70, 70, 20]);
    expect(resizeBox(box, "n", 99, -10, W, H)).toEqual([100, 40, 80, 50]);
    expect(resizeBox(box, "e", -10, 99, W, H)).toEqual([100, 50, 70, 40]);
    expect(resizeBox(box, "sw", -200, 999, W, H)).toEqual([0, 50, 180, 310]);
  });

  it("never turns a box inside out", () => {
    for (const handle of HANDLES) {
      for (const [dx, dy] of [[900, 900], [-900, -900], [900, -900], [-900, 900]] as const) {
        const [x, y, w, h] = resizeBox(box, handle, dx, dy, W, H);
        expect(w).toBeGreaterThanOrEqual(4);
        expect(h).toBeGreaterThanOrEqual(4);
        expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
        expect([x + w <= W, y + h <= H]).toEqual([true, true]);
      }
    }
  });

  it("places the handles on corners and edges", () => {
    expect(HANDLES.map((handle) => handleAt(box, handle))).toEqual([[100, 50], [140, 50], [180, 50], [180, 70], [180, 90], [140, 90], [100, 90], [100, 70]]);
  });

  it("draws in any direction, cuts at the border, and refuses a slip", () => {
    expect(drawnBox(50, 60, 10, 20, W, H)).toEqual([10, 20, 40, 40]);
    expect(drawnBox(600, 300, 900, 900, W, H)).toEqual([600, 300, 40, 60]);
    expect(drawnBox(50, 60, 52, 90, W, H)).toBeNull();
  });

  it("keeps quarter pixels", () => {
    expect(moveBox([0.1, 0.2, 10.05, 10], 1, 1, W, H)).toEqual([1, 1.25, 10.25, 10]);
  });

  it("nudges by 1 and 10 pixels, and picks the smallest box first", () => {
    expect([nudge("ArrowLeft", false), nudge("ArrowDown", true), nudge("a", false)]).toEqual([[-1, 0], [0, 10], null]);
    const large = { id: "large", box: [0, 0, 300, 300] as Box };
    const small = { id: "small", box: [50, 50, 20, 20] as Box };
    expect(boxesAt([large, small], 60, 60).map(({ id }) => id)).toEqual(["small", "large"]);
    expect(boxesAt([large, small], 10, 10).map(({ id }) => id)).toEqual(["large"]);
  });
});

describe("changing a track", () => {
  it("lets a new box live for a while, not over the next interval", () => {
    const one = withBox(track({ 50: box }, [[50, 60]]), 10, [1, 2, 3, 4], 25, 100);
    expect(one.visible).toEqual([[10, 35], [50, 60]]);
    expect(one.keyframes["10"]).toEqual({ box: [1, 2, 3, 4], occluded: false, source: "human", run: null });
    expect(withBox(track({ 50: box }, [[50, 60]]), 40, box, 25, 100).visible).toEqual([[40, 50], [50, 60]]);
    expect(withBox(track({ 50: box }, [[50, 60]]), 90, box, 25, 100).visible).toEqual([[50, 60], [90, 100]]);
    expect(withBox(track({ 50: box }, [[50, 60]]), 55, box, 25, 100).visible).toEqual([[50, 60]]);
  });

  it("copies a box forwards and backwards, and leaves a person's keyframes alone", () => {
    const start = track({ 10: [0, 0, 10, 10], 15: [50, 0, 10, 10], 30: [90, 0, 10, 10] }, [[10, 31]]);
    const forwards = propagate(start, 10, 12, 100);
    expect(Object.keys(forwards.keyframes)).toEqual(["10", "22", "30"]); // the model's 15 goes
    expect(shownAt(forwards, 16)?.box).toEqual([0, 0, 10, 10]);
    const withHuman = { ...start, keyframes: { ...start.keyframes, "15": { box: [50, 0, 10, 10] as Box, occluded: false, source: "human" as const, run: null } } };
    expect(Object.keys(propagate(withHuman, 10, 12, 100).keyframes)).toEqual(["10", "15", "22", "30"]);
    expect(propagate(start, 10, -8, 100).visible).toEqual([[2, 31]]);
    expect(propagate(start, 30, 500, 100).visible).toEqual([[10, 100]]);
    expect(propagate(start, 5, 3, 100)).toBe(start); // not there, so nothing to copy
  });

  it("takes keyframes and the rest of the clip away", () => {
    const start = track({ 10: box, 20: [200, 50, 80, 40], 50: box }, [[10, 30], [45, 60]]);
    expect(withoutKeyframe(start, 50)?.visible).toEqual([[10, 30]]);
    expect(withoutKeyframe(track({ 5: box }, [[0, 9]]), 5)).toBeNull();
    const cut = removeFrom(start, 15);
    expect(cut?.visible).toEqual([[10, 15]]);
    expect(cut && shownAt(cut, 14)?.box).toEqual(shownAt(start, 14)?.box);
    expect(removeFrom(start, 10)).toBeNull();
  });

  it("moves the ends of a visible interval and holds the nearest box", () => {
    const start = track({ 10: box, 20: [200, 50, 80, 40], 50: box }, [[10, 30], [45, 60]]);
    const wider = withInterval(start, 0, [4, 40]);
    expect(wider?.visible).toEqual([[4, 40], [45, 60]]);
    expect(wider && shownAt(wider, 4)).toMatchObject({ box, status: "held" });
    const narrower = withInterval(start, 0, [12, 18]);
    expect(narrower?.visible).toEqual([[12, 18], [45, 60]]);
    for (let frame = 12; frame < 18; frame++) expect(narrower && shownAt(narrower, frame)?.box).toEqual(shownAt(start, frame)?.box);
    expect(withInterval(start, 0, [20, 50])).toBeNull(); // runs into the next one
    expect(withInterval(start, 0, [31, 40])).toBeNull(); // nothing of it would be left
  });

  it("shows stretches by kind, and diamonds no closer than asked", () => {
    const one = track({ 10: box, 11: box, 12: box, 20: box }, [[5, 30]]);
    expect(stretches(one, 0, 100).map(({ start, end, kind }) => [start, end, kind])).toEqual([[5, 10, "held"], [10, 12, "exact"], [12, 20, "interpolated"], [20, 30, "held"]]);
    expect(stretches(one, 40, 50)).toEqual([]);
    expect(diamonds(one, 0, 100, 1)).toEqual([10, 11, 12, 20]);
    expect(diamonds(one, 0, 100, 3)).toEqual([10, 20]);
  });
});

describe("the axis of time", () => {
  const bounds = timeline.boundsOf(index25); // 4 s, pictures of 40 ms
  const whole = timeline.fitClip(1000, bounds);

  it("fits the clip, and goes to pixels and back", () => {
    expect(whole).toEqual({ start: 0, scale: 4000, width: 1000 });
    expect(timeline.toPx(whole, 2_000_000)).toBe(500);
    expect(timeline.toUs(whole, 250)).toBe(1_000_000);
  });

  it("tells spans apart that have room, and keeps the chosen one", () => {
    // 4000 microseconds a pixel: 1 pixel each, 2 pixels from start to start; the last is 10 pixels wide.
    const spans = [...Array.from({ length: 6 }, (_, k) => ({ start: k * 8000, end: k * 8000 + 4000 })), { start: 46_000, end: 86_000 }, { start: 4_100_000, end: 4_104_000 }];
    const { apart, crowd } = timeline.tellApart(whole, spans, ({ start }) => start === 24_000);
    // Pixels 0, 4, 6 (kept), 10 and the wide one; beyond the view nothing.
    expect(apart.map(({ start }) => start)).toEqual([0, 16_000, 24_000, 40_000, 46_000]);
    expect(crowd.map(({ start }) => start)).toEqual([8000, 32_000]);
  });

  it("keeps the time under the hand while zooming, down to single pictures", () => {
    let view = whole;
    for (let k = 0; k < 40; k++) view = timeline.zoomAt(view, 0.5, 300, bounds);
    expect(timeline.toUs(view, 300)).toBeCloseTo(1_200_000, 0);
    expect(bounds.picture / view.scale).toBe(24); // pixels a picture
    expect(timeline.zoomAt(view, 1e9, 300, bounds)).toEqual(whole);
  });

  it("stays inside the clip and brings a time into sight only when it is out of it", () => {
    const near = timeline.clampView({ start: 3_900_000, scale: 2000, width: 1000 }, bounds);
    expect(near.start).toBe(2_000_000);
    expect(timeline.reveal(near, 3_700_000, bounds)).toBe(near);
    expect(timeline.toPx(timeline.reveal(near, 1_000_000, bounds), 1_000_000)).toBeCloseTo(200);
  });

  it("marks whole steps with room for their words", () => {
    const { ticks, digits } = timeline.ruler(whole);
    expect(ticks.filter(({ labelled }) => labelled).map(({ us }) => us)).toEqual([0, 500_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000]);
    expect(digits).toBe(1);
    for (const hour of [0.01, 0.3, 2]) {
      const view = { start: 0, scale: (hour * 3.6e9) / 1000, width: 1000 };
      const labels = timeline.ruler(view).ticks.filter((one) => one.labelled);
      expect(labels.length).toBeGreaterThan(3);
      for (let k = 1; k < labels.length; k++) expect(timeline.toPx(view, (labels[k] as timeline.Tick).us) - timeline.toPx(view, (labels[k - 1] as timeline.Tick).us)).toBeGreaterThanOrEqual(64);
    }
  });

  it("snaps to edges of pictures, or to another span that is near", () => {
    expect([timeline.nearestEdge(index25, 59_000), timeline.nearestEdge(index25, 61_000), timeline.nearestEdge(index25, 9e9)]).toEqual([1, 2, 100]);
    expect(timeline.snap(index25, whole, 61_000)).toBe(80_000);
    expect(timeline.snap(index25, whole, 61_000, [75_500, 900_000])).toBe(75_500);
    expect(timeline.snap(index25, { ...whole, scale: 100 }, 61_000, [75_500])).toBe(80_000); // 145 pixels away
  });

  it("draws rows in sight only", () => {
    expect(timeline.rowsInSight(5000, 30, 3000, 90)).toEqual([97, 106]);
    expect(timeline.rowsInSight(2, 30, 0, 90)).toEqual([0, 2]);
  });
});

describe("the sound's outline", () => {
  const facts = { rate: 100, levels: 6 };

  it("takes the coarsest level that still has a point for each pixel", () => {
    expect([1000, 10_000, 40_000, 159_999, 160_000, 1e9].map((usPerPx) => levelFor(facts, usPerPx))).toEqual([0, 0, 1, 1, 2, 5]);
  });

  it("finds points by clip time, the start of the sound counted in", () => {
    expect(pointsIn(facts, 0, 0, 1_000_000, 2_000_000)).toEqual([100, 201]);
    expect(pointsIn(facts, 1, 500_000, 500_000, 900_000)).toEqual([0, 11]);
  });

  it("joins points of a pixel and leaves silence where nothing is known", () => {
    const points: Record<number, readonly [number, number]> = { 0: [-1, 1], 1: [-50, 20], 2: [-3, 60], 3: [-2, 2] };
    const out = columns((point) => points[point] ?? null, facts, 0, 0, 0, 20_000, 3);
    expect([...out]).toEqual([-50, 20, -3, 60, 0, 0]);
    // A pixel between two points shows the point it lies in.
    expect([...columns((point) => points[point] ?? null, facts, 0, 0, 12_000, 1000, 2)]).toEqual([-50, 20, -50, 20]);
  });

  it("says how loud a stretch is, and null where nothing is", () => {
    const points = Int8Array.from([-1, 1, -127, 3, 0, 64]);
    expect([loudest(points, 0, 1), loudest(points, 0, 3), loudest(points, 3, 9)]).toEqual([1 / 127, 1, null]);
  });

  it("loads a tile once, forgets the oldest, and tries again when asked", async () => {
    const asked: string[] = [];
    let fail = true;
    const changed = vi.fn();
    const tiles = new PeakTiles(facts, async (level, start, count) => {
      asked.push(`${level}/${start}/${count}`);
      if (fail) throw new Error("offline");
      return Int8Array.from([-start / TILE_POINTS, 7]);
    }, changed, 2);
    expect(tiles.point(0, 0)).toBeNull();
    await vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(1));
    expect([tiles.failed, tiles.point(0, 0), asked.length]).toEqual([true, null, 1]);
    fail = false;
    tiles.retry();
    expect(tiles.failed).toBe(false);
    for (const tile of [0, 1, 2]) tiles.point(0, tile * TILE_POINTS);
    await vi.waitFor(() => expect(tiles.point(0, 2 * TILE_POINTS)).toEqual([-2, 7]));
    expect(tiles.point(0, TILE_POINTS)).toEqual([-1, 7]);
    expect(tiles.point(0, TILE_POINTS + 1)).toBeNull(); // the sound ends
    expect(asked).toEqual([`0/0/${TILE_POINTS}`, `0/0/${TILE_POINTS}`, `0/${TILE_POINTS}/${TILE_POINTS}`, `0/${2 * TILE_POINTS}/${TILE_POINTS}`]);
  });
});

describe("speeds", () => {
  it("go up with each press, turn round, and step with K", () => {
    expect([shuttle(0, "l", false), shuttle(1, "l", false), shuttle(4, "l", false), shuttle(8, "l", false)].map((one) => one.kind === "speed" && one.speed)).toEqual([1, 2, 8, 8]);
    expect([shuttle(0, "j", false), shuttle(-1, "j", false), shuttle(4, "j", false)].map((one) => one.kind === "speed" && one.speed)).toEqual([-1, -2, -1]);
    expect(shuttle(4, "k", true)).toEqual({ kind: "speed", speed: 0 });
    expect([shuttle(0, "j", true), shuttle(0, "l", true)]).toEqual([{ kind: "step", frames: -1 }, { kind: "step", frames: 1 }]);
    expect([slower(1), slower(0.25), faster(1), faster(2)]).toEqual([0.75, 0.25, 1.25, 2]);
  });
});

describe("texts", () => {
  it("says what is new and what is gone, word by word", () => {
    expect(diff("The dog runs fast.", "The brown dog runs.")).toEqual([
      { kind: "same", text: "The " },
      { kind: "new", text: "brown " },
      { kind: "same", text: "dog runs" },
      { kind: "gone", text: " fast" },
      { kind: "same", text: "." },
    ]);
    expect(diff("same", "same")).toEqual([{ kind: "same", text: "same" }]);
    expect(diff("", "new")).toEqual([{ kind: "new", text: "new" }]);
  });

  it("makes the ids that the standard gives", () => {
    // RFC 9562, appendix A.4
    expect(uuid5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com")).toBe("2ed6657d-e927-568b-95e1-2665a8aea6a2");
  });
});
