import { describe, expect, it } from "vitest";
import { answerBreaks, buildModel, nearestFacts, pairIndex, pairReader, partnerOf, sharedWords, sortChains } from "./model";
import { chainOf, questionOf } from "./testing";

describe("chains of a question", () => {
  it("come best first, with what their answers are worth, and those outside the pool apart", () => {
    const model = buildModel(questionOf());
    expect(model.pool.map((chain) => [chain.name, chain.outcome])).toEqual([
      ["02", "correct"],
      ["01", "correct"],
      ["03", "incorrect"],
    ]);
    expect(model.excluded.map((chain) => [chain.name, chain.outcome, chain.excluded])).toEqual([["04", "none", "No facts"]]);
  });

  it("come by number before the first score, and without a gold answer nothing is right or wrong", () => {
    const model = buildModel(questionOf({ document: null, matrix: null, question: { gold: null, gold_normal: null, previous: null, next: null } }));
    expect(model.pool.map((chain) => [chain.name, chain.outcome])).toEqual([
      ["01", "unjudged"],
      ["02", "unjudged"],
      ["03", "unjudged"],
    ]);
    expect(model.medoid).toBeNull();
  });

  it("stand beside the medoid, and the medoid beside the best chain of another answer", () => {
    const model = buildModel(questionOf());
    expect([partnerOf(model, 1), partnerOf(model, 2), partnerOf(model, 4)]).toEqual([2, 3, 2]);
    const alone = buildModel(questionOf({ document: null, chains: [chainOf(1, "true")] }));
    expect(partnerOf(alone, 1)).toBeNull();
  });

  it("are sorted by a column", () => {
    const { pool } = buildModel(questionOf());
    const names = (key: Parameters<typeof sortChains>[1], descending: boolean): string[] => sortChains(pool, key, descending).map((chain) => chain.name);
    expect(names("chain", false)).toEqual(["01", "02", "03"]);
    expect(names("score", false)).toEqual(["03", "01", "02"]);
    expect(names("answer", false)).toEqual(["03", "02", "01"]);
    expect(names("facts", true)).toEqual(["02", "01", "03"]);
  });
});

describe("pairs", () => {
  it("are found in the upper triangle in either order", () => {
    // Rows of a triangle of 4: (0,1) (0,2) (0,3) (1,2) (1,3) (2,3).
    const all = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]] as const;
    expect(all.map(([i, j]) => pairIndex(i, j, 4))).toEqual([0, 1, 2, 3, 4, 5]);
    const read = pairReader(questionOf().matrix!);
    expect(read(2, 3)).toEqual({ d: 0.75, nged: 0.3, s_term: 0.7, s_struct: 0.4 });
    expect(read(3, 2)).toEqual(read(2, 3));
    expect([read(1, 1), read(1, 4)]).toEqual([null, null]);
  });

  it("are parted where another answer begins", () => {
    const model = buildModel(questionOf());
    expect(answerBreaks([2, 1, 3], model)).toEqual([2]);
    expect(answerBreaks([2, 3, 1], model)).toEqual([1, 2]);
  });
});

describe("facts of two chains", () => {
  it("share words, each as often as both have it", () => {
    expect(sharedWords(["a", "a", "b"], ["a", "c"])).toBe(2 / 5);
    expect(sharedWords(["one"], ["two"])).toBe(0);
    expect(sharedWords([], [])).toBe(0);
  });

  it("point to the one with most words in common, the first of equals, or to none", () => {
    const found = nearestFacts(
      [["Bears are fast", 1, []], ["Nothing whatever", 1, []]],
      [["Men are fast", 1, []], ["bears are FAST!", 2, []]],
    );
    expect(found).toEqual([{ fact: 1, shared: 1 }, null]);
  });
});
