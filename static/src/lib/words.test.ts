import { describe, expect, it } from "vitest";
import { countReasons, edgeName, joinSegments, plural, reasonPhrase, reasonShort, statusPhrase } from "./words";

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
  it("has plurals and statuses", () => {
    expect(plural(1, "set")).toBe("1 set");
    expect(plural(10660, "relation")).toBe("10,660 relations");
    expect(statusPhrase("invalid:no_json")).toBe("invalid: no json");
  });
});
