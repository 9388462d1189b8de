import { describe, expect, it } from "vitest";
import { modelOf } from "./model";
import { CLINICAL, auditOf } from "./testing";
import { walk } from "./tree";
import { BOX_HEIGHT, fitTree, layoutTree } from "./tree-layout";

const clinical = modelOf(CLINICAL);

function overlaps(width: number, target: number, model = clinical): number {
  const { boxes } = layoutTree(fitTree(model, target, width), model, width);
  let count = 0;
  boxes.forEach((a, k) => {
    for (const b of boxes.slice(k + 1)) {
      if (a.y === b.y && a.x < b.x + b.width - 0.01 && b.x < a.x + a.width - 0.01) count++;
    }
  });
  return count;
}

describe("tree layout", () => {
  it("fits the clinical case into the pane with the mock's parts", () => {
    const root = fitTree(clinical, 8, 468);
    const layout = layoutTree(root, clinical, 468);
    expect(layout.width).toBe(468);
    // S8; S4, S5; S1 and the shared box of S2, S3.
    expect(layout.boxes.map((box) => box.nodes.map((node) => node.segment.index))).toEqual([[8], [4], [1], [2, 3], [5]]);
    expect(layout.pills).toHaveLength(1);
    expect(layout.ors).toHaveLength(1);
    expect(layout.labels.map((label) => label.edge.label)).toEqual(["implied", "entailment", "implied"]);
    expect(layout.reasons.map((reason) => reason.text)).toEqual(["no support edge kept (2 neutral, 1 pruned by distance)"]);
    for (const box of layout.boxes) expect(box.x >= 0 && box.x + box.width <= 468 && box.y + BOX_HEIGHT <= layout.height).toBe(true);
  });

  it("draws no box over another, at any width and for every segment", () => {
    for (const width of [300, 420, 468, 900]) for (let target = 2; target <= 10; target++) expect(overlaps(width, target)).toBe(0);
  });

  it("opens more sets where there is room", () => {
    const narrow = fitTree(clinical, 10, 420);
    const wide = fitTree(clinical, 10, 1600);
    expect(narrow.alternatives).toHaveLength(1);
    expect(narrow.more).toBe(2);
    expect(wide.alternatives).toHaveLength(3);
  });

  it("keeps what the reader opened, even where it does not fit", () => {
    const root = fitTree(clinical, 10, 420, new Map([[10, { support: 3, against: 0 }]]));
    expect(root.alternatives).toHaveLength(3);
    expect(layoutTree(root, clinical, 420).width).toBeGreaterThan(420);
    expect(overlaps(420, 10)).toBe(0);
  });

  it("stops four levels below the sink", () => {
    const labels = Array.from({ length: 9 }, () => "supported" as const);
    const chain = modelOf(auditOf(labels, labels.map((_, k) => [[k + 1], k + 2, "entailment"])));
    const nodes = walk(fitTree(chain, 10, 468));
    expect(nodes.map((node) => node.segment.index)).toEqual([10, 9, 8, 7, 6]);
    expect(nodes.at(-1)?.more).toBe(1);
  });

  it("gives a contradicting set a dotted line with a cross and no arrow", () => {
    const model = modelOf(auditOf(["contradicted"], [[[1], 2, "contradiction", "contradiction"]], { 2: { contradicted: true, contradicting: [[1]] } }));
    const layout = layoutTree(fitTree(model, 2, 468), model, 468);
    expect(layout.lines.map((line) => line.kind)).toEqual(["contradiction"]);
    expect(layout.reasons).toEqual([]);
  });
});
