import { describe, expect, it } from "vitest";
import { modelOf } from "./model";
import { CLINICAL } from "./testing";
import { EMPTY_HISTORY, apply, editOf, redo, reset, tryChanges, undo } from "./what-if";

const stored = modelOf(CLINICAL);
const entail = { premises: [4], target: 5, label: "entailment" } as const;
const edit = (label: "entailment" | "implied" | "neutral" | null) => ({ premises: [4], target: 5, label });

describe("what-if history", () => {
  it("replaces an earlier edit of the same relation", () => {
    const one = apply(EMPTY_HISTORY, [edit("entailment")], stored);
    const two = apply(one, [edit("implied"), { premises: [1], target: 2, label: null }], stored);
    expect(two.present).toEqual([edit("implied"), { premises: [1], target: 2, label: null }]);
    expect(editOf(two, { key: "4>5" })?.label).toBe("implied");
    expect(editOf(two, { key: "4,5>8" })).toBeUndefined();
  });

  it("drops an edit that says what is stored", () => {
    const one = apply(EMPTY_HISTORY, [edit("entailment")], stored);
    expect(apply(one, [edit("neutral")], stored).present).toEqual([]);
    // A relation that was never scored is stored as "no label".
    expect(apply(EMPTY_HISTORY, [{ premises: [1], target: 7, label: null }], stored)).toBe(EMPTY_HISTORY);
  });

  it("undoes and redoes step by step, and a new edit ends the redo", () => {
    let history = apply(EMPTY_HISTORY, [edit("entailment")], stored);
    history = apply(history, [{ premises: [1], target: 2, label: null }], stored);
    history = undo(history);
    expect(history.present).toEqual([entail]);
    history = redo(history);
    expect(history.present).toHaveLength(2);
    history = undo(undo(history));
    expect(history.present).toEqual([]);
    expect(undo(history)).toBe(history);
    history = apply(history, [edit("implied")], stored);
    expect(history.future).toEqual([]);
    expect(redo(history)).toBe(history);
  });

  it("makes no step of a change that changes nothing", () => {
    const one = apply(EMPTY_HISTORY, [edit("entailment")], stored);
    expect(apply(one, [edit("entailment")], stored)).toBe(one);
    expect(reset(EMPTY_HISTORY)).toBe(EMPTY_HISTORY);
  });

  it("can undo a reset and a tried set", () => {
    const one = apply(EMPTY_HISTORY, [edit("entailment")], stored);
    expect(undo(reset(one)).present).toEqual([entail]);
    const tried = tryChanges(one, [{ premises: [2], target: 5, from: "implied", to: "entailment" }]);
    expect(tried.present).toEqual([{ premises: [2], target: 5, label: "entailment" }]);
    expect(undo(tried).present).toEqual([entail]);
  });
});
