// Where the facts of a chain stand and how the arrows between them run. Pure arithmetic, in pixels.

export interface Box {
  fact: number;
  x: number;
  y: number;
}
export interface StepLabel {
  step: number;
  x: number;
  y: number;
}
export interface Arrow {
  from: number;
  to: number;
  path: string;
}
export interface GraphLayout {
  boxes: Box[];
  labels: StepLabel[];
  arrows: Arrow[];
  boxWidth: number;
  width: number;
  height: number;
}

export const BOX_HEIGHT = 49;
const BOX_GAP = 5;
const LABEL = 15;
const COLUMN_GAP = 28;
const NARROWEST = 102;
const WIDEST = 210;
const LANE = 6;

/**
 * Columns of steps: a step stands to the right of all steps that it depends on. Facts of a step stand below each other, steps of
 * a column too; a column is moved down to the middle of what it follows from.
 */
export function layoutGraph(steps: readonly number[], edges: readonly [number, number][], available: number): GraphLayout {
  const columns = columnsOf(steps, edges);
  const count = Math.max(1, columns.length);
  const boxWidth = Math.floor(Math.min(WIDEST, Math.max(NARROWEST, (available - COLUMN_GAP * (count - 1)) / count)));
  const placed = placeBoxes(columns, edges, boxWidth + COLUMN_GAP);
  const { arrows, lowest } = drawArrows(edges, placed.boxes, boxWidth);
  return {
    boxes: [...placed.boxes.values()].map(({ fact, x, y }) => ({ fact, x, y })),
    labels: placed.labels,
    arrows,
    boxWidth,
    width: count * boxWidth + (count - 1) * COLUMN_GAP,
    height: Math.ceil(Math.max(placed.tallest, lowest)),
  };
}

interface Placed extends Box {
  column: number;
}

function placeBoxes(columns: Block[][], edges: readonly [number, number][], pitch: number): { boxes: Map<number, Placed>; labels: StepLabel[]; tallest: number } {
  const heights = columns.map((blocks) => blocks.reduce((sum, block) => sum + LABEL + block.facts.length * (BOX_HEIGHT + BOX_GAP), 0));
  const tallest = Math.max(0, ...heights);
  const boxes = new Map<number, Placed>();
  const labels: StepLabel[] = [];
  columns.forEach((blocks, column) => {
    const x = column * pitch;
    const inColumn = new Set(blocks.flatMap((block) => block.facts));
    const sources = edges.filter(([, to]) => inColumn.has(to)).map(([from]) => boxes.get(from)?.y ?? 0);
    const middle = sources.length ? sources.reduce((sum, y) => sum + y, 0) / sources.length + BOX_HEIGHT / 2 : 0;
    const height = heights[column] ?? 0;
    let y = Math.round(Math.max(0, Math.min(tallest - height, middle - height / 2)));
    for (const { step, facts } of blocks) {
      labels.push({ step, x, y });
      y += LABEL;
      for (const fact of facts) {
        boxes.set(fact, { fact, x, y, column });
        y += BOX_HEIGHT + BOX_GAP;
      }
    }
  });
  return { boxes, labels, tallest };
}

/** Arrows from box to box, past the boxes of the columns between; `lowest` is the end of the lowest lane. */
function drawArrows(edges: readonly [number, number][], boxes: ReadonlyMap<number, Placed>, boxWidth: number): { arrows: Arrow[]; lowest: number } {
  const tops: number[][] = [];
  for (const { column, y } of boxes.values()) (tops[column] ??= []).push(y);
  const arrows: Arrow[] = [];
  let lowest = 0;
  for (const [from, to] of edges) {
    const [start, end] = [boxes.get(from), boxes.get(to)];
    if (!start || !end) continue;
    const lanes: { left: number; right: number; y: number }[] = [];
    const [y1, y2] = [start.y + BOX_HEIGHT / 2, end.y + BOX_HEIGHT / 2];
    for (let column = start.column + 1; column < end.column; column++) {
      const left = column * (boxWidth + COLUMN_GAP);
      const wanted = y1 + ((y2 - y1) * (column - start.column)) / (end.column - start.column);
      const y = freeLane(tops[column] ?? [], wanted);
      lowest = Math.max(lowest, y + LANE);
      lanes.push({ left, right: left + boxWidth, y });
    }
    arrows.push({ from, to, path: arrowPath(start.x + boxWidth, y1, end.x - 5, y2, lanes) });
  }
  return { arrows, lowest };
}

interface Block {
  step: number;
  facts: number[];
}

function columnsOf(steps: readonly number[], edges: readonly [number, number][]): Block[][] {
  const layer = new Map<number, number>(steps.map((step) => [step, 0]));
  // Arrows go from a step to a later one, so by ascending target every source has its column already.
  const between = edges.map(([from, to]) => [steps[from] ?? 0, steps[to] ?? 0] as const).sort((a, b) => a[1] - b[1]);
  for (const [source, target] of between) layer.set(target, Math.max(layer.get(target) ?? 0, (layer.get(source) ?? 0) + 1));
  const columns: Block[][] = [];
  for (const [step, column] of [...layer].sort((a, b) => a[0] - b[0])) {
    while (columns.length <= column) columns.push([]);
    columns[column]?.push({ step, facts: steps.flatMap((own, fact) => (own === step ? [fact] : [])) });
  }
  return columns.filter((blocks) => blocks.length > 0);
}

/** The free height nearest to the wanted one among boxes that start at the given heights: above, between or below them. */
export function freeLane(tops: readonly number[], wanted: number): number {
  const taken = [...tops].sort((a, b) => a - b).map((top) => [top - LANE / 2, top + BOX_HEIGHT + LANE / 2] as const);
  const inside = taken.find(([top, bottom]) => wanted > top && wanted < bottom);
  if (!inside) return wanted;
  // Boxes of one step stand so close that the lanes between them are where both edges meet.
  const candidates = taken.flatMap(([top, bottom]) => [top, bottom]).filter((y) => y > 0);
  return candidates.reduce((best, y) => (Math.abs(y - wanted) < Math.abs(best - wanted) ? y : best), inside[1]);
}

function arrowPath(x1: number, y1: number, x2: number, y2: number, lanes: readonly { left: number; right: number; y: number }[]): string {
  const bend = (fromX: number, fromY: number, toX: number, toY: number): string => {
    const half = (toX - fromX) / 2;
    return `C${round(fromX + half)} ${round(fromY)} ${round(toX - half)} ${round(toY)} ${round(toX)} ${round(toY)}`;
  };
  let path = `M${round(x1)} ${round(y1)}`;
  let [x, y] = [x1, y1];
  for (const lane of lanes) {
    path += bend(x, y, lane.left, lane.y) + `H${round(lane.right)}`;
    [x, y] = [lane.right, lane.y];
  }
  return path + bend(x, y, x2, y2);
}

const round = (value: number): number => Math.round(value * 10) / 10;
