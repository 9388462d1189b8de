// What a tracker or a model proposes: runs as the server tells of them, and how their boxes get into the document. Pure.
import type { Change, VideoDocument } from "./document";
import { trackChanges } from "./edits";
import type { Box } from "./geometry";
import type { Interval } from "./intervals";
import { intersect, subtract } from "./intervals";
import type { Keyframe, Track } from "./tracks";
import { intervalAt, keyframeAt, keyframeFrames, keyframesIn, normalise, restrict } from "./tracks";

export type Flag = "lost" | "large" | "jump";
export type RunState = "queued" | "running" | "paused" | "cancelled" | "failed" | "partial" | "done";
export type Direction = "forward" | "backward" | "both" | "gap";

export interface Proposer {
  name: string;
  title: string;
  available: boolean;
  /** A sentence, where it is not available. */
  why_not: string;
  /** Whether it can be asked by a noun, and by a box. */
  text: boolean;
  box: boolean;
}

export interface Prompt {
  proposer: string;
  label: string;
  track: string | null;
  frame: number;
  box: Box | null;
  /** Only for a gap: the box at its other end. */
  box_end?: Box | null;
  text: string;
  /** Frames, half-open; for a gap the two frames that hold its ends, both meant. */
  start: number;
  end: number;
  direction: Direction;
}

export interface Run {
  id: string;
  proposer: string;
  state: RunState;
  done: number;
  total: number;
  message: string;
  created_at: string;
  prompt: Prompt;
  version: Record<string, unknown>;
  /** null: not loaded, or nothing yet. */
  tracks: Track[] | null;
  /** By frame, written as a decimal number. */
  flags: Record<string, Flag[]>;
}

export const FLAG_WORDS: Record<Flag, string> = {
  lost: "not found",
  large: "fills more than nine tenths of the picture",
  jump: "somewhere else, or of another size, than on the frame before",
};

export const isActive = ({ state }: Pick<Run, "state">): boolean => state === "queued" || state === "running";

/** Whether there is something to accept: a run that was stopped keeps what it had found. */
export const hasBoxes = (run: Run): boolean => !isActive(run) && (run.tracks?.some((track) => track.visible.length > 0) ?? false);

/** Frames that a run covers when it starts on `frame` and goes over `count` more each way; cut at the ends of the clip. */
export function windowOf(frame: number, count: number, direction: Exclude<Direction, "gap">, frames: number): Interval {
  const many = Math.max(1, Math.round(count));
  const start = direction === "forward" ? frame : Math.max(0, frame - many);
  const end = direction === "backward" ? frame + 1 : Math.min(frames, frame + many + 1);
  return [start, end];
}

/** The keyframes on both sides of a frame, within one visible interval; null where there are not two with frames in between. */
export function gapAt(track: Track, frame: number): Interval | null {
  const interval = intervalAt(track, frame);
  if (!interval) return null;
  const frames = keyframesIn(track, interval);
  const before = frames.findLast((one) => one <= frame);
  const after = frames.find((one) => one > frame);
  return before !== undefined && after !== undefined && after - before > 1 ? [before, after] : null;
}

/** Frames that a run's prompt speaks of, half-open. */
export const framesOf = ({ start, end, direction }: Pick<Prompt, "start" | "end" | "direction">): Interval => [start, direction === "gap" ? end + 1 : end];

/**
 * The track with the boxes of a proposal, on some frames or on all. What a person set stays, and so does what is shown outside the
 * frames taken over; other keyframes on them give way. Null where that changes nothing.
 */
export function withProposal(track: Track, proposal: Track, range: Interval | null = null): Track | null {
  const part = range ? restrict(proposal, [range]) : proposal;
  if (!part.visible.length) return null;
  const taken = intersect(part.visible, part.visible);
  const keyframes: Record<string, Keyframe> = {};
  const isHuman = (frame: number): boolean => keyframeAt(track, frame)?.source === "human";
  const outside = restrict(track, subtract(track.visible, taken));
  for (const frame of keyframeFrames(outside)) {
    // A seam beside a keyframe that a person set is not needed: that keyframe stays, and so does what is shown up to it.
    const needed = keyframeAt(track, frame) || !taken.some(([start, end]) => (frame === start - 1 && isHuman(start)) || (frame === end && isHuman(end - 1)));
    if (needed) keyframes[String(frame)] = keyframeAt(outside, frame) as Keyframe;
  }
  for (const frame of keyframeFrames(part)) keyframes[String(frame)] = keyframeAt(part, frame) as Keyframe;
  for (const frame of keyframeFrames(track)) if (isHuman(frame)) keyframes[String(frame)] = keyframeAt(track, frame) as Keyframe;
  const next = normalise({ ...track, keyframes, visible: [...track.visible, ...part.visible] });
  return trackChanges(track, next).length ? next : null;
}

export interface Acceptance {
  changes: Change[];
  /** The tracks that get boxes. */
  tracks: string[];
  /** Frames that get one, all tracks together. */
  frames: number;
}

/** The changes that take a run's boxes over, all or those on some frames; null where there are none. */
export function acceptance(document: VideoDocument, run: Run, range: Interval | null = null): Acceptance | null {
  const result: Acceptance = { changes: [], tracks: [], frames: 0 };
  const asked = run.prompt.track === null ? null : (document.tracks[run.prompt.track] ?? null);
  for (const given of run.tracks ?? []) {
    // Whoever asks a model about one object gets one; what else it found is an object of its own.
    const target = asked && run.tracks?.length === 1 ? asked : (document.tracks[given.id] ?? null);
    const proposal = signed(given, run.id);
    const part = range ? restrict(proposal, [range]) : proposal;
    if (!part.visible.length) continue;
    const after = target ? withProposal(target, proposal, range) : { ...part, label: given.label || run.prompt.label || run.prompt.text || document.target_label };
    if (!after) continue;
    result.changes.push(...trackChanges(target, after));
    result.tracks.push(after.id);
    result.frames += part.visible.reduce((sum, [start, end]) => sum + end - start, 0);
  }
  return result.changes.length ? result : null;
}

/** Boxes say which run they are from, so that an accepted one can always be told from a person's. */
function signed(track: Track, run: string): Track {
  const keyframes = Object.fromEntries(Object.entries(track.keyframes).map(([frame, key]): [string, Keyframe] => [frame, { ...key, source: "model", run }]));
  return { ...track, source: "model", run, keyframes };
}

/** Whether the document holds boxes of a run. */
export const isIn = (document: VideoDocument, run: string): boolean => Object.values(document.tracks).some((track) => track.run === run || Object.values(track.keyframes).some((key) => key.run === run));

export interface FlagSpan {
  flag: Flag;
  /** Frames, half-open. */
  start: number;
  end: number;
}

/** Flags of consecutive frames as spans, in the order of the frames. */
export function flagSpans(flags: Record<string, readonly Flag[]>): FlagSpan[] {
  const spans: FlagSpan[] = [];
  const open = new Map<Flag, FlagSpan>();
  for (const frame of Object.keys(flags).map(Number).sort((a, b) => a - b)) {
    for (const flag of flags[String(frame)] ?? []) {
      const last = open.get(flag);
      if (last && last.end === frame) last.end = frame + 1;
      else {
        const span = { flag, start: frame, end: frame + 1 };
        open.set(flag, span);
        spans.push(span);
      }
    }
  }
  return spans.sort((a, b) => a.start - b.start || (a.flag < b.flag ? -1 : 1));
}
