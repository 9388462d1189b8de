import { describe, expect, it } from "vitest";
import type { Draft } from "./label-draft";
import { EMPTY_DRAFT, setLabel, toggleReason } from "./label-draft";
import type { GoldWord } from "./payload";
import type { History } from "./undo";
import { GROUP_MS, NO_HISTORY, command, record, redo, undo } from "./undo";

type Page = Map<number, Draft>;
const page = (): Page => new Map([2, 3, 4].map((index) => [index, { ...EMPTY_DRAFT }]));
const of = (on: Page, index: number): Draft => on.get(index) ?? EMPTY_DRAFT;

function change(on: Page, history: History, index: number, part: Partial<Draft>, at: number, group: string | null = null): History {
  const made = command(index, of(on, index), part, "it", at, group);
  if (!made) return history;
  on.set(index, { ...of(on, index), ...part });
  return record(history, made);
}

function unwind(on: Page, history: History, way: typeof undo): History {
  let left = history;
  for (;;) {
    const { history: next, step } = way(left);
    if (!step) return next;
    on.set(step.segment, { ...of(on, step.segment), ...step.change });
    left = next;
  }
}

describe("undo", () => {
  it("groups typing, and starts a new step after a pause, in another segment, or after another change", () => {
    const on = page();
    let history = NO_HISTORY;
    history = change(on, history, 2, { comment: "a" }, 0, "comment");
    history = change(on, history, 2, { comment: "ab" }, 300, "comment");
    expect(history.past).toHaveLength(1);
    history = change(on, history, 2, { comment: "abc" }, 300 + GROUP_MS + 1, "comment");
    history = change(on, history, 3, { comment: "x" }, 2000, "comment");
    history = change(on, history, 2, { flagged: true }, 2001);
    history = change(on, history, 2, { comment: "abcd" }, 2002, "comment");
    expect(history.past.map((one) => one.after)).toEqual([{ comment: "ab" }, { comment: "abc" }, { comment: "x" }, { flagged: true }, { comment: "abcd" }]);
  });

  it("leaves no step where typing ends as it began, and none where nothing changes", () => {
    const on = page();
    let history = change(on, NO_HISTORY, 2, { comment: "a" }, 0, "comment");
    history = change(on, history, 2, { comment: "" }, 100, "comment");
    history = change(on, history, 2, { comment: "" }, 200);
    expect(history.past).toEqual([]);
  });

  it("says where a step belongs, and forgets the future after a new change", () => {
    const on = page();
    let history = change(on, NO_HISTORY, 4, { label: "correct" }, 0);
    const back = undo(history);
    expect(back.step).toEqual({ segment: 4, change: { label: null }, what: "it" });
    history = change(on, back.history, 2, { flagged: true }, 1);
    expect(redo(history).step).toBeNull();
  });

  it.each(Array.from({ length: 40 }, (_, k) => k + 1))("undo-all is the beginning, redo-all the end (seed %i)", (seed) => {
    let state = seed;
    const pick = (below: number): number => Math.floor(((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) * below);
    const on = page();
    let history = NO_HISTORY;
    let at = 0;
    for (let step = 0; step < 60; step++) {
      const index = 2 + pick(3);
      const draft = of(on, index);
      at += pick(1000);
      const labels: GoldWord[] = ["correct", "uncertain", "incorrect"];
      const parts: Partial<Draft>[] = [
        setLabel(draft, labels[pick(3)] ?? "correct"),
        toggleReason(draft, `r${pick(3)}`),
        { comment: `${draft.comment}${"x".repeat(pick(2))}` },
        { spans: pick(2) ? [[pick(3), 5]] : [] },
        { flagged: !draft.flagged },
        { cannot_judge: true, label: null, reasons: [] },
      ];
      const which = pick(parts.length);
      history = change(on, history, index, parts[which] ?? {}, at, which === 2 ? "comment" : null);
      // Some steps back and forth in between: what is done after them must not disturb the rest.
      if (pick(8) === 0) {
        const { history: next, step: back } = undo(history);
        if (back) on.set(back.segment, { ...of(on, back.segment), ...back.change });
        history = next;
      }
    }
    const end = JSON.stringify([...on]);
    history = unwind(on, { ...history, future: [] }, undo);
    expect(JSON.stringify([...on])).toBe(JSON.stringify([...page()]));
    unwind(on, history, redo);
    expect(JSON.stringify([...on])).toBe(end);
  });
});
