// The strip of the whole clip, by hand: 100 pictures of 40 ms, 400 pixels wide.
import { describe, expect, it } from "vitest";
import { PictureIndex } from "./index";
import { centredAt, density, keyframeDensity, keyframeTimes, withEdge } from "./overview";
import { boundsOf, endOf } from "./timeline";
import type { Track } from "./tracks";

const index = PictureIndex.of(Array.from({ length: 100 }, (_, k) => k), 100, 1, 25);
const bounds = boundsOf(index);
/** From 1 to 2 seconds. */
const view = { start: 1_000_000, scale: 2500, width: 400 };

describe("density", () => {
  it("counts each time once, in the part that it lies in", () => {
    expect(density([0, 999_999, 1_000_000, 3_999_999, 4_000_000], 4_000_000, 4)).toEqual([2, 1, 0, 2]);
  });

  it("takes the keyframes of all tracks, but none beyond the clip", () => {
    const track = { keyframes: { "0": {}, "25": {}, "120": {} } } as unknown as Track;
    expect(keyframeTimes([track, track], index)).toEqual([0, 1_000_000, 0, 1_000_000]);
  });

  it("sums what each track has, and counts anew for another width or other keyframes", () => {
    const track = { keyframes: { "0": {}, "25": {}, "120": {} } } as unknown as Track;
    expect(keyframeDensity([track, track], index, 4)).toEqual([2, 2, 0, 0]);
    expect(keyframeDensity([track], index, 2)).toEqual([2, 0]);
    const moved = { ...track, keyframes: { "0": {}, "75": {} } } as unknown as Track;
    expect(keyframeDensity([track, moved], index, 4)).toEqual([2, 1, 0, 1]);
  });
});

describe("the part in sight", () => {
  it("is centred at a time, but never beyond the clip", () => {
    expect(centredAt(view, 3_000_000, bounds)).toEqual({ start: 2_500_000, scale: 2500, width: 400 });
    expect(centredAt(view, 3_900_000, bounds).start).toBe(3_000_000);
    expect(centredAt(view, 0, bounds).start).toBe(0);
  });

  it("keeps its other end when one is moved", () => {
    const later = withEdge(view, "end", 3_000_000, bounds);
    expect([later.start, endOf(later)]).toEqual([1_000_000, 3_000_000]);
    const earlier = withEdge(view, "start", 0, bounds);
    expect([earlier.start, endOf(earlier)]).toEqual([0, 2_000_000]);
  });

  it("never gets narrower than the closest zoom", () => {
    const closest = withEdge(view, "start", 5_000_000, bounds);
    expect(endOf(closest)).toBeCloseTo(2_000_000, 3);
    expect(closest.scale).toBeCloseTo(40_000 / 24, 6);
  });
});
