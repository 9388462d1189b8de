// The charts of a study, by Observable Plot. Colour never stands alone: cells have a symbol too.
import * as Plot from "@observablehq/plot";
import { addressOf, fixed } from "../../lib/words";
import { draw } from "../shared/plot";
import type { CompareCharts, Point, StudyCharts } from "./points";
import { CELL_WORDS, ends, limits, points } from "./points";

const LINE = "#8497a8";
const ACCENT = "#0b5c8f";
const CELLS = ["both", "gsc_only", "sc_only", "neither", "none"];
const CELL_COLOURS = ["#2f7d54", "#0b5c8f", "#9a5b00", "#b3261e", "#7a8896"];
const CELL_SYMBOLS = ["circle", "star", "diamond", "times", "plus"] as const;
const STUDY_COLOURS = ["#0b5c8f", "#9a5b00", "#2f7d54", "#8a3a72", "#b3261e", "#4a5c6d", "#5b6f1f", "#1c7c80", "#6a4fb3", "#a34a28", "#3d3d3d", "#8a7a1f"];
const STUDY_SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "times", "plus", "asterisk", "hexagon", "square2"] as const;

interface Place {
  width: number;
  /** Address of question 0, from which those of the others follow. */
  address: string;
}

const said = (point: Point): string => `${point.title}: ${fixed(point.x, 3)}, ${fixed(point.y, 3)}; ${CELL_WORDS[point.cell] ?? point.cell}`;

function dots(found: Point[], address: string): Plot.Markish {
  return Plot.dot(found, {
    x: "x",
    y: "y",
    r: found.length > 300 ? 2.5 : 3.5,
    symbol: "cell",
    stroke: "cell",
    strokeWidth: 1.3,
    strokeOpacity: found.length > 300 ? 0.6 : 0.9,
    title: said,
    href: (point: Point) => addressOf(address, point.case),
    ariaLabel: said,
  });
}

const cellScales = {
  color: { domain: CELLS, range: CELL_COLOURS },
  symbol: { domain: CELLS, range: [...CELL_SYMBOLS] },
};

export function scatter(charts: StudyCharts, metric: string, faithfulness: string, { width, address }: Place): Element {
  const found = points(charts, metric, faithfulness);
  const line = ends(charts.fits[`${metric}|${faithfulness}`], found);
  const name = (list: { name: string; title: string }[], key: string): string => list.find((one) => one.name === key)?.title ?? key;
  const size = Math.min(width, 720);
  return draw({
    width: size,
    height: Math.round(size * 0.5),
    marginLeft: 46,
    x: { label: `${name(charts.metrics, metric)} →`, nice: true },
    y: { domain: [-0.02, 1.02], label: `↑ ${name(charts.faithfulness, faithfulness)}`, ticks: 5, grid: true },
    ...cellScales,
    ariaLabel: `${name(charts.metrics, metric)} against ${name(charts.faithfulness, faithfulness)}, a point a question`,
    marks: [...(line ? [Plot.line(line, { x: "x", y: "y", stroke: ACCENT, strokeWidth: 1.5, clip: true })] : []), dots(found, address)],
  });
}

export function topology(charts: StudyCharts, { width, address }: Place): Element {
  const found = points(charts, "divergence", "entropy");
  const origin = charts.topology!.origin;
  const density = charts.topology!.density;
  const x = limits([...found.map((point) => point.x), origin[0]]);
  const y = limits([...found.map((point) => point.y), origin[1]]);
  const size = Math.min(width, 620);
  const corners = [
    { x: x[0], y: y[0], name: "Confident", anchor: "bottom-left" },
    { x: x[0], y: y[1], name: "Multi-Path", anchor: "top-left" },
    { x: x[1], y: y[0], name: "Noisy", anchor: "bottom-right" },
    { x: x[1], y: y[1], name: "Confused", anchor: "top-right" },
  ] as const;
  return draw({
    width: size,
    height: Math.round(size * 0.66),
    marginLeft: 44,
    x: { domain: x, label: "Divergence →" },
    y: { domain: y, label: "↑ Entropy" },
    ...cellScales,
    ariaLabel: "Questions by divergence and entropy, with the density of the points and four quadrants",
    marks: [
      ...(density
        ? [
            Plot.contour(density.values, {
              width: density.width,
              height: density.height,
              x1: density.x[0],
              x2: density.x[1],
              y1: density.y[0],
              y2: density.y[1],
              thresholds: [0.1, 0.25, 0.5, 0.75],
              stroke: "#b9cbd9",
              fill: "none",
            }),
          ]
        : []),
      Plot.ruleX([origin[0]], { stroke: LINE, strokeDasharray: "4 3" }),
      Plot.ruleY([origin[1]], { stroke: LINE, strokeDasharray: "4 3" }),
      dots(found, address),
      ...corners.map((corner) => Plot.text([corner], { x: "x", y: "y", text: "name", frameAnchor: corner.anchor, textAnchor: corner.anchor.endsWith("left") ? "start" : "end", dx: corner.anchor.endsWith("left") ? 6 : -6, dy: corner.anchor.startsWith("top") ? 8 : -8, fill: "#556474", fontWeight: 600, stroke: "#fff", strokeWidth: 3 })),
    ],
  });
}

export function ablation(charts: StudyCharts, { width, address }: Place): Element {
  const found = points(charts, "accuracy_change", "faithfulness_change");
  const line = ends(charts.ablation, found);
  const size = Math.min(width, 620);
  return draw({
    width: size,
    height: Math.round(size * 0.6),
    marginLeft: 44,
    x: { domain: [-1.05, 1.05], label: "Change in accuracy →", ticks: 5 },
    y: { domain: [-1.05, 1.05], label: "↑ Change in faithfulness", ticks: 5 },
    ...cellScales,
    ariaLabel: "Change in faithfulness by change in accuracy without the medoid, a point a question",
    marks: [
      Plot.ruleX([0], { stroke: LINE }),
      Plot.ruleY([0], { stroke: LINE }),
      ...(line ? [Plot.line(line, { x: "x", y: "y", stroke: ACCENT, strokeWidth: 1.5, clip: true })] : []),
      dots(found, address),
    ],
  });
}

export function compare(charts: CompareCharts, width: number): Element {
  // Two studies may have one name; their slugs differ.
  const slugs = charts.studies.map((study) => study.slug);
  const all = charts.studies.flatMap(({ slug, points }) => points.map(([x, y]) => ({ x, y, study: slug })));
  const means = charts.studies.flatMap(({ slug, name, mean }) => (mean ? [{ x: mean[0], y: mean[1], study: slug, name }] : []));
  const size = Math.min(width, 820);
  return draw({
    width: size,
    height: Math.round(size * 0.6),
    marginLeft: 44,
    x: { domain: limits([...all.map((point) => point.x), charts.origin[0]]), label: "Divergence →" },
    y: { domain: limits([...all.map((point) => point.y), charts.origin[1]]), label: "↑ Entropy" },
    color: { domain: slugs, range: STUDY_COLOURS },
    symbol: { domain: slugs, range: [...STUDY_SYMBOLS] },
    ariaLabel: "Questions of several studies by divergence and entropy, with the mean of each study",
    marks: [
      Plot.ruleX([charts.origin[0]], { stroke: LINE, strokeDasharray: "4 3" }),
      Plot.ruleY([charts.origin[1]], { stroke: LINE, strokeDasharray: "4 3" }),
      Plot.dot(all, { x: "x", y: "y", r: 2.2, symbol: "study", stroke: "study", strokeOpacity: all.length > 500 ? 0.35 : 0.6 }),
      Plot.dot(means, { x: "x", y: "y", r: 7, symbol: "study", fill: "study", stroke: "#fff", strokeWidth: 1.5, title: (mean: { name: string; x: number; y: number }) => `Mean of ${mean.name}: ${fixed(mean.x, 3)}, ${fixed(mean.y, 3)}` }),
      // Means lie close together; every other name stands above its mark.
      ...[0, 1].map((odd) => Plot.text(means.filter((_, place) => place % 2 === odd), { x: "x", y: "y", text: "name", dx: 11, dy: odd ? -10 : 10, textAnchor: "start", fill: "#1b2733", stroke: "#fff", strokeWidth: 3 })),
    ],
  });
}

/** Words and symbols of the cells that occur. */
export function cellLegend(cells: Iterable<string>): { cell: string; words: string; mark: Element }[] {
  const there = new Set(cells);
  return CELLS.filter((cell) => there.has(cell)).map((cell) => ({
    cell,
    words: CELL_WORDS[cell]!,
    mark: draw({
      width: 14,
      height: 14,
      margin: 0,
      x: { axis: null, domain: [0, 1] },
      y: { axis: null, domain: [0, 1] },
      ...cellScales,
      marks: [Plot.dot([{ cell }], { x: 0.5, y: 0.5, r: 4, symbol: "cell", stroke: "cell", strokeWidth: 1.3 })],
    }),
  }));
}
