import { describe, expect, it } from "vitest";
import { modelOf } from "./model";
import { CLINICAL, auditOf } from "./testing";
import type { SegmentNode } from "./tree";
import { OPEN_ALL, edgeSentence, moreLabel, openTree, orphanReason, statusLine, walk } from "./tree";

const clinical = modelOf(CLINICAL);

/** "8(4,5:implied(4(...) 5))" : the shape of a tree in one line; "*" marks a reference. */
function shape(node: SegmentNode): string {
  const edges = [...node.alternatives, ...node.against].map(
    (edge) => `${edge.edge.label}${edge.failing.length ? "!" : ""}:${edge.premises.map(shape).join("+")}`,
  );
  return `${node.segment.index}${node.reference ? "*" : ""}${edges.length ? `(${edges.join("|")})` : ""}`;
}

describe("support tree", () => {
  it("has AND premises and or alternatives down to the context", () => {
    expect(shape(openTree(clinical, 4, OPEN_ALL))).toBe("4(entailment:1|implied:2(entailment:1)+3(implied:1))");
  });

  it("marks the failing premise of an unsupported sink", () => {
    const root = openTree(clinical, 8, OPEN_ALL);
    expect(root.alternatives[0]?.failing).toEqual([5]);
    const [s4, s5] = root.alternatives[0]?.premises ?? [];
    expect([s4?.status, s4?.breaks, s5?.status, s5?.breaks]).toEqual(["grounded", false, "orphan", true]);
    expect(statusLine(root)).toBe("Sink: no complete tree");
    expect(statusLine(s5 as SegmentNode)).toBe("Orphan: breaks the tree");
    expect(edgeSentence(root.alternatives[0] as never)).toBe("Implied by S4 and S5 together, fails because S5 does not ground");
  });

  it("opens a set that grounds before a stronger one that fails, as the best tree does", () => {
    const model = modelOf(
      auditOf(["orphan", "supported"], [
        [[2], 3, "entailment"],
        [[1], 3, "implied"],
      ]),
    );
    expect(shape(openTree(model, 3, OPEN_ALL))).toBe("3(implied:1|entailment!:2)");
  });

  it("says why an orphan has no support edge", () => {
    expect(orphanReason(clinical, 5)).toBe("no support edge kept (2 neutral, 1 pruned by distance)");
    expect(orphanReason(clinical, 6)).toBe("no relation was scored for it");
  });

  it("opens a shared premise once; in a drawing where it is highest", () => {
    // S2 is a premise of S4 (level 1) and of S3 (level 1), S3 a premise of S4.
    const model = modelOf(
      auditOf(["supported", "supported", "supported"], [
        [[1], 2, "entailment"],
        [[2], 3, "entailment"],
        [[2, 3], 4, "entailment"],
      ]),
    );
    expect(shape(openTree(model, 4, OPEN_ALL, "breadth"))).toBe("4(entailment:2(entailment:1)+3(entailment:2*))");
    const later = modelOf(
      auditOf(["supported", "supported", "supported"], [
        [[1], 2, "entailment"],
        [[2], 3, "entailment"],
        [[3], 4, "entailment"],
        [[2], 4, "implied"],
      ]),
    );
    // The same segment one level deeper first in reading order: the drawing opens it above, the list where it is read first.
    expect(shape(openTree(later, 4, OPEN_ALL, "breadth"))).toBe("4(entailment:3(entailment:2*)|implied:2(entailment:1))");
    expect(shape(openTree(later, 4, OPEN_ALL, "depth"))).toBe("4(entailment:3(entailment:2(entailment:1))|implied:2*)");
  });

  it("has at most one open node per segment, so a tree with 2^n paths stays small", () => {
    const n = 60;
    const labels = Array.from({ length: n - 1 }, () => "supported" as const);
    const relations = labels.map((_, k) => [k === 0 ? [1] : [k, k + 1], k + 2, "entailment"] as [number[], number, "entailment"]);
    const nodes = walk(openTree(modelOf(auditOf(labels, relations)), n, OPEN_ALL));
    expect(nodes.length).toBe(1 + 2 * (n - 2) + 1);
  });

  it("closes what is not asked for and says how much there is", () => {
    const root = openTree(clinical, 10, { support: (index) => (index === 10 ? 1 : 0), against: () => 0 });
    expect(root.alternatives.map((item) => item.edge.premises)).toEqual([[8, 9]]);
    expect(root.more).toBe(2);
    expect(moreLabel(root)).toBe("Show 2 more premise sets of S10");
    const s8 = root.alternatives[0]?.premises[0] as SegmentNode;
    expect([s8.alternatives.length, s8.more]).toEqual([0, 1]);
  });

  it("shows evidence against, without opening its premises", () => {
    const model = modelOf(
      auditOf(["supported", "contradicted"], [
        [[1], 2, "entailment"],
        [[1], 3, "contradiction", "contradiction"],
        [[1, 2], 3, "contradiction", "contradiction"],
      ], { 3: { contradicted: true, contradicting: [[1], [1, 2]] } }),
    );
    const root = openTree(model, 3, OPEN_ALL);
    expect(shape(root)).toBe("3(contradiction:1|contradiction:1+2)");
    expect(root.status).toBe("contradicted");
    expect(edgeSentence(root.against[1] as never)).toBe("Contradicted by S1 and S2 together");
  });

  it("names a segment that the trace does not have", () => {
    expect(() => openTree(clinical, 11, OPEN_ALL)).toThrow("S11");
  });
});
