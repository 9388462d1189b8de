// What the server sends to the adjudicator's page. People are letters; nothing tells who or when.
import type { Reason } from "../../lib/label-draft";
import type { AuditPayload, AuditWord, GoldWord } from "../../lib/payload";
import type { Span } from "../../lib/text-spans";

export interface QueueRow {
  item: string;
  index: number;
  case: string;
  /** In the order of the letters; null: cannot judge. */
  labels: (GoldWord | null)[];
  gap: number;
  sampled: boolean;
  decided: GoldWord | null;
}

export interface QueuePayload {
  segments: number;
  agreed: number;
  to_decide: number;
  decided: number;
  queue: QueueRow[];
}

export interface GivenLabel {
  label: GoldWord | null;
  cannot_judge: boolean;
  reasons: string[];
  comment: string;
  spans: Span[];
  flagged: boolean;
}

export interface SaidDecision {
  label: GoldWord | null;
  reasons: string[];
  note: string;
  reason: string;
  matches: string;
  guideline: number;
  after_audit?: boolean;
}

export interface DecisionState {
  version: number;
  draft: SaidDecision | null;
  final: SaidDecision | null;
  finals: number;
}

export interface JudgedSegment {
  index: number;
  text: string;
  context: false;
  labels: Record<string, GivenLabel>;
  agrees: boolean;
  gap: number;
  queued: boolean;
  sampled: boolean;
  open: boolean;
  clause_unclear: boolean;
  decision: DecisionState;
}

export type ItemSegment = JudgedSegment | { index: number; text: string; context: true };

export interface ItemPayload {
  item: string;
  name: string;
  state: "open" | "decided" | "released";
  letters: string[];
  case: { title: string; sections: [string, string][]; question: string; reference: string | null };
  segments: ItemSegment[];
  labelled_under: number[];
  history: { what: string; segment: number | null }[];
  may_decide: boolean;
}

export interface FlaggedClause {
  item: string;
  case: string;
  index: number;
  note: string;
  guideline: number;
}

export interface PagePayload {
  study: { slug: string; name: string; blinding: "blind" | "reveal" | "open" };
  user: { id: number; username: string };
  may_decide: boolean;
  why_not: string;
  guideline: { version: number; html: string; reasons: Record<GoldWord, Reason[]>; question: string } | null;
  queue: QueuePayload;
  flagged: FlaggedClause[];
  limits: { note: number };
  urls: Record<"queue" | "agreement" | "relogin" | "item" | "segment" | "reopen" | "flag" | "return" | "audit" | "back", string>;
}

/** The audit's word on a decided segment, or why there is none. */
export type SegmentAudit =
  | { none: string }
  | { label: AuditWord; explanation: string | null; payload: AuditPayload | null; note: string; judges: { name: string; verdict: string | null }[] };

export interface AgreementPayload {
  measure: "cohen" | "alpha_nominal" | null;
  title?: string;
  undefined_because?: string;
  agreement?: { value: number | null; undefined_because: string; low: number | null; high: number | null; cases: number };
}

export const isJudged = (segment: ItemSegment): segment is JudgedSegment => !segment.context;
