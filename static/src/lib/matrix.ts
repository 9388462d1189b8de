// Ordered-hypergraph matrix: rows are segments in reading order, every column is one premise set and its target. No layout
// algorithm, so no crossings and the same picture each time. Pure; pixels.
import type { Edge, Model } from "./model";
import { compareSearchOrder } from "./model";
import { RANKS } from "./words";

export interface MatrixColumn {
  edge: Edge;
  x: number;
  /** Row positions (pixels) of the premises and of the target. */
  premises: number[];
  target: number;
  /** Belongs to the selected segment. */
  strong: boolean;
}
export interface MatrixRow {
  index: number;
  y: number;
}
export interface MatrixLayout {
  rows: MatrixRow[];
  rowHeight: number;
  columns: MatrixColumn[];
  columnWidth: number;
  width: number;
  height: number;
}
export interface MatrixOptions {
  selected: number;
  /** Room for the columns. Columns shrink to fit it down to `narrowest`, then the drawing grows wider. */
  available: number;
  rowHeight?: number;
  narrowest?: number;
  widest?: number;
  /** Only the columns of the selected target, and only the rows they touch. */
  onlySelected?: boolean;
}

/** Kept support edges and evidence against, target by target in reading order, best first. */
export function matrixEdges(model: Model, target?: number): Edge[] {
  const targets = target === undefined ? [...model.segments.keys()].sort((a, b) => a - b) : [target];
  return targets.flatMap((index) => [...(model.support.get(index) ?? []), ...(model.against.get(index) ?? [])]);
}

export function layoutMatrix(model: Model, options: MatrixOptions): MatrixLayout {
  const { selected, available, rowHeight = 19, narrowest = 13, widest = 31, onlySelected = false } = options;
  const edges = matrixEdges(model, onlySelected ? selected : undefined);
  const touched = new Set<number>([selected, ...edges.flatMap((edge) => edge.premises)]);
  const indices = [...model.segments.keys()].sort((a, b) => a - b).filter((index) => !onlySelected || touched.has(index));
  const rows = indices.map((index, k) => ({ index, y: k * rowHeight }));
  const middle = new Map(rows.map((row) => [row.index, row.y + rowHeight / 2]));
  const columnWidth = Math.min(widest, Math.max(narrowest, available / Math.max(1, edges.length)));
  const columns = edges.map((edge, k) => ({
    edge,
    x: (k + 0.5) * columnWidth,
    premises: edge.premises.map((index) => middle.get(index) ?? 0),
    target: middle.get(edge.target) ?? 0,
    strong: edge.target === selected,
  }));
  return {
    rows,
    rowHeight,
    columns,
    columnWidth,
    width: Math.max(available, columns.length * columnWidth),
    height: rows.length * rowHeight,
  };
}

export type CellLabel = "entailment" | "implied" | "contradiction";
export interface OverviewCell {
  premise: number;
  target: number;
  label: CellLabel;
  /** The premise alone (filled square); else it is part of a larger set (hollow square). */
  alone: boolean;
}

/**
 * Premise x target overview for long traces: per pair the strongest relation that is drawn in the matrix. A premise alone goes
 * before a set; then the higher rank; evidence against is shown only where there is no support.
 */
export function overviewCells(model: Model): OverviewCell[] {
  const best = new Map<string, { edge: Edge; premise: number }>();
  const better = (a: Edge, b: Edge): boolean => {
    const support = Number(a.label !== "contradiction") - Number(b.label !== "contradiction");
    if (support) return support > 0;
    const alone = Number(a.premises.length === 1) - Number(b.premises.length === 1);
    if (alone) return alone > 0;
    return compareSearchOrder(a, b) < 0;
  };
  for (const edge of matrixEdges(model)) {
    if (!edge.label || RANKS[edge.label] === 1) continue;
    for (const premise of edge.premises) {
      const key = `${premise}>${edge.target}`;
      const now = best.get(key);
      if (!now || better(edge, now.edge)) best.set(key, { edge, premise });
    }
  }
  return [...best.values()].map(({ edge, premise }) => ({
    premise,
    target: edge.target,
    label: edge.label as CellLabel,
    alone: edge.premises.length === 1,
  }));
}

/** One path per label and filling, so that thousands of cells are six elements. Cell (i, j) lies at x = j, y = i, one-based. */
export function overviewPaths(cells: OverviewCell[], cell: number): { label: CellLabel; alone: boolean; path: string }[] {
  const paths = new Map<string, { label: CellLabel; alone: boolean; path: string }>();
  const inset = cell > 6 ? 1 : 0.5;
  const size = cell - 2 * inset;
  for (const { premise, target, label, alone } of cells) {
    const key = `${label}:${alone}`;
    const item = paths.get(key) ?? { label, alone, path: "" };
    item.path += `M${round((target - 1) * cell + inset)} ${round((premise - 1) * cell + inset)}h${round(size)}v${round(size)}h${round(-size)}z`;
    paths.set(key, item);
  }
  return [...paths.values()];
}

const round = (value: number): number => Math.round(value * 100) / 100;
