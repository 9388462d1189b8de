// Node-link picture in the paper's manner: segments are boxes, a set of several premises meets in a small joint. The layout is
// dagre's; this file only says what to lay out and turns the answer into lines. Pure.
import type { GraphLabel } from "@dagrejs/dagre";
import type { Edge, Model } from "./model";
import { matrixEdges } from "./matrix";
import type { RelationWord } from "./payload";

type Dagre = typeof import("@dagrejs/dagre");

export const NODE_WIDTH = 46;
export const NODE_HEIGHT = 26;
export const JOINT = 8;

export interface LinkNode {
  index: number;
  x: number;
  y: number;
}
export interface Link {
  edge: Edge;
  label: RelationWord;
  /** Ends at the target with a head; the other lines lead from a premise into a joint. */
  head: boolean;
  points: { x: number; y: number }[];
}
export interface NodeLinkLayout {
  width: number;
  height: number;
  nodes: LinkNode[];
  joints: { edge: Edge; x: number; y: number }[];
  links: Link[];
}

/** More relations than this are a tangle (and take seconds to lay out). */
export const MOST_RELATIONS = 80;

/** The relations to draw: all, or in a dense trace the best support and the first evidence against of each segment. */
export function linkedEdges(model: Model): { edges: Edge[]; all: number } {
  const edges = matrixEdges(model);
  if (edges.length <= MOST_RELATIONS) return { edges, all: edges.length };
  const best = [...model.segments.keys()].flatMap((index) => [
    ...(model.support.get(index) ?? []).slice(0, 1),
    ...(model.against.get(index) ?? []).slice(0, 1),
  ]);
  return { edges: best, all: edges.length };
}

/** Lays out relations; segments stand in reading order from top to bottom where they can. */
export function layoutNodeLink(model: Model, edges: Edge[], dagre: Dagre): NodeLinkLayout {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  const label: GraphLabel = { rankdir: "TB", nodesep: 14, edgesep: 8, ranksep: 26, marginx: 8, marginy: 8 };
  graph.setGraph(label);
  graph.setDefaultEdgeLabel(() => ({}));
  for (const index of model.segments.keys()) graph.setNode(`S${index}`, { width: NODE_WIDTH, height: NODE_HEIGHT });
  const plan: { edge: Edge; from: string; to: string; name: string; head: boolean }[] = [];
  for (const edge of edges) {
    const target = `S${edge.target}`;
    if (edge.premises.length === 1) {
      plan.push({ edge, from: `S${edge.premises[0]}`, to: target, name: edge.key, head: true });
      continue;
    }
    const joint = `J${edge.key}`;
    graph.setNode(joint, { width: JOINT, height: JOINT });
    for (const premise of edge.premises) plan.push({ edge, from: `S${premise}`, to: joint, name: `${edge.key}/${premise}`, head: false });
    plan.push({ edge, from: joint, to: target, name: edge.key, head: true });
  }
  for (const { from, to, name } of plan) graph.setEdge(from, to, {}, name);
  dagre.layout(graph);
  const place = (name: string): { x: number; y: number } => {
    const node = graph.node(name) as { x: number; y: number };
    return { x: node.x, y: node.y };
  };
  const size = graph.graph() as { width?: number; height?: number };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: [...model.segments.keys()].map((index) => ({ index, ...place(`S${index}`) })),
    joints: edges.filter((edge) => edge.premises.length > 1).map((edge) => ({ edge, ...place(`J${edge.key}`) })),
    links: plan.map(({ edge, from, to, name, head }) => ({
      edge,
      label: edge.label ?? "neutral",
      head,
      points: (graph.edge(from, to, name) as { points: { x: number; y: number }[] }).points,
    })),
  };
}

/** A smooth line through the points: straight ends, quadratic bends at the points between. */
export function linkPath(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${r(first.x)} ${r(first.y)}`;
  rest.forEach((point, k) => {
    const next = rest[k + 1];
    if (!next) path += `L${r(point.x)} ${r(point.y)}`;
    else path += `Q${r(point.x)} ${r(point.y)} ${r((point.x + next.x) / 2)} ${r((point.y + next.y) / 2)}`;
  });
  return path;
}

const r = (value: number): number => Math.round(value * 10) / 10;
