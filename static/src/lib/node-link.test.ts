import * as dagre from "@dagrejs/dagre";
import { describe, expect, it } from "vitest";
import { modelOf } from "./model";
import { layoutNodeLink, linkPath } from "./node-link";
import { CLINICAL } from "./testing";

describe("node-link picture", () => {
  const layout = layoutNodeLink(modelOf(CLINICAL), dagre);

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

  it("bends a line at its inner points", () => {
    expect(linkPath([{ x: 0, y: 0 }, { x: 4, y: 10 }, { x: 0, y: 20 }])).toBe("M0 0Q4 10 2 15L0 20");
    expect(linkPath([])).toBe("");
  });
});
