import { describe, expect, it } from "vitest";
import { folds, gapWords, inOrder, ordinal, whatIsMissing, whose, windowOf } from "./draft";
import { given, judged, row } from "./testing";

describe("whose label a decision is", () => {
  const two = { A: given("correct"), B: given("incorrect") };
  it("names the letters that gave it", () => {
    expect(whose("correct", two)).toBe("as A");
    expect(whose("incorrect", two)).toBe("as B");
    expect(whose("uncertain", two)).toBe("neither");
    expect(whose("correct", { A: given("correct"), B: given("correct"), C: given(null) })).toBe("as A and B");
    expect(whose("uncertain", { A: given("correct"), B: given("correct"), C: given(null) })).toBe("nobody");
  });
});

describe("what is missing", () => {
  const segment = judged(7, { A: given("correct"), B: given("incorrect") });
  it("asks for a label, and for a word where it matches nobody", () => {
    expect(whatIsMissing({ label: null, reasons: [], note: "" }, segment, 600)).toContain("press 1, 2 or 3");
    expect(whatIsMissing({ label: "uncertain", reasons: [], note: " … " }, segment, 600)).toContain("needs a note");
    expect(whatIsMissing({ label: "uncertain", reasons: [], note: "Mixed" }, segment, 600)).toBe("");
    expect(whatIsMissing({ label: "correct", reasons: [], note: "" }, segment, 600)).toBe("");
  });
  it("counts code points against the limit", () => {
    expect(whatIsMissing({ label: "correct", reasons: [], note: "😀".repeat(600) }, segment, 600)).toBe("");
    expect(whatIsMissing({ label: "correct", reasons: [], note: "😀".repeat(601) }, segment, 600)).toBe("The note has 601 characters; the limit is 600.");
  });
});

describe("the queue", () => {
  const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => row(index, index % 2 ? "correct" : null));
  it("has what is decided first", () => {
    expect(inOrder(rows).map((one) => one.index)).toEqual([1, 3, 5, 7, 2, 4, 6, 8]);
  });
  it("shows a window with up to three before the current one", () => {
    const list = inOrder(rows);
    expect(windowOf(list, { item: "i", index: 2 }, 5).map((one) => one.index)).toEqual([3, 5, 7, 2, 4]);
    expect(windowOf(list, { item: "i", index: 1 }, 5).map((one) => one.index)).toEqual([1, 3, 5, 7, 2]);
    expect(windowOf(list, { item: "i", index: 8 }, 5).map((one) => one.index)).toEqual([7, 2, 4, 6, 8]);
    expect(windowOf(list, null, 20)).toHaveLength(8);
  });
  it("counts in words", () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal)).toEqual(["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]);
  });
});

describe("folding", () => {
  const agree = (index: number) => judged(index, { A: given("correct"), B: given("correct") }, { agrees: true, queued: false, open: false });
  const differ = (index: number) => judged(index, { A: given("correct"), B: given("incorrect") });
  it("folds agreed segments, keeps the one before in sight, and names other disagreements", () => {
    const rows = folds([agree(2), agree(3), agree(4), differ(5), differ(6), agree(7), agree(8)], 5);
    expect(rows.map((one) => (one.kind === "agreed" ? `agreed ${one.segments.map((segment) => segment.index)}` : `${one.kind} ${one.segment.index}`))).toEqual([
      "agreed 2,3",
      "before 4",
      "current 5",
      "other 6",
      "agreed 7,8",
    ]);
  });
});

describe("the gap in words", () => {
  it("says what kind of disagreement it is", () => {
    expect(gapWords(judged(2, { A: given("correct"), B: given("incorrect") }, { gap: 2 }))).toBe("gap 2: opposite labels");
    expect(gapWords(judged(2, { A: given("correct"), B: given("uncertain") }, { gap: 1 }))).toBe("gap 1: neighbouring labels");
    expect(gapWords(judged(2, { A: given("correct"), B: given(null) }, { gap: 1 }))).toBe("somebody cannot judge");
    expect(gapWords(judged(2, { A: given("correct"), B: given("correct") }, { gap: 0, sampled: true }))).toBe("agreed, drawn for a second look");
  });
});
