import { describe, expect, it } from "vitest";
import type { Charts, FailureGroup } from "./study-charts";
import { cellAddress, changes, coefficients, dots, equalF1, links, stacks } from "./study-charts";

const some = (value: number | null, low: number | null = null, high: number | null = null) => ({ value, low, high, n: 10 });
const charts: Charts = {
  comparison: {
    rows: [
      { model: "a", roles: [{ role: "judge", rates: { tpr: some(0.9, 0.8, 1), tnr: some(0.2) } }, { role: "labeller", rates: { tpr: some(0.5), tnr: some(0.6) } }] },
      { model: "b", roles: [{ role: "judge", rates: { tpr: some(null), tnr: some(0.2) } }] },
    ],
  },
  across: {
    here: "Ward",
    there: "Proofs",
    rows: [
      { role: "judge", model: "a", here: { tpr: some(1), tnr: some(0), balanced_f1: some(0.4, 0.3, 0.5) }, there: null },
      { role: "labeller", model: "a", here: { tpr: some(1), tnr: some(1), balanced_f1: some(null) }, there: { tpr: some(1), tnr: some(1), balanced_f1: some(0.6) } },
    ],
  },
  failure_modes: { groups: [] },
  agreement: { columns: [{ key: "raw", title: "Raw" }, { key: "cohen", title: "Kappa" }], rows: [{ words: "All", measures: { raw: some(1), cohen: some(null) } }] },
  pace: { people: [] },
};

describe("what charts are drawn from", () => {
  it("leaves out what is undefined and never draws it as 0", () => {
    expect(dots(charts).map((dot) => [dot.model, dot.role])).toEqual([["a", "judge"], ["a", "labeller"]]);
    expect(coefficients(charts)).toEqual([{ row: "All", column: "Raw", value: 1, low: 1, high: 1, title: "All, Raw: 1.00" }]);
    expect(changes(charts).map((one) => [one.set, one.role, one.value])).toEqual([["Ward", "judge", 0.4], ["Proofs", "labeller", 0.6]]);
  });

  it("joins the two roles of one model", () => {
    expect(links(dots(charts)).map(({ model, from, to }) => [model, from.role, to.role])).toEqual([["a", "judge", "labeller"]]);
  });

  it("draws lines of equal balanced F1 within the square", () => {
    for (const value of [0.2, 0.8]) {
      for (const { tnr, tpr } of equalF1(value)) {
        expect((2 * tnr * tpr) / (tnr + tpr)).toBeCloseTo(value, 9);
        expect(tnr).toBeLessThanOrEqual(1);
        expect(tpr).toBeLessThanOrEqual(1 + 1e-9);
      }
    }
  });

  it("stacks parts that add up to all segments, without empty ones", () => {
    const group: FailureGroup = {
      title: "Clinical",
      cases: 2,
      segments: 8,
      bars: [{ model: "a", n: 8, counts: { supported: 4, unsupported: 0, orphan: 3, contradicted: 1 }, percent: {}, ratio: null, cells: { orphan: "x|y" } }],
    };
    expect(stacks(group).map((bar) => [bar.label, bar.from, bar.to, bar.cell])).toEqual([
      ["supported", 0, 50, ""],
      ["orphan", 50, 87.5, "x|y"],
      ["contradicted", 87.5, 100, ""],
    ]);
  });

  it("opens segments under the choices of the page", () => {
    expect(cellAddress("?gold=senior&pair=a&pair=b&page=3&q=x&cell=all", "m|clinical|orphan")).toBe("?gold=senior&pair=a&pair=b&cell=m%7Cclinical%7Corphan#segments");
  });
});
