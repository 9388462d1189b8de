// @vitest-environment jsdom
// The workspace in a page without layout, against the server in memory of the harness. What it looks like is for browser tests.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FakeServer } from "../../../dev/label-server";
import { makePayload, makeServer } from "../../../dev/label-server";
import { openStore } from "../../lib/queue-store";
import type { Workspace } from "./workspace";

let server: FakeServer;
let workspace: Workspace | null = null;
const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const pass = (ms = 40): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const until = (what: () => boolean): Promise<void> => vi.waitFor(() => void expect(what()).toBe(true), { timeout: 8000, interval: 10 });
const field = (): HTMLTextAreaElement => document.querySelector("#label-comment") as HTMLTextAreaElement;
const current = (): string | undefined => document.querySelector('li[aria-current="true"]')?.id;

const press = async (key: string, target: EventTarget = document.activeElement ?? document.body, more: KeyboardEventInit = {}): Promise<KeyboardEvent> => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  target.dispatchEvent(event);
  await pass(15);
  return event;
};
const type = async (words: string): Promise<void> => {
  field().value = words;
  field().dispatchEvent(new Event("input", { bubbles: true }));
  await pass(15);
};
const click = async (selector: string): Promise<void> => {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element) throw new Error(`Nothing matches ${selector}.`);
  element.click();
  await pass();
};
const clickOn = async (words: string): Promise<void> => {
  const button = [...document.querySelectorAll<HTMLElement>("button")].find((one) => one.textContent?.includes(words));
  if (!button) throw new Error(`There is no button "${words}".`);
  button.click();
  await pass();
};
const label = (index: number): Record<string, unknown> => server.payload.segments.find((one) => one.index === index)?.label as unknown as Record<string, unknown>;

// What a page before this one listened to must not answer to it.
const listening: [EventTarget, string, EventListener][] = [];

async function openPage(query = "", fault = ""): Promise<void> {
  server = makeServer(makePayload(new URLSearchParams(query)), fault);
  await showPage();
}

/** The page again, as after a reload: the server and the browser's store stay. */
async function showPage(): Promise<void> {
  vi.resetModules();
  workspace?.stop();
  for (const [target, kind, listener] of listening.splice(0)) target.removeEventListener(kind, listener);
  document.body.innerHTML = `<span data-label-saved></span><div data-label-head></div><div data-label-notices></div>
    <button data-shortcuts hidden>Shortcuts</button><button data-guideline hidden>Guideline</button><input id="elsewhere">
    <div data-island="label-case" data-payload="assignment"></div><script type="application/json" id="assignment">${JSON.stringify(server.payload)}</script>`;
  const { mount } = await import("./index");
  workspace = await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await pass();
}

beforeEach(() => {
  history.replaceState(null, "", "/my-cases/1/");
  globalThis.indexedDB = new IDBFactory();
  localStorage.clear();
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
    disconnect(): void {}
  });
  Element.prototype.scrollIntoView = () => {};
  Element.prototype.scrollTo = (() => {}) as typeof Element.prototype.scrollTo;
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
  for (const [target, kind, listener] of listening.splice(0)) target.removeEventListener(kind, listener);
});

vi.setConfig({ testTimeout: 20_000 }); // the machine may be busy with other things

describe("labelling by keys", () => {
  it("labels, goes to the comment, and on; everything is on the server", async () => {
    await openPage("done=7");
    expect(current()).toBe("S8");
    await press("3");
    expect(document.activeElement).toBe(field());
    expect(field().value).toBe("");
    await type("Feed the starter first.");
    await press("Enter", field(), { ctrlKey: true });
    expect(current()).toBe("S9");
    await press("1");
    await press("Enter");
    expect(current()).toBe("S10");
    await until(() => label(9).label === "correct" && label(8).comment === "Feed the starter first.");
    expect(label(8)).toMatchObject({ label: "incorrect", complete: true });
    expect(text("[data-label-saved]")).toMatch(/^Saved \d\d:\d\d/);
  });

  it("blocks moving on until there is a word, and says so; back is free", async () => {
    await openPage("done=7");
    await press("2");
    await press("Escape", field());
    for (const key of ["j", "Enter", "ArrowDown"]) {
      await press(key, document.querySelector("#S8") ?? document.body);
      expect(current()).toBe("S8");
      expect(text(".card-blocked")).toContain("Say in a word why it is uncertain");
      expect(document.activeElement).toBe(field());
      await press("Escape", field());
    }
    await type("?!");
    await press("Enter", field(), { ctrlKey: true });
    expect(current()).toBe("S8");
    await press("Escape", field());
    await press("k");
    expect(current()).toBe("S7");
    await press("j");
    expect(current()).toBe("S8");
    await type("Too short.");
    await press("Enter", field(), { ctrlKey: true });
    expect(current()).toBe("S9");
  });

  it("closes later segments in an ordered study, and opens them in a free one", async () => {
    await openPage("done=4");
    expect(text("#S6")).toBe("S6Opens when S5 is labelled.");
    await click("#S6 p");
    expect(current()).toBe("S5");
    await openPage("done=4&order=free");
    expect(text("#S6")).toContain("too little protein");
    await press("j");
    expect(current()).toBe("S6");
  });

  it("does nothing while somebody types or composes", async () => {
    await openPage("done=7");
    const elsewhere = document.querySelector<HTMLInputElement>("#elsewhere") as HTMLInputElement;
    for (const key of ["1", "2", "3", "j", "u", "f", "h", "g", "c", "?", "Enter"]) {
      expect((await press(key, elsewhere)).defaultPrevented).toBe(false);
      expect((await press(key, field())).defaultPrevented).toBe(false);
      expect((await press(key, document.body, { isComposing: true })).defaultPrevented).toBe(false);
    }
    await press("Enter", field(), { ctrlKey: true, isComposing: true });
    expect(current()).toBe("S8");
    await pass(100);
    expect(server.writes.filter((write) => write.method === "PUT")).toEqual([]);
  });

  it("marks what cannot be judged as a state, puts the label aside, and flags", async () => {
    await openPage("done=7");
    await press("3");
    await click(".reason");
    await press("Escape", field());
    await press("u");
    await type("No photo of the crumb.");
    await press("Escape", field());
    await press("f");
    await until(() => label(8).flagged === true && label(8).comment === "No photo of the crumb.");
    expect(label(8)).toMatchObject({ label: null, cannot_judge: true, reasons: [], complete: true });
    await press("u");
    await until(() => label(8).label === "incorrect");
    expect(label(8)).toMatchObject({ cannot_judge: false, reasons: ["wrong"] });
  });

  it("moves among the labels with the arrows as in any radio group", async () => {
    await openPage("done=7");
    const radios = [...document.querySelectorAll<HTMLElement>("[role='radio']")];
    radios[0]?.focus();
    await press("ArrowRight", radios[0]);
    expect(document.activeElement).toBe(radios[1]);
    expect(radios[1]?.getAttribute("aria-checked")).toBe("true");
    await press("ArrowDown", radios[1]);
    expect(current()).toBe("S8");
    expect(document.activeElement).toBe(radios[2]);
  });

  it("undoes and does again as saves of their own, and goes to where it happens", async () => {
    await openPage("done=7");
    await press("1");
    await press("Enter");
    await press("1");
    await until(() => label(9).label === "correct");
    await press("Enter");
    expect(current()).toBe("S10");
    await press("z", document.body, { ctrlKey: true });
    expect(current()).toBe("S9");
    await until(() => label(9).label === null);
    expect(document.querySelector("[data-island] > [role='status']")?.textContent).toBe("Undone: the label of S9.");
    await press("z", document.body, { ctrlKey: true, shiftKey: true });
    await until(() => label(9).label === "correct");
  });

  it("keeps underlined words as code points and takes them away again", async () => {
    await openPage("done=7");
    const words = document.querySelector("#S8 .segment-text")?.firstChild as Text;
    const range = document.createRange();
    range.setStart(words, 8);
    range.setEnd(words, 19); // " the flour " with its spaces
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    document.dispatchEvent(new Event("selectionchange"));
    await press("h", document.body);
    expect(text("#S8 u")).toBe("the flour");
    await until(() => JSON.stringify(label(8).spans) === "[[9,18]]");
    await click(".meant-list button");
    await until(() => JSON.stringify(label(8).spans) === "[]");
  });
});

describe("nothing is lost", () => {
  it("ds_04 ds_05: offline is shown, work goes on, a reload finds everything, and the network sends it", async () => {
    await openPage("done=7", "offline");
    await press("3");
    await type("Written without a network.");
    await press("Enter", field(), { ctrlKey: true });
    await press("1");
    await until(() => text("[data-label-saved]").startsWith("Offline"));
    expect(text("[data-label-saved]")).toMatch(/Offline, \d changes? kept here/);
    await workspace?.queue.written();
    server.fault = "offline";
    await showPage();
    expect(label(8)).toMatchObject({ label: null, comment: "" });
    expect(text("#S8")).toContain("Written without a network.");
    expect(current()).toBe("S9"); // as the address says
    server.fault = "";
    window.dispatchEvent(new Event("online"));
    await until(() => label(8).comment === "Written without a network." && label(9).label === "correct");
    await until(() => text("[data-label-saved]").startsWith("Saved"));
    const keys = server.writes.filter((write) => write.method === "PUT").map((write) => write.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("ds_03: shows both texts of a conflict and saves the one that is chosen, or both merged", async () => {
    await openPage("done=7", "conflict");
    await press("3");
    await until(() => text("[data-label-saved]").includes("Conflict"));
    await type("Mine.");
    await clickOn("Compare and choose");
    expect([...document.querySelectorAll(".version")].map((one) => one.textContent)).toEqual([
      expect.stringMatching(/Yours, here.*Incorrect.*Mine\./),
      expect.stringMatching(/On the server.*Uncertain.*Written on another machine\./),
    ]);
    await clickOn("Merge the two");
    const merged = document.querySelector<HTMLTextAreaElement>("#merge-comment") as HTMLTextAreaElement;
    expect(merged.value).toBe("Mine.\nWritten on another machine.");
    await clickOn("Save the merged text");
    await until(() => label(8).comment === "Mine.\nWritten on another machine.");
    expect(label(8)).toMatchObject({ label: "incorrect", version: 2 });
    expect(document.querySelector("dialog")).toBeNull();
  });

  it("ds_03: the server's text can be taken, and undone", async () => {
    await openPage("done=7", "conflict");
    await press("3");
    await until(() => text("[data-label-saved]").includes("Conflict"));
    await clickOn("Conflict");
    await clickOn("Take the server's");
    expect(field().value).toBe("Written on another machine.");
    expect(workspace?.queue.state.pending).toBe(0);
    await press("z", document.body, { ctrlKey: true });
    await until(() => label(8).label === "incorrect");
  });

  it("ds_06: a second tab reads until it takes over, then has what the first one wrote", async () => {
    await openPage("done=7", "other_tab");
    expect(text("[data-label-notices]")).toContain("Read only here");
    await press("1");
    expect(document.querySelectorAll("[aria-checked='true']").length).toBe(0);
    expect(document.querySelector<HTMLButtonElement>("#submit-case")?.disabled).toBe(true);
    Object.assign(label(8), { label: "uncertain", comment: "From the other tab.", version: 1, complete: true });
    await clickOn("Take over here");
    await until(() => field()?.value === "From the other tab.");
    await press("1");
    await until(() => label(8).label === "correct");
    expect(label(8).version).toBe(2);
  });

  it("ds_06: a tab that loses its hold while it is open becomes read-only and keeps what was not sent", async () => {
    await openPage("done=7");
    server.fault = "other_tab";
    await press("3");
    await until(() => text("[data-label-notices]").includes("Read only here"));
    expect(await (await openStore()).count(7)).toBe(1);
  });

  it("ds_07: a case that was withdrawn says so; the text can be kept, and typing goes on into it", async () => {
    await openPage("done=7", "withdrawn");
    await press("3");
    await type("My text.");
    await until(() => text("[data-label-notices]").includes("withdrawn by the study lead"));
    await type("My text, and more.");
    expect(document.querySelector<HTMLTextAreaElement>(".unsent")?.value).toContain("S8: incorrect\nMy text, and more.");
    expect(await (await openStore()).count(7)).toBeGreaterThan(0);
  });

  it("ab_14: asks for the password in place when the login ran out, not under typing hands, and sends what waited", async () => {
    await openPage("done=7", "login");
    await press("3");
    await type("Typing goes on.");
    await until(() => text("[data-label-saved]").startsWith("Log in again"));
    expect(document.querySelector("dialog")).toBeNull();
    expect(document.activeElement).toBe(field());
    await press("Escape", field());
    await until(() => document.querySelector("dialog") !== null);
    const password = document.querySelector<HTMLInputElement>("#relogin-password") as HTMLInputElement;
    password.value = "wrong";
    document.querySelector("dialog form")?.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
    await until(() => text("dialog [role='alert']").includes("wrong"));
    password.value = "right";
    document.querySelector("dialog form")?.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
    await until(() => label(8).comment === "Typing goes on.");
    expect(document.querySelector("dialog")).toBeNull();
    expect(text("[data-label-saved]")).toMatch(/^Saved/);
  });

  it("ds_05: stops when somebody else logged in in this browser", async () => {
    await openPage("done=7");
    const real = server.answer.bind(server);
    server.answer = (method, url, body, key) => (method === "PUT" ? [409, { error: { code: "other_user", message: "Another person is logged in." } }] : real(method, url, body, key));
    await press("1");
    await until(() => text("[data-label-saved]").startsWith("Another login"));
    expect(text("[data-label-notices]")).toContain("Nothing is sent under another login");
    expect(await (await openStore()).count(7)).toBe(1);
  });

  it("keeps a comment that is too long and says by how much", async () => {
    await openPage("done=7");
    await press("3");
    await type("x".repeat(100_000));
    expect(text(".comment-limit")).toContain("100,000 characters, and 10,000 are allowed: 90,000 too many.");
    await press("Escape", field());
    await until(() => text("[data-label-saved]").startsWith("Not saved"));
    expect(field().value.length).toBe(100_000);
    await type("short");
    await until(() => label(8).comment === "short");
  });

  it("warns where the browser keeps nothing", async () => {
    Object.defineProperty(globalThis, "indexedDB", { value: undefined, configurable: true, writable: true });
    await openPage("done=7");
    expect(text("[data-label-notices]")).toContain("This browser keeps nothing over a reload");
    await press("1");
    await until(() => label(8).label === "correct");
  });
});

describe("my notes", () => {
  const notes = (): HTMLTextAreaElement => document.querySelector("#own-notes") as HTMLTextAreaElement;
  const note = async (words: string): Promise<void> => {
    notes().focus();
    notes().value = words;
    notes().dispatchEvent(new Event("input", { bubbles: true }));
    await pass(15);
  };
  const sent = (): Record<string, unknown>[] => server.writes.filter((write) => write.url.endsWith("/notes/")).map((write) => write.body);

  it("are sent after a pause, each text on top of the one before, and touch no label", async () => {
    await openPage("done=7");
    expect(document.querySelector<HTMLDetailsElement>(".own-notes")?.open).toBe(false);
    expect(text(".own-notes")).toContain("Only you see them");
    await note("Ask about S3");
    expect(sent()).toEqual([]);
    notes().blur();
    await until(() => server.payload.notes.text === "Ask about S3");
    await until(() => text("[data-label-saved]").startsWith("Saved"));
    await note("Ask about S3 and S4");
    notes().blur();
    await until(() => server.payload.notes.text === "Ask about S3 and S4");
    expect(sent().map((body) => Object.keys(body).sort())).toEqual([["base_version", "notes", "tab"], ["base_version", "notes", "tab"]]);
    expect(server.writes.filter((write) => write.url.includes("/segments/"))).toEqual([]);
    await showPage();
    expect(notes().value).toBe("Ask about S3 and S4");
    expect(document.querySelector<HTMLDetailsElement>(".own-notes")?.open).toBe(true);
  });

  it("ds_05: written offline they survive a reload and are sent when the network is back", async () => {
    await openPage("done=7", "offline");
    await note("Kept here.");
    notes().blur();
    await until(() => text("[data-label-saved]").startsWith("Offline, 1 change kept here"));
    await workspace?.queue.written();
    await showPage();
    expect(server.payload.notes.text).toBe("");
    expect(notes().value).toBe("Kept here.");
    server.fault = "";
    window.dispatchEvent(new Event("online"));
    await until(() => server.payload.notes.text === "Kept here.");
  });

  it.each([
    ["Keep mine", "Mine."],
    ["Take the server's", "Noted on another machine."],
    ["Keep both", "Mine.\nNoted on another machine."],
  ])("ds_03: a conflict shows both texts: %s", async (button, kept) => {
    await openPage("done=7", "conflict");
    await note("Mine.");
    notes().blur();
    await until(() => text("[data-label-saved]").includes("Conflict"));
    await clickOn("Compare and choose");
    expect([...document.querySelectorAll(".version-text")].map((one) => one.textContent)).toEqual(["Mine.", "Noted on another machine."]);
    await clickOn(button);
    await until(() => server.payload.notes.text === kept && workspace?.queue.state.pending === 0);
    expect(notes().value).toBe(kept);
    expect(document.querySelector("dialog")).toBeNull();
    await note(`${kept} On top.`);
    notes().blur();
    await until(() => server.payload.notes.text === `${kept} On top.`);
  });

  it("ds_06: a second tab cannot write them until it takes over", async () => {
    await openPage("done=7", "other_tab");
    expect(notes().readOnly).toBe(true);
    server.payload.notes = { ...server.payload.notes, text: "From the other tab.", version: 5 };
    await clickOn("Take over here");
    await until(() => notes().value === "From the other tab.");
    expect(notes().readOnly).toBe(false);
    await note("Mine now.");
    notes().blur();
    await until(() => server.payload.notes.text === "Mine now.");
  });

  it("ds_07: of a case that was withdrawn they stay with the person, named as notes", async () => {
    await openPage("done=7", "withdrawn");
    await note("Said too late.");
    notes().blur();
    await until(() => text("[data-label-notices]").includes("withdrawn by the study lead"));
    const kept = document.querySelector<HTMLTextAreaElement>(".unsent")?.value ?? "";
    expect(kept).toContain("My notes:\nSaid too late.");
    expect(kept).not.toContain("S0");
  });

  it("can be written after handing in, but not where the server takes none", async () => {
    await openPage("done=7");
    Object.assign(server.payload, { state: "submitted", editable: false });
    await showPage();
    await note("Seen again.");
    notes().blur();
    await until(() => server.payload.notes.text === "Seen again.");
    server.payload.notes = { ...server.payload.notes, editable: false };
    await showPage();
    expect(notes().readOnly).toBe(true);
  });
});

describe("submitting and after", () => {
  const finish = async (): Promise<void> => {
    await press("1");
    await press("Enter");
    await press("1");
    await press("Enter");
    await press("1");
    await press("Enter");
  };

  it("names what is open, and goes there", async () => {
    await openPage("done=7");
    await click("#submit-case");
    expect(text("dialog")).toContain("S8, S9, S10 are not complete");
    await clickOn("Go to S8");
    expect(current()).toBe("S8");
  });

  it("submits only when the server has everything", async () => {
    await openPage("done=7");
    await finish();
    expect(document.activeElement?.id).toBe("submit-case");
    await until(() => label(10).label === "correct" && text("[data-label-saved]").startsWith("Saved"));
    server.fault = "offline";
    await press("f", document.body);
    await click("#submit-case");
    await click("#submit-now");
    await until(() => text("[data-label-notices]").includes("Not submitted: 1 change is not on the server yet"));
    expect(server.payload.state).toBe("draft");
    server.fault = "";
    await click("#submit-case");
    await click("#submit-now");
    await until(() => server.payload.state === "submitted");
    await until(() => text(".submitted").includes("This case is submitted."));
    expect(label(10).flagged).toBe(true);
    await press("1");
    expect(server.writes.at(-1)?.method).not.toBe("PUT");
    await clickOn("Take it back");
    await until(() => document.querySelector("#label-comment") !== null);
  });

  it("shows the audit only when asked for, lights the premises, and keeps both labels of a revision", async () => {
    await openPage("done=7");
    await finish();
    await click("#submit-case");
    await click("#submit-now");
    await until(() => text(".submitted") !== "(none)");
    expect(document.querySelector("[data-island='trace-audit']")).toBeNull();
    await clickOn("Show the audit");
    await click("dialog .btn-primary");
    await until(() => document.querySelector(".audit") !== null);
    workspace?.store.go(8);
    await pass();
    expect(text(".outcome")).toContain("Unsupported");
    expect(text(".outcome")).not.toContain("Gold");
    // Labels are done: H is the hypergraph now, and no key is used twice.
    const { shortcuts } = await import("../shared/shortcut-sheet");
    const keys = shortcuts.groups().flatMap((group) => group.shortcuts.flatMap((one) => one.keys));
    expect(keys).toEqual(expect.arrayContaining(["t", "h", "n", "r", "x", "j", "k", "g"]));
    expect(keys).not.toContain("1");
    expect([...document.querySelectorAll("li.is-premise")].map((item) => item.id)).toEqual(["S4", "S5"]);
    await press("k", document.body);
    await until(() => text(".outcome").startsWith("S7"));
    workspace?.store.go(8);
    await pass();
    await clickOn("Revise S8");
    const radios = document.querySelectorAll<HTMLElement>(".revise [role='radio']");
    radios[2]?.click();
    await pass();
    const fill = async (id: string, words: string): Promise<void> => {
      const area = document.querySelector<HTMLTextAreaElement>(id) as HTMLTextAreaElement;
      area.value = words;
      area.dispatchEvent(new Event("input", { bubbles: true }));
      await pass();
    };
    await fill("#revise-comment", "S5 has no support.");
    await clickOn("Save the revision");
    expect(text(".revise [role='alert']")).toContain("a revision needs its reason");
    await fill("#revise-reason", "The tree breaks at S5.");
    await clickOn("Save the revision");
    await until(() => server.payload.segments.find((one) => one.index === 8)?.revision?.label === "incorrect");
    expect(label(8).label).toBe("correct");
    expect(text("#S8 .chips")).toMatch(/You\s*Correct\s*Revised\s*Incorrect/);
    expect(text(".compared")).toContain("Second physician");
  });

  it("in an open study shows the audit while labels are given; keys of labels come first", async () => {
    await openPage("done=7&open=1");
    await until(() => text(".outcome").startsWith("S8"));
    await press("1", document.body);
    await until(() => label(8).label === "correct");
    await press("r", document.body);
    expect(text("[aria-selected='true']")).toBe("Table");
    await press("h", document.body);
    expect(text("[aria-selected='true']")).toBe("Table");
    await press("t", document.body);
    // S10 is not to be opened before S9, not even by its line in the drawing.
    document.querySelector<HTMLElement>(".matrix .row:last-of-type")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    await pass();
    expect(["S8", "S9"]).toContain(current());
  });

  it("says in a training case what was expected and why", async () => {
    await openPage("done=7&kind=training");
    await finish();
    await click("#submit-case");
    await click("#submit-now");
    await until(() => text(".submitted").includes("1 of 2 segments as expected"));
    expect(text("#S9")).toContain("Expected: Incorrect. A hungry starter is the first thing to look at.");
    expect(text("#S2")).toContain("As expected.");
  });
});

describe("keys", () => {
  it("c24: no key is used twice while labelling", async () => {
    await openPage("done=7");
    const { shortcuts } = await import("../shared/shortcut-sheet");
    const { labelKeys } = await import("./keys");
    const keys = (): string[] => shortcuts.groups().flatMap((group) => group.shortcuts.flatMap((one) => one.keys));
    expect(new Set(keys()).size).toBe(keys().length);
    expect(keys()).toEqual(expect.arrayContaining(["1", "2", "3", "j", "k", "Enter", "u", "f", "h", "g", "c", "/", "?", "Ctrl+z"]));
    // A second set with a key that is taken does not get in.
    expect(() => shortcuts.add(labelKeys(workspace as Workspace))).toThrow('"1" is used twice');
  });

  it("lists them all in the sheet", async () => {
    await openPage("done=7");
    await press("?", document.body);
    for (const words of ["Correct", "Cannot judge, or back", "Search in the case", "Guideline", "Undo"]) expect(text("dialog.sheet")).toContain(words);
  });

  it("goes to the search of the case and to the guideline", async () => {
    await openPage("done=7");
    await press("c", document.body);
    expect(document.activeElement?.getAttribute("type")).toBe("search");
    (document.activeElement as HTMLElement).blur();
    await press("g", document.body);
    await pass(50);
    expect(document.activeElement?.id).toBe("guideline");
  });
});
