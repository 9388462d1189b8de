import { describe, expect, it } from "vitest";
import { addressOf, countReasons, edgeName, fixed, joinSegments, plural, reasonPhrase, reasonShort, statusPhrase } from "./words";

describe("words", () => {
  it("counts reasons, most frequent first", () => {
    expect(countReasons(["gap", "neutral", "neutral", null, "missing"])).toBe("2 neutral, 1 pruned by distance, 1 without a label");
    expect(countReasons([])).toBe("");
  });
  it("names sets and edges", () => {
    expect(joinSegments([4])).toBe("S4");
    expect(joinSegments([4, 5, 6])).toBe("S4, S5 and S6");
    expect(edgeName([4, 5], 8)).toBe("{S4, S5} → S8");
    expect(edgeName([4], 5)).toBe("S4 → S5");
  });
  it("shows an unknown reason as the server wrote it", () => {
    expect(reasonShort("new_rule")).toBe("new rule");
    expect(reasonPhrase("toString")).toBe("toString");
  });
  it("writes a number that is not there as a dash, never as 0, and a true minus", () => {
    expect([fixed(0), fixed(null), fixed(undefined), fixed(0.12345, 3), fixed(-0.5)]).toEqual(["0.00", "–", "–", "0.123", "−0.50"]);
  });
  it("puts an id in the place of the last 0 of an address", () => {
    expect(addressOf("/0/grapheval/a-0/questions/0/", 17)).toBe("/0/grapheval/a-0/questions/17/");
  });
  it("has plurals and statuses", () => {
    expect(plural(1, "set")).toBe("1 set");
    expect(plural(10660, "relation")).toBe("10,660 relations");
    expect(statusPhrase("invalid:no_json")).toBe("invalid: no json");
  });
});
