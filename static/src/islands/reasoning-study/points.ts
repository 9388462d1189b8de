// From the columns of the page's JSON to what the charts draw. Pure; the fits are the server's.
import { fixed, plural } from "../../lib/words";

export interface Line {
  slope: number;
  intercept: number;
  r: number | null;
  p: number | null;
  n: number;
}

export interface Density {
  x: [number, number];
  y: [number, number];
  width: number;
  height: number;
  values: number[];
}

export interface Named {
  name: string;
  title: string;
}

export interface StudyCharts {
  /** A column for each name; the same length each. Values that could not be computed are null. */
  questions: { case: number[]; title: string[]; cell: (string | null)[]; quadrant: (string | null)[] } & Record<string, (number | string | null)[]>;
  metrics: Named[];
  faithfulness: Named[];
  fits: Record<string, Line | null>;
  topology: { origin: [number, number]; density: Density | null } | null;
  ablation: Line | null;
}

export interface CompareCharts {
  origin: [number, number];
  quadrants: string[];
  studies: { slug: string; name: string; n: number; mean: [number, number] | null; counts: number[]; points: [number, number][] }[];
}

/** What is drawn against what. */
export interface Pair {
  metric: string;
  faithfulness: string;
}

export interface Point {
  x: number;
  y: number;
  case: number;
  title: string;
  cell: string;
}

export const CELL_WORDS: Record<string, string> = {
  both: "both right",
  sc_only: "only the vote right",
  gsc_only: "only the medoid right",
  neither: "neither right",
  none: "not known",
};

/** The questions that have both values. */
export function points(charts: StudyCharts, x: string, y: string): Point[] {
  const { questions } = charts;
  const [across, up] = [questions[x] ?? [], questions[y] ?? []];
  return questions.case.flatMap((number, place) => {
    const [left, right] = [across[place], up[place]];
    if (typeof left !== "number" || typeof right !== "number") return [];
    return [{ x: left, y: right, case: number, title: questions.title[place] ?? "", cell: questions.cell[place] ?? "none" }];
  });
}

/** Both ends of a fitted line over the range of the points; null where there is no line. */
export function ends(line: Line | null | undefined, found: Point[]): { x: number; y: number }[] | null {
  if (!line || found.length < 2) return null;
  const xs = found.map((point) => point.x);
  return [Math.min(...xs), Math.max(...xs)].map((x) => ({ x, y: line.intercept + line.slope * x }));
}

/** The first pair that has points: the metric of the paper with early answering, else whatever there is. */
export function firstPair(charts: StudyCharts): Pair | null {
  const metrics = [...charts.metrics].sort((a, b) => Number(b.name === "grcs") - Number(a.name === "grcs"));
  for (const faithfulness of charts.faithfulness) {
    for (const metric of metrics) {
      if (points(charts, metric.name, faithfulness.name).length) return { metric: metric.name, faithfulness: faithfulness.name };
    }
  }
  return null;
}

/** Limits that hold points and origin, a tenth wider on both sides. */
export function limits(values: number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const edge = (high - low) * 0.1 || Math.abs(high) * 0.1 || 0.1;
  return [low - edge, high + edge];
}

/** "212 questions, slope −0.31, r −0.41". `found`: points that are drawn. */
export function fitWords(line: Line | null | undefined, found: number): string {
  if (!line) return `${plural(found, "question")}, no line: too few, or all values are equal`;
  const r = line.r === null ? "r undefined" : `r ${fixed(line.r)}`;
  return `${plural(line.n, "question")}, slope ${fixed(line.slope)}, ${r}`;
}
