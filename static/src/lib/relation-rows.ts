// Filtering, sorting and windowing of the relations table. Pure.
import type { Edge } from "./model";
import { comparePremises } from "./model";
import { RANKS } from "./words";

export interface RelationFilter {
  target: number | null;
  label: string;
  kept: "" | "kept" | "removed";
  reason: string;
}
export const NO_FILTER: RelationFilter = { target: null, label: "", kept: "", reason: "" };

export type SortColumn = "order" | "premises" | "target" | "label" | "kept" | "p" | "status";
export interface Sort {
  column: SortColumn;
  descending: boolean;
}

export function filterRelations(edges: Edge[], filter: RelationFilter): Edge[] {
  return edges.filter(
    (edge) =>
      (filter.target === null || edge.target === filter.target) &&
      (filter.label === "" || (edge.label ?? "missing") === filter.label) &&
      (filter.kept === "" || edge.kept === (filter.kept === "kept")) &&
      (filter.reason === "" || edge.reason === filter.reason),
  );
}

const COMPARE: Record<Exclude<SortColumn, "order">, (a: Edge, b: Edge) => number> = {
  premises: (a, b) => comparePremises(a.premises, b.premises),
  target: (a, b) => a.target - b.target,
  label: (a, b) => (a.label ? RANKS[a.label] : -1) - (b.label ? RANKS[b.label] : -1),
  kept: (a, b) => Number(a.kept) - Number(b.kept) || (a.reason ?? "").localeCompare(b.reason ?? ""),
  p: (a, b) => (a.p ?? -1) - (b.p ?? -1),
  status: (a, b) => a.status.localeCompare(b.status),
};

/** Sorts a copy; equal rows stay in the order of the candidates. */
export function sortRelations(edges: Edge[], sort: Sort): Edge[] {
  if (sort.column === "order") return sort.descending ? [...edges].reverse() : edges;
  const compare = COMPARE[sort.column];
  return [...edges].sort((a, b) => (sort.descending ? compare(b, a) : compare(a, b)));
}

/** The rows to put into the document: those in view and a margin; `start` inclusive, `end` exclusive. */
export function rowWindow(count: number, scrollTop: number, viewHeight: number, rowHeight: number, margin = 12): { start: number; end: number } {
  const first = Math.floor(scrollTop / rowHeight);
  const visible = Math.ceil(viewHeight / rowHeight);
  const end = Math.min(count, first + visible + margin);
  return { start: Math.max(0, Math.min(first - margin, end)), end };
}
