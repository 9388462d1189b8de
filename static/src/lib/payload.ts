// The JSON of one audit as the server sends it (schema "reasonaudit.audit/1").

export type RelationWord = "contradiction" | "neutral" | "implied" | "entailment";
export type AuditWord = "supported" | "unsupported" | "orphan" | "contradicted";
export type GoldWord = "correct" | "incorrect" | "uncertain";
export type RemovedReason =
  | "neutral"
  | "contradiction"
  | "gap"
  | "redundant"
  | "degraded"
  | "consistently_weak"
  | "asymmetric"
  | "missing";

export interface SegmentPayload {
  index: number;
  text: string;
  context: boolean;
  gold?: GoldWord | null;
  gold_note?: string;
  label: AuditWord | null;
  search_label?: AuditWord | null;
  y_hat?: 0 | 1;
  contradicted?: boolean;
  contradicting?: number[][];
  unstable?: boolean;
  truncated?: boolean;
  min_depth?: number | null;
  n_trees_total?: number;
  n_trees_returned?: number;
  failing?: { premises: number[]; label: RelationWord; reason: string; ungrounded: number[]; breakpoint: number }[];
  root_breakpoint?: number | null;
  explanation?: string;
}

export interface EdgesPayload {
  columns: string[];
  rows: unknown[][];
}

export interface AuditPayload {
  schema: string;
  id: number;
  trace: { id: number; title: string; domain: string; context_segments: number; n: number; current?: boolean };
  run: {
    id: number | null;
    state: string;
    parameters: Record<string, unknown>;
    labeller?: { kind: string; name: string; quality_note?: string } | null;
    coverage?: { labelled: number; total: number; invalid: number; missing: number } | null;
  };
  segments: SegmentPayload[];
  edges: EdgesPayload;
}

/** The server's answer to a what-if question: the same trace, audited again with some relations changed. */
export interface WhatIfPayload {
  segments: SegmentPayload[];
  edges: EdgesPayload;
  changed: { index: number; from: AuditWord; to: AuditWord }[];
}

export interface FlipChange {
  premises: number[];
  target: number;
  from: RelationWord | null;
  to: RelationWord | null;
}

export interface FlipsPayload {
  segment: number;
  from: AuditWord;
  to: AuditWord | null;
  found: boolean;
  searched_up_to: number;
  size: number | null;
  truncated: boolean;
  sets: FlipChange[][];
}
