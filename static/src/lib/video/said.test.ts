// Pieces by the table that Python runs too; what is said at a time.
import { describe, expect, it } from "vitest";
import table from "../../../../fixtures/cases/video_pieces.json";
import type { Said } from "./said";
import { firstFrom, letterUs, pieces, saidAt } from "./said";

const said = (rows: unknown): Said[] => (rows as [number, number, string][]).map(([start_us, end_us, text]) => ({ start_us, end_us, text }));

describe("pieces", () => {
  it.each(table.map((one) => [one.name, one] as const))("%s", (_, { input, expected }) => {
    expect(pieces(said(input))).toEqual(said(expected));
  });
});

describe("what is said at a time", () => {
  const words = said([[100, 200, "a"], [200, 300, "b"], [500, 600, "c"]]);

  it("is the word whose time a picture shares, the later of two, none in a pause", () => {
    expect(saidAt(words, 100, 140)).toBe(0);
    expect(saidAt(words, 180, 220)).toBe(1);
    expect(saidAt(words, 300, 340)).toBe(-1);
    expect(saidAt(words, 480, 520)).toBe(2);
    expect(saidAt(words, 0, 100)).toBe(-1);
    expect(saidAt(words, 600, 640)).toBe(-1);
    expect(saidAt([], 0, 1)).toBe(-1);
  });

  it("finds the first that begins at or after a time", () => {
    expect([0, 100, 101, 500, 501].map((us) => firstFrom(words, us))).toEqual([0, 0, 1, 2, 3]);
  });

  it("gives the time of a letter with the space behind it", () => {
    expect(letterUs(said([[0, 900, "two words"], [2000, 2100, "x"]]))).toBeCloseTo(1000 / 12, 9);
    expect(letterUs([])).toBe(0);
  });
});
