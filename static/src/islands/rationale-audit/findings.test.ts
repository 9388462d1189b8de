import { describe, expect, it } from "vitest";
import { modelOf } from "../../lib/model";
import { DOG, MINE, filmOf } from "../grounded-video/testing";
import { findingsOf, leavesBelow, usesOf } from "./findings";
import { rationaleRows } from "./lanes";
import { createRationale, leafWords } from "./store";
import { audited, rationalePayload } from "./testing";

const findings = () => findingsOf(rationalePayload(), modelOf(audited()));

describe("what the steps rest on", () => {
  it("tells evidence from other steps", () => {
    expect(findings().steps.map(({ step, label, basis, premises, against }) => [step.index, label, basis, premises, against])).toEqual([
      [5, "supported", "evidence", [2], []],
      [6, "supported", "steps", [3, 5], []],
      [7, "orphan", null, [], []],
      [8, "contradicted", null, [], [4]],
    ]);
  });

  it("is counted", () => {
    expect(findings().counts).toEqual({ evidence: 1, steps: 1, question: 0, unsupported: 0, orphan: 1, contradicted: 1 });
  });

  it("does not take the question for evidence", () => {
    const payload = rationalePayload();
    const leaves = payload.leaves.map((leaf) => (leaf.index === 2 ? { ...leaf, kind: "question" as const } : leaf));
    const found = findingsOf({ ...payload, leaves }, modelOf(audited()));
    expect([found.steps[0]?.basis, found.counts.evidence, found.counts.question]).toEqual(["question", 0, 1]);
  });

  it("is told of a leaf, too: the steps above it, and those that it speaks against", () => {
    expect(usesOf(findings(), 2)).toEqual({ below: [5, 6], against: [] });
    expect(usesOf(findings(), 4)).toEqual({ below: [], against: [8] });
  });

  it("names the evidence that no step uses: what only contradicts supports nothing, and the question is no evidence", () => {
    expect(findings().unused).toEqual([4]);
  });

  it("goes down to the leaves", () => {
    expect(leavesBelow(findings(), 6)).toEqual([2, 3]);
    expect(leavesBelow(findings(), 7)).toEqual([]);
  });

  it("is nothing before an audit", () => {
    const before = findingsOf(rationalePayload(null), null);
    expect(before.steps.map((one) => [one.label, one.premises])).toEqual([[null, []], [null, []], [null, []], [null, []]]);
    expect(before.unused).toEqual([]);
  });
});

describe("the page's state", () => {
  it("begins with the first step of interest and goes by steps, never to leaves", () => {
    const rationale = createRationale(rationalePayload(), null);
    expect(rationale.selected.value).toBe(8);
    rationale.move(-1);
    expect(rationale.selected.value).toBe(7);
    rationale.move(-9);
    expect(rationale.selected.value).toBe(5);
    rationale.select(2);
    expect(rationale.selected.value).toBe(5);
  });

  it("a leaf in the tree is shown, a step is gone to", async () => {
    const { film, player, played } = filmOf();
    const rationale = createRationale(rationalePayload(), film, 6);
    rationale.audit?.select(2);
    expect(rationale.selected.value).toBe(6);
    expect(player.frame.value).toBe(10);
    expect(film.lit.value).toBe(`reference-1:${rationale.leaves.get(2)?.id}`);
    rationale.audit?.select(3);
    expect(played).toEqual([{ start: 10, end: 20, loop: false }]);
    rationale.audit?.select(5);
    expect([rationale.selected.value, rationale.audit?.selected.value]).toEqual([5, 5]);
  });

  it("plays the evidence below a step, and what is cited where there is none", async () => {
    const { film, played, player } = filmOf();
    const rationale = createRationale(rationalePayload(), film, 6);
    await rationale.playEvidence();
    // The dog, from 0.4 s to 1.6 s, then the clink until 0.8 s, then the dog again.
    expect(played).toEqual([{ start: 10, end: 40, loop: false }]);
    await rationale.playEvidence();
    expect(played[1]).toEqual({ start: 10, end: 20, loop: false });
    await rationale.playEvidence();
    expect(played[2]).toEqual(played[0]);
    rationale.select(7);
    await rationale.playEvidence();
    expect(played).toHaveLength(3);
    expect(player.frame.value).toBe(0);
    // What is said against the last step, from 1 s to 2 s.
    rationale.select(8);
    await rationale.playEvidence();
    expect(played[3]).toEqual({ start: 25, end: 50, loop: false });
  });

  it("plays an object that is long in the picture where the step cites it", async () => {
    const { film, played } = filmOf();
    const payload = rationalePayload();
    const steps = payload.steps.map((step) => ({ ...step, times_us: [[1_000_000, 1_200_000]] as [number, number][] }));
    await createRationale({ ...payload, steps }, film, 5).playEvidence();
    expect(played).toEqual([{ start: 25, end: 30, loop: false }]);
  });

  it("goes round the steps that are not supported", () => {
    const rationale = createRationale(rationalePayload(), null, 5);
    const seen = [1, 1, 1, -1, -1].map((by) => {
      rationale.moveDoubtful(by as 1 | -1);
      return rationale.selected.value;
    });
    expect(seen).toEqual([7, 8, 7, 8, 7]);
  });

  it("a click on a box chooses its leaf, and one on a box that is no evidence none", () => {
    const { film } = filmOf();
    const rationale = createRationale(rationalePayload(), film, 6);
    film.lit.value = `reference-1:${DOG}`;
    expect(rationale.leaf.value).toBe(2);
    expect(rationale.leafSays()).toBe("A dog is seen from 0:00.4 to 0:01.6. S5 and S6 rest on it.");
    film.lit.value = `answer-7:${MINE}`;
    expect(rationale.leafSays()).toBe("");
    film.lit.value = `reference-1:${DOG}`;
    film.lit.value = null;
    expect(rationale.leaf.value).toBeNull();
  });

  it("unfolds a step once it is chosen, and folds it again", () => {
    const rationale = createRationale(rationalePayload(), null, 5);
    rationale.toggle(5);
    expect(rationale.unfolded.value).toBe(true);
    rationale.toggle(6);
    expect([rationale.selected.value, rationale.unfolded.value]).toEqual([6, true]);
    rationale.toggle(6);
    expect(rationale.unfolded.value).toBe(false);
  });

  it("lights what the chosen step rests on, and what speaks against it", () => {
    const rationale = createRationale(rationalePayload(), null, 6);
    expect([...rationale.lit.value]).toEqual([2, 3]);
    rationale.select(8);
    expect([...rationale.lit.value]).toEqual([4]);
  });
});

it("leaves are short where there is little room", () => {
  const [question, dog, , speech] = rationalePayload().leaves;
  expect([question, dog, speech].map((leaf) => leaf && leafWords(leaf))).toEqual(["Question: Why?", "dog, 00:00.4 to 00:01.6", "“Come here!”, 00:01.0 to 00:02.0"]);
});

it("lanes hold cited times, those of the reference, and each leaf", () => {
  const { film } = filmOf();
  const rows = rationaleRows(createRationale(rationalePayload(), film, 6), film);
  expect(rows.map((row) => [row.name, row.spans.map((span) => Boolean(span.lit))])).toEqual([
    ["Visual cue cites", [true]],
    ["Audio cue cites", []],
    ["Reference, visual", [false]],
    ["Reference, audio", [false]],
    ["dog", [true]],
    ["Sounds", [true]],
    ["Speech", [false]],
  ]);
});
