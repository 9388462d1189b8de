import { describe, expect, it } from "vitest";
import { aroundPlace, codePoints, findMatches } from "./text-places";

describe("findMatches", () => {
  it("finds every place and ignores case", () => {
    expect(findMatches("Pain. No pain, PAIN.", "pain")).toEqual([
      [0, 4],
      [9, 13],
      [15, 19],
    ]);
  });
  it("takes signs as they are", () => {
    expect(findMatches("Dose (2.5 mg) or 2x5 mg", "2.5")).toEqual([[6, 9]]);
    expect(findMatches("a-b [c] d/e", "[c]")).toEqual([[4, 7]]);
    expect(findMatches("a-b", "a-b")).toEqual([[0, 3]]);
  });
  it("crosses line breaks between words", () => {
    expect(findMatches("scrotal\n pain", "scrotal pain")).toEqual([[0, 13]]);
  });
  it("finds nothing for nothing", () => {
    expect(findMatches("text", "  ")).toEqual([]);
  });
});

describe("codePoints", () => {
  it("counts characters outside the first plane once", () => {
    expect(codePoints("a😀b", 3)).toBe(2);
    expect(codePoints("abc", 2)).toBe(2);
  });
});

describe("aroundPlace", () => {
  it("shows both sides", () => {
    expect(aroundPlace("He has pain. He needs a scan.", 13, 2)).toEqual({ before: "has pain.", after: "He needs" });
  });
  it("is nothing where a part would be empty", () => {
    expect(aroundPlace("He has pain.", 0)).toBeNull();
    expect(aroundPlace("He has pain. ", 12)).toBeNull();
  });
});
