import { describe, expect, it } from "vitest";
import { barIsTaken, headState, selectionWords } from "./selection";

const page = { ticked: 0, shown: 25, matching: 412, all: false };

describe("selectionWords", () => {
  it("says nothing while nothing is ticked", () => {
    expect(selectionWords(page)).toEqual({ count: "", offer: "", run: "Run audit" });
  });

  it("counts what is ticked", () => {
    expect(selectionWords({ ...page, ticked: 12 })).toEqual({ count: "12 selected", offer: "", run: "Run audit on 12" });
  });

  it("offers the rest once the page is ticked and there is a rest", () => {
    expect(selectionWords({ ...page, ticked: 25 }).offer).toBe("Select all 412 that match");
    expect(selectionWords({ ...page, ticked: 25, matching: 25 }).offer).toBe("");
  });

  it("names all that match", () => {
    expect(selectionWords({ ...page, ticked: 25, matching: 1412, all: true })).toEqual({
      count: "All 1,412 traces that match selected",
      offer: "",
      run: "Run audit on 1,412",
    });
  });
});

describe("headState", () => {
  it("is all, some or none", () => {
    expect([0, 3, 25].map((ticked) => headState({ ...page, ticked }))).toEqual(["none", "some", "all"]);
  });
  it("is none on an empty page", () => {
    expect(headState({ ...page, shown: 0 })).toBe("none");
  });
});

describe("barIsTaken", () => {
  const taken = (low: number, high: number): number[] =>
    [0, 10, 20, 30, 40, 50, 60, 70, 80, 90].filter((first) => barIsTaken(first, low, high));
  it("follows the limits, both ends included", () => {
    expect(taken(35, 50)).toEqual([30, 40, 50]);
    expect(taken(100, 100)).toEqual([90]);
    expect(taken(0, 0)).toEqual([0]);
    expect(taken(60, 40)).toEqual([]);
  });
});
