import { describe, expect, it } from "vitest";
import { layered } from "./layered-spans";

describe("layered spans", () => {
  it("cuts where anybody's underline begins or ends", () => {
    expect(layered("one two three", { A: [[0, 7]], B: [[4, 13]] })).toEqual([
      { text: "one ", by: ["A"], ends: [] },
      { text: "two", by: ["A", "B"], ends: ["A"] },
      { text: " three", by: ["B"], ends: ["B"] },
    ]);
  });

  it("leaves the text whole when nobody underlined anything", () => {
    expect(layered("as it is", { A: [], B: [] })).toEqual([{ text: "as it is", by: [], ends: [] }]);
  });

  it("counts code points, so that nothing is cut in two", () => {
    expect(layered("a😀b", { A: [[1, 2]] }).map((piece) => piece.text)).toEqual(["a", "😀", "b"]);
  });

  it("gives the text back, whatever the spans", () => {
    const text = "Blood 1+, nitrite negative";
    const pieces = layered(text, { B: [[6, 8], [10, 17]], A: [[0, 26]], C: [[7, 12]] });
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    expect(pieces.every((piece) => piece.by.includes("A"))).toBe(true);
  });
});
