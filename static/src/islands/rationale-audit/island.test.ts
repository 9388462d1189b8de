// @vitest-environment jsdom
// The page without layout and without a clip: words, labels, keys. What it looks like is for the browser test.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rationalePayload } from "./testing";
import type { RationalePayload } from "./types";

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
const texts = (selector: string): string[] => [...document.querySelectorAll(selector)].map((one) => one.textContent?.replace(/\s+/g, " ").trim() ?? "");
const press = async (key: string): Promise<void> => {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  await settle();
};
const chosen = (): string | null => document.querySelector("[data-step][aria-current]")?.getAttribute("data-step") ?? null;

async function openPage(payload: RationalePayload): Promise<void> {
  document.body.innerHTML = `<div data-island="rationale-audit" data-payload="rationale"></div><script type="application/json" id="rationale">${JSON.stringify(payload)}</script>`;
  const { mount } = await import("./index");
  await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await settle();
}

/** No clip in these tests: the page must read all the same. */
const silent = (payload: RationalePayload = rationalePayload()): RationalePayload => ({ ...payload, film: { ...payload.film, why_not: "The clip is gone." } });

const listening: [EventTarget, string, EventListener][] = [];
beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
    disconnect(): void {}
  });
  Element.prototype.scrollIntoView = () => {};
  const listen = document.addEventListener.bind(document);
  vi.spyOn(document, "addEventListener").mockImplementation((type: string, listener: unknown, options?: unknown) => {
    listening.push([document, type, listener as EventListener]);
    listen(type, listener as EventListener, options as AddEventListenerOptions);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  for (const [target, type, listener] of listening.splice(0)) target.removeEventListener(type, listener);
});

describe("an audited rationale", () => {
  it("says at a glance how many steps rest on what", async () => {
    await openPage(silent());
    expect(texts("[data-summary]")).toEqual(["4 steps: 1 rests on evidence, 1 rests on other steps, 1 without any support, 1 contradicted."]);
    expect(texts(".rationale-go .chip")).toEqual(["Supported", "Supported", "Orphan", "Contradicted"]);
    expect(texts(".rationale-notice, .notice")).toEqual(["The clip is gone."]);
    expect(texts(".rationale-unused summary")).toEqual(["Evidence that no step uses: 1 of 3"]);
  });

  it("names what each step rests on, and what speaks against it", async () => {
    await openPage(silent());
    expect(texts(".rests-on")).toEqual([
      "Rests on S2 dog, 00:00.4 to 00:01.6",
      "Rests on evidence and an earlier step: S3 clink, 00:00.4 to 00:00.8S5",
      "Nothing given and no earlier step supports it.",
      "Against it: S4 “Come here!”, 00:01.0 to 00:02.0",
    ]);
  });

  it("is read by keys: up, down, unfold, fold", async () => {
    await openPage(silent());
    await press("ArrowUp");
    await press("ArrowUp");
    expect(chosen()).toBe("6");
    await press("Enter");
    expect(document.querySelector("[data-step='6'] .rationale-tree [role='tree']")).not.toBeNull();
    expect(document.querySelector("[data-step='6'] .rationale-go")?.getAttribute("aria-expanded")).toBe("true");
    await press("ArrowDown");
    expect(chosen()).toBe("7");
    await press("Enter");
    expect(document.querySelector(".rationale-tree")).toBeNull();
  });

  it("the focus goes with the chosen step, so that Enter and Space are for it", async () => {
    await openPage(silent());
    document.querySelector<HTMLElement>("[data-step='5'] .rationale-go")?.focus();
    document.querySelector<HTMLElement>("[data-step='5'] .rationale-go")?.click();
    await settle();
    await press("ArrowDown");
    expect([chosen(), document.activeElement?.closest("[data-step]")?.getAttribute("data-step")]).toEqual(["6", "6"]);
  });

  it("says what rests on a piece of evidence once it is chosen", async () => {
    await openPage(silent());
    expect(texts(".rationale-shown")).toEqual(["Choose a piece of evidence to see or hear it here."]);
    document.querySelector<HTMLElement>("[data-step='5'] [data-leaf='2']")?.click();
    await settle();
    expect(texts(".rationale-shown")).toEqual(["S2 A dog is seen from 0:00.4 to 0:01.6. S5 and S6 rest on it."]);
    expect(texts(".rationale-mark.is-using")).toHaveLength(2);
  });

  it("asks for the answer as a sentence and says so", async () => {
    await openPage(silent());
    await press("Enter");
    expect(texts(".rationale-tree > p")).toEqual(["Asked as: The answer is: nobody calls."]);
  });

  it("says a step to screen readers once it is chosen", async () => {
    await openPage(silent());
    expect(texts("[aria-live='polite']")).toEqual([""]);
    await press("ArrowUp");
    expect(texts("[aria-live='polite']")).toEqual(["S7, Orphan. A cat sings."]);
  });
});

describe("before the audit", () => {
  it("shows steps and all evidence, without a label", async () => {
    await openPage(silent(rationalePayload(null)));
    expect(texts(".rationale-summary")).toEqual(["4 steps, 3 pieces of evidence. Not audited yet: press Audit to see which steps rest on it."]);
    expect(texts(".chip")).toEqual([]);
    expect(texts(".rationale-unused li .leaf-chip")).toHaveLength(3);
  });
});

it("a page without its payload says so", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  document.body.innerHTML = '<div data-island="rationale-audit"></div>';
  const { mount } = await import("./index");
  await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  expect(document.querySelector("[role='alert']")?.textContent).toContain("The page has no rationale");
});
