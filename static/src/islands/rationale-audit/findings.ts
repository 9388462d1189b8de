// What an audit says of a rationale in the page's terms: what each step rests on, and which evidence nobody used. Pure.
import type { Model } from "../../lib/model";
import { markedPremises } from "../../lib/model";
import type { AuditWord } from "../../lib/payload";
import type { RationalePayload, Step } from "./types";

/** What carries a supported step: evidence alone, an earlier step too, or nothing but the question. Null where nothing does. */
export type Basis = "evidence" | "steps" | "question" | null;

export interface StepFinding {
  step: Step;
  label: AuditWord | null;
  basis: Basis;
  /** Segments that it rests on, or, unsupported, would rest on. */
  premises: number[];
  /** Segments that speak against it. */
  against: number[];
}

export interface Findings {
  steps: StepFinding[];
  /** Leaves that no kept relation starts from; the question is none of them. Empty without an audit. */
  unused: number[];
  counts: { evidence: number; steps: number; question: number; unsupported: number; orphan: number; contradicted: number };
}

export function findingsOf(payload: RationalePayload, model: Model | null): Findings {
  const kinds = new Map(payload.leaves.map((leaf) => [leaf.index, leaf.kind]));
  const basisOf = (premises: readonly number[]): Basis => {
    if (!premises.every((index) => kinds.has(index))) return "steps";
    return premises.every((index) => kinds.get(index) === "question") ? "question" : "evidence";
  };
  const steps = payload.steps.map((step): StepFinding => {
    const label = model?.segments.get(step.index)?.label ?? null;
    const premises = model ? markedPremises(model, step.index) : [];
    const against = [...new Set((model?.against.get(step.index) ?? []).flatMap((edge) => edge.premises))];
    return { step, label, basis: label === "supported" ? basisOf(premises) : null, premises, against };
  });
  const used = new Set([...(model?.support.values() ?? [])].flat().flatMap((edge) => edge.premises));
  const count = (word: AuditWord): number => steps.filter((one) => one.label === word).length;
  const resting = (basis: Basis): number => steps.filter((one) => one.basis === basis).length;
  return {
    steps,
    unused: model ? payload.leaves.filter((leaf) => leaf.kind !== "question" && !used.has(leaf.index)).map((leaf) => leaf.index) : [],
    counts: {
      evidence: resting("evidence"),
      steps: resting("steps"),
      question: resting("question"),
      unsupported: count("unsupported"),
      orphan: count("orphan"),
      contradicted: count("contradicted"),
    },
  };
}

/** All leaves below a step: those that it rests on, and those that its premises rest on. */
export function leavesBelow(findings: Findings, index: number): number[] {
  const bySegment = new Map(findings.steps.map((one) => [one.step.index, one]));
  const seen = new Set<number>();
  const walk = (at: number): void => {
    for (const premise of bySegment.get(at)?.premises ?? []) {
      if (seen.has(premise)) continue;
      seen.add(premise);
      walk(premise);
    }
  };
  walk(index);
  return [...seen].filter((segment) => !bySegment.has(segment)).sort((a, b) => a - b);
}

/** Steps that a leaf is below, and steps that it speaks against. */
export function usesOf(findings: Findings, leaf: number): { below: number[]; against: number[] } {
  const indices = (held: (one: StepFinding) => boolean): number[] => findings.steps.filter(held).map((one) => one.step.index);
  return { below: indices((one) => leavesBelow(findings, one.step.index).includes(leaf)), against: indices((one) => one.against.includes(leaf)) };
}
