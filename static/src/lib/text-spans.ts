// Underlined words of a text as `[start, end)` in code points, the unit in which the server stores them. Pure.

export type Span = [start: number, end: number];

export const countCodePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count++;
  return count;
};

/** Code points before a place that is given in UTF-16 units; a place inside a surrogate pair counts as before the pair. */
export function toCodePoints(text: string, units: number): number {
  let [passed, count] = [0, 0];
  for (const point of text) {
    passed += point.length;
    if (passed > units) break;
    count++;
  }
  return count;
}

/** The other way round: UTF-16 units before a place in code points. */
export function toUnits(text: string, points: number): number {
  let [units, count] = [0, 0];
  for (const point of text) {
    if (count++ >= points) break;
    units += point.length;
  }
  return units;
}

/** In order, inside the text, without empty ones; those that overlap or touch are one. */
export function normalise(spans: readonly Span[], length: number): Span[] {
  const inside = spans
    .map(([start, end]): Span => [Math.max(0, start), Math.min(length, end)])
    .filter(([start, end]) => start < end)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const merged: Span[] = [];
  for (const [start, end] of inside) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/**
 * What a selection means: without the white space at its ends, and never cutting a character that is made of several code
 * points (a letter with its accent, a family of emoji). Null when nothing but white space is selected.
 */
export function snap(text: string, [start, end]: Span): Span | null {
  let [from, to] = [toUnits(text, start), toUnits(text, end)];
  for (const { index, segment } of graphemes(text)) {
    const stop = index + segment.length;
    if (index < from && from < stop) from = index;
    if (index < to && to < stop) to = stop;
  }
  const chosen = text.slice(from, to);
  from += chosen.length - chosen.trimStart().length;
  to -= chosen.length - chosen.trimEnd().length;
  return from < to ? [toCodePoints(text, from), toCodePoints(text, to)] : null;
}

function graphemes(text: string): Iterable<{ index: number; segment: string }> {
  return new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text);
}

export function addSpan(spans: readonly Span[], added: Span, text: string): Span[] {
  const snapped = snap(text, added);
  return normalise(snapped ? [...spans, snapped] : spans, countCodePoints(text));
}

export const removeSpan = (spans: readonly Span[], place: number): Span[] => spans.filter((_, k) => k !== place);

export interface Piece {
  text: string;
  /** Place of the span in the list, or null for text that is not underlined. */
  span: number | null;
}

/** The text cut at its spans, in reading order; joined again it is the text. */
export function pieces(text: string, spans: readonly Span[]): Piece[] {
  const points = [...text];
  const cut: Piece[] = [];
  let at = 0;
  spans.forEach(([start, end], k) => {
    if (start > at) cut.push({ text: points.slice(at, start).join(""), span: null });
    cut.push({ text: points.slice(start, end).join(""), span: k });
    at = end;
  });
  if (at < points.length) cut.push({ text: points.slice(at).join(""), span: null });
  return cut;
}

/** What of the page's selection lies in `root`, as a span of its text; null when nothing does. */
export function selectedSpan(root: HTMLElement, selection: Selection | null): Span | null {
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!range.intersectsNode(root)) return null;
  const whole = root.ownerDocument.createRange();
  whole.selectNodeContents(root);
  const inner = whole.cloneRange();
  if (range.compareBoundaryPoints(Range.START_TO_START, whole) > 0) inner.setStart(range.startContainer, range.startOffset);
  if (range.compareBoundaryPoints(Range.END_TO_END, whole) < 0) inner.setEnd(range.endContainer, range.endOffset);
  const before = whole.cloneRange();
  before.setEnd(inner.startContainer, inner.startOffset);
  const start = countCodePoints(before.toString());
  const end = start + countCodePoints(inner.toString());
  return start < end ? [start, end] : null;
}
