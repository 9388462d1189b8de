import * as dagre from "@dagrejs/dagre";
import { describe, expect, it } from "vitest";
import { modelOf } from "./model";
import { MOST_RELATIONS, layoutNodeLink, linkPath, linkedEdges } from "./node-link";
import { CLINICAL, auditOf } from "./testing";

describe("node-link picture", () => {
  const clinical = modelOf(CLINICAL);
  const layout = layoutNodeLink(clinical, linkedEdges(clinical).edges, dagre);

  it("has a node per segment, a joint per larger set and a line per premise and set", () => {
    expect(layout.nodes).toHaveLength(10);
    expect(layout.joints).toHaveLength(5);
    // 3 single edges, 5 sets of two premises with 3 lines each.
    expect(layout.links).toHaveLength(3 + 5 * 3);
    expect(layout.links.filter((link) => link.head)).toHaveLength(8);
  });

  it("puts every target below its premises, inside the picture", () => {
    const y = new Map(layout.nodes.map((node) => [node.index, node.y]));
    for (const { edge } of layout.links) for (const premise of edge.premises) expect(y.get(edge.target)).toBeGreaterThan(y.get(premise) ?? Infinity);
    for (const node of layout.nodes) expect(node.x > 0 && node.x < layout.width && node.y > 0 && node.y < layout.height).toBe(true);
  });

  it("draws all relations of a small trace and only the best of each segment in a dense one", () => {
    expect(linkedEdges(clinical)).toMatchObject({ all: 8, edges: { length: 8 } });
    const labels = Array.from({ length: 13 }, () => "supported" as const);
    const pairs = labels.flatMap((_, k) => Array.from({ length: k + 1 }, (_, p) => [[p + 1], k + 2, "implied"] as [number[], number, "implied"]));
    const dense = linkedEdges(modelOf(auditOf(labels, pairs)));
    expect(dense.all).toBe(91); // 1 + 2 + ... + 13
    expect(dense.all).toBeGreaterThan(MOST_RELATIONS);
    expect(dense.edges.map((edge) => edge.key).slice(0, 3)).toEqual(["1>2", "2>3", "3>4"]);
    expect(dense.edges).toHaveLength(13);
  });

  it("bends a line at its inner points", () => {
    expect(linkPath([{ x: 0, y: 0 }, { x: 4, y: 10 }, { x: 0, y: 20 }])).toBe("M0 0Q4 10 2 15L0 20");
    expect(linkPath([])).toBe("");
  });
});
