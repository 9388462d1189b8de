// Keys of the audit page, for the one registry of the page.
import type { Shortcut } from "../../lib/shortcuts";
import { arrowsAreFree, enterIsFree } from "../../lib/shortcuts";
import { wordFor } from "./answer";
import type { Store } from "./store";
import type { Word } from "./types";

export function auditKeys(store: Store): Shortcut[] {
  const free = (): boolean => store.dialog.peek() === null;
  const editing = (): boolean => free() && store.editable.peek();
  const { criteria } = store.page;
  const single = criteria.length === 1;
  const word = (key: string, one: Word): Shortcut => ({
    keys: [key],
    does: single ? wordFor(criteria[0]?.id ?? "", one) : `${wordFor("", one)}, and on to the next criterion`,
    group: "Answer",
    when: editing,
    run: () => store.answer(criteria[store.criterion.peek()]?.id ?? "", one),
  });
  const pick = single
    ? []
    : criteria.map((criterion, k): Shortcut => ({ keys: [criterion.id.charAt(0)], does: criterion.title, group: "Answer", when: free, run: () => void (store.criterion.value = k) }));
  return [
    word("1", "yes"),
    word("2", "no"),
    word("3", "unsure"),
    ...pick,
    { keys: ["m"], does: "To the note (Esc: back, Ctrl Enter: next)", group: "Answer", when: editing, run: () => void (store.focusOn.value = "note") },
    { keys: ["x"], does: "Take the answer away", group: "Answer", when: editing, run: store.clear },
    { keys: ["Ctrl+z"], does: "Undo", group: "Answer", when: editing, run: store.undo },
    { keys: ["Ctrl+Shift+z", "Ctrl+y"], does: "Do again", group: "Answer", when: editing, run: store.redo },
    { keys: ["Enter"], does: "Next open chain", group: "Chains", when: () => free() && enterIsFree(), run: store.next },
    { keys: ["j"], does: "Forward", group: "Chains", when: free, run: () => store.move(1) },
    { keys: ["k"], does: "Back", group: "Chains", when: free, run: () => store.move(-1) },
    { keys: ["ArrowRight"], does: "Forward, with the arrows", group: "Chains", when: () => free() && arrowsAreFree(), run: () => store.move(1) },
    { keys: ["ArrowLeft"], does: "Back, with the arrows", group: "Chains", when: () => free() && arrowsAreFree(), run: () => store.move(-1) },
    { keys: ["o"], does: "To the first open chain", group: "Chains", when: free, run: () => store.go(store.firstOpen()) },
  ];
}
