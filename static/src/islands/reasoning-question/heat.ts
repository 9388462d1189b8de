// Colours, sizes and places of the heat map.

const STOPS = [
  [8, 48, 78],
  [46, 120, 172],
  [150, 193, 222],
  [243, 247, 250],
] as const;

/** Colour of a distance: dark is near. `far` is the end of the scale. */
export function heatColour(value: number, far: number): string {
  const t = (Math.max(0, Math.min(far, value)) / far) * (STOPS.length - 1);
  const i = Math.min(STOPS.length - 2, Math.floor(t));
  const [a, b] = [STOPS[i] ?? STOPS[0], STOPS[i + 1] ?? STOPS[3]];
  const mix = [0, 1, 2].map((k) => Math.round((a[k] ?? 0) + ((b[k] ?? 0) - (a[k] ?? 0)) * (t - i)));
  return `rgb(${mix.join(", ")})`;
}

/** End of the scale: the largest distance, rounded up to a tenth. */
export function scaleEnd(distances: readonly number[]): number {
  const largest = distances.reduce((most, value) => Math.max(most, value), 0);
  return Math.max(0.1, Math.ceil(Math.round(largest * 1000) / 100) / 10);
}

export interface HeatSize {
  cell: number;
  left: number;
  top: number;
  side: number;
  /** Every so many rows, and every so many columns, have their number written. */
  everyRow: number;
  everyColumn: number;
}

const LEFT = 36;
const TOP = 20;
const RIGHT = 16;
const SMALLEST = 2;
const LARGEST = 26;
const LABEL_HEIGHT = 13;
const LABEL_WIDTH = 19;
/** Cells as narrow as this may have half a pixel more: their edges are set to whole ones when they are drawn. */
const NARROW = 6;

/** Cells as large as fit, in whole pixels where that costs little. */
export function heatSize(n: number, width: number, height: number): HeatSize {
  const room = Math.min(width - LEFT - RIGHT, height - TOP - 4);
  const fits = room / Math.max(1, n);
  const cell = Math.max(SMALLEST, Math.min(LARGEST, fits < NARROW ? Math.floor(fits * 4) / 4 : Math.floor(fits)));
  const every = (needed: number): number => Math.max(1, Math.ceil(needed / cell));
  return { cell, left: LEFT, top: TOP, side: Math.round(cell * n), everyRow: every(LABEL_HEIGHT), everyColumn: every(LABEL_WIDTH) };
}

/** Row and column at a point, null outside the cells. */
export function cellAt(size: HeatSize, n: number, x: number, y: number): [number, number] | null {
  const [row, column] = [Math.floor((y - size.top) / size.cell), Math.floor((x - size.left) / size.cell)];
  return row >= 0 && column >= 0 && row < n && column < n ? [row, column] : null;
}

/** Whether a chain at a place has its number written: every so many, except beside the selected one, which always has. */
export const isNamed = (k: number, every: number, selected: number): boolean =>
  k === selected || (k % every === 0 && (selected < 0 || Math.abs(k - selected) >= every));

/** Where a key leads from a cell; null for keys that mean nothing here. */
export function movedCell(key: string, [row, column]: [number, number], n: number): [number, number] | null {
  const last = n - 1;
  const moves: Record<string, [number, number]> = {
    ArrowUp: [Math.max(0, row - 1), column],
    ArrowDown: [Math.min(last, row + 1), column],
    ArrowLeft: [row, Math.max(0, column - 1)],
    ArrowRight: [row, Math.min(last, column + 1)],
    Home: [row, 0],
    End: [row, last],
    PageUp: [0, column],
    PageDown: [last, column],
  };
  return moves[key] ?? null;
}
