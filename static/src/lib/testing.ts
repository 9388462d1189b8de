// Small audits for the tests. Labels are given by hand, not computed.
import type { AuditPayload, AuditWord, RelationWord, SegmentPayload } from "./payload";

export type Relation = [premises: number[], target: number, label: RelationWord | null, reason?: string];

/** An audit of segments S1 (context) to Sn with the given labels; a relation without a reason is kept. */
export function auditOf(labels: AuditWord[], relations: Relation[], changes: Record<number, Partial<SegmentPayload>> = {}): AuditPayload {
  const audited = labels.map((label, k): SegmentPayload => {
    const index = k + 2;
    const search_label = label === "contradicted" ? "orphan" : label;
    return { index, text: `Text of segment ${index}.`, context: false, label, search_label, explanation: `Why S${index}.`, ...changes[index] };
  });
  const n = labels.length + 1;
  return {
    schema: "reasonaudit.audit/1",
    id: 7,
    trace: { id: 3, title: "A test", domain: "general", context_segments: 1, n },
    run: { id: 5, state: "done", parameters: { early_accept: 1, contradicted_blocks: false } },
    segments: [{ index: 1, text: "The context.", context: true, label: null }, ...audited],
    edges: {
      columns: ["premises", "target", "label", "kept", "reason", "status", "p"],
      rows: relations.map(([premises, target, label, reason]) => [premises, target, label, reason === undefined, reason ?? null, "valid", 0.9]),
    },
  };
}

/**
 * The recovered structure of the paper's clinical case (UroReason paper, appendix, table of recovered support trees): which
 * edges are kept and which label each segment has. Which of the two support labels an edge carries is our own choice.
 */
export const CLINICAL: AuditPayload = auditOf(
  ["supported", "supported", "supported", "orphan", "orphan", "orphan", "unsupported", "orphan", "unsupported"],
  [
    [[1], 2, "entailment"],
    [[1], 3, "implied"],
    [[1], 4, "entailment"],
    [[2, 3], 4, "implied"],
    [[2], 5, "implied", "gap"],
    [[3], 5, "neutral", "neutral"],
    [[4], 5, "neutral", "neutral"],
    [[4, 5], 8, "implied"],
    [[5, 6], 10, "implied"],
    [[7, 8], 10, "implied"],
    [[8, 9], 10, "implied"],
  ],
);
