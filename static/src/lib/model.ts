// The payload of an audit, indexed for the drawings. Pure: no DOM, no requests.
import type { AuditPayload, AuditWord, EdgesPayload, RelationWord, SegmentPayload } from "./payload";
import { RANKS } from "./words";

export interface Edge {
  /** "4,5>8": the same relation has the same key before and after a what-if edit. */
  key: string;
  premises: number[];
  target: number;
  label: RelationWord | null;
  kept: boolean;
  reason: string | null;
  status: string;
  /** Probability of the label, 0 to 1; null when the labeller gives none. */
  p: number | null;
}

export interface Segment extends SegmentPayload {
  /** May carry a tree of a later segment: context, accepted as given, or supported and not blocked. */
  grounds: boolean;
}

export interface Model {
  n: number;
  segments: Map<number, Segment>;
  edges: Edge[];
  byKey: Map<string, Edge>;
  /** Every scored relation of a target. */
  relations: Map<number, Edge[]>;
  /** Kept support edges of a target in the order of the search (best first). */
  support: Map<number, Edge[]>;
  /** Relations that count as evidence against a target, smallest premise set first. */
  against: Map<number, Edge[]>;
}

export const edgeKey = (premises: readonly number[], target: number): string => `${premises.join(",")}>${target}`;

/** Order of the search: higher rank, nearer premise, fewer premises, then the premise indices. */
export function compareSearchOrder(a: Edge, b: Edge): number {
  const rank = (edge: Edge): number => (edge.label ? RANKS[edge.label] : -1);
  const nearest = (edge: Edge): number => edge.target - Math.max(...edge.premises);
  return (
    rank(b) - rank(a) || nearest(a) - nearest(b) || a.premises.length - b.premises.length || comparePremises(a.premises, b.premises)
  );
}

export function comparePremises(a: readonly number[], b: readonly number[]): number {
  for (let k = 0; k < Math.min(a.length, b.length); k++) {
    const difference = (a[k] ?? 0) - (b[k] ?? 0);
    if (difference) return difference;
  }
  return a.length - b.length;
}

export function readEdges(payload: EdgesPayload): Edge[] {
  const at = new Map(payload.columns.map((name, position) => [name, position]));
  const column = (name: string): number => {
    const position = at.get(name);
    if (position === undefined) throw new Error(`The audit's edges have no column "${name}".`);
    return position;
  };
  const [premises, target, label, kept, reason] = ["premises", "target", "label", "kept", "reason"].map(column) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const status = at.get("status");
  const p = at.get("p");
  return payload.rows.map((row) => {
    const set = row[premises] as number[];
    const to = row[target] as number;
    return {
      key: edgeKey(set, to),
      premises: set,
      target: to,
      label: (row[label] ?? null) as RelationWord | null,
      kept: Boolean(row[kept]),
      reason: (row[reason] ?? null) as string | null,
      status: status === undefined ? "valid" : String(row[status] ?? "valid"),
      p: p === undefined ? null : ((row[p] ?? null) as number | null),
    };
  });
}

function group(edges: Iterable<Edge>): Map<number, Edge[]> {
  const groups = new Map<number, Edge[]>();
  for (const edge of edges) {
    const list = groups.get(edge.target);
    if (list) list.push(edge);
    else groups.set(edge.target, [edge]);
  }
  return groups;
}

export function buildModel(segments: SegmentPayload[], edges: EdgesPayload, parameters: Record<string, unknown>): Model {
  const all = readEdges(edges);
  const accepted = Number(parameters["early_accept"] ?? 1);
  const contradictedBlocks = parameters["contradicted_blocks"] === true;
  const unstableBlocks = parameters["unstable_policy"] === "negative";
  const bySegment = new Map<number, Segment>();
  for (const segment of segments) {
    const blocked = (contradictedBlocks && segment.contradicted) || (unstableBlocks && segment.unstable);
    const grounds = segment.context || segment.index <= accepted || (segment.search_label === "supported" && !blocked);
    bySegment.set(segment.index, { ...segment, grounds });
  }
  const byKey = new Map(all.map((edge) => [edge.key, edge]));
  const support = group(all.filter((edge) => edge.kept));
  for (const list of support.values()) list.sort(compareSearchOrder);
  const against = new Map<number, Edge[]>();
  for (const segment of bySegment.values()) {
    const list = (segment.contradicting ?? []).flatMap((premises) => {
      const edge = byKey.get(edgeKey(premises, segment.index));
      return edge ? [edge] : [];
    });
    if (list.length) {
      list.sort((a, b) => a.premises.length - b.premises.length || comparePremises(a.premises, b.premises));
      against.set(segment.index, list);
    }
  }
  return { n: segments.length, segments: bySegment, edges: all, byKey, relations: group(all), support, against };
}

export const modelOf = (payload: AuditPayload): Model =>
  buildModel(payload.segments, payload.edges, payload.run.parameters ?? {});

/** The segment a page opens with: the first broken chain, else the first other problem, else the last segment. */
export function firstOfInterest(model: Model): number {
  const audited = [...model.segments.values()].filter((segment) => !segment.context);
  for (const word of ["unsupported", "contradicted", "orphan"] satisfies AuditWord[]) {
    const found = audited.find((segment) => segment.label === word);
    if (found) return found.index;
  }
  return audited.at(-1)?.index ?? 1;
}

/** Premises to mark in the segment list: those of the best grounded edge, else of the first edge that fails. */
export function markedPremises(model: Model, target: number): number[] {
  const edges = model.support.get(target) ?? [];
  const best = edges.find((edge) => edge.premises.every((index) => model.segments.get(index)?.grounds));
  return (best ?? edges[0])?.premises ?? [];
}
