// @vitest-environment jsdom
// The page without layout, against a server in memory. What it looks like is for browser tests.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeServer, itemText, makePayload, rated } from "./testing";
import type { RatePayload } from "./types";
import type { Workspace } from "./workspace";

let server: FakeServer;
let workspace: Workspace | null = null;
const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const pass = (ms = 30): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const until = (what: () => boolean): Promise<void> => vi.waitFor(() => void expect(what()).toBe(true), { timeout: 8000, interval: 10 });
const press = async (key: string, target: EventTarget = document.activeElement ?? document.body, more: KeyboardEventInit = {}): Promise<void> => {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  await pass(15);
};
const clickOn = async (words: string): Promise<void> => {
  const button = [...document.querySelectorAll<HTMLElement>("button")].find((one) => one.textContent?.includes(words));
  if (!button) throw new Error(`There is no button "${words}".`);
  button.click();
  await pass();
};
const checked = (): string[] => [...document.querySelectorAll("[role='radio'][aria-checked='true']")].map((one) => `${one.closest("section")?.getAttribute("aria-labelledby")?.replace("facet-", "")} ${one.textContent}`);
const stored = (lane: string): unknown => server.stored.get(lane)?.value;

// What a page before this one listened to must not answer to it.
const listening: [EventTarget, string, EventListener][] = [];
const deaf = (): void => {
  for (const [target, kind, listener] of listening.splice(0)) target.removeEventListener(kind, listener);
};

async function openPage(change: Partial<RatePayload> = {}): Promise<void> {
  vi.resetModules();
  workspace?.stop();
  deaf();
  document.body.innerHTML = `<span data-rate-saved></span><div data-rate-notices></div><button data-shortcuts hidden>Shortcuts</button>
    <main><div data-island="benchmark-rate" data-payload="rate-answers"></div></main><script type="application/json" id="rate-answers">${JSON.stringify(makePayload(change)).replaceAll("<", "\\u003C")}</script>`;
  const { mount } = await import("./index");
  workspace = await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await pass();
}

beforeEach(() => {
  server = new FakeServer();
  history.replaceState(null, "", "/benchmarks/clips/rate/");
  globalThis.indexedDB = new IDBFactory();
  sessionStorage.clear();
  HTMLDialogElement.prototype.showModal = function (): void {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function (): void {
    this.open = false;
  };
  HTMLMediaElement.prototype.play = vi.fn(async () => undefined);
  HTMLMediaElement.prototype.pause = vi.fn();
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    await pass(2);
    if (server.fault === "offline") throw new TypeError("offline");
    const body = init.body ? (JSON.parse(String(init.body)) as Record<string, unknown>) : {};
    const [status, answer] = server.answer(init.method ?? "GET", url, body, new Headers(init.headers).get("Idempotency-Key"));
    return new Response(JSON.stringify(answer), { status });
  });
  for (const target of [document, window]) {
    const listen = target.addEventListener.bind(target);
    vi.spyOn(target, "addEventListener").mockImplementation((kind: string, listener: unknown, options?: unknown) => {
      listening.push([target, kind, listener as EventListener]);
      listen(kind, listener as EventListener, options as AddEventListenerOptions);
    });
  }
});
afterEach(async () => {
  workspace?.stop();
  workspace = null;
  // What was on its way must not reach the server of the next test.
  await pass(60);
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  deaf();
});

vi.setConfig({ testTimeout: 20_000 }); // the machine may be busy with other things

describe("rating by keys alone", () => {
  it("rates three facets one after the other, goes on, and the server has them with the texts that were seen", async () => {
    await openPage();
    expect(document.querySelector<HTMLElement>("[data-island]")?.dataset.ready).toBe("true");
    expect(text(".chain-place")).toBe("1 of 4");
    for (const key of ["4", "2", "5"]) await press(key);
    expect(checked()).toEqual(["answer 4", "hallucination 2", "divergence 5"]);
    await press("Enter");
    expect(text(".chain-place")).toBe("2 of 4");
    expect(document.activeElement).toBe(document.querySelector(".chain-place"));
    expect(location.hash).toBe("#2");
    await until(() => server.stored.size === 3);
    expect(server.sent.map(({ answer, facet, value, shown }) => [answer, facet, value, shown])).toEqual([
      [11, "answer", 4, "texts-11"],
      [11, "hallucination", 2, "texts-11"],
      [11, "divergence", 5, "texts-11"],
    ]);
    await until(() => /^Saved \d\d:\d\d/.test(text("[data-rate-saved]")));
  });

  it("goes between facets with up and down, inside a scale with left and right, and shows the words of the marked one", async () => {
    await openPage();
    expect(text(".rate-facet.is-active .rate-words")).toContain("Answer 5.");
    await press("ArrowDown");
    expect(document.activeElement?.closest("section")?.getAttribute("aria-labelledby")).toBe("facet-hallucination");
    expect(text(".rate-facet.is-active .rate-words")).toContain("Hallucination 5.");
    await press("ArrowRight");
    expect([checked(), text(".chain-place")]).toEqual([["hallucination 2"], "1 of 4"]);
    await press("ArrowUp");
    await press("3");
    expect(checked()).toEqual(["answer 3", "hallucination 2"]);
    expect(document.activeElement?.closest("section")?.getAttribute("aria-labelledby")).toBe("facet-divergence");
    (document.activeElement as HTMLElement).blur();
    await press("ArrowRight");
    expect(text(".chain-place")).toBe("2 of 4");
  });

  it("undoes, also on the server, and takes a rating back", async () => {
    await openPage();
    await press("1");
    await until(() => stored("11.answer") === 1);
    await press("z", document.body, { ctrlKey: true });
    await until(() => !server.stored.has("11.answer"));
    expect(checked()).toEqual([]);
    await press("4");
    await press("ArrowUp");
    await press("x");
    expect(checked()).toEqual([]);
    await until(() => workspace?.queue.state.pending === 0 && !server.stored.has("11.answer"));
  });

  it("writes a note of the marked facet that does not act as keys, and goes on from it", async () => {
    await openPage({ said: { 11: rated(3) } });
    await press("k");
    const field = (): HTMLTextAreaElement => document.querySelector("#rate-note") as HTMLTextAreaElement;
    expect(field().readOnly).toBe(false);
    await press("m");
    expect(document.activeElement).toBe(field());
    field().value = "2 j s";
    field().dispatchEvent(new Event("input", { bubbles: true }));
    await press("2", field());
    expect(checked()[0]).toBe("answer 3");
    await press("Enter", field(), { ctrlKey: true });
    expect(text(".chain-place")).toBe("2 of 4");
    await until(() => server.sent.at(-1)?.note === "2 j s");
    expect(field().readOnly).toBe(true);
  });

  it("sets an answer aside, remembers it in this tab, and thanks when the rest is rated", async () => {
    await openPage({ said: { 12: rated(3), 21: rated(3) } });
    await press("s");
    expect(text(".chain-place")).toBe("4 of 4");
    expect(text("[aria-label='Your rating']")).toContain("2 rated, 1 set aside");
    await openPage({ said: { 12: rated(3), 21: rated(3) } });
    expect(text(".chain-place")).toBe("4 of 4");
    expect(text("[aria-label='Your rating']")).not.toContain("Thank you");
    for (const key of ["4", "4", "4"]) await press(key);
    expect(text(".notice")).toContain("Thank you: 3 answers are rated and 1 is set aside.");
    expect(text(".notice")).toContain("your name is not shown there");
    expect(document.querySelector(".notice a")).toBeNull();
  });

  it("tells a researcher at the end where ratings of others are", async () => {
    const urls = { ...makePayload().urls, items: "/benchmarks/clips/items/0/" };
    await openPage({ said: { 11: rated(3), 12: rated(3), 21: rated(3), 22: rated(3) }, urls });
    expect(document.querySelector<HTMLAnchorElement>(".notice a")?.getAttribute("href")).toBe("/benchmarks/clips/items/1/#answer-11");
  });
});

describe("the clip and what is cited", () => {
  it("plays a cited stretch from its start, and marks one beyond the clip", async () => {
    await openPage();
    const video = document.querySelector("video") as HTMLVideoElement;
    await clickOn("00:01.0 to 00:02.0");
    expect(video.currentTime).toBe(1);
    expect(video.play).toHaveBeenCalledTimes(1);
    const beyond = [...document.querySelectorAll<HTMLButtonElement>(".rate-time")].find((one) => one.textContent?.includes("00:09.0"));
    expect([beyond?.disabled, beyond?.textContent?.includes("beyond the clip")]).toEqual([true, true]);
  });

  it("keeps the player while another answer to the same question is read", async () => {
    await openPage();
    const video = document.querySelector("video");
    await press("j");
    expect(text("[aria-label='Answer']")).toContain("Seen in 12.");
    expect(document.querySelector("video")).toBe(video);
    await press("j");
    expect(document.querySelector("video")?.getAttribute("src")).toBe("/media/Two");
  });

  it("says when the clip is missing, and has one prepared that is not yet", async () => {
    const items = { 1: itemText("One"), 2: itemText("Two") };
    items[1].clip = { ...items[1].clip, why: "The clip cannot be played: failed." };
    items[2].clip = { ...items[2].clip, why: "The clip is being prepared for playing.", preparing: true };
    await openPage({ items });
    expect(text("[aria-label='Question, clip and reference'] .notice")).toContain("Set the answer aside (S)");
    await press("j");
    await press("j");
    await until(() => document.querySelector("video")?.getAttribute("src") === "/media/Two");
  });

  it("shows texts as texts, and an answer without cues as it was written", async () => {
    const { answers } = makePayload();
    answers[11] = { cues: [], final_answer: "", text: '<img src=x onerror="alert(1)">', shown: "s" };
    await openPage({ answers, earlier: [11] });
    expect(document.querySelector("img")).toBeNull();
    expect(text("[aria-label='Answer']")).toContain('<img src=x onerror="alert(1)">');
    expect(text("[aria-label='Answer']")).toContain("the answer names none");
    expect(text("[aria-label='Answer'] .notice")).toContain("Please rate it anew");
  });
});

describe("when saving does not work", () => {
  it("keeps ratings without a network, over a reload, and sends them once", async () => {
    await openPage();
    server.fault = "offline";
    await press("1");
    await press("2");
    await until(() => text("[data-rate-saved]").startsWith("Offline, 2 changes kept here"));
    await openPage();
    expect(checked()).toEqual(["answer 1", "hallucination 2"]);
    server.fault = "";
    window.dispatchEvent(new Event("online"));
    await until(() => server.stored.size === 2);
    expect(server.sent.map((body) => [body.facet, body.value])).toEqual([["answer", 1], ["hallucination", 2]]);
  });

  it("asks which of two ratings stays when another tab gave something else", async () => {
    await openPage();
    server.stored.set("11.answer", { value: 5, note: "", version: 99, saved_at: "" });
    await press("1");
    await until(() => text("[data-rate-notices]").includes("Answer 1, answer: you gave 5 in another tab, and 1 here"));
    await clickOn("Keep what I gave here");
    await until(() => stored("11.answer") === 1);
    expect(text("[data-rate-notices]")).toBe("");
    server.stored.set("11.answer", { value: 2, note: "n", version: 100, saved_at: "" });
    await press("ArrowUp");
    await press("3");
    await until(() => text("[data-rate-notices]").includes("you gave 2 with a note in another tab"));
    await clickOn("Keep the other");
    expect([checked(), stored("11.answer")]).toEqual([["answer 2"], 2]);
  });

  it("keeps ratings while the login has run out", async () => {
    await openPage();
    server.fault = "login";
    await press("1");
    await until(() => document.querySelector("dialog[open]") !== null);
    expect(text("[data-rate-notices]")).toContain("Your ratings are kept here");
    server.fault = "";
    await clickOn("Later");
    workspace?.loggedIn();
    await until(() => stored("11.answer") === 1);
  });

  it("says that the texts were changed, and keeps the rating until it is given up", async () => {
    await openPage();
    server.fault = "other texts";
    await press("1");
    await until(() => text("[data-rate-notices]").includes("Answer 1, answer: The answer or its reference was changed since you read it. Reload the page."));
    expect(text("[data-rate-saved]")).toContain("Not saved: 1 rating");
    await clickOn("Give it up");
    expect(text("[data-rate-notices]")).toBe("");
  });

  it("names an answer that is gone and goes on with the others", async () => {
    await openPage();
    server.fault = "gone";
    await press("1");
    await until(() => text("[data-rate-notices]").includes("not among those that are rated any more"));
    server.fault = "";
    await press("2");
    await until(() => stored("11.hallucination") === 2);
  });

  it("takes no more from somebody who was taken off the list", async () => {
    await openPage();
    server.fault = "not listed";
    await press("1");
    await until(() => text("[data-rate-notices]").includes("You are not among the raters of this benchmark any more"));
    expect(document.querySelector<HTMLButtonElement>("[role='radio']")?.disabled).toBe(true);
  });

  it("says so when the page came without its answers", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    document.body.innerHTML = '<div data-island="benchmark-rate" data-payload="none"></div>';
    const { mount } = await import("./index");
    expect(await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement)).toBeNull();
    expect(text("[role='alert']")).toContain("The page came without its answers. Reload the page");
  });
});
