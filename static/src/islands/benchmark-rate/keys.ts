// Keys of the page, for the one registry of the page.
import type { Shortcut } from "../../lib/shortcuts";
import { arrowsAreFree, enterIsFree } from "../../lib/shortcuts";
import { LEVELS } from "./types";
import type { Workspace } from "./workspace";

/** Arrows up and down scroll a pane that has the focus, and move in the player. */
const upIsFree = (): boolean => !document.activeElement?.closest("video, [role='tree'], select, .pane[tabindex]:focus");
const inScale = (): boolean => document.activeElement?.closest("[role='radiogroup']") != null;
const onVideo = (): boolean => document.activeElement?.closest("video") != null;

export function rateKeys({ store, player }: Workspace): Shortcut[] {
  const free = (): boolean => store.dialog.peek() === null;
  const editing = (): boolean => free() && store.editable.peek();
  const here = (): string => store.page.facets[store.facet.peek()]?.id ?? "";
  return [
    {
      keys: LEVELS.map(String),
      does: "Rate the marked facet, and on to the next",
      group: "Rating",
      when: editing,
      run({ key }) {
        store.give(here(), Number(key));
        // Who is inside a scale goes on in the next one: arrows would change the one before.
        if (inScale()) store.focusOn.value = "facet";
      },
    },
    { keys: ["ArrowDown"], does: "Next facet", group: "Rating", when: () => free() && upIsFree(), run: () => store.toFacet(1) },
    { keys: ["ArrowUp"], does: "Facet before", group: "Rating", when: () => free() && upIsFree(), run: () => store.toFacet(-1) },
    { keys: ["m"], does: "To the note of the marked facet (Esc: back, Ctrl Enter: next)", group: "Rating", when: editing, run: () => void (store.focusOn.value = "note") },
    { keys: ["x"], does: "Take the rating of the marked facet back", group: "Rating", when: editing, run: store.takeBack },
    { keys: ["s"], does: "Set the answer aside: you cannot judge it", group: "Rating", when: editing, run: store.skip },
    { keys: ["Ctrl+z"], does: "Undo", group: "Rating", when: editing, run: store.undo },
    { keys: ["Ctrl+Shift+z", "Ctrl+y"], does: "Do again", group: "Rating", when: editing, run: store.redo },
    { keys: ["Enter"], does: "Next open answer", group: "Answers", when: () => free() && enterIsFree(), run: store.next },
    { keys: ["j"], does: "Forward", group: "Answers", when: free, run: () => store.move(1) },
    { keys: ["k"], does: "Back", group: "Answers", when: free, run: () => store.move(-1) },
    { keys: ["ArrowRight"], does: "Forward, with the arrows", group: "Answers", when: () => free() && arrowsAreFree() && !onVideo(), run: () => store.move(1) },
    { keys: ["ArrowLeft"], does: "Back, with the arrows", group: "Answers", when: () => free() && arrowsAreFree() && !onVideo(), run: () => store.move(-1) },
    { keys: ["o"], does: "To the first open answer", group: "Answers", when: free, run: () => store.go(store.firstOpen()) },
    { keys: ["p"], does: "Play or pause", group: "Clip", when: free, run: () => player.toggle() },
    { keys: [","], does: "Back two seconds", group: "Clip", when: free, run: () => player.jump(-2) },
    { keys: ["."], does: "On two seconds", group: "Clip", when: free, run: () => player.jump(2) },
  ];
}
