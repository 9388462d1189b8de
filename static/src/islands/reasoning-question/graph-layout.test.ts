import { describe, expect, it } from "vitest";
import { BOX_HEIGHT, freeLane, layoutGraph } from "./graph-layout";

const overlap = (a: { x: number; y: number }, b: { x: number; y: number }): boolean => a.x === b.x && Math.abs(a.y - b.y) < BOX_HEIGHT;

describe("graph of a chain", () => {
  // Steps 1 and 2 start, 3 follows 1, 4 follows 1 and 3, 5 follows 2 and 4: the chain of the target picture.
  const steps = [1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5];
  const edges: [number, number][] = [[1, 5], [1, 6], [1, 7], [6, 7], [6, 8], [4, 9], [8, 9], [4, 10], [8, 10]];
  const layout = layoutGraph(steps, edges, 520);
  const x = (fact: number): number => layout.boxes.find((box) => box.fact === fact)!.x;

  it("puts every step to the right of those it depends on", () => {
    for (const [from, to] of edges) expect(x(from)).toBeLessThan(x(to));
    expect(x(0)).toBe(x(4));
    expect(new Set(layout.boxes.map((box) => box.x)).size).toBe(4);
    expect(layout.labels.map((label) => label.step)).toEqual([1, 2, 3, 4, 5]);
  });

  it("fits four layers into the pane, and no box covers another", () => {
    expect(layout.width).toBeLessThanOrEqual(520);
    layout.boxes.forEach((box, k) => layout.boxes.slice(k + 1).forEach((other) => expect(overlap(box, other)).toBe(false)));
    for (const box of layout.boxes) expect(box.y + BOX_HEIGHT).toBeLessThanOrEqual(layout.height);
  });

  it("leads an arrow over a column past the boxes that stand in it", () => {
    const columns = [...new Set(layout.boxes.map((box) => box.x))].sort((a, b) => a - b);
    const over = layout.arrows.filter(({ from, to }) => columns.indexOf(x(to)) - columns.indexOf(x(from)) > 1);
    expect(over.map(({ from, to }) => [from, to])).toEqual([[1, 7], [4, 9], [4, 10]]);
    for (const { path } of over) {
      // A lane is the level part of the path: the height before each H.
      for (const [, place, height] of path.matchAll(/ ([\d.]+) ([\d.]+)H[\d.]+/g)) {
        const inColumn = layout.boxes.filter((box) => box.x === Number(place));
        expect(inColumn.length).toBeGreaterThan(0);
        for (const box of inColumn) expect(Number(height) < box.y || Number(height) > box.y + BOX_HEIGHT).toBe(true);
      }
    }
  });

  it("is empty without facts, and wider than the pane where many layers need it", () => {
    expect(layoutGraph([], [], 520)).toMatchObject({ boxes: [], arrows: [], labels: [] });
    const row = Array.from({ length: 10 }, (_, k) => k);
    const chained = row.slice(1).map((k): [number, number] => [k - 1, k]);
    expect(layoutGraph(row, chained, 520).width).toBeGreaterThan(520);
  });

  it("takes the nearest free height", () => {
    expect(freeLane([100, 200], 50)).toBe(50);
    expect(freeLane([100], 110)).toBe(97);
    expect(freeLane([100], 140)).toBe(100 + BOX_HEIGHT + 3);
    // There is nothing above the pane.
    expect(freeLane([0], 5)).toBe(BOX_HEIGHT + 3);
  });
});
