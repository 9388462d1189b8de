// AND-OR support tree of one segment, opened as far as asked. Built from segments and edges alone; pure.
//
// A segment is opened at most once in a tree: wherever it comes again it is a reference ("see S4 above"). So the tree
// has at most one opened node per segment, and how far it is open is a map from segment index to a count.
import type { Edge, Model, Segment } from "./model";
import { countReasons, joinSegments, plural, segmentName } from "./words";

export type NodeStatus = "context" | "grounded" | "unsupported" | "orphan" | "contradicted";

export interface SegmentNode {
  /** Path from the sink, unique in the tree: "8", "8/4,5>8/5". */
  path: string;
  level: number;
  segment: Segment;
  status: NodeStatus;
  /** Whether the edge above needs this node and does not get it. */
  breaks: boolean;
  /** The segment is opened elsewhere in this tree. */
  reference: boolean;
  alternatives: EdgeNode[];
  /** Support edges that exist but are not open here. */
  more: number;
  /** Evidence against the segment that is open here, and how much is not. */
  against: EdgeNode[];
  moreAgainst: number;
}

export interface EdgeNode {
  path: string;
  edge: Edge;
  premises: SegmentNode[];
  /** Premises that do not ground, so that this edge fails; empty when the edge holds. */
  failing: number[];
}

/** How many support edges (and contradicting sets) of a segment are open; a segment that is not named is closed. */
export interface Openness {
  support(index: number, level: number): number;
  against(index: number, level: number): number;
}

/** Everything open: for the text form. */
export const OPEN_ALL: Openness = { support: () => Infinity, against: () => Infinity };

export function nodeStatus(segment: Segment): NodeStatus {
  if (segment.context) return "context";
  if (segment.label === "contradicted") return "contradicted";
  if (segment.grounds) return "grounded";
  return segment.search_label === "orphan" ? "orphan" : "unsupported";
}

/**
 * Opens the tree of `target`. Order "breadth" opens a shared segment where it comes highest (for a drawing), "depth" where
 * it comes first in reading order (for a nested list).
 */
export function openTree(model: Model, target: number, open: Openness, order: "breadth" | "depth" = "breadth"): SegmentNode {
  const opened = new Set<number>();
  const makeNode = (index: number, path: string, level: number, breaks: boolean): SegmentNode => {
    const segment = model.segments.get(index);
    if (!segment) throw new Error(`The audit names ${segmentName(index)}, which the trace does not have.`);
    return {
      path,
      level,
      segment,
      status: nodeStatus(segment),
      breaks,
      reference: false,
      alternatives: [],
      more: 0,
      against: [],
      moreAgainst: 0,
    };
  };
  const makeEdge = (edge: Edge, node: SegmentNode, support: boolean): EdgeNode => {
    const path = `${node.path}/${edge.key}`;
    const failing = support ? edge.premises.filter((index) => !model.segments.get(index)?.grounds) : [];
    const premises = edge.premises.map((index) => makeNode(index, `${path}/${index}`, node.level + 1, failing.includes(index)));
    return { path, edge, premises, failing };
  };
  /** Opens one node and returns the nodes below it, in drawing order. */
  const openNode = (node: SegmentNode): SegmentNode[] => {
    const index = node.segment.index;
    const support = supportInOrder(model, index);
    const against = model.against.get(index) ?? [];
    if (node.segment.context || support.length + against.length === 0) return [];
    if (opened.has(index)) {
      node.reference = true;
      return [];
    }
    const count = Math.min(open.support(index, node.level), support.length);
    const countAgainst = Math.min(open.against(index, node.level), against.length);
    node.more = support.length - count;
    node.moreAgainst = against.length - countAgainst;
    if (count + countAgainst === 0) return [];
    opened.add(index);
    node.alternatives = support.slice(0, count).map((edge) => makeEdge(edge, node, true));
    node.against = against.slice(0, countAgainst).map((edge) => makeEdge(edge, node, false));
    // Premises of evidence against a segment are named, not opened: their own support is another question.
    return node.alternatives.flatMap((alternative) => alternative.premises);
  };
  const root = makeNode(target, String(target), 0, false);
  const waiting = [root];
  while (waiting.length) {
    const node = waiting.shift() as SegmentNode;
    const below = openNode(node);
    if (order === "breadth") waiting.push(...below);
    else waiting.unshift(...below);
  }
  if (order === "breadth") markEarlyClosed(root, opened);
  return root;
}

const holds = (model: Model, edge: Edge): boolean => edge.premises.every((index) => model.segments.get(index)?.grounds);

/** Edges whose premises all ground come first, as in the best tree, which passes over those that fail; each part in search order. */
function supportInOrder(model: Model, index: number): Edge[] {
  const edges = model.support.get(index) ?? [];
  return [...edges.filter((edge) => holds(model, edge)), ...edges.filter((edge) => !holds(model, edge))];
}

/** A closed node whose segment was opened later in the walk (a higher branch was closed by choice) is a reference too. */
function markEarlyClosed(root: SegmentNode, opened: ReadonlySet<number>): void {
  for (const node of walk(root)) {
    const isOpen = node.alternatives.length + node.against.length > 0;
    if (!isOpen && node.level > 0 && opened.has(node.segment.index)) node.reference = true;
  }
}

/** All nodes, level by level, left to right. */
export function walk(root: SegmentNode): SegmentNode[] {
  const nodes = [root];
  for (let k = 0; k < nodes.length; k++) {
    const node = nodes[k] as SegmentNode;
    for (const edge of [...node.alternatives, ...node.against]) nodes.push(...edge.premises);
  }
  return nodes;
}

/** What is said below a segment without a support edge: "no support edge kept (2 neutral, 1 pruned by distance)". */
export function orphanReason(model: Model, index: number): string {
  const relations = model.relations.get(index) ?? [];
  if (relations.length === 0) return "no relation was scored for it";
  const removed = countReasons(relations.filter((edge) => !edge.kept).map((edge) => edge.reason));
  return `no support edge kept${removed ? ` (${removed})` : ""}`;
}

const STATUS_WORDS: Record<NodeStatus, string> = {
  context: "Context",
  grounded: "Grounded",
  unsupported: "Unsupported",
  orphan: "Orphan",
  contradicted: "Contradicted",
};

/** The status line of a node, e.g. "Orphan: breaks the tree", "Sink: no complete tree". */
export function statusLine(node: SegmentNode): string {
  const word = STATUS_WORDS[node.status];
  if (node.status === "context") return word;
  if (node.level === 0) {
    if (node.status === "grounded") return "Sink: supported";
    if (node.status === "orphan") return "Sink: no support edge";
    if (node.status === "contradicted") return "Sink: contradicted";
    return "Sink: no complete tree";
  }
  if (node.breaks) return `${word}: breaks the tree`;
  return node.status === "contradicted" && node.segment.grounds ? "Grounded, contradicted" : word;
}

/** One line of the text form of an edge: "Implied by S4 and S5 together, fails because S5 does not ground". */
export function edgeSentence(edge: EdgeNode): string {
  const { premises, label } = edge.edge;
  const verb = label === "entailment" ? "Entailed" : label === "contradiction" ? "Contradicted" : "Implied";
  const together = premises.length > 1 ? " together" : "";
  const fails = edge.failing.length
    ? `, fails because ${joinSegments(edge.failing)} ${edge.failing.length > 1 ? "do" : "does"} not ground`
    : "";
  return `${verb} by ${joinSegments(premises)}${together}${fails}`;
}

/** Label of the button that opens what is closed at a node. */
export function moreLabel(node: SegmentNode): string {
  const parts: string[] = [];
  if (node.more) parts.push(plural(node.more, "more premise set"));
  if (node.moreAgainst) parts.push(plural(node.moreAgainst, "contradicting set"));
  return `Show ${parts.join(" and ")} of ${segmentName(node.segment.index)}`;
}
