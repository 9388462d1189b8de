// Search in the case text: marks what is found, counts it and moves from one to the next.
import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useRef } from "preact/hooks";
import { findMatches } from "../../lib/text-places";
import { shortcuts, startShortcuts } from "../shared/shortcut-sheet";

export function mount(host: HTMLElement): void {
  const text = document.getElementById(host.dataset.in ?? "");
  if (!text) throw new Error(`There is no element "${host.dataset.in}" to search in.`);
  host.replaceChildren();
  render(<Search text={text} />, host);
  startShortcuts();
  shortcuts.add([
    { keys: ["/"], does: "Search in the case", group: "Case", run: () => host.querySelector("input")?.focus() },
  ]);
}

function Search({ text }: { text: HTMLElement }) {
  const marks = useRef<HTMLElement[][]>([]);
  const found = useSignal<number | null>(null);
  const at = useSignal(0);
  const search = (query: string): void => {
    clearMarks(text);
    marks.current = query.trim() ? markMatches(text, query) : [];
    found.value = query.trim() ? marks.current.length : null;
    go(0);
  };
  const go = (place: number): void => {
    const all = marks.current;
    at.value = all.length ? (place + all.length) % all.length : 0;
    all.forEach((parts, k) => parts.forEach((part) => part.classList.toggle("is-current", k === at.value)));
    all[at.value]?.[0]?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const field = event.currentTarget as HTMLInputElement;
    if (event.key === "Enter") {
      event.preventDefault();
      go(at.value + (event.shiftKey ? -1 : 1));
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (!field.value) field.blur();
      field.value = "";
      search("");
    }
  };
  return (
    <>
      <span class="case-search-count tiny num" role="status">
        {found.value === null ? "" : found.value === 0 ? "Not found" : `${at.value + 1} of ${found.value}`}
      </span>
      <input
        class="form-control form-control-sm"
        type="search"
        placeholder="Search  /"
        aria-label="Search in the case"
        title="Enter: next, Shift Enter: previous, Escape: clear"
        onInput={(event) => search(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </>
  );
}

/** Wraps what is found in `<mark>`, one list of marks per match. A paragraph is searched as one text. */
export function markMatches(root: HTMLElement, query: string): HTMLElement[][] {
  return [...root.querySelectorAll<HTMLElement>("p, h3, dt, dd")].flatMap((block) => {
    block.normalize();
    const matches = findMatches(block.textContent ?? "", query);
    // From the last one on, so that the places of the others stay true.
    return matches.reverse().map(([start, end]) => wrap(block, start, end)).reverse();
  });
}

export function clearMarks(root: HTMLElement): void {
  for (const mark of root.querySelectorAll("mark[data-found]")) mark.replaceWith(...mark.childNodes);
  root.normalize();
}

/** Marks `[start, end)` of the block's text; a match that crosses elements gets a mark in each text. */
function wrap(block: HTMLElement, start: number, end: number): HTMLElement[] {
  const texts: Text[] = [];
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  const marks: HTMLElement[] = [];
  let passed = 0;
  for (const text of texts) {
    const length = text.length;
    const [from, to] = [Math.max(start - passed, 0), Math.min(end - passed, length)];
    passed += length;
    if (from >= to) continue;
    const middle = from ? text.splitText(from) : text;
    if (to - from < middle.length) middle.splitText(to - from);
    const mark = document.createElement("mark");
    mark.dataset.found = "";
    middle.replaceWith(mark);
    mark.append(middle);
    marks.push(mark);
  }
  return marks;
}
