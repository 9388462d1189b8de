import { describe, expect, it } from "vitest";
import { bestPairs } from "./pairing";

/** Largest sum by trying every order of the columns. */
function largest(table: readonly (readonly number[])[], used = new Set<number>()): number {
  const row = table[used.size];
  if (!row) return 0;
  return Math.max(...row.map((value, column) => (used.has(column) ? -Infinity : value + largest(table, new Set([...used, column])))));
}

const sum = (table: readonly (readonly number[])[], pairs: [number, number][]): number => pairs.reduce((all, [row, column]) => all + (table[row]?.[column] ?? NaN), 0);

/** Numbers that look drawn by chance, the same in every run (Park and Miller 1988). */
function drawn(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

describe("pairs with the largest sum", () => {
  it("leave the best single pair where two others are worth more", () => {
    // Taking 0.6 first leaves 0: together 0.6. The other two are worth 1.0.
    expect(bestPairs([[0.6, 0.5], [0.5, 0]])).toEqual([[0, 1], [1, 0]]);
  });

  it("are as many as the shorter side has", () => {
    expect(bestPairs([[0.1, 0.9, 0.3]])).toEqual([[0, 1]]);
    expect(bestPairs([[0.1], [0.9], [0.3]])).toEqual([[1, 0]]);
    expect(bestPairs([])).toEqual([]);
    expect(bestPairs([[], []])).toEqual([]);
  });

  it.each([[2, 2], [3, 3], [4, 4], [5, 5], [3, 5], [2, 6]])("of %i rows and %i columns have the sum that trying all finds", (n, m) => {
    const next = drawn(n * 100 + m);
    for (let round = 0; round < 30; round++) {
      const table = Array.from({ length: n }, () => Array.from({ length: m }, () => (next() < 0.3 ? 0 : next())));
      const pairs = bestPairs(table);
      expect(new Set(pairs.map(([row]) => row)).size).toBe(n);
      expect(new Set(pairs.map(([, column]) => column)).size).toBe(n);
      expect(sum(table, pairs)).toBeCloseTo(largest(table), 12);
      const turned = Array.from({ length: m }, (_, column) => table.map((row) => row[column] as number));
      expect(sum(turned, bestPairs(turned))).toBeCloseTo(largest(table), 12);
    }
  });
});
