// Half-open intervals [start, end) of frames or microseconds. Pure.

export type Interval = [start: number, end: number];

/** Sorted, joined where they touch or overlap, without empty ones. */
export function union(intervals: readonly Interval[]): Interval[] {
  const sorted = intervals.filter(([start, end]) => end > start).sort((a, b) => a[0] - b[0]);
  const joined: Interval[] = [];
  for (const [start, end] of sorted) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

export function intersect(a: readonly Interval[], b: readonly Interval[]): Interval[] {
  const left = union(a);
  const right = union(b);
  const both: Interval[] = [];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    const [a0, a1] = left[i] as Interval;
    const [b0, b1] = right[j] as Interval;
    const start = Math.max(a0, b0);
    const end = Math.min(a1, b1);
    if (end > start) both.push([start, end]);
    if (a1 < b1) i++;
    else j++;
  }
  return both;
}

/** `a` without what lies in `b`. */
export function subtract(a: readonly Interval[], b: readonly Interval[]): Interval[] {
  let rest = union(a);
  for (const [start, end] of union(b)) {
    rest = rest.flatMap(([s, e]): Interval[] => {
      if (end <= s || start >= e) return [[s, e]];
      const parts: Interval[] = [[s, start], [end, e]];
      return parts.filter(([x, y]) => y > x);
    });
  }
  return rest;
}

export const length = (intervals: readonly Interval[]): number => union(intervals).reduce((sum, [start, end]) => sum + end - start, 0);

export const overlap = (a: readonly Interval[], b: readonly Interval[]): number => length(intersect(a, b));

/** Overlap in time by union, 0 to 1; null when both are empty: then there is nothing to compare. */
export function tiou(a: readonly Interval[], b: readonly Interval[]): number | null {
  const all = length([...a, ...b]);
  return all === 0 ? null : overlap(a, b) / all;
}

export const holds = (intervals: readonly Interval[], at: number): boolean => intervals.some(([start, end]) => start <= at && at < end);
