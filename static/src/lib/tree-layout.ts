// Where the boxes and lines of a support tree go, and how far a tree is opened so that it fits the pane. Pure; pixels.
import type { Edge, Model } from "./model";

import type { EdgeNode, Openness, SegmentNode } from "./tree";
import { openTree, orphanReason, walk } from "./tree";

export const BOX_HEIGHT = 45;
const GAP_X = 14;
const GAP_OR = 30;
const GAP_SINGLE = 50;
const GAP_AND = 67;
const PILL_Y = 43;
const SMALL_BOX = 108;
/** Room for "Orphan: breaks the tree" and for the reason below it; and for the status word alone. */
const REASON_BOX = 168;
const BREAKS_BOX = 140;
/** Room for the word "Contradiction" beside the line. */
const AGAINST_BOX = 184;
const WIDEST = 232;
const WIDEST_SINK = 330;
const ELBOW = 10;
const REASON_HEIGHT = 62;

export interface Box {
  x: number;
  y: number;
  width: number;
  /** One node, or all premises of a set that are closed and share a box ("S2, S3"). */
  nodes: SegmentNode[];
}
export interface Line {
  path: string;
  kind: "entailment" | "implied" | "contradiction" | "bracket" | "none";
  /** Where the arrow head (or the ×) touches the target; null for brackets. */
  head: { x: number; y: number } | null;
}
export interface EdgeLabel {
  x: number;
  y: number;
  edge: Edge;
}
export interface TreeLayout {
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
  labels: EdgeLabel[];
  pills: { x: number; y: number }[];
  ors: { x: number; y: number }[];
  reasons: { x: number; y: number; width: number; text: string }[];
}

const isClosed = (node: SegmentNode): boolean => node.alternatives.length + node.against.length === 0;
const hasReason = (node: SegmentNode): boolean =>
  isClosed(node) && !node.reference && node.status !== "context" && node.more + node.moreAgainst === 0 && !node.segment.grounds;

/** A set whose premises are all closed shares one box below the first level: it saves the room two boxes would need. */
function sharesBox(edge: EdgeNode): boolean {
  const [first] = edge.premises;
  if (!first || edge.premises.length < 2) return false;
  if (edge.edge.label === "contradiction") return true;
  return first.level > 1 && edge.premises.every((node) => isClosed(node) && !node.breaks);
}

function ownWidth(node: SegmentNode, box: number): number {
  if (node.reference) return Math.min(box, SMALL_BOX);
  if (hasReason(node)) return Math.max(box, REASON_BOX);
  if (node.breaks) return Math.max(box, BREAKS_BOX);
  return node.status === "context" ? Math.min(box, SMALL_BOX) : box;
}

function edgeWidth(edge: EdgeNode, box: number): number {
  const least = edge.edge.label === "contradiction" ? AGAINST_BOX : 0;
  if (sharesBox(edge)) return Math.max(least, Math.min(box, 132), SMALL_BOX);
  const widths = edge.premises.map((node) => treeWidth(node, box));
  return Math.max(least, widths.reduce((sum, width) => sum + width, 0) + GAP_X * (widths.length - 1));
}

function treeWidth(node: SegmentNode, box: number): number {
  const edges = [...node.alternatives, ...node.against];
  const below = edges.reduce((sum, edge) => sum + edgeWidth(edge, box), 0) + GAP_OR * Math.max(0, edges.length - 1);
  return Math.max(ownWidth(node, box), below);
}

/** Lays out an opened tree in `available` pixels; wider than that only where even the narrowest boxes do not fit. */
export function layoutTree(root: SegmentNode, model: Model, available: number): TreeLayout {
  let box = WIDEST;
  while (box > SMALL_BOX && treeWidth(root, box) > available) box -= 4;
  const layout: TreeLayout = { width: 0, height: 0, boxes: [], lines: [], labels: [], pills: [], ors: [], reasons: [] };
  const tops = levelTops(root);
  const total = treeWidth(root, box);
  layout.width = Math.max(available, total);
  place(root, (layout.width - total) / 2, total);
  const bottoms = layout.boxes.map((item) => item.y + BOX_HEIGHT);
  layout.height = Math.max(...bottoms, ...layout.reasons.map((reason) => reason.y + REASON_HEIGHT - 16)) + 2;
  return layout;

  function place(node: SegmentNode, left: number, width: number): Box {
    // A target with several sets spans them all, so that every set enters it from straight below.
    const edges = node.alternatives.length + node.against.length;
    const widest = edges > 1 ? width : node.level === 0 ? WIDEST_SINK : WIDEST;
    const least = ownWidth(node, box);
    const small = node.reference || node.status === "context";
    const boxWidth = small ? least : Math.min(Math.max(width, least), Math.max(widest, least));
    const top = tops[node.level] ?? 0;
    const own: Box = { x: left + (width - boxWidth) / 2, y: top, width: boxWidth, nodes: [node] };
    layout.boxes.push(own);
    if (hasReason(node)) {
      const x = own.x + own.width / 2;
      const from = own.y + BOX_HEIGHT;
      layout.lines.push({ path: `M${x} ${from}v20`, kind: "none", head: null });
      layout.reasons.push({ x, y: from + 22, width: Math.max(own.width, REASON_BOX), text: orphanReason(model, node.segment.index) });
    }
    placeEdges(node, own, left, width);
    return own;
  }

  function placeEdges(node: SegmentNode, own: Box, left: number, width: number): void {
    const edges = [...node.alternatives, ...node.against];
    const widths = edges.map((edge) => edgeWidth(edge, box));
    const needed = widths.reduce((sum, value) => sum + value, 0) + GAP_OR * Math.max(0, edges.length - 1);
    let x = left + (width - needed) / 2;
    const spans = edges.map((_, k) => {
      const span = { left: x, width: widths[k] ?? 0 };
      x += span.width + GAP_OR;
      return span;
    });
    const anchors = anchorPositions(own, spans);
    edges.forEach((edge, k) => {
      const span = spans[k];
      const anchor = anchors[k];
      if (!span || anchor === undefined) return;
      placeEdge(edge, own, span.left, span.width, anchor);
      const previous = anchors[k - 1];
      if (previous !== undefined && edge.edge.label !== "contradiction") {
        const labelEnd = previous + 12 + (edges[k - 1]?.edge.label === "entailment" ? 34 : 46);
        layout.ors.push({ x: (labelEnd + anchor) / 2, y: own.y + BOX_HEIGHT + (edgesOpenAnd(node) ? 21 : GAP_SINGLE / 2 + 1) });
      }
    });
  }

  function placeEdge(edge: EdgeNode, own: Box, left: number, width: number, anchor: number): void {
    const kind = lineKind(edge.edge);
    const bottom = own.y + BOX_HEIGHT;
    const childTop = tops[(edge.premises[0]?.level ?? 0)] ?? bottom + GAP_SINGLE;
    const head = { x: anchor, y: bottom };
    if (sharesBox(edge) || edge.premises.length === 1) {
      const child = sharesBox(edge) ? placeShared(edge, left, width) : place(edge.premises[0] as SegmentNode, left, width);
      const centre = child.x + child.width / 2;
      layout.lines.push({ path: elbow(centre, childTop, anchor, bottom + 8), kind, head });
      layout.labels.push({ x: anchor + 8, y: bottom + Math.min(26, (childTop - bottom) / 2), edge: edge.edge });
      return;
    }
    const pillY = bottom + PILL_Y;
    layout.lines.push({ path: `M${anchor} ${pillY}V${bottom + 8}`, kind, head });
    layout.labels.push({ x: anchor + 8, y: bottom + 21, edge: edge.edge });
    layout.pills.push({ x: anchor, y: pillY });
    const widths = edge.premises.map((node) => treeWidth(node, box));
    let x = left + (width - widths.reduce((sum, value) => sum + value, 0) - GAP_X * (widths.length - 1)) / 2;
    edge.premises.forEach((node, k) => {
      const child = place(node, x, widths[k] ?? box);
      const centre = child.x + child.width / 2;
      layout.lines.push({ path: bracket(centre, childTop, anchor, pillY), kind: "bracket", head: null });
      x += (widths[k] ?? box) + GAP_X;
    });
  }

  function placeShared(edge: EdgeNode, left: number, width: number): Box {
    const boxWidth = Math.min(Math.max(width, SMALL_BOX), WIDEST);
    const top = tops[edge.premises[0]?.level ?? 0] ?? 0;
    const shared: Box = { x: left + (width - boxWidth) / 2, y: top, width: boxWidth, nodes: edge.premises };
    layout.boxes.push(shared);
    return shared;
  }
}

const edgesOpenAnd = (node: SegmentNode): boolean => node.alternatives.some((edge) => edge.premises.length > 1 && !sharesBox(edge));

/** Top of each level; a level that is reached through an AND needs more room above it. */
function levelTops(root: SegmentNode): number[] {
  const gaps: number[] = [];
  for (const node of walk(root)) {
    const edges = [...node.alternatives, ...node.against];
    if (edges.length === 0) continue;
    gaps[node.level] = Math.max(gaps[node.level] ?? 0, edgesOpenAnd(node) ? GAP_AND : GAP_SINGLE);
  }
  const tops = [0];
  for (let level = 0; level < gaps.length; level++) tops.push((tops[level] ?? 0) + BOX_HEIGHT + (gaps[level] ?? GAP_SINGLE));
  return tops;
}

/** Where the alternatives enter the target's box from below: straight above their middle, or spread when some lie outside. */
function anchorPositions(own: Box, spans: { left: number; width: number }[]): number[] {
  const inset = 16;
  const middles = spans.map((span) => span.left + span.width / 2);
  const inside = middles.every((x) => x >= own.x + inset && x <= own.x + own.width - inset);
  if (inside) return middles;
  if (middles.length === 1) return [Math.min(Math.max(middles[0] ?? 0, own.x + inset), own.x + own.width - inset)];
  const step = (own.width - 2 * inset) / (middles.length - 1);
  return middles.map((_, k) => own.x + inset + k * step);
}

function lineKind(edge: Edge): Line["kind"] {
  return edge.label === "entailment" || edge.label === "contradiction" ? edge.label : "implied";
}

function elbow(fromX: number, fromY: number, toX: number, toY: number): string {
  if (Math.abs(fromX - toX) < 1) return `M${fromX} ${fromY}V${toY}`;
  const turn = fromY - 14;
  return corner(fromX, fromY, toX, turn) + `V${toY}`;
}

function bracket(fromX: number, fromY: number, toX: number, toY: number): string {
  if (Math.abs(fromX - toX) < 1) return `M${fromX} ${fromY}V${toY}`;
  const side = Math.sign(toX - fromX);
  const radius = Math.min(ELBOW, Math.abs(toX - fromX));
  return `M${fromX} ${fromY}V${toY + radius}Q${fromX} ${toY} ${fromX + side * radius} ${toY}H${toX}`;
}

function corner(fromX: number, fromY: number, toX: number, turn: number): string {
  const side = Math.sign(toX - fromX);
  const radius = Math.min(6, Math.abs(toX - fromX) / 2);
  return (
    `M${fromX} ${fromY}V${turn + radius}Q${fromX} ${turn} ${fromX + side * radius} ${turn}` +
    `H${toX - side * radius}Q${toX} ${turn} ${toX} ${turn - radius}`
  );
}

/** How many sets of a segment the reader opened by hand; overrides what fits. */
export type OpenedByHand = ReadonlyMap<number, { support: number; against: number }>;

/**
 * Opens as much of the tree as fits: first the best set of every premise down to `levels`, then further sets ("or"), nearest
 * to the sink first, at most three of one segment. What the reader opened by hand always counts.
 */
export function fitTree(model: Model, target: number, available: number, byHand: OpenedByHand = new Map(), levels = 4): SegmentNode {
  const counts = new Map<number, number>();
  const against = model.against.has(target) ? 1 : 0;
  const openness: Openness = {
    support: (index, level) => Math.max(byHand.get(index)?.support ?? 0, level < levels ? (counts.get(index) ?? 0) : 0),
    against: (index, level) => Math.max(byHand.get(index)?.against ?? 0, level === 0 ? against : 0),
  };
  const build = (): SegmentNode => openTree(model, target, openness);
  const fits = (node: SegmentNode): boolean => treeWidth(node, SMALL_BOX) <= available;
  counts.set(target, 1);
  const refused = new Set<string>();
  /** Opens one more thing and keeps it if the tree still fits; false when nothing is left to try. */
  const step = (most: number): boolean => {
    for (const node of walk(build())) {
      const index = node.segment.index;
      const shown = counts.get(index) ?? 0;
      const tried = `${index}:${shown + 1}`;
      if (node.reference || node.level >= levels || node.more === 0 || shown >= most || refused.has(tried)) continue;
      counts.set(index, shown + 1);
      if (!fits(build())) {
        counts.set(index, shown);
        refused.add(tried);
      }
      return true;
    }
    return false;
  };
  while (step(1));
  while (step(3));
  return build();
}

