// @vitest-environment jsdom
// The page without layout, against a server in memory. What it looks like is for browser tests.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeServer, makePayload } from "./testing";
import type { AuditPayload } from "./types";
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
const checked = (): string[] => [...document.querySelectorAll("[role='radio'][aria-checked='true']")].map((one) => one.textContent?.replace(/\d$/, "") ?? "");
const stored = (chain: number): unknown => server.stored.get(chain)?.answers;

// What a page before this one listened to must not answer to it.
const listening: [EventTarget, string, EventListener][] = [];
const deaf = (): void => {
  for (const [target, kind, listener] of listening.splice(0)) target.removeEventListener(kind, listener);
};

async function openPage(change: Partial<AuditPayload> = {}): Promise<void> {
  vi.resetModules();
  workspace?.stop();
  deaf();
  document.body.innerHTML = `<span data-audit-saved></span><div data-audit-notices></div><button data-shortcuts hidden>Shortcuts</button>
    <main><div data-island="reasoning-audit" data-payload="chain-audit"></div></main><script type="application/json" id="chain-audit">${JSON.stringify(makePayload(change))}</script>`;
  const { mount } = await import("./index");
  workspace = await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await pass();
}

beforeEach(() => {
  server = new FakeServer();
  history.replaceState(null, "", "/grapheval/sums/audit/");
  globalThis.indexedDB = new IDBFactory();
  HTMLDialogElement.prototype.showModal = function (): void {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function (): void {
    this.open = false;
  };
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
afterEach(() => {
  workspace?.stop();
  workspace = null;
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  deaf();
});

vi.setConfig({ testTimeout: 20_000 }); // the machine may be busy with other things

describe("judging by keys alone", () => {
  it("says a word, goes on, and the server has it", async () => {
    await openPage();
    expect(document.querySelector<HTMLElement>("[data-island]")?.dataset.ready).toBe("true");
    expect(text(".chain-place")).toBe("1 of 4");
    expect(text(".chain-steps")).toContain("First step of 11.");
    await press("2");
    expect(checked()).toEqual(["Not sound"]);
    await press("Enter");
    expect(text(".chain-place")).toBe("2 of 4");
    expect(document.activeElement).toBe(document.querySelector(".chain-place"));
    expect(location.hash).toBe("#2");
    await press("1");
    await press("j");
    expect(text(".case h3")).toBe("Two");
    await press("k");
    expect(checked()).toEqual(["Sound"]);
    await until(() => server.stored.size === 2);
    expect([stored(11), stored(12)]).toEqual([{ sound: "no" }, { sound: "yes" }]);
    await until(() => /^Saved \d\d:\d\d/.test(text("[data-audit-saved]")));
  });

  it("is ready once the chain that the address names can be read", async () => {
    const payload = makePayload();
    delete payload.chains[22];
    history.replaceState(null, "", "/grapheval/sums/audit/#4");
    await openPage({ chains: payload.chains });
    expect(text(".chain-place")).toBe("4 of 4");
    expect(text(".chain-steps")).toContain("First step of 22.");
  });

  it("answers the criterion where the focus is, and has one tab stop for all chains of a question", async () => {
    await openPage({ kind: "decomposition" });
    document.querySelector<HTMLElement>('[aria-labelledby="criterion-dependencies"] [role="radio"]')?.focus();
    await press("2");
    expect(stored(11) ?? workspace?.store.current.value.answers).toEqual({ dependencies: "no" });
    expect([...document.querySelectorAll<HTMLElement>(".chain-dot")].map((dot) => dot.tabIndex)).toEqual([0, -1]);
  });

  it("moves inside a choice with the arrows and not to another chain", async () => {
    await openPage();
    document.querySelector<HTMLElement>('[role="radio"]')?.focus();
    await press("ArrowRight");
    expect([checked(), text(".chain-place")]).toEqual([["Not sound"], "1 of 4"]);
    await press("Enter");
    expect(text(".chain-place")).toBe("2 of 4");
  });

  it("undoes, also on the server, and takes an answer away", async () => {
    await openPage();
    await press("1");
    await until(() => server.stored.has(11));
    await press("z", document.body, { ctrlKey: true });
    await until(() => JSON.stringify(stored(11)) === "{}");
    await press("3");
    await press("x");
    expect(checked()).toEqual([]);
    expect(text("[aria-label='Your answer']")).toContain("0 judged");
    await until(() => workspace?.queue.state.pending === 0);
  });

  it("writes a note that does not act as keys, and goes on from it", async () => {
    await openPage();
    await press("1");
    await press("m");
    const field = document.querySelector("#audit-note") as HTMLTextAreaElement;
    expect(document.activeElement).toBe(field);
    field.value = "2 j x";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await press("2", field);
    expect(checked()).toEqual(["Sound"]);
    await press("Enter", field, { ctrlKey: true });
    expect(text(".chain-place")).toBe("2 of 4");
    await until(() => server.stored.get(11)?.note === "2 j x");
  });

  it("answers three criteria one after the other, beside the facts of each step", async () => {
    await openPage({ kind: "decomposition" });
    const rows = [...document.querySelectorAll(".chain-facts tbody tr")].map((row) => row.textContent);
    expect(rows[0]).toContain("Fact one of 11.");
    expect(rows[1]).toContain("No fact comes from this step.");
    expect(rows[2]).toContain("Fact of no step of 11.");
    expect(rows[2]).toContain("from steps 1, 2");
    for (const key of ["1", "2", "3"]) await press(key);
    expect(checked()).toEqual(["Yes", "No", "Unsure"]);
    await press("a");
    await press("3");
    expect(checked()).toEqual(["Unsure", "No", "Unsure"]);
    await until(() => JSON.stringify(stored(11)) === '{"atomic":"unsure","grounded":"no","dependencies":"unsure"}');
  });

  it("leads to the results when all are judged", async () => {
    const said = Object.fromEntries([11, 12, 21].map((id) => [id, { answers: { sound: "yes" as const }, note: "", version: 0, saved_at: "" }]));
    history.replaceState(null, "", "/grapheval/sums/audit/?paths=3");
    await openPage({ said });
    expect(text("[aria-label='Your answer']")).not.toContain("See the results");
    await press("1");
    expect(document.querySelector<HTMLAnchorElement>(".notice a")?.getAttribute("href")).toBe("?kind=soundness&view=results&paths=3");
    await until(() => server.stored.has(22));
  });
});

describe("when saving does not work", () => {
  it("keeps answers without a network, over a reload, and sends them once", async () => {
    await openPage();
    server.fault = "offline";
    await press("1");
    await press("Enter");
    await press("2");
    await until(() => text("[data-audit-saved]").startsWith("Offline, 2 changes kept here"));
    await openPage();
    expect(text(".chain-place")).toBe("2 of 4");
    expect(text("[aria-label='Your answer']")).toContain("2 judged");
    server.fault = "";
    window.dispatchEvent(new Event("online"));
    await until(() => server.stored.size === 2);
    expect(server.sent.map((body) => [body.chain, body.answers])).toEqual([[11, { sound: "yes" }], [12, { sound: "no" }]]);
  });

  it("asks which of two words stays when another tab said something else", async () => {
    await openPage();
    server.stored.set(11, { answers: { sound: "unsure" }, note: "", version: 99, saved_at: "" });
    await press("1");
    await until(() => text("[data-audit-notices]").includes("you said “Unsure” in another tab, and “Sound” here"));
    expect(text("[data-audit-saved]")).toContain("Conflict");
    await clickOn("Keep what I said here");
    await until(() => JSON.stringify(stored(11)) === '{"sound":"yes"}');
    expect(text("[data-audit-notices]")).toBe("");
    server.stored.set(11, { answers: { sound: "no" }, note: "", version: 100, saved_at: "" });
    await press("3");
    await until(() => text("[data-audit-notices]").includes("“Not sound” in another tab"));
    await clickOn("Keep the other");
    expect([checked(), stored(11)]).toEqual([["Not sound"], { sound: "no" }]);
  });

  it("keeps answers while the login has run out", async () => {
    await openPage();
    server.fault = "login";
    await press("1");
    await until(() => document.querySelector("dialog[open]") !== null);
    expect(text("dialog")).toContain("1 change is kept here");
    expect(text("[data-audit-notices]")).toContain("Your answers are kept here");
    server.fault = "";
    await clickOn("Later");
    workspace?.loggedIn();
    await until(() => server.stored.has(11));
  });

  it("asks for a login where only texts are wanted, and goes on with the chain after it", async () => {
    const payload = makePayload();
    for (const id of [12, 21, 22]) delete payload.chains[id];
    server.fault = "login";
    await openPage({ chains: payload.chains });
    await press("j");
    expect(text("[aria-label='Chain']")).toContain("This chain could not be loaded. Log in.");
    await until(() => document.querySelector("dialog[open]") !== null);
    server.fault = "";
    workspace?.loggedIn();
    await until(() => text(".chain-steps").includes("First step of 12."));
    expect(text("[data-audit-notices]")).toBe("");
  });

  it("says what the server refuses, keeps it, and sends it when it is changed", async () => {
    await openPage();
    server.fault = "taken";
    await press("1");
    await until(() => text("[data-audit-notices]").includes("Chain 1: The note is too long. Shorten it."));
    expect(text("[data-audit-saved]")).toContain("Not saved: 1 chain");
    server.fault = "";
    await press("2");
    await until(() => JSON.stringify(stored(11)) === '{"sound":"no"}');
    expect(text("[data-audit-notices]")).toBe("");
  });

  it("does not name a place for a refused chain of a longer queue", async () => {
    await openPage();
    server.fault = "offline";
    await press("1");
    await openPage({ queue: [[21, 2], [22, 2]] });
    server.fault = "gone";
    window.dispatchEvent(new Event("online"));
    await until(() => text("[data-audit-notices]").startsWith("A chain that is not in this queue: This chain is not in the study"));
    expect(text("[data-audit-notices]")).not.toContain("Go there");
    await clickOn("Give it up");
    expect(text("[data-audit-notices]")).toBe("");
  });

  it("sends nothing under another login", async () => {
    await openPage();
    vi.stubGlobal("fetch", async (url: string) =>
      url.startsWith("/accounts/") ? new Response(JSON.stringify({ user: "other" })) : new Response(JSON.stringify({ error: { code: "csrf", message: "No." } }), { status: 403 }),
    );
    await press("1");
    await until(() => text("[data-audit-notices]").includes("Another person is logged in in this browser."));
    expect(document.querySelector<HTMLButtonElement>("[role='radio']")?.disabled).toBe(true);
    expect(text("[data-audit-notices]")).toContain("log in as reader and reload this page. 1 answer is kept in this browser.");
  });

  it("says so when the page came without its chains", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    document.body.innerHTML = '<div data-island="reasoning-audit" data-payload="none"></div>';
    const { mount } = await import("./index");
    expect(await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement)).toBeNull();
    expect(text("[role='alert']")).toContain("The page came without its chains. Reload the page");
  });

  it("names a chain that is gone and goes on with the others", async () => {
    await openPage();
    server.fault = "gone";
    await press("1");
    await until(() => text("[data-audit-notices]").includes("Chain 1: This chain is not in the study any more."));
    server.fault = "";
    await press("Enter");
    await press("2");
    await until(() => server.stored.has(12));
    await clickOn("Give it up");
    expect(text("[data-audit-notices]")).toBe("");
  });

  it("shows text of chains as text", async () => {
    const payload = makePayload();
    const first = payload.chains[11];
    if (first?.steps[0]) first.steps[0].text = '<img src=x onerror="alert(1)">';
    await openPage({ chains: payload.chains });
    expect(document.querySelector(".chain-steps img")).toBeNull();
    expect(text(".chain-steps")).toContain("<img src=x");
  });
});
