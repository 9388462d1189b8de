// Ties the audit pane to the rest of the page: segment list, jump list, address bar, keys.
import { effect } from "@preact/signals";
import { markedPremises } from "../../lib/model";
import type { AuditWord } from "../../lib/payload";
import type { Shortcut } from "../../lib/shortcuts";
import { AUDIT_WORDS } from "../../lib/words";
import { shortcuts } from "../shared/shortcut-sheet";
import type { Store, Tab } from "./store";

export function segmentOfHash(): number | null {
  const match = /^#S(\d+)$/.exec(location.hash);
  return match ? Number(match[1]) : null;
}

const items = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-segment]")];
const indexOf = (item: HTMLElement): number => Number(item.dataset.segment);

export function connectPage(store: Store): void {
  connectClicks(store);
  connectKeys(store);
  markSelection(store);
  markChanges(store);
  window.addEventListener("hashchange", () => {
    const index = segmentOfHash();
    if (index !== null) store.select(index);
  });
}

function connectClicks(store: Store): void {
  for (const item of items()) {
    item.addEventListener("click", (event) => {
      // A link or field in the segment keeps its own meaning, and marking text is no choice.
      if ((event.target as Element).closest("a, button, input, textarea, select, label, summary")) return;
      if (window.getSelection()?.toString()) return;
      store.select(indexOf(item));
      item.focus({ preventScroll: true });
    });
    item.addEventListener("keydown", (event) => {
      if (event.target !== item || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      store.select(indexOf(item));
    });
  }
}

/** Where arrow keys have no other meaning: nothing is focused, or the segment list is. */
function arrowsAreFree(): boolean {
  const active = document.activeElement;
  return !active || active === document.body || active.closest("[data-segment]") !== null;
}

/** Keys of the drawings, for every page that shows an audit. */
export function viewKeys(store: Store): Shortcut[] {
  const show = (tab: Tab) => (): void => void (store.tab.value = tab);
  return [
    { keys: ["t"], does: "Support tree", group: "Views", run: show("tree") },
    { keys: ["h"], does: "Hypergraph", group: "Views", run: show("hypergraph") },
    { keys: ["n"], does: "Node-link picture", group: "Views", run: show("node-link") },
    { keys: ["r"], does: "Table of relations", group: "Views", run: show("table") },
    { keys: ["x"], does: "Tree as text or drawing", group: "Views", run: () => void (store.asText.value = !store.asText.peek()) },
  ];
}

function connectKeys(store: Store): void {
  const move = (step: number): void => {
    const inList = document.activeElement?.closest("[data-segment]") !== null || document.activeElement === document.body;
    store.move(step);
    if (inList) items().find((item) => indexOf(item) === store.selected.peek())?.focus({ preventScroll: true });
  };
  const editing = (): boolean => store.whatIfOn.peek();
  shortcuts.add([
    { keys: ["j"], does: "Next segment", group: "Segments", run: () => move(1) },
    { keys: ["k"], does: "Previous segment", group: "Segments", run: () => move(-1) },
    { keys: ["ArrowDown"], does: "Next segment, in the list", group: "Segments", run: () => move(1), when: arrowsAreFree },
    { keys: ["ArrowUp"], does: "Previous segment, in the list", group: "Segments", run: () => move(-1), when: arrowsAreFree },
    ...viewKeys(store),
    { keys: ["w"], does: "What-if mode on or off", group: "What-if", run: () => void (store.whatIfOn.value = !store.whatIfOn.peek()) },
    { keys: ["u", "Ctrl+z"], does: "Undo a change", group: "What-if", run: store.undo, when: editing },
    { keys: ["U", "Ctrl+Shift+z"], does: "Redo a change", group: "What-if", run: store.redo, when: editing },
  ]);
}

/** On a narrow window the panes stand one below the other and the page scrolls: that must not jump when it opens. */
function scrollsItself(item: HTMLElement): boolean {
  const pane = item.closest<HTMLElement>(".pane");
  return pane !== null && pane.scrollHeight > pane.clientHeight;
}

/** Scrolls the jump list alone: `scrollIntoView` would take a narrow page, which scrolls as a whole, back to its top. */
function showInRow(link: HTMLElement): void {
  const row = link.parentElement;
  if (!row) return;
  const [place, whole] = [link.getBoundingClientRect(), row.getBoundingClientRect()];
  if (place.left < whole.left) row.scrollLeft -= whole.left - place.left;
  else if (place.right > whole.right) row.scrollLeft += place.right - whole.right;
}

/** Selected segment and its premises in the list and the jump list, the address, and what is in view. */
function markSelection(store: Store): void {
  let first = segmentOfHash() === null;
  effect(() => {
    const selected = store.selected.value;
    const premises = new Set(markedPremises(store.model.value, selected));
    for (const item of items()) {
      const index = indexOf(item);
      const isSelected = index === selected;
      if (isSelected) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
      // One stop of the Tab key leads into the list; J, K and the arrows move in it.
      item.tabIndex = isSelected ? 0 : -1;
      item.classList.toggle("is-premise", premises.has(index) && !isSelected);
      if (isSelected && !(first && !scrollsItself(item))) item.scrollIntoView({ block: "nearest" });
    }
    for (const link of document.querySelectorAll<HTMLAnchorElement>('.dots a[href^="#S"]')) {
      if (link.getAttribute("href") === `#S${selected}`) {
        link.setAttribute("aria-current", "true");
        showInRow(link);
      } else link.removeAttribute("aria-current");
    }
    // The page's own choice at the start is no place that the reader asked for: keep it out of the address.
    if (!first && segmentOfHash() !== selected) history.replaceState(history.state, "", `#S${selected}`);
    first = false;
  });
}

/** In what-if mode the list shows both labels: the stored chip and, after an arrow, what it becomes. */
function markChanges(store: Store): void {
  effect(() => {
    const changed = new Map(store.changes.value.map((change) => [change.index, change.to]));
    for (const item of items()) {
      item.querySelector(".whatif-chip")?.remove();
      const to = changed.get(indexOf(item));
      item.classList.toggle("is-changed", to !== undefined);
      if (to) item.querySelector("[data-audit-chip]")?.after(changedChip(to));
    }
  });
}

function changedChip(label: AuditWord): HTMLElement {
  const { word, icon } = AUDIT_WORDS[label];
  const holder = document.createElement("span");
  holder.className = "whatif-chip";
  const chip = document.createElement("span");
  chip.className = `chip ${label}`;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${import.meta.env.BASE_URL}icons.svg#${icon}`);
  svg.append(use);
  chip.append(svg, word);
  holder.append("→ what-if", chip);
  return holder;
}
