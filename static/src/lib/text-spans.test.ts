import { describe, expect, it } from "vitest";
import { addSpan, countCodePoints, normalise, pieces, removeSpan, snap, toCodePoints, toUnits } from "./text-spans";

const BREAD = "A 🍞 loaf";
const ACCENT = "cafe\u0301 au lait"; // the accent is a code point of its own
const FAMILY = "a 👨‍👩‍👧 b"; // three people and two joiners

describe("places", () => {
  it("counts code points, not UTF-16 units", () => {
    expect(BREAD.length).toBe(9);
    expect(countCodePoints(BREAD)).toBe(8);
    expect(toCodePoints(BREAD, 4)).toBe(3); // after the bread
    expect(toCodePoints(BREAD, 3)).toBe(2); // inside the pair counts as before it
    expect(toUnits(BREAD, 3)).toBe(4);
  });

  it("goes there and back at every place", () => {
    for (const text of [BREAD, ACCENT, FAMILY, "", "plain"]) {
      for (let k = 0; k <= countCodePoints(text); k++) expect(toCodePoints(text, toUnits(text, k))).toBe(k);
    }
  });
});

describe("spans", () => {
  it("puts in order, merges what overlaps or touches, and cuts what is outside", () => {
    expect(normalise([[5, 9], [0, 2], [2, 3], [8, 20], [4, 4]], 12)).toEqual([[0, 3], [5, 12]]);
  });

  it("leaves out white space at the ends; white space alone is nothing", () => {
    expect(snap("one two  three", [3, 9])).toEqual([4, 7]);
    expect(snap("one two", [3, 4])).toBeNull();
  });

  it("never cuts a letter from its accent, nor a family in pieces", () => {
    expect(snap(ACCENT, [0, 4])).toEqual([0, 5]);
    expect([...FAMILY].length).toBe(9);
    expect(snap(FAMILY, [3, 5])).toEqual([2, 7]);
  });

  it("adds and removes", () => {
    const spans = addSpan(addSpan([], [2, 3], BREAD), [4, 8], BREAD);
    expect(spans).toEqual([[2, 3], [4, 8]]);
    expect(addSpan(spans, [2, 6], BREAD)).toEqual([[2, 8]]);
    expect(removeSpan(spans, 0)).toEqual([[4, 8]]);
  });

  it("cuts the text at its spans so that it stays whole", () => {
    expect(pieces(BREAD, [[2, 3]])).toEqual([
      { text: "A ", span: null },
      { text: "🍞", span: 0 },
      { text: " loaf", span: null },
    ]);
    for (const text of [BREAD, ACCENT, FAMILY]) {
      const spans = normalise([[0, 2], [3, 5]], countCodePoints(text));
      expect(pieces(text, spans).map((piece) => piece.text).join("")).toBe(text);
    }
  });
});
