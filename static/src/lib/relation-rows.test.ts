import { describe, expect, it } from "vitest";
import { modelOf } from "./model";
import { NO_FILTER, filterRelations, rowWindow, sortRelations } from "./relation-rows";
import { CLINICAL } from "./testing";

const { edges } = modelOf(CLINICAL);
const keys = (list: typeof edges): string[] => list.map((edge) => edge.key);

describe("relations table", () => {
  it("filters by target, label, kept and reason together", () => {
    expect(filterRelations(edges, NO_FILTER)).toHaveLength(11);
    expect(keys(filterRelations(edges, { ...NO_FILTER, target: 5 }))).toEqual(["2>5", "3>5", "4>5"]);
    expect(keys(filterRelations(edges, { ...NO_FILTER, target: 5, label: "implied" }))).toEqual(["2>5"]);
    expect(keys(filterRelations(edges, { ...NO_FILTER, kept: "removed", reason: "neutral" }))).toEqual(["3>5", "4>5"]);
    expect(filterRelations(edges, { ...NO_FILTER, kept: "kept", reason: "neutral" })).toEqual([]);
  });

  it("finds relations without a label", () => {
    const unlabelled = edges.map((edge, k) => (k === 0 ? { ...edge, label: null } : edge));
    expect(keys(filterRelations(unlabelled, { ...NO_FILTER, label: "missing" }))).toEqual(["1>2"]);
  });

  it("sorts by rank, not by word, and keeps candidate order among equals", () => {
    const sorted = sortRelations(edges, { column: "label", descending: true });
    expect(keys(sorted).slice(0, 4)).toEqual(["1>2", "1>4", "1>3", "2,3>4"]);
    expect(keys(sorted).slice(-2)).toEqual(["3>5", "4>5"]);
    expect(sortRelations(edges, { column: "order", descending: false })).toBe(edges);
    expect(keys(sortRelations(edges, { column: "target", descending: true }))[0]).toBe("5,6>10");
  });

  it("puts only the rows in view and a margin into the document", () => {
    expect(rowWindow(10_660, 0, 560, 28, 12)).toEqual({ start: 0, end: 32 });
    expect(rowWindow(10_660, 28_000, 560, 28, 12)).toEqual({ start: 988, end: 1032 });
    expect(rowWindow(10_660, 10_660 * 28, 560, 28, 12)).toEqual({ start: 10_648, end: 10_660 });
    expect(rowWindow(3, 0, 560, 28)).toEqual({ start: 0, end: 3 });
    // The list became shorter than the scroll position.
    expect(rowWindow(3, 28_000, 560, 28)).toEqual({ start: 3, end: 3 });
  });
});
