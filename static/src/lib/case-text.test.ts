import { describe, expect, it } from "vitest";
import { asksApart } from "./case-text";

describe("the question of a case", () => {
  it.each([
    ["What now?", [["Case", "A man of 71."]], true],
    ["What now?", [["Case", "A man of 71."], ["Question to the model", "What now?"]], false],
    ["What  now?\n", [["", " What\nnow?"]], false],
    ["What now?", [["Case", "What now? A man of 71."]], true],
    ["What now?", [], true],
    [" \n", [["Case", "A man of 71."]], false],
  ] as [string, [string, string][], boolean][])("%j beside %j: %s", (question, sections, apart) => {
    expect(asksApart(sections, question)).toBe(apart);
  });
});
