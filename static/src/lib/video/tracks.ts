// Tracks of one object: keyframes, what is shown between them, and the changes a person makes to them. Pure; same tables as Python.
import type { Box } from "./geometry";
import { lerp, sameBox } from "./geometry";
import type { Interval } from "./intervals";
import { intersect, subtract } from "./intervals";

export type Source = "human" | "model" | "import";

export interface Keyframe {
  box: Box;
  occluded: boolean;
  source: Source;
  run: string | null;
}

export interface Track {
  id: string;
  label: string;
  color: string | null;
  attributes: Record<string, string>;
  source: Source;
  run: string | null;
  /** By frame, written as a decimal number. */
  keyframes: Record<string, Keyframe>;
  /** Frames on which the object is there: half-open, sorted, disjoint; each holds a keyframe. */
  visible: Interval[];
  external: Record<string, string>;
}

export type Status = "keyframe" | "interpolated" | "held" | "absent";

export interface Shown {
  box: Box;
  status: Exclude<Status, "absent">;
  occluded: boolean;
  /** The keyframes that the box comes from: the same twice at a keyframe and where it is held. */
  from: number;
  to: number;
}

const compiled = new WeakMap<Record<string, Keyframe>, number[]>();

/** Frames of the keyframes in order. Kept beside the object: a track is never changed in place. */
export function keyframeFrames(track: Pick<Track, "keyframes">): number[] {
  let frames = compiled.get(track.keyframes);
  if (!frames) compiled.set(track.keyframes, (frames = Object.keys(track.keyframes).map(Number).sort((a, b) => a - b)));
  return frames;
}

export const keyframeAt = (track: Track, frame: number): Keyframe | undefined => track.keyframes[String(frame)];

/** How many of the sorted numbers are smaller than or equal to a value. */
function countUpTo(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function intervalAt(track: Track, frame: number): Interval | null {
  // Few intervals a track: a walk costs less than a search.
  for (const interval of track.visible) if (interval[0] <= frame && frame < interval[1]) return interval;
  return null;
}

/** What is shown of a track on one frame; null where the object is not there. */
export function shownAt(track: Track, frame: number): Shown | null {
  const interval = intervalAt(track, frame);
  if (!interval) return null;
  const frames = keyframeFrames(track);
  const count = countUpTo(frames, frame);
  const before = frames[count - 1];
  const after = frames[count];
  const left = before !== undefined && before >= interval[0] ? before : null;
  const right = after !== undefined && after < interval[1] ? after : null;
  if (left === null && right === null) return null;
  if (left === null) {
    const key = keyframeAt(track, right as number) as Keyframe;
    return { box: key.box, status: "held", occluded: key.occluded, from: right as number, to: right as number };
  }
  const key = keyframeAt(track, left) as Keyframe;
  if (left === frame) return { box: key.box, status: "keyframe", occluded: key.occluded, from: left, to: left };
  if (right === null) return { box: key.box, status: "held", occluded: key.occluded, from: left, to: left };
  const next = keyframeAt(track, right) as Keyframe;
  return { box: lerp(key.box, next.box, (frame - left) / (right - left)), status: "interpolated", occluded: key.occluded, from: left, to: right };
}

export const boxAt = (track: Track, frame: number): Box | null => shownAt(track, frame)?.box ?? null;

export const statusAt = (track: Track, frame: number): Status => shownAt(track, frame)?.status ?? "absent";

/** First and last keyframe of one visible interval. */
export function keyframesIn(track: Track, [start, end]: Interval): number[] {
  const frames = keyframeFrames(track);
  return frames.slice(countUpTo(frames, start - 1), countUpTo(frames, end - 1));
}

export function nextKeyframe(track: Track, frame: number): number | null {
  const frames = keyframeFrames(track);
  return frames[countUpTo(frames, frame)] ?? null;
}

export function previousKeyframe(track: Track, frame: number): number | null {
  const frames = keyframeFrames(track);
  return frames[countUpTo(frames, frame - 1) - 1] ?? null;
}

export const firstFrame = (track: Track): number => track.visible[0]?.[0] ?? 0;
export const lastFrame = (track: Track): number => (track.visible.at(-1)?.[1] ?? 1) - 1;

/** Sorted and joined where they overlap. Those that touch stay apart: across their border a box is held, not interpolated. */
function joinOverlaps(intervals: readonly Interval[]): Interval[] {
  const joined: Interval[] = [];
  for (const [start, end] of [...intervals].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (end <= start) continue;
    const last = joined.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** Intervals in order, keyframes outside of them left out, intervals without a keyframe dropped. */
export function normalise(track: Track): Track {
  const frames = keyframeFrames(track);
  const visible = joinOverlaps(track.visible).filter(([start, end]) => countUpTo(frames, end - 1) > countUpTo(frames, start - 1));
  const kept = frames.filter((frame) => visible.some(([start, end]) => start <= frame && frame < end));
  return { ...track, keyframes: Object.fromEntries(kept.map((frame) => [String(frame), keyframeAt(track, frame) as Keyframe])), visible };
}

/** A keyframe with what is shown on a frame. It is a person's only where the keyframes on both sides are. */
function seam(track: Track, frame: number): Keyframe {
  const shown = shownAt(track, frame) as Shown;
  const [before, after] = [keyframeAt(track, shown.from) as Keyframe, keyframeAt(track, shown.to) as Keyframe];
  const origin = before.source === "human" ? after : before;
  return { box: shown.box, occluded: shown.occluded, source: origin.source, run: origin.run };
}

/**
 * The part of a track on some frames. What is shown on them stays the same: where a cut would change an interpolated or held box,
 * the frame beside it gets a keyframe.
 */
export function restrict(track: Track, to: readonly Interval[]): Track {
  const keyframes: Record<string, Keyframe> = {};
  const visible: Interval[] = [];
  for (const interval of track.visible) {
    const all = keyframesIn(track, interval);
    for (const [start, end] of intersect([interval], to)) {
      visible.push([start, end]);
      const inside = all.filter((frame) => start <= frame && frame < end);
      const before = all.some((frame) => frame < start);
      const after = all.some((frame) => frame >= end);
      for (const frame of inside) keyframes[String(frame)] = keyframeAt(track, frame) as Keyframe;
      if ((before && inside[0] !== start) || (!before && !inside.length)) keyframes[String(start)] = seam(track, start);
      if (after && (before || inside.length) && (inside.at(-1) ?? start) < end - 1) keyframes[String(end - 1)] = seam(track, end - 1);
    }
  }
  return { ...track, keyframes, visible };
}

/** The box that a frame shows as a keyframe of its own, a person's; nothing moves. Null where the object is not there. */
export function pin(track: Track, frame: number): Track | null {
  const shown = shownAt(track, frame);
  if (!shown) return null;
  return { ...track, keyframes: { ...track.keyframes, [String(frame)]: { box: shown.box, occluded: shown.occluded, source: "human", run: null } } };
}

/** Keyframes and visible intervals of boxes that may say "outside": seen from a keyframe to the next outside one, which ends it. */
export function fromOutside(given: readonly { frame: number; box: Box; outside?: boolean }[], until = 0): Pick<Track, "keyframes" | "visible"> {
  const keyframes: Record<string, Keyframe> = {};
  const visible: Interval[] = [];
  let start: number | null = null;
  let last = 0;
  for (const { frame, box, outside } of [...new Map(given.map((one) => [one.frame, one])).values()].sort((a, b) => a.frame - b.frame)) {
    if (outside) {
      if (start !== null) visible.push([start, frame]);
      start = null;
      continue;
    }
    start ??= frame;
    last = frame;
    keyframes[String(frame)] = { box, occluded: false, source: "import", run: null };
  }
  if (start !== null) visible.push([start, Math.max(last + 1, until)]);
  return { keyframes, visible };
}

const FOREVER = Number.MAX_SAFE_INTEGER;

/** Both halves keep what was shown; the second one begins at `frame` and gets the id `newId`. Null where one would be empty. */
export function split(track: Track, frame: number, newId: string): [Track, Track] | null {
  const first = restrict(track, [[0, frame]]);
  const second = { ...restrict(track, [[frame, FOREVER]]), id: newId, external: {} };
  return first.visible.length && second.visible.length ? [first, second] : null;
}

/** Frames on which both tracks show a box. */
export const overlapping = (a: Track, b: Track): Interval[] => intersect(a.visible, b.visible);

export class OverlapError extends Error {
  readonly frames: Interval[];
  constructor(frames: Interval[]) {
    const [start, end] = frames[0] ?? [0, 0];
    super(`Both tracks have a box on frames ${start} to ${end - 1}. Choose whose boxes count there.`);
    this.name = "OverlapError";
    this.frames = frames;
  }
}

/** Whether one interval across a border shows the same boxes as two that touch there. */
function seamless(keyframes: Record<string, Keyframe>, frames: readonly number[], border: number): boolean {
  const place = countUpTo(frames, border - 1);
  const [left, right] = [frames[place - 1], frames[place]];
  if (left === undefined || right === undefined) return false;
  if (right === border && left === border - 1) return true;
  const [before, after] = [keyframes[String(left)] as Keyframe, keyframes[String(right)] as Keyframe];
  return sameBox(before.box, after.box) && (right === border || before.occluded === after.occluded);
}

/** One track of two, under the id and name of `a`; where both show a box `prefer` says whose counts. */
export function merge(a: Track, b: Track, prefer: "a" | "b" | null = null): Track {
  const both = overlapping(a, b);
  if (both.length && !prefer) throw new OverlapError(both);
  const one = prefer === "b" ? restrict(a, subtract(a.visible, b.visible)) : a;
  const other = prefer === "a" ? restrict(b, subtract(b.visible, a.visible)) : b;
  const keyframes = { ...one.keyframes, ...other.keyframes };
  const frames = keyframeFrames({ keyframes });
  const all = [...one.visible.map((interval) => ({ interval, of: "a" })), ...other.visible.map((interval) => ({ interval, of: "b" }))].sort((x, y) => x.interval[0] - y.interval[0]);
  const visible: Interval[] = [];
  let last = "";
  for (const { interval: [start, end], of } of all) {
    const before = visible.at(-1);
    // Joined only across the border of the two, and only where that changes no box.
    if (before && before[1] === start && of !== last && seamless(keyframes, frames, start)) before[1] = end;
    else visible.push([start, end]);
    last = of;
  }
  return { ...a, color: a.color ?? b.color, keyframes, visible, attributes: { ...b.attributes, ...a.attributes }, external: { ...b.external, ...a.external } };
}

/** The object leaves before `frame`: its interval ends there, later ones stay. Null when it is not there, or nothing would be left. */
export function hideFrom(track: Track, frame: number): Track | null {
  const interval = intervalAt(track, frame);
  if (!interval) return null;
  const cut = restrict(track, subtract(track.visible, [[frame, interval[1]]]));
  return cut.visible.length ? cut : null;
}

/** The object is not there from `frame` to the end of the clip; null when nothing would be left. */
export function removeFrom(track: Track, frame: number): Track | null {
  const cut = restrict(track, [[0, frame]]);
  return cut.visible.length ? cut : null;
}

/** A box set on a frame. Outside the visible intervals the object appears there for `life` frames, or up to the next interval. */
export function withBox(track: Track, frame: number, box: Box, life: number, frames: number, occluded?: boolean): Track {
  const shown = shownAt(track, frame);
  const key: Keyframe = { box, occluded: occluded ?? shown?.occluded ?? false, source: "human", run: null };
  const keyframes = { ...track.keyframes, [String(frame)]: key };
  if (shown) return { ...track, keyframes };
  const next = track.visible.find(([start]) => start > frame)?.[0] ?? frames;
  return { ...track, keyframes, visible: joinOverlaps([...track.visible, [frame, Math.min(frame + Math.max(1, life), next)]]) };
}

/** Takes one keyframe away. The last one of its interval takes the interval along; null when that was all there was. */
export function withoutKeyframe(track: Track, frame: number): Track | null {
  const keyframes = { ...track.keyframes };
  delete keyframes[String(frame)];
  const left = normalise({ ...track, keyframes });
  return left.visible.length ? left : null;
}

/**
 * The box of `frame` set on the `count` frames after it (before it, when negative). Keyframes that a person set in between stay:
 * they were looked at, this is a guess. The object is there on all of these frames afterwards.
 */
export function propagate(track: Track, frame: number, count: number, frames: number): Track {
  const shown = shownAt(track, frame);
  const far = Math.min(frames - 1, Math.max(0, frame + count));
  if (!shown || far === frame) return track;
  const key: Keyframe = { box: shown.box, occluded: shown.occluded, source: "human", run: null };
  const [low, high] = far > frame ? [frame, far] : [far, frame];
  const keyframes: Record<string, Keyframe> = {};
  for (const at of keyframeFrames(track)) {
    const old = keyframeAt(track, at) as Keyframe;
    if (at < low || at > high || old.source === "human") keyframes[String(at)] = old;
  }
  for (const end of [frame, far]) keyframes[String(end)] ??= key;
  return normalise({ ...track, keyframes, visible: [...track.visible, [low, high + 1]] });
}

/** Ends of a visible interval moved by hand; the frames given up go, the new ones hold the nearest box. Null: it cannot be. */
export function withInterval(track: Track, which: number, next: Interval): Track | null {
  const old = track.visible[which];
  if (!old || next[1] <= next[0]) return null;
  const others = track.visible.filter((_, k) => k !== which);
  if (others.some(([start, end]) => next[0] < end && start < next[1])) return null;
  const left: Interval = [Math.max(old[0], next[0]), Math.min(old[1], next[1])];
  // Nothing of the old interval is left: there is no box to hold.
  if (left[1] <= left[0]) return null;
  const gone = subtract([old], [left]);
  const cut = restrict(track, subtract(track.visible.length ? [[0, FOREVER]] : [], gone));
  return { ...cut, visible: cut.visible.map((interval): Interval => (interval[0] === left[0] && interval[1] === left[1] ? next : interval)) };
}
