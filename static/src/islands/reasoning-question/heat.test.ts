import { describe, expect, it } from "vitest";
import { cellAt, heatColour, heatSize, isNamed, movedCell, scaleEnd } from "./heat";

describe("heat map", () => {
  it("runs from dark to light and stays inside its scale", () => {
    expect(heatColour(0, 1)).toBe("rgb(8, 48, 78)");
    expect(heatColour(1, 1)).toBe("rgb(243, 247, 250)");
    expect(heatColour(5, 1)).toBe(heatColour(1, 1));
    expect(heatColour(-1, 1)).toBe(heatColour(0, 1));
    // A third of the way is the second colour.
    expect(heatColour(0.3, 0.9)).toBe("rgb(46, 120, 172)");
  });

  it("ends its scale at the largest distance, rounded up to a tenth", () => {
    expect([scaleEnd([0.2, 0.834]), scaleEnd([0.9]), scaleEnd([0]), scaleEnd([])]).toEqual([0.9, 0.9, 0.1, 0.1]);
  });

  it("has whole pixels for few chains and stays in its room for many", () => {
    const few = heatSize(20, 400, 400);
    expect(Number.isInteger(few.cell)).toBe(true);
    for (const n of [1, 20, 100]) {
      const size = heatSize(n, 400, 400);
      expect(size.left + size.side).toBeLessThanOrEqual(400);
      expect(size.top + size.side).toBeLessThanOrEqual(400);
    }
    expect(heatSize(100, 400, 400).everyRow).toBeGreaterThan(1);
    expect(heatSize(5, 400, 400)).toMatchObject({ everyRow: 1, everyColumn: 1 });
  });

  it("finds the cell at a point and nothing beside the cells", () => {
    const size = heatSize(3, 200, 200);
    expect(cellAt(size, 3, size.left + 1, size.top + size.cell + 1)).toEqual([1, 0]);
    expect(cellAt(size, 3, size.left - 1, size.top + 1)).toBeNull();
    expect(cellAt(size, 3, size.left + size.side + 1, size.top + 1)).toBeNull();
  });

  it("moves by keys and stops at the edges", () => {
    expect(movedCell("ArrowRight", [1, 2], 3)).toEqual([1, 2]);
    expect(movedCell("ArrowUp", [1, 2], 3)).toEqual([0, 2]);
    expect(movedCell("Home", [1, 2], 3)).toEqual([1, 0]);
    expect(movedCell("PageDown", [0, 1], 3)).toEqual([2, 1]);
    expect(movedCell("Tab", [0, 0], 3)).toBeNull();
  });

  it("names the selected chain always, and no other beside it", () => {
    const named = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((k) => isNamed(k, 3, 4));
    expect(named).toEqual([0, 4]);
    expect([0, 1, 2, 3].filter((k) => isNamed(k, 2, -1))).toEqual([0, 2]);
  });
});
