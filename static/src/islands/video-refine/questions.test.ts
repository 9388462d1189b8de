// @vitest-environment jsdom
// Going from one question of a clip to another: the clip stays, nothing that was written is lost, and "back" goes back.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation } from "../../lib/video/document";
import { apply } from "../../lib/video/document";
import type { Questions } from "./questions";
import { FRAMES, documentOf, indexBytes, payloadOf } from "./testing";
import type { OtherQuestion, RefinePayload } from "./types";

type Which = 1 | 2;
let questions: Questions | null = null;
let asked: string[] = [];
let online = true;
let server: Record<Which, { document: ReturnType<typeof documentOf>; version: number }>;
let tabs: Record<string, string> = {};

const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const pass = (ms = 40): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const until = (what: () => boolean): Promise<void> => vi.waitFor(() => void expect(what()).toBe(true), { timeout: 8000, interval: 10 });
const onScreen = (number: Which): boolean => text(".question-card").startsWith(`Question ${number} of 2`);
const link = (number: Which): HTMLAnchorElement => document.querySelector<HTMLAnchorElement>(`.questions a[href="/my/${number}/"]`) as HTMLAnchorElement;

const others = (here: Which): OtherQuestion[] => ([1, 2] as const).map((number) => ({ number, id: String(number), url: `/my/${number}/`, detail: `/q${number}`, state: "draft", here: number === here }));

function payload(number: Which): RefinePayload {
  const made = payloadOf(structuredClone(server[number].document), { id: String(number), version: server[number].version });
  made.question = { ...made.question, number, text: `Why ${number}?`, others: others(number) };
  made.urls = { ...made.urls, detail: `/q${number}`, save: `/save/${number}`, tab: `/tab/${number}` };
  return made;
}

async function openPage(): Promise<void> {
  vi.resetModules();
  history.replaceState(null, "", "/my/1/");
  document.body.innerHTML = `<b data-question-crumb></b><span data-video-saved></span><div data-video-head></div><div data-video-notices></div>
    <main class="refine"><div data-island="video-refine"></div></main><script type="application/json" id="question">${JSON.stringify(payload(1))}</script>`;
  const { mount } = await import("./index");
  questions = await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await pass();
}

function write(words: string): void {
  const field = document.querySelector<HTMLTextAreaElement>("#visual-description") as HTMLTextAreaElement;
  field.value = words;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
  localStorage.clear();
  asked = [];
  online = true;
  tabs = {};
  server = { 1: { document: documentOf(), version: 1 }, 2: { document: documentOf(), version: 1 } };
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
    disconnect(): void {}
  });
  Element.prototype.scrollIntoView = () => {};
  for (const name of ["load", "pause"] as const) vi.spyOn(HTMLMediaElement.prototype, name).mockImplementation(() => {});
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    await pass(2);
    asked.push(url);
    if (!online) throw new TypeError("no network");
    const number = (url.endsWith("2") ? 2 : 1) as Which;
    if (url === "/index") return new Response(indexBytes(FRAMES));
    if (url.startsWith("/q")) return new Response(JSON.stringify(payload(number)));
    if (url.startsWith("/tab/")) {
      tabs[url] = (JSON.parse(String(init.body)) as { tab: string }).tab;
      return new Response(JSON.stringify({ held: true, since: "" }));
    }
    if (url.startsWith("/save/")) {
      const at = server[number];
      for (const operation of (JSON.parse(String(init.body)) as { operations: Operation[] }).operations) at.document = apply(at.document, operation);
      return new Response(JSON.stringify({ version: ++at.version, saved_at: "2026-11-30T12:00:00Z" }));
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

describe("another question of the clip", () => {
  it("keeps the video element, the index and the page, and asks for the hold of its own", async () => {
    await openPage();
    const video = questions?.current.peek().video;
    link(2).click();
    await until(() => onScreen(2));
    expect([location.pathname, text("[data-question-crumb]")]).toEqual(["/my/2/", "Question 2"]);
    expect(questions?.current.peek().video).toBe(video);
    expect(asked.filter((url) => url === "/index").length).toBe(1);
    await until(() => "/tab/2" in tabs);
    expect(tabs["/tab/2"]).not.toBe(tabs["/tab/1"]);
    expect(text(".questions [aria-current]")).toBe("Q2");
  });

  it("is fetched before anybody asks for it", async () => {
    await openPage();
    await until(() => asked.includes("/q2"));
    asked = [];
    link(2).click();
    await until(() => onScreen(2));
    // What is on the screen came from before; the question to the server only looks whether it changed since.
    expect(asked.filter((url) => url === "/q2").length).toBeLessThanOrEqual(1);
  });

  it("goes back and on with the browser's buttons", async () => {
    await openPage();
    link(2).click();
    await until(() => onScreen(2));
    history.back();
    await until(() => onScreen(1));
    expect(location.pathname).toBe("/my/1/");
    history.forward();
    await until(() => onScreen(2));
  });

  it("sends what was being typed before it goes", async () => {
    await openPage();
    write("A dog runs.");
    link(2).click();
    await until(() => onScreen(2));
    await until(() => server[1].document.cot.visual.description === "A dog runs.");
    expect(server[2].document.cot.visual.description).toBe("");
    history.back();
    await until(() => onScreen(1));
    expect(document.querySelector<HTMLTextAreaElement>("#visual-description")?.value).toBe("A dog runs.");
  });

  it("loses nothing without a network, says what waits, and sends it when the network is back", async () => {
    await openPage();
    await until(() => asked.includes("/q2"));
    await pass();
    online = false;
    write("A dog runs.");
    link(2).click();
    await until(() => onScreen(2));
    await until(() => text("[data-video-notices]").includes("1 change of Q1 is kept in this browser and not on the server yet."));
    write("A cat sits.");
    online = true;
    window.dispatchEvent(new Event("online"));
    await until(() => server[1].document.cot.visual.description === "A dog runs." && server[2].document.cot.visual.description === "A cat sits.");
    await until(() => !text("[data-video-notices]").includes("Q1"));
  });

  it("stays and says why when the other one cannot be had", async () => {
    await openPage();
    await until(() => asked.includes("/q2"));
    online = false;
    // A page that never prefetched it.
    const here = questions?.current.peek();
    if (here) here.store.payload.value = { ...here.store.payload.peek(), question: { ...here.store.payload.peek().question, others: [...others(1), { number: 3, id: "3", url: "/my/3/", detail: "/q3", state: "draft" }] } };
    expect(here?.openUrl("/my/3/")).toBe(true);
    await until(() => text("[data-video-notices]").includes("Q3 could not be opened. The server did not answer."));
    expect([onScreen(1), location.pathname]).toEqual([true, "/my/1/"]);
  });

  it("shows what was changed elsewhere since it was fetched", async () => {
    await openPage();
    await until(() => asked.includes("/q2"));
    await pass();
    server[2].document = { ...server[2].document, target_label: "wolf" };
    server[2].version = 2;
    link(2).click();
    await until(() => document.querySelector<HTMLInputElement>("#target-label")?.value === "wolf");
    write("It howls.");
    await until(() => server[2].document.cot.visual.description === "It howls.");
    expect(server[2].document.target_label).toBe("wolf");
  });

  it("leaves pages of other clips to the browser", async () => {
    await openPage();
    expect(questions?.openUrl("/my/9/")).toBe(false);
  });
});
