// Boxes: [x, y, w, h] in pixels of the picture as it is shown, from its top left corner. Pure.

export type Box = readonly [x: number, y: number, w: number, h: number];

const area = (box: Box): number => Math.max(box[2], 0) * Math.max(box[3], 0);

/** Intersection over union, 0 to 1; a negative size counts as 0, and where the union is empty it is 0. */
export function iou(a: Box, b: Box): number {
  const w = Math.min(a[0] + Math.max(a[2], 0), b[0] + Math.max(b[2], 0)) - Math.max(a[0], b[0]);
  const h = Math.min(a[1] + Math.max(a[3], 0), b[1] + Math.max(b[3], 0)) - Math.max(a[1], b[1]);
  const shared = Math.max(w, 0) * Math.max(h, 0);
  const all = area(a) + area(b) - shared;
  return all > 0 ? shared / all : 0;
}

/** All four numbers in step; 0 gives `a` itself and 1 gives `b` itself. */
export function lerp(a: Box, b: Box, t: number): Box {
  if (t <= 0) return a;
  if (t >= 1) return b;
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t, a[3] + (b[3] - a[3]) * t];
}

export const sameBox = (a: Box, b: Box): boolean => a.every((value, k) => value === b[k]);

/** What a pixel is divided into where people set a box: finer than that nobody can see, and files stay short. */
const PART = 4;
const round = (value: number): number => Math.round(value * PART) / PART;

/** Quarter pixels, both edges rounded for themselves so that a box that touches the border goes on touching it. */
export function rounded(box: Box): Box {
  const x = round(box[0]);
  const y = round(box[1]);
  return [x, y, round(box[0] + box[2]) - x, round(box[1] + box[3]) - y];
}
