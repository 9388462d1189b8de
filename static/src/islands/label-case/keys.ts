// Keys of the workspace, for the one registry of the page. No key alone throws anything away.
import type { Shortcut } from "../../lib/shortcuts";
import { arrowsAreFree, enterIsFree } from "../../lib/shortcuts";
import type { Workspace } from "./workspace";

export function focusComment(): void {
  document.querySelector<HTMLElement>("#label-comment")?.focus();
}

export function labelKeys({ store }: Workspace): Shortcut[] {
  const editing = (): boolean => store.editable.peek() && store.dialog.peek() === null;
  const choose = (key: string, label: "correct" | "uncertain" | "incorrect", does: string): Shortcut => ({
    keys: [key],
    does,
    group: "Label",
    when: editing,
    run: () => store.choose(label, true),
  });
  return [
    choose("1", "correct", "Correct"),
    choose("2", "uncertain", "Uncertain, and on to the comment"),
    choose("3", "incorrect", "Incorrect, and on to the comment"),
    { keys: ["u"], does: "Cannot judge, or back", group: "Label", when: editing, run: store.toggleCannotJudge },
    { keys: ["h"], does: "Underline the selected words", group: "Label", when: editing, run: store.underline },
    { keys: ["f"], does: "Flag for discussion, or back", group: "Label", when: editing, run: () => void store.toggleFlag() },
    { keys: ["m"], does: "To the comment", group: "Label", when: editing, run: focusComment },
    { keys: ["Ctrl+z"], does: "Undo", group: "Label", when: editing, run: store.undo },
    { keys: ["Ctrl+Shift+z", "Ctrl+y"], does: "Do again", group: "Label", when: editing, run: store.redo },
  ];
}

export function moveKeys({ store }: Workspace): Shortcut[] {
  const free = (): boolean => store.dialog.peek() === null;
  return [
    { keys: ["Enter"], does: "Save and next (Ctrl Enter in the comment)", group: "Segments", when: () => free() && enterIsFree(), run: store.saveAndNext },
    { keys: ["j"], does: "Next segment", group: "Segments", when: free, run: () => store.move(1) },
    { keys: ["k"], does: "Previous segment", group: "Segments", when: free, run: () => store.move(-1) },
    { keys: ["ArrowDown"], does: "Next segment, with the arrows", group: "Segments", when: () => free() && arrowsAreFree(), run: () => store.move(1) },
    { keys: ["ArrowUp"], does: "Previous segment, with the arrows", group: "Segments", when: () => free() && arrowsAreFree(), run: () => store.move(-1) },
  ];
}

export function pageKeys({ store }: Workspace): Shortcut[] {
  return [
    { keys: ["c"], does: "Search in the case", group: "Case", run: () => document.querySelector<HTMLElement>("#case-search input")?.focus() },
    {
      keys: ["g"],
      does: "Guideline",
      group: "Case",
      run: () => {
        store.sideView.value = store.revealed.peek() && store.sideView.peek() === "guideline" ? "main" : "guideline";
        requestAnimationFrame(() => document.querySelector<HTMLElement>("#guideline")?.focus());
      },
    },
  ];
}

/** In the comment only these work: everything else is text. Returns whether the key was one of them. */
export function commentKey(event: KeyboardEvent, { store }: Workspace): boolean {
  if (event.isComposing) return false;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    store.saveAndNext();
    return true;
  }
  if (event.key === "Escape") {
    event.preventDefault();
    store.focusOn.value = "card";
    return true;
  }
  return false;
}
