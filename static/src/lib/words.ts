// Every word the drawings and tables share, so that a label or a reason is said the same way everywhere.
import type { AuditWord, GoldWord, RelationWord, RemovedReason } from "./payload";

export const RELATION_WORDS: Record<RelationWord, string> = {
  entailment: "Entail",
  implied: "Implied",
  neutral: "Neutral",
  contradiction: "Contradiction",
};

/** Rank r of a relation label: contradiction 0, neutral 1, implied 2, entailment 3. */
export const RANKS: Record<RelationWord, number> = { contradiction: 0, neutral: 1, implied: 2, entailment: 3 };

export const RELATION_ORDER: RelationWord[] = ["entailment", "implied", "neutral", "contradiction"];

export const AUDIT_WORDS: Record<AuditWord, { word: string; icon: string }> = {
  supported: { word: "Supported", icon: "diagram-2" },
  unsupported: { word: "Unsupported", icon: "bezier2" },
  orphan: { word: "Orphan", icon: "slash-circle" },
  contradicted: { word: "Contradicted", icon: "x-circle" },
};

export const GOLD_WORDS: Record<GoldWord, { word: string; icon: string }> = {
  correct: { word: "Correct", icon: "check-lg" },
  uncertain: { word: "Uncertain", icon: "question-lg" },
  incorrect: { word: "Incorrect", icon: "x-lg" },
};

const REASONS: Record<RemovedReason, { short: string; long: string }> = {
  neutral: { short: "neutral", long: "Neutral: says nothing about the target" },
  contradiction: { short: "contradiction", long: "Contradiction: evidence against the target, never support" },
  gap: { short: "pruned by distance", long: "Pruned by distance: Implied, but too far from the target" },
  redundant: { short: "redundant", long: "Redundant: one of its premises entails the target alone" },
  degraded: { short: "degraded", long: "Degraded: weaker than one of its premises alone" },
  consistently_weak: { short: "consistently weak", long: "Consistently weak: each premise alone implies as much" },
  asymmetric: { short: "asymmetric", long: "Asymmetric: one premise alone implies as much" },
  missing: { short: "without a label", long: "No valid label: counted as Neutral" },
};

const isReason = (reason: string): reason is RemovedReason => Object.hasOwn(REASONS, reason);

/** Why a relation is no support edge, as a full phrase; an unknown reason is shown as the server wrote it. */
export function reasonPhrase(reason: string): string {
  return isReason(reason) ? REASONS[reason].long : reason.replaceAll("_", " ");
}

export function reasonShort(reason: string): string {
  return isReason(reason) ? REASONS[reason].short : reason.replaceAll("_", " ");
}

/** "2 neutral, 1 pruned by distance", in the order of how many. */
export function countReasons(reasons: Iterable<string | null>): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) if (reason) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .map(([reason, count]) => `${count.toLocaleString("en")} ${reasonShort(reason)}`)
    .join(", ");
}

export const segmentName = (index: number): string => `S${index}`;

/** "S4", "S4 and S5", "S4, S5 and S6". */
export function joinSegments(indices: readonly number[]): string {
  const names = indices.map(segmentName);
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** "{S4, S5} → S8". */
export function edgeName(premises: readonly number[], target: number): string {
  const set = premises.map(segmentName).join(", ");
  return `${premises.length > 1 ? `{${set}}` : set} → ${segmentName(target)}`;
}

/** The address of a thing, from that of thing 0 which the page carries. */
export const addressOf = (address: string, id: number): string => address.replace(/\/0\/$/, `/${id}/`);

/** The reply status of a relation call in words ("invalid:no_json" -> "invalid: no json"). */
export function statusPhrase(status: string): string {
  return status.replace(":", ": ").replaceAll("_", " ");
}

/** A number with so many decimals and a true minus; an en dash where there is none. */
export const fixed = (value: number | null | undefined, places = 2): string =>
  value === null || value === undefined ? "–" : value.toFixed(places).replace("-", "−");

export const plural = (count: number, word: string, many = `${word}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? word : many}`;
