import { describe, expect, it } from "vitest";
import type { Edge } from "./model";
import { compareSearchOrder, firstOfInterest, markedPremises, modelOf, readEdges } from "./model";
import { CLINICAL, auditOf } from "./testing";

const edge = (premises: number[], target: number, label: Edge["label"]): Edge => ({
  key: "",
  premises,
  target,
  label,
  kept: true,
  reason: null,
  status: "valid",
  p: null,
});

describe("model", () => {
  it("orders edges by rank, then nearness, then size, then premises", () => {
    const edges = [
      edge([2, 8], 9, "implied"),
      edge([1], 9, "implied"),
      edge([8], 9, "implied"),
      edge([1, 8], 9, "implied"),
      edge([3], 9, "entailment"),
    ];
    expect(edges.sort(compareSearchOrder).map((item) => item.premises)).toEqual([[3], [8], [1, 8], [2, 8], [1]]);
  });

  it("reads edge columns by name, whatever their order", () => {
    const [first] = readEdges({ columns: ["target", "kept", "premises", "reason", "label"], rows: [[4, false, [1, 2], "gap", "implied"]] });
    expect(first).toMatchObject({ key: "1,2>4", premises: [1, 2], target: 4, label: "implied", kept: false, reason: "gap", status: "valid", p: null });
  });

  it("names a missing column", () => {
    expect(() => readEdges({ columns: ["premises", "target", "label", "kept"], rows: [] })).toThrow('no column "reason"');
  });

  it("lets only grounded segments carry a tree", () => {
    const model = modelOf(CLINICAL);
    expect([...model.segments.values()].filter((segment) => segment.grounds).map((segment) => segment.index)).toEqual([1, 2, 3, 4]);
  });

  it("blocks a contradicted segment only when the audit's parameters say so", () => {
    const contradicted = { label: "contradicted", search_label: "supported", contradicted: true } as const;
    const payload = auditOf(["supported"], [[[1], 2, "entailment"]], { 2: contradicted });
    expect(modelOf(payload).segments.get(2)?.grounds).toBe(true);
    payload.run.parameters["contradicted_blocks"] = true;
    expect(modelOf(payload).segments.get(2)?.grounds).toBe(false);
  });

  it("takes accepted early segments as leaves", () => {
    const payload = auditOf(["orphan", "orphan"], []);
    payload.run.parameters["early_accept"] = 2;
    expect(modelOf(payload).segments.get(2)?.grounds).toBe(true);
    expect(modelOf(payload).segments.get(3)?.grounds).toBe(false);
  });

  it("opens with the first broken chain", () => {
    expect(firstOfInterest(modelOf(CLINICAL))).toBe(8);
    expect(firstOfInterest(modelOf(auditOf(["supported", "orphan"], [])))).toBe(3);
    expect(firstOfInterest(modelOf(auditOf(["supported", "supported"], [])))).toBe(3);
  });

  it("marks the premises of a grounded edge before those of a better edge that fails", () => {
    const payload = auditOf(["orphan", "supported"], [
      [[2], 3, "entailment"],
      [[1], 3, "implied"],
    ]);
    expect(markedPremises(modelOf(payload), 3)).toEqual([1]);
    expect(markedPremises(modelOf(CLINICAL), 8)).toEqual([4, 5]);
    expect(markedPremises(modelOf(CLINICAL), 5)).toEqual([]);
  });
});
