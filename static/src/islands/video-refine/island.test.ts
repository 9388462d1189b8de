// @vitest-environment jsdom
// The workspace in a page without layout or video: what it shows, and that it says what is wrong. The rest is for browser tests.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation } from "../../lib/video/document";
import { apply } from "../../lib/video/document";
import { DOG, FRAMES, documentOf, indexBytes, payloadOf } from "./testing";
import type { RefinePayload } from "./types";
import type { Questions } from "./questions";

let questions: Questions | null = null;
let server = { document: documentOf(), version: 1, words: [] as string[] };
let frames = FRAMES;
const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const pass = (ms = 40): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const until = (what: () => boolean): Promise<void> => vi.waitFor(() => void expect(what()).toBe(true), { timeout: 8000, interval: 10 });

async function openPage(change: Partial<RefinePayload> = {}): Promise<void> {
  vi.resetModules();
  document.body.innerHTML = `<span data-video-saved></span><div data-video-head></div><div data-video-notices></div><button data-shortcuts hidden></button>
    <main class="refine"><div data-island="video-refine"></div></main><script type="application/json" id="question">${JSON.stringify(payloadOf(server.document, change))}</script>`;
  const { mount } = await import("./index");
  questions = await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await pass();
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
  localStorage.clear();
  server = { document: documentOf(), version: 1, words: [] };
  frames = FRAMES;
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
    disconnect(): void {}
  });
  Element.prototype.scrollIntoView = () => {};
  for (const name of ["load", "pause"] as const) vi.spyOn(HTMLMediaElement.prototype, name).mockImplementation(() => {});
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    await pass(2);
    if (url === "/index") return new Response(indexBytes(frames));
    if (url === "/tab") return new Response(JSON.stringify({ held: true, since: "" }));
    if (url === "/save") {
      for (const operation of (JSON.parse(String(init.body)) as { operations: Operation[] }).operations) {
        server.document = apply(server.document, operation);
        server.words.push(operation.words);
      }
      return new Response(JSON.stringify({ version: ++server.version, saved_at: "2026-11-30T12:00:00Z" }));
    }
    return new Response("{}", { status: 404 });
  });
});
afterEach(() => {
  questions?.stop();
  questions = null;
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

vi.setConfig({ testTimeout: 20_000 }); // the machine may be busy with other things

describe("the workspace", () => {
  it("shows clip, question, objects and steps", async () => {
    await openPage();
    expect(text("[data-video-head]")).toContain("Clip4 s · 640 × 360 · 25 fps, 100 frames");
    expect(text(".question-card")).toContain("Question 1 of 2");
    expect([...document.querySelectorAll("[data-row] .title")].map((one) => one.textContent)).toEqual(["dog", "cat"]);
    expect([...document.querySelectorAll("[data-step]")].map((one) => one.getAttribute("data-step"))).toEqual(["visual", "audio", "final"]);
  });

  it("says that this browser cannot be trusted with pictures, and refuses boxes", async () => {
    await openPage();
    expect(text(".stage-state")).toContain("Use Chromium");
    const { store, actions } = (questions as Questions).current.peek();
    store.select({ kind: "track", id: DOG });
    expect(actions.setBox(DOG, [5, 5, 40, 40])).toBe(false);
    expect(server.words).toEqual([]);
  });

  it("says that clip and index do not belong together", async () => {
    frames = 99;
    vi.spyOn(console, "error").mockImplementation(() => {});
    await openPage();
    expect(text("[role=alert]")).toContain("has 100 frames, but its index has 99");
  });

  it("saves what is typed, with its badge and its way back", async () => {
    await openPage();
    expect(text("[data-step=visual] header")).toContain("generated");
    const field = document.querySelector<HTMLTextAreaElement>("#visual-description") as HTMLTextAreaElement;
    field.value = "A dog.";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("blur"));
    await until(() => server.document.cot.visual.description === "A dog.");
    expect(text("[data-step=visual] header")).toContain("edited");
    await until(() => /^Saved \d\d:\d\d/.test(text("[data-save-state]")));
    document.querySelector<HTMLElement>("[aria-label=Undo]")?.click();
    await until(() => server.document.cot.visual.description === "");
    expect(server.words).toEqual(["Edit the description of the visual cue", "Undo: Edit the description of the visual cue"]);
    expect(text("[data-step=visual] header")).toContain("generated");
  });

  it("is read only when the question is not open, and says why", async () => {
    await openPage({ editable: false, why_not: "It was submitted.", state: "submitted" });
    expect(text("[data-video-notices]")).toContain("It was submitted.");
    expect(document.querySelector<HTMLTextAreaElement>("#visual-description")?.readOnly).toBe(true);
    expect(text("[data-video-head]")).toContain("Submitted");
  });
});
