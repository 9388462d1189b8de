// Charts of ratings, by Observable Plot: means with intervals, kappa as a matrix, the panel against people.
import * as Plot from "@observablehq/plot";
import { fixed } from "../../lib/words";
import { draw } from "../shared/plot";
import type { Calibration, Matrix, Mean } from "./types";
import { cells, FACETS } from "./types";

const ACCENT = "#0b5c8f";
const BAND = "#a9cbe2";
const LINE = "#d3dbe3";
const MUTED = "#556474";

const left = (names: string[]): number => Math.min(200, 16 + 6.6 * Math.max(0, ...names.map((name) => name.length)));

export function means(all: Mean[], width: number): Element {
  const found = all.filter((one) => one.value !== null);
  const models = [...new Set(all.map((one) => one.model))];
  const facets = [...new Set(all.map((one) => one.facet))].map((facet) => FACETS[facet] ?? facet);
  const facet = (one: Mean): string => FACETS[one.facet] ?? one.facet;
  return draw({
    width,
    height: 56 + 24 * models.length,
    marginLeft: left(models),
    marginTop: 30,
    fx: { domain: facets, label: null, padding: 0.12 },
    x: { domain: [1, 5], ticks: 5, tickFormat: "d", label: null, grid: true },
    y: { domain: models, label: null, tickSize: 0 },
    ariaLabel: "Mean of every model on every facet, 1 to 5, with 95 % intervals",
    marks: [
      Plot.ruleY(found.filter((one) => one.low !== null), { fx: facet, y: "model", x1: "low", x2: "high", stroke: BAND, strokeWidth: 6 }),
      Plot.dot(found, { fx: facet, y: "model", x: "value", r: 3.5, fill: ACCENT, title: (one: Mean) => `${one.model}, ${facet(one)}: ${fixed(one.value, 2)}${one.low === null ? "" : `, ${fixed(one.low, 2)} to ${fixed(one.high, 2)}`}` }),
    ],
  });
}

export function matrix(found: Matrix, width: number): Element {
  const { names, found: values } = cells(found);
  const margin = left(names);
  const size = Math.min(width, margin + Math.max(180, 92 * names.length));
  return draw({
    width: size,
    height: 34 + 40 * names.length,
    marginLeft: margin,
    marginTop: 30,
    padding: 0.04,
    x: { domain: names, label: null, axis: "top", tickSize: 0, tickFormat: (name: string) => short(name, (size - margin) / names.length) },
    y: { domain: names, label: null, tickSize: 0 },
    color: { type: "linear", domain: [-0.2, 1], range: ["#f7fafc", "#8fb5cf"], clamp: true },
    ariaLabel: "Kappa of every two judges",
    marks: [
      Plot.cell(names.map((name) => ({ name })), { x: "name", y: "name", fill: "#eef1f4" }),
      Plot.cell(values, { x: "column", y: "row", fill: "kappa", inset: 1, title: (cell: { row: string; column: string; kappa: number }) => `${cell.row} and ${cell.column}: ${fixed(cell.kappa, 3)}` }),
      Plot.text(values, { x: "column", y: "row", text: (cell: { kappa: number }) => fixed(cell.kappa, 3), fill: "#1b2733" }),
    ],
  });
}

/** As much of a name as fits over a column. */
export function short(name: string, room: number): string {
  const most = Math.max(4, Math.floor(room / 6.4));
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

export function calibration(name: string, found: Calibration, width: number): Element {
  const size = Math.min(width, 320);
  const most = Math.max(1, ...found.points.map((point) => point[2]));
  const levels = found.levels.filter((level) => level.people.value !== null && level.panel_mean !== null);
  return draw({
    width: size,
    height: Math.round(size * 0.92),
    marginLeft: 34,
    x: { domain: [0.8, 5.2], ticks: [1, 2, 3, 4, 5], tickFormat: "d", label: "Panel →" },
    y: { domain: [0.8, 5.2], ticks: [1, 2, 3, 4, 5], tickFormat: "d", label: "↑ People", grid: true },
    ariaLabel: `${FACETS[name] ?? name}: people's ratings by the panel's score`,
    marks: [
      Plot.line([[1, 1], [5, 5]], { stroke: MUTED, strokeDasharray: "4 3" }),
      Plot.dot(found.points, { x: "0", y: "1", r: (point: [number, number, number]) => 1.5 + 4 * Math.sqrt(point[2] / most), fill: LINE, fillOpacity: 0.8, stroke: "#b3c0cc", title: (point: [number, number, number]) => `Panel ${fixed(point[0], 2)}, people ${fixed(point[1], 2)}: ${point[2]}` }),
      Plot.ruleX(levels.filter((level) => level.people.low !== null), { x: "panel_mean", y1: (level: { people: { low: number } }) => level.people.low, y2: (level: { people: { high: number } }) => level.people.high, stroke: BAND, strokeWidth: 6 }),
      Plot.dot(levels, { x: "panel_mean", y: (level: { people: { value: number } }) => level.people.value, r: 4, fill: ACCENT, title: (level: { level: number; n: number; people: { value: number } }) => `Panel rounds to ${level.level}: people ${fixed(level.people.value, 2)}, n ${level.n}` }),
    ],
  });
}
