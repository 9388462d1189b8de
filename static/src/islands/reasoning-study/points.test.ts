import { describe, expect, it } from "vitest";
import type { StudyCharts } from "./points";
import { ends, firstPair, fitWords, limits, points } from "./points";

const charts: StudyCharts = {
  questions: {
    case: [4, 7, 9],
    title: ["A", "B", "C"],
    cell: ["both", null, "gsc_only"],
    quadrant: ["Noisy", null, "Confused"],
    grcs: [0.5, null, 0.9],
    entropy: [1, 2, 3],
    early_gold: [null, null, null],
    early_own: [0.25, 0.5, 0.75],
  },
  metrics: [
    { name: "entropy", title: "Entropy" },
    { name: "grcs", title: "GRCS" },
  ],
  faithfulness: [
    { name: "early_gold", title: "Gold" },
    { name: "early_own", title: "Own" },
  ],
  fits: {},
  topology: null,
  ablation: null,
};

describe("points", () => {
  it("leaves out questions that lack a value, and keeps whose they are", () => {
    expect(points(charts, "grcs", "early_own")).toEqual([
      { x: 0.5, y: 0.25, case: 4, title: "A", cell: "both" },
      { x: 0.9, y: 0.75, case: 9, title: "C", cell: "gsc_only" },
    ]);
    expect(points(charts, "entropy", "early_own")[1]!.cell).toBe("none");
    expect(points(charts, "nothing", "early_own")).toEqual([]);
  });

  it("begins with GRCS and the first faithfulness that has values", () => {
    expect(firstPair(charts)).toEqual({ metric: "grcs", faithfulness: "early_own" });
    expect(firstPair({ ...charts, faithfulness: [charts.faithfulness[0]!] })).toBeNull();
  });

  it("draws a fitted line from the leftmost to the rightmost point", () => {
    const line = { slope: -2, intercept: 3, r: -0.5, p: 0.1, n: 2 };
    const found = points(charts, "grcs", "early_own");
    expect(ends(line, found)).toEqual([
      { x: 0.5, y: 2 },
      { x: 0.9, y: 1.2 },
    ]);
    expect(ends(null, found)).toBeNull();
    expect(fitWords(line, 2)).toBe("2 questions, slope −2.00, r −0.50");
    expect(fitWords({ ...line, r: null }, 2)).toContain("r undefined");
    expect(fitWords(null, 1)).toBe("1 question, no line: too few, or all values are equal");
  });

  it("gives equal values some room", () => {
    expect(limits([2, 2])).toEqual([1.8, 2.2]);
    expect(limits([0, 0])).toEqual([-0.1, 0.1]);
  });
});
