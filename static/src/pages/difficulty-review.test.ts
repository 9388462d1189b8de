// @vitest-environment jsdom
import { beforeAll, beforeEach, expect, it, vi } from "vitest";

const PAGE = `<section data-difficulty-review><form>
  <input type="radio" name="decision" value="confirmed" data-key="1"><input type="radio" name="decision" value="corrected" data-key="2">
  <input type="radio" name="decision" value="rejected" data-key="3">
  <fieldset data-fault data-unused><input type="radio" name="fault" value="model"></fieldset><textarea></textarea><button>Save</button></form>
  <a data-next-pending href="#next">Next</a></section>`;

const find = <T extends HTMLElement>(selector: string): T => document.querySelector(selector) as T;
const chosen = (): string | undefined => document.querySelector<HTMLInputElement>("[name=decision]:checked")?.value;
const sent = vi.fn();
const followed = vi.fn();

function press(key: string, at: HTMLElement = document.body, more: KeyboardEventInit = {}): void {
  at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

beforeAll(() => import("./difficulty-review"));
beforeEach(() => {
  document.body.innerHTML = PAGE;
  sent.mockClear();
  followed.mockClear();
  find<HTMLFormElement>("form").requestSubmit = sent;
  find("a").addEventListener("click", followed);
});

it("chooses with 1, 2 and 3", () => {
  press("2");
  expect(chosen()).toBe("corrected");
  press("1");
  expect(chosen()).toBe("confirmed");
  press("4");
  expect(chosen()).toBe("confirmed");
});

it("asks who erred only with a rejection", () => {
  press("3");
  expect(find("fieldset").hasAttribute("data-unused")).toBe(false);
  expect(find<HTMLInputElement>("[name=fault]").required).toBe(true);
  press("1");
  expect(find("fieldset").hasAttribute("data-unused")).toBe(true);
  expect(find<HTMLInputElement>("[name=fault]").required).toBe(false);
  const rejected = find<HTMLInputElement>("[value=rejected]");
  rejected.checked = true;
  rejected.dispatchEvent(new Event("change", { bubbles: true }));
  expect(find<HTMLInputElement>("[name=fault]").required).toBe(true);
});

it("saves with Enter, and goes on with N", () => {
  press("Enter", find("[value=confirmed]"));
  expect(sent).toHaveBeenCalledOnce();
  press("n");
  expect(followed).toHaveBeenCalledOnce();
});

it("leaves keys alone where they have a meaning of their own", () => {
  press("1", find("textarea"));
  press("n", find("textarea"));
  press("Enter", find("a"));
  press("Enter", find("button"));
  press("1", document.body, { ctrlKey: true });
  expect(chosen()).toBeUndefined();
  expect(sent).not.toHaveBeenCalled();
  expect(followed).not.toHaveBeenCalled();
});
