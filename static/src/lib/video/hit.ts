// Changing a box by hand: eight handles, moving, drawing, keys. All in pixels of the picture. Pure.
import type { Box } from "./geometry";
import { rounded } from "./geometry";

export type Handle = "nw" | "n" | "ne" | "e" | "se" | "s" | "sw" | "w";

export const HANDLES: readonly Handle[] = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];

/** Boxes smaller than this are slips of the hand. */
export const SMALLEST = 4;

export const handleWords: Record<Handle, string> = {
  nw: "top left corner",
  n: "top edge",
  ne: "top right corner",
  e: "right edge",
  se: "bottom right corner",
  s: "bottom edge",
  sw: "bottom left corner",
  w: "left edge",
};

/** Where a handle sits on a box. */
export function handleAt([x, y, w, h]: Box, handle: Handle): [x: number, y: number] {
  const px = handle.includes("w") ? x : handle.includes("e") ? x + w : x + w / 2;
  const py = handle.startsWith("n") ? y : handle.startsWith("s") ? y + h : y + h / 2;
  return [px, py];
}

const within = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), Math.max(low, high));

export function moveBox(box: Box, dx: number, dy: number, width: number, height: number): Box {
  const [x, y, w, h] = box;
  if (dx === 0 && dy === 0) return box;
  return rounded([within(x + dx, 0, width - w), within(y + dy, 0, height - h), w, h]);
}

/** One handle dragged. Edges stop at the picture's border and at the edge across: a box never turns inside out. */
export function resizeBox(box: Box, handle: Handle, dx: number, dy: number, width: number, height: number): Box {
  if (dx === 0 && dy === 0) return box;
  let [left, top, right, bottom] = [box[0], box[1], box[0] + box[2], box[1] + box[3]];
  if (handle.includes("w")) left = within(left + dx, 0, right - SMALLEST);
  if (handle.includes("e")) right = within(right + dx, left + SMALLEST, width);
  if (handle.startsWith("n")) top = within(top + dy, 0, bottom - SMALLEST);
  if (handle.startsWith("s")) bottom = within(bottom + dy, top + SMALLEST, height);
  return rounded([left, top, right - left, bottom - top]);
}

/** The box between two corners, cut at the border; null when it is too small to be meant. */
export function drawnBox(x0: number, y0: number, x1: number, y1: number, width: number, height: number): Box | null {
  const left = within(Math.min(x0, x1), 0, width);
  const top = within(Math.min(y0, y1), 0, height);
  const right = within(Math.max(x0, x1), 0, width);
  const bottom = within(Math.max(y0, y1), 0, height);
  return right - left < SMALLEST || bottom - top < SMALLEST ? null : rounded([left, top, right - left, bottom - top]);
}

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** How far an arrow key moves: 1 pixel of the picture, 10 with Shift; null for other keys. */
export function nudge(key: string, shift: boolean): [dx: number, dy: number] | null {
  const way = ARROWS[key];
  return way ? [way[0] * (shift ? 10 : 1), way[1] * (shift ? 10 : 1)] : null;
}

/** Boxes that hold a point, the smallest first: a small one inside a large one can still be picked. */
export function boxesAt<T extends { box: Box }>(boxes: readonly T[], x: number, y: number): T[] {
  return boxes.filter(({ box }) => x >= box[0] && x <= box[0] + box[2] && y >= box[1] && y <= box[1] + box[3]).sort((a, b) => a.box[2] * a.box[3] - b.box[2] * b.box[3]);
}
