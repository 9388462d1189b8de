import { describe, expect, it } from "vitest";
import { layoutMatrix, matrixEdges, overviewCells, overviewPaths } from "./matrix";
import { modelOf } from "./model";
import { CLINICAL, auditOf } from "./testing";

const clinical = modelOf(CLINICAL);
const contradicted = modelOf(
  auditOf(["supported", "contradicted"], [
    [[1], 2, "entailment"],
    [[1], 3, "contradiction", "contradiction"],
    [[2], 3, "implied"],
    [[1, 2], 3, "neutral", "neutral"],
  ], { 3: { contradicted: true, contradicting: [[1]] } }),
);

describe("matrix", () => {
  it("has a row per segment and a column per kept or contradicting relation", () => {
    const layout = layoutMatrix(clinical, { selected: 8, available: 356 });
    expect(layout.rows).toHaveLength(10);
    expect(layout.columns).toHaveLength(8);
    expect(layout.columns.filter((column) => column.strong).map((column) => column.edge.key)).toEqual(["4,5>8"]);
    expect(layout.width).toBe(356);
  });

  it("puts columns target by target, support before evidence against, and leaves neutral relations out", () => {
    expect(matrixEdges(contradicted).map((edge) => edge.key)).toEqual(["1>2", "2>3", "1>3"]);
  });

  it("has the circles on the premises' rows and the end on the target's row", () => {
    const layout = layoutMatrix(clinical, { selected: 8, available: 356, rowHeight: 20 });
    const column = layout.columns.find((item) => item.edge.key === "4,5>8");
    expect(column?.premises).toEqual([70, 90]);
    expect(column?.target).toBe(150);
  });

  it("grows wider when the columns get too narrow", () => {
    const layout = layoutMatrix(clinical, { selected: 8, available: 40, narrowest: 13 });
    expect(layout.columnWidth).toBe(13);
    expect(layout.width).toBe(8 * 13);
  });

  it("can show one target with only the rows it touches", () => {
    const layout = layoutMatrix(clinical, { selected: 10, available: 356, onlySelected: true });
    expect(layout.columns).toHaveLength(3);
    expect(layout.rows.map((row) => row.index)).toEqual([5, 6, 7, 8, 9, 10]);
  });
});

describe("overview", () => {
  it("has one cell per premise and target, alone before set, support before contradiction", () => {
    expect(overviewCells(contradicted)).toEqual([
      { premise: 1, target: 2, label: "entailment", alone: true },
      { premise: 2, target: 3, label: "implied", alone: true },
      { premise: 1, target: 3, label: "contradiction", alone: true },
    ]);
    // S1..S4 as premises: {1}>2, {1}>3, {1}>4, {2,3}>4, {4,5}>8, {5,6}, {7,8}, {8,9}>10 where S8 is shared by two sets.
    expect(overviewCells(clinical)).toHaveLength(3 + 2 + 2 + 5);
  });

  it("draws all cells of a kind as one path", () => {
    const paths = overviewPaths(overviewCells(clinical), 10);
    expect(paths.map((path) => `${path.label} ${path.alone}`).sort()).toEqual(["entailment true", "implied false", "implied true"]);
    const cells = paths.reduce((sum, path) => sum + path.path.split("M").length - 1, 0);
    expect(cells).toBe(12);
    expect(paths.find((path) => path.label === "entailment")?.path).toContain("M11 1h8v8h-8z");
  });
});
