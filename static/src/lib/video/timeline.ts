// Arithmetic of the timelines: time to pixels and back, zoom, ruler, rows. All times are microseconds of clip time. Pure.
import type { PictureIndex } from "./index";

export interface View {
  /** What the left edge shows. */
  start: number;
  /** Microseconds a pixel. */
  scale: number;
  /** Pixels. */
  width: number;
}

export const toPx = (view: View, us: number): number => (us - view.start) / view.scale;
export const toUs = (view: View, px: number): number => view.start + px * view.scale;
export const endOf = (view: View): number => view.start + view.width * view.scale;

/** Finest zoom: one picture to one pixel would still draw nothing useful, so a picture may grow to so many pixels. */
const WIDEST_PICTURE = 24;

export interface Bounds {
  duration: number;
  /** Mean length of a picture in microseconds. */
  picture: number;
}

export const boundsOf = (index: PictureIndex): Bounds => ({ duration: index.durationUs, picture: index.durationUs / index.n });

/** Inside the clip and inside the zoom limits. */
export function clampView(view: View, { duration, picture }: Bounds): View {
  const width = Math.max(1, view.width);
  const widest = Math.max(duration, 1) / width;
  const scale = Math.min(widest, Math.max(Math.min(picture / WIDEST_PICTURE, widest), view.scale));
  const start = Math.min(Math.max(0, view.start), Math.max(0, duration - width * scale));
  return { start, scale, width };
}

export const fitClip = (width: number, bounds: Bounds): View => clampView({ start: 0, scale: bounds.duration / Math.max(1, width), width }, bounds);

/** Shows [start, end) with some room on both sides. */
export function fitSpan(view: View, start: number, end: number, bounds: Bounds): View {
  const room = Math.max((end - start) * 0.4, bounds.picture * 8);
  const from = start - room;
  return clampView({ ...view, start: from, scale: (end + room - from) / Math.max(1, view.width) }, bounds);
}

/** Zooms by a factor (below 1: closer) with the time under a pixel kept where it is. */
export function zoomAt(view: View, factor: number, px: number, bounds: Bounds): View {
  const at = toUs(view, px);
  const { scale } = clampView({ ...view, scale: view.scale * factor }, bounds);
  return clampView({ ...view, scale, start: at - px * scale }, bounds);
}

export const panBy = (view: View, px: number, bounds: Bounds): View => clampView({ ...view, start: view.start + px * view.scale }, bounds);

/** Brings a time into sight: nothing changes while it is in sight, else it comes to a fifth from the left. */
export function reveal(view: View, us: number, bounds: Bounds): View {
  const px = toPx(view, us);
  return px >= 0 && px <= view.width ? view : clampView({ ...view, start: us - view.width * view.scale * 0.2 }, bounds);
}

const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200].map((seconds) => Math.round(seconds * 1e6));
/** Room that a label of the ruler needs. */
const LABEL_PX = 64;

export interface Tick {
  us: number;
  labelled: boolean;
}

/** Marks of the ruler: labelled ones far enough from each other, with finer ones between them. */
export function ruler(view: View): { ticks: Tick[]; digits: number } {
  const step = STEPS.find((one) => one / view.scale >= LABEL_PX) ?? (STEPS.at(-1) as number);
  const parts = step % 5 === 0 && step / 5 / view.scale >= 6 ? 5 : 2;
  const fine = step / parts;
  const ticks: Tick[] = [];
  for (let k = Math.ceil(view.start / fine); k * fine <= endOf(view); k++) ticks.push({ us: k * fine, labelled: k % parts === 0 });
  return { ticks, digits: step >= 1e6 ? 0 : step >= 1e5 ? 1 : step >= 1e4 ? 2 : 3 };
}

/** The edge between two pictures nearest to a time: its frame is the first picture after the edge, `n` at the end of the clip. */
export function nearestEdge(index: PictureIndex, us: number): number {
  if (us >= index.durationUs) return index.n;
  const frame = index.atUs(Math.max(0, us));
  return us - index.clipUs(frame) <= index.clipUs(frame + 1) - us ? frame : frame + 1;
}

/** A time moved to the nearest of some others when it is close enough to see no difference, else to the edge of a picture. */
export function snap(index: PictureIndex, view: View, us: number, others: readonly number[] = [], px = 6): number {
  let best: number | null = null;
  for (const other of others) if (Math.abs(other - us) <= px * view.scale && (best === null || Math.abs(other - us) < Math.abs(best - us))) best = other;
  return best ?? index.clipUs(nearestEdge(index, us));
}

/**
 * Which spans in sight a hand can tell apart: those with `px` pixels of their own or so far from the one before, and those that are
 * kept. Spans come sorted by their start; the rest in sight are the crowd.
 */
export function tellApart<T extends { start: number; end: number }>(view: View, spans: readonly T[], kept: (span: T) => boolean, px = 4): { apart: T[]; crowd: T[] } {
  const found: { apart: T[]; crowd: T[] } = { apart: [], crowd: [] };
  let last = -Infinity;
  for (const span of spans) {
    const [x0, x1] = [toPx(view, span.start), toPx(view, span.end)];
    if (!kept(span) && (x1 < -2 || x0 > view.width + 2)) continue;
    if (kept(span) || x1 - x0 >= px || x0 - last >= px) {
      found.apart.push(span);
      last = x0;
    } else found.crowd.push(span);
  }
  return found;
}

/** Which of many rows of one height are in sight, with a few more on both sides. */
export function rowsInSight(count: number, height: number, scrollTop: number, visible: number, more = 3): [first: number, end: number] {
  const first = Math.max(0, Math.floor(scrollTop / height) - more);
  return [Math.min(first, count), Math.min(count, Math.ceil((scrollTop + visible) / height) + more)];
}
