// What the row of one track shows in the timelines: stretches of one kind, and diamonds. Pure.
import type { Track } from "./tracks";
import { keyframeAt, keyframesIn } from "./tracks";

/** exact: a keyframe on every frame, as models give them; interpolated: between two; held: before the first, after the last. */
export type StretchKind = "exact" | "interpolated" | "held";

export interface Stretch {
  /** Frames, half-open. */
  start: number;
  end: number;
  kind: StretchKind;
  occluded: boolean;
}

const known = new WeakMap<Track, Stretch[]>();

/** The stretches of a track that reach into frames [from, to). */
export function stretches(track: Track, from: number, to: number): Stretch[] {
  let all = known.get(track);
  // Kept beside the object, which is never changed in place: zooming asks for them again and again.
  if (!all) known.set(track, (all = allStretches(track)));
  return all.filter(({ start, end }) => end > from && start < to);
}

function allStretches(track: Track): Stretch[] {
  const found: Stretch[] = [];
  const add = (start: number, end: number, kind: StretchKind, occluded: boolean): void => {
    if (end <= start) return;
    const last = found.at(-1);
    if (last && last.end === start && last.kind === kind && last.occluded === occluded) last.end = end;
    else found.push({ start, end, kind, occluded });
  };
  for (const [start, end] of track.visible) {
    const frames = keyframesIn(track, [start, end]);
    const first = frames[0];
    if (first === undefined) continue;
    add(start, first, "held", keyframeAt(track, first)?.occluded ?? false);
    for (const [k, frame] of frames.entries()) {
      const occluded = keyframeAt(track, frame)?.occluded ?? false;
      const next = frames[k + 1];
      if (next === undefined) {
        // A single keyframe is no stretch of its own: the diamond says it.
        const dense = k > 0 && frames[k - 1] === frame - 1;
        add(frame, dense ? frame + 1 : end, dense ? "exact" : "held", occluded);
        if (dense) add(frame + 1, end, "held", occluded);
      } else add(frame, next, next === frame + 1 ? "exact" : "interpolated", occluded);
    }
  }
  return found;
}

/** Keyframes in [from, to), no closer to each other than `gap` frames: more would be a smear. */
export function diamonds(track: Track, from: number, to: number, gap: number): number[] {
  const shown: number[] = [];
  for (const interval of track.visible) {
    if (interval[1] <= from || interval[0] >= to) continue;
    for (const frame of keyframesIn(track, interval)) {
      if (frame < from || frame >= to) continue;
      const last = shown.at(-1);
      if (last === undefined || frame - last >= gap) shown.push(frame);
    }
  }
  return shown;
}
