// Ticks in the list of traces: the box in the head, what is selected in words, all that match, the button's number.
// The list is swapped by htmx, so listeners sit on the document and elements are looked up each time.
import { headState, selectionWords } from "../lib/selection";
import type { Ticks } from "../lib/selection";

const one = <E extends HTMLElement>(selector: string): E | null => document.querySelector<E>(selector);
const boxes = (): HTMLInputElement[] => [...document.querySelectorAll<HTMLInputElement>('#selection tbody input[type="checkbox"]')];

/** A disabled field is not sent: `all` goes to the server only while all that match are chosen. */
const allField = (): HTMLInputElement | null => one("[data-all-matching]");

function ticks(): Ticks {
  const all = boxes();
  return {
    ticked: all.filter((box) => box.checked).length,
    shown: all.length,
    matching: Number(one("#trace-rows")?.dataset.matching ?? all.length),
    all: allField()?.disabled === false,
  };
}

function show(): void {
  const now = ticks();
  const words = selectionWords(now, one("#selection")?.dataset.unit);
  const head = one<HTMLInputElement>("[data-select-page]");
  if (head) {
    head.hidden = false;
    head.checked = headState(now) === "all";
    head.indeterminate = headState(now) === "some";
    one("[data-no-script]")?.remove();
  }
  for (const box of boxes()) box.closest("tr")?.classList.toggle("is-selected", box.checked);
  setText("[data-selection-count]", words.count);
  setText("[data-select-matching]", words.offer);
  setText("#run-words", words.run);
  setHidden("[data-selection-line]", words.count === "");
  setHidden("[data-selection-hint]", words.count !== "");
  setHidden("[data-select-matching]", words.offer === "");
}

function setText(selector: string, text: string): void {
  const element = one(selector);
  if (element && element.textContent !== text) element.textContent = text;
}

function setHidden(selector: string, hidden: boolean): void {
  const element = one(selector);
  if (element) element.hidden = hidden;
}

function tickAll(checked: boolean): void {
  for (const box of boxes()) box.checked = checked;
}

function chooseAllMatching(chosen: boolean): void {
  const field = allField();
  if (field) field.disabled = !chosen;
}

document.addEventListener("change", (event) => {
  const target = event.target as HTMLElement;
  if (target.matches("[data-select-page]")) tickAll((target as HTMLInputElement).checked);
  else if (!target.matches('#selection input[name="trace"]')) return;
  chooseAllMatching(false);
  show();
});
document.addEventListener("click", (event) => {
  const target = event.target as Element;
  if (target.closest("[data-clear-selection]")) {
    tickAll(false);
    chooseAllMatching(false);
    show();
    one("[data-select-page]")?.focus();
  } else if (target.closest("[data-select-matching]")) {
    chooseAllMatching(true);
    show();
    one("[data-clear-selection]")?.focus();
  }
});
// A new page of the list, another order or other filters: nothing of it is ticked.
document.addEventListener("htmx:after:swap", () => {
  if (ticks().ticked === 0) chooseAllMatching(false);
  show();
});
show();
