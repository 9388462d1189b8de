// The charts, by Observable Plot. Each returns an element; colours that say a role or a label come from results.css.
import * as Plot from "@observablehq/plot";
import type { Charts, ControlChart, FailureGroup } from "../../lib/study-charts";
import { AUDIT_LABELS, cellAddress, changes, coefficients, dots, equalF1, links, ROLE_WORDS, stacks } from "../../lib/study-charts";
import { draw } from "../shared/plot";

const JUDGE = "#4a5c6d";
const LABELLER = "#0b5c8f";
const LINE = "#d3dbe3";
const MUTED = "#556474";

export function comparison(charts: Charts, width: number): Element {
  const found = dots(charts);
  const size = Math.min(width, 760);
  const contours = [0.2, 0.4, 0.6, 0.8].map((value) => ({ value, points: equalF1(value) }));
  return draw({
    width: size,
    height: Math.round(size * 0.62),
    marginLeft: 44,
    marginRight: 110,
    x: { domain: [0, 1], label: "TNR: problems caught →", ticks: 5 },
    y: { domain: [0, 1], label: "↑ TPR: sound segments trusted", ticks: 5 },
    ariaLabel: "TPR by TNR of every model in both roles",
    marks: [
      ...contours.map(({ points }) => Plot.line(points, { x: "tnr", y: "tpr", stroke: LINE })),
      Plot.text(contours, { x: 1, y: (d: { points: { tpr: number }[] }) => d.points[d.points.length - 1]!.tpr, text: (d: { value: number }) => `balanced F1 ${d.value}`, textAnchor: "start", dx: 4, fill: MUTED }),
      Plot.arrow(links(found), { x1: (d) => d.from.tnr, y1: (d) => d.from.tpr, x2: (d) => d.to.tnr, y2: (d) => d.to.tpr, stroke: "#9fb2c3", inset: 5, headLength: 5 }),
      Plot.ruleY(found, { y: "tpr", x1: "tnrLow", x2: "tnrHigh", stroke: (d) => (d.role === "judge" ? JUDGE : LABELLER), strokeOpacity: 0.35 }),
      Plot.ruleX(found, { x: "tnr", y1: "tprLow", y2: "tprHigh", stroke: (d) => (d.role === "judge" ? JUDGE : LABELLER), strokeOpacity: 0.35 }),
      Plot.dot(found, { x: "tnr", y: "tpr", r: 4, stroke: (d) => (d.role === "judge" ? JUDGE : LABELLER), fill: (d) => (d.role === "judge" ? "#fff" : LABELLER), strokeWidth: 1.5, title: "title" }),
      Plot.text(found.filter((dot) => dot.role === "labeller" || !found.some((one) => one.model === dot.model && one.role === "labeller")), { x: "tnr", y: "tpr", text: "model", dx: 8, textAnchor: "start", fill: "#1b2733", stroke: "#fff", strokeWidth: 3 }),
    ],
  });
}

export function failureModes(group: FailureGroup, width: number): Element {
  const bars = stacks(group);
  const models = group.bars.map((bar) => bar.model);
  const left = Math.min(170, 14 + 7 * Math.max(...models.map((model) => model.length)));
  return draw({
    width,
    height: 26 * models.length + 8,
    marginLeft: left,
    marginRight: 52,
    marginTop: 2,
    marginBottom: 4,
    x: { domain: [0, 100], axis: null },
    y: { domain: models, label: null, tickSize: 0 },
    ariaLabel: `Audit outcomes per relation labeller, ${group.title}`,
    marks: [
      ...AUDIT_LABELS.map((label) =>
        Plot.barX(bars.filter((bar) => bar.label === label), { y: "model", x1: "from", x2: "to", insetLeft: 1, insetRight: 1, insetTop: 1, insetBottom: 1, rx: 3, className: `bar-${label}`, title: "title", href: (bar: { cell: string }) => (bar.cell ? cellAddress(location.search, bar.cell) : null), ariaLabel: (bar: { title: string }) => bar.title }),
      ),
      ...AUDIT_LABELS.map((label) =>
        Plot.text(bars.filter((bar) => bar.label === label && (bar.share / 100) * (width - left - 52) > 22), { y: "model", x: (bar) => (bar.from + bar.to) / 2, text: (bar: { share: number }) => (bar.share < 6 ? bar.share.toFixed(0) : bar.share.toFixed(1)), className: `text-${label}`, pointerEvents: "none" }),
      ),
      Plot.text(group.bars, { y: "model", x: 100, text: (bar: { ratio: number | null }) => (bar.ratio === null ? "–" : `${bar.ratio.toFixed(1)} ×`), textAnchor: "start", dx: 8 }),
    ],
  });
}

export function agreement(charts: Charts, width: number): Element {
  const found = coefficients(charts);
  const rows = charts.agreement.rows.map((row) => row.words);
  const low = Math.min(0, ...found.map((one) => one.low));
  return draw({
    width,
    height: 40 + 30 * rows.length,
    marginLeft: 150,
    marginTop: 34,
    fx: { domain: (charts.agreement.columns ?? []).map((column) => column.title), label: null, padding: 0.16 },
    x: { domain: [low, 1], ticks: [0, 0.5, 1], label: null, grid: true },
    y: { domain: rows, label: null, tickSize: 0 },
    ariaLabel: "Agreement of the physicians with intervals",
    marks: [
      Plot.ruleX([0], { stroke: MUTED }),
      Plot.ruleY(found, { fx: "column", y: "row", x1: "low", x2: "high", stroke: "#a9cbe2", strokeWidth: 6 }),
      Plot.dot(found, { fx: "column", y: "row", x: "value", r: 3.5, fill: LABELLER, title: "title" }),
    ],
  });
}

export function across(charts: Charts, width: number): Element {
  const found = changes(charts);
  const names = [...new Set(found.map((one) => `${one.model}, ${ROLE_WORDS[one.role]}`))];
  const name = (one: { model: string; role: "judge" | "labeller" }): string => `${one.model}, ${ROLE_WORDS[one.role]}`;
  const fill = (one: { role: string }): string => (one.role === "judge" ? "#fff" : LABELLER);
  const stroke = (one: { role: string }): string => (one.role === "judge" ? JUDGE : LABELLER);
  return draw({
    width,
    height: 54 + 22 * names.length,
    marginLeft: Math.min(230, 14 + 6.4 * Math.max(0, ...names.map((one) => one.length))),
    marginTop: 30,
    fx: { domain: [charts.across.here, charts.across.there], label: null },
    x: { domain: [0, 1], ticks: 5, label: "balanced F1 →", grid: true },
    y: { domain: names, label: null, tickSize: 0 },
    ariaLabel: "Balanced F1 of every evaluator on both sets",
    marks: [
      Plot.ruleY(found, { fx: "set", y: name, x1: "low", x2: "high", stroke: "#b9cbd9", strokeWidth: 6 }),
      Plot.dot(found, { fx: "set", y: name, x: "value", r: 3.5, fill, stroke, strokeWidth: 1.5 }),
    ],
  });
}

export function controlChart(chart: ControlChart, width: number): Element {
  const speed = chart.key === "speed";
  const scaled = chart.points.map((point, place) => ({
    ...point,
    place: place + 1,
    value: point.value === null ? null : speed ? point.value / 1000 : 100 * point.value,
    low: point.low === null ? null : speed ? point.low / 1000 : 100 * point.low,
    high: point.high === null ? null : speed ? point.high / 1000 : 100 * point.high,
  }));
  const limited = scaled.filter((point) => point.low !== null && point.high !== null);
  const centre = chart.centre === null ? null : speed ? chart.centre / 1000 : 100 * chart.centre;
  return draw({
    width,
    height: 104,
    marginLeft: 44,
    marginTop: 8,
    marginBottom: 22,
    x: { domain: scaled.length === 1 ? [0.5, 1.5] : [1, scaled.length], ticks: Math.min(scaled.length, 6), tickFormat: "d", label: null },
    y: { zero: true, ticks: 3, label: null, tickFormat: (value: number) => (speed ? `${value} s` : `${value} %`) },
    ariaLabel: `${chart.title} by session`,
    marks: [
      Plot.areaY(limited, { x: "place", y1: "low", y2: "high", fill: "#e7f1f8" }),
      ...(centre === null ? [] : [Plot.ruleY([centre], { stroke: LINE })]),
      Plot.line(scaled, { x: "place", y: "value", stroke: "#7b95ab" }),
      Plot.dot(scaled, { x: "place", y: "value", r: 3, fill: (point: { outside: boolean }) => (point.outside ? "#b3261e" : LABELLER), symbol: (point: { outside: boolean }) => (point.outside ? "diamond" : "circle"), title: (point: { session: string; n: number }) => `Session ${point.session}, ${point.n} labels` }),
    ],
  });
}
