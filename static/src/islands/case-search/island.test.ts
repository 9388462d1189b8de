// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { clearMarks, markMatches, mount } from "./index";

const CASE = '<div id="case"><h3>History</h3><p>No pain. Later <b>pa</b>in again.</p><p>Fever.</p></div>';
const text = (): HTMLElement => document.getElementById("case") as HTMLElement;
const marked = (): string[] => [...document.querySelectorAll("mark")].map((mark) => mark.textContent ?? "");

beforeEach(() => {
  Element.prototype.scrollIntoView = () => undefined;
  document.body.innerHTML = `${CASE}<span data-island="case-search" data-in="case"></span>`;
});

describe("marks", () => {
  it("wraps each match, over inner elements too, and leaves the text as it was", () => {
    const before = text().innerHTML;
    const found = markMatches(text(), "PAIN");
    expect(found.map((parts) => parts.map((part) => part.textContent).join(""))).toEqual(["pain", "pain"]);
    expect(text().querySelectorAll("p")[0]?.textContent).toBe("No pain. Later pain again.");
    clearMarks(text());
    expect(text().innerHTML).toBe(before);
  });
});

describe("case-search", () => {
  const pass = (): Promise<void> => new Promise((done) => setTimeout(done, 20));

  it("counts, moves and clears", async () => {
    mount(document.querySelector("[data-island]") as HTMLElement);
    const field = document.querySelector("input") as HTMLInputElement;
    const count = (): string | null | undefined => document.querySelector('[role="status"]')?.textContent;
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }));
    expect(document.activeElement).toBe(field);
    field.value = "pain";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await pass();
    expect(count()).toBe("1 of 2");
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    await pass();
    expect(count()).toBe("2 of 2");
    expect(document.querySelector("mark.is-current")?.textContent).toBe("pa");
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    await pass();
    expect(marked()).toEqual([]);
    expect(count()).toBe("");
    field.value = "rash";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await pass();
    expect(count()).toBe("Not found");
  });
});
