// Arithmetic of the strip that shows the whole clip: how much lies where, and what of it is in sight. Times are microseconds. Pure.
import type { PictureIndex } from "./index";
import type { Bounds, View } from "./timeline";
import { clampView, endOf } from "./timeline";
import type { Track } from "./tracks";
import { keyframeFrames } from "./tracks";

/** Times of all keyframes of these tracks. */
export const keyframeTimes = (tracks: readonly Track[], index: PictureIndex): number[] => tracks.flatMap((track) => keyframeFrames(track).filter((frame) => frame < index.n).map((frame) => index.clipUs(frame)));

const counted = new WeakMap<Track["keyframes"], number[]>();

/** How many keyframes of these tracks lie in each of `bins` equal parts of the clip. Kept for each track: an edit changes one of many. */
export function keyframeDensity(tracks: readonly Track[], index: PictureIndex, bins: number): number[] {
  const sums = new Array<number>(bins).fill(0);
  for (const track of tracks) {
    let counts = counted.get(track.keyframes);
    if (counts?.length !== bins) counted.set(track.keyframes, (counts = density(keyframeTimes([track], index), index.durationUs, bins)));
    for (const [k, count] of counts.entries()) sums[k] = (sums[k] as number) + count;
  }
  return sums;
}

/** How many of the times lie in each of `bins` equal parts of the clip; a time at its very end counts for the last. */
export function density(times: readonly number[], durationUs: number, bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const us of times) {
    const bin = Math.min(bins - 1, Math.max(0, Math.floor((us / durationUs) * bins)));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}

/** The same zoom with a time in the middle. */
export const centredAt = (view: View, us: number, bounds: Bounds): View => clampView({ ...view, start: us - (view.width * view.scale) / 2 }, bounds);

/** One end of what is in sight at another time; the other end stays. */
export function withEdge(view: View, edge: "start" | "end", us: number, bounds: Bounds): View {
  const end = endOf(view);
  if (edge === "end") return clampView({ ...view, scale: Math.max(0, us - view.start) / view.width }, bounds);
  const { scale } = clampView({ ...view, scale: Math.max(0, end - us) / view.width }, bounds);
  return clampView({ ...view, scale, start: end - scale * view.width }, bounds);
}
