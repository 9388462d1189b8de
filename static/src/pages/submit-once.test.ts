// @vitest-environment jsdom
import { beforeAll, beforeEach, expect, it } from "vitest";

const form = (): HTMLFormElement => document.querySelector("form") as HTMLFormElement;
const run = (): HTMLButtonElement => document.querySelector("#run") as HTMLButtonElement;

/** Whether the browser would send the form. The last listener keeps jsdom, which cannot send, from trying. */
function submit(): boolean {
  const event = new Event("submit", { bubbles: true, cancelable: true });
  let goes = false;
  window.addEventListener("submit", (last) => { goes = !last.defaultPrevented; last.preventDefault(); }, { once: true });
  form().dispatchEvent(event);
  return goes;
}

const show = (attribute: string): void => {
  document.body.innerHTML = `<form ${attribute}><button type="button" id="other">Other</button><button id="run">Run</button></form>`;
};

beforeAll(() => import("./submit-once"));
beforeEach(() => show("data-submit-once"));

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

it("sends once and disables what sends", async () => {
  expect(submit()).toBe(true);
  // The browser reads the form now: a disabled button would not be sent with its name and value.
  expect(run().disabled).toBe(false);
  await turn();
  expect(run().disabled).toBe(true);
  expect(document.querySelector<HTMLButtonElement>("#other")?.disabled).toBe(false);
  expect(submit()).toBe(false);
});

it("leaves other forms alone", () => {
  show("");
  expect(submit()).toBe(true);
  expect(run().disabled).toBe(false);
  expect(submit()).toBe(true);
});

it("can be sent again after the way back", async () => {
  submit();
  await turn();
  window.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
  expect(run().disabled).toBe(false);
  expect(submit()).toBe(true);
});
