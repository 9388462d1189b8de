// Keys of the adjudicator's page, for the one registry. No key alone throws anything away.
import type { GoldWord } from "../../lib/payload";
import type { Shortcut } from "../../lib/shortcuts";
import { enterIsFree } from "../../lib/shortcuts";
import type { Store } from "./store";

export function keys(store: Store): Shortcut[] {
  const editing = (): boolean => store.editable.peek() && store.dialog.peek() === null;
  const choose = (key: string, label: GoldWord, does: string): Shortcut => ({ keys: [key], does, group: "Decision", when: editing, run: () => store.choose(label) });
  return [
    choose("1", "correct", "Correct"),
    choose("2", "uncertain", "Uncertain"),
    choose("3", "incorrect", "Incorrect"),
    { keys: ["m"], does: "To the note", group: "Decision", when: editing, run: () => document.querySelector<HTMLElement>("#adj-note")?.focus() },
    {
      keys: ["Enter"],
      does: "Save the decision (Ctrl Enter in the note); on a decided one: the next",
      group: "Decision",
      when: () => store.dialog.peek() === null && enterIsFree(),
      run: () => (store.editable.peek() ? void store.decide() : store.skip()),
    },
    { keys: ["f"], does: "Clause unclear, or back", group: "Decision", when: editing, run: () => void store.flagClause() },
    { keys: ["j"], does: "Next in the queue", group: "Queue", run: () => store.step(1) },
    { keys: ["k"], does: "Previous in the queue", group: "Queue", run: () => store.step(-1) },
  ];
}
