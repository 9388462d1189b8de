// @vitest-environment jsdom
// Asking for drafts, watching them, and taking texts over, against a server that answers as the contract says.
import { render } from "preact";
import { h } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation, VideoDocument } from "../../lib/video/document";
import { emptyDocument } from "../../lib/video/document";
import type { DraftKind, DraftRun, Version } from "./drafts";
import { against, createDrafts } from "./drafts";
import { SuggestLabel, VersionsDialog } from "./drafts-dialog";
import type { Requests } from "./proposals";
import { createStore } from "./store";
import { INDEX, documentOf, payloadOf, playerOf } from "./testing";
import type { RefinePayload } from "./types";
import { POLL_MS } from "./watching";
import type { Workspace } from "./workspace";

let posted: { url: string; body: unknown }[] = [];
let gets = 0;
let runs: DraftRun[] = [];
let versions: Version[] = [];
let sent: Operation[] = [];
let refuse: Error | null = null;
let available = true;

const reasoning = (): VideoDocument => {
  const made = emptyDocument();
  made.cot.visual = { timeframe: { whole: false, intervals: [[1_000_000, 2_000_000]], raw: "00:01 - 00:02" }, description: "A dog turns its head.", analysis: "" };
  made.cot.final_answer = "It hears a whistle.";
  return made;
};
const versionOf = (number: number, kind: DraftKind, document: VideoDocument): Version => ({ id: `v${number}`, number, kind, created_at: "2026-01-02T10:00:00Z", model: "writer", prompt: `${kind}-v1`, warnings: number === 1 ? ["No pictures were sent."] : [], document });

const requests: Requests = {
  get: async <T>(): Promise<T> => {
    gets++;
    return structuredClone({ available, why_not: available ? "" : "No model is set up here.", connections: [{ name: "writer", pictures: 0 }, { name: "seer", pictures: 8 }], runs, versions }) as T;
  },
  post: async <T>(url: string, body: unknown): Promise<T> => {
    posted.push({ url, body });
    if (refuse) throw refuse;
    if (url.endsWith("/cancel/")) runs = runs.map((run) => ({ ...run, state: "cancelled" }));
    else runs = [{ id: `r${runs.length}`, kind: (body as { kind: DraftKind }).kind, model: "writer", state: "running", done: 0, total: 1, message: "", created_at: "2026-01-02" }, ...runs];
    return structuredClone(runs[0]) as T;
  },
};

/** The run is through, and this came of it. */
const finish = (...made: Version[]): void => {
  runs = runs.map((run) => ({ ...run, state: "done", done: 1 }));
  versions = [...made, ...versions];
};

function start(change: Partial<RefinePayload> = {}) {
  const payload = payloadOf(documentOf(), change);
  payload.urls.drafts = "/drafts/";
  let ids = 0;
  const store = createStore(payload, INDEX, playerOf(), { changed: (operation) => sent.push(operation), now: () => 0, uuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}` });
  store.tab.value = "held";
  const drafts = createDrafts(store, requests);
  return { store, drafts };
}
let opened: ReturnType<typeof start> | null = null;
async function open(change: Partial<RefinePayload> = {}) {
  opened = start(change);
  await opened.drafts.begin();
  return opened;
}
const pass = (ms = POLL_MS + 10) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  [posted, gets, runs, versions, sent, refuse, available] = [[], 0, [], [], [], null, true];
  document.body.innerHTML = "";
  vi.useFakeTimers();
  vi.spyOn(document, "visibilityState", "get").mockReturnValue("visible");
  HTMLDialogElement.prototype.showModal = function (): void {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function (): void {
    this.open = false;
  };
});
afterEach(() => {
  render(null, document.body);
  opened?.drafts.stop();
  opened = null;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("asking", () => {
  it("asks, watches once a second while it is written, and chooses what came of it", async () => {
    const { drafts } = await open();
    drafts.connection.value = "seer";
    await drafts.ask("reasoning");
    expect(posted).toEqual([{ url: "/drafts/", body: { kind: "reasoning", connection: "seer" } }]);
    await pass();
    expect(drafts.newest("reasoning")?.state).toBe("running");
    finish(versionOf(1, "reasoning", reasoning()));
    await pass();
    expect([drafts.newest("reasoning")?.state, drafts.version.value?.id]).toEqual(["done", "v1"]);
    const before = gets;
    await pass(POLL_MS * 5);
    expect(gets).toBe(before);
  });

  it("cancels, and says why a draft came to nothing", async () => {
    const { drafts, store } = await open();
    await drafts.ask("reasoning");
    await drafts.cancel(drafts.newest("reasoning") as DraftRun);
    expect(posted[1]?.url).toBe("/drafts/r0/cancel/");
    expect(drafts.newest("reasoning")?.state).toBe("cancelled");
    await drafts.ask("reasoning");
    runs = runs.map((run) => ({ ...run, state: "failed", message: "The model gave no usable answer, 3 times. Try again." }));
    await pass();
    expect(store.says.value).toBe("The reasoning could not be drafted. The model gave no usable answer, 3 times. Try again.");
    refuse = new Error("A draft of this kind is being written already.");
    await drafts.ask("reasoning");
    expect(drafts.problem.value).toBe("A draft of this kind is being written already.");
  });

  it("asks nothing where nothing can be changed, or where the server has no drafts", async () => {
    const { drafts, store } = await open({ editable: false, why_not: "Submitted." });
    await drafts.ask("reasoning");
    expect([posted, store.says.value]).toEqual([[], "Submitted."]);
    gets = 0;
    store.payload.value = { ...store.payload.peek(), urls: { ...store.payload.peek().urls, drafts: null } };
    await createDrafts(store, requests).begin();
    expect(gets).toBe(0);
  });
});

describe("comparing", () => {
  it("compares a draft in the parts that it speaks of", () => {
    const present = documentOf();
    const names = (version: Version): string[] => against(version, null, present).texts.map(({ name }) => name);
    expect(names(versionOf(1, "reasoning", reasoning()))).toEqual(["Visual cue, time", "Visual cue, description", "Final answer"]);
    expect(names(versionOf(2, "target_label", { ...emptyDocument(), target_label: "brown dog" }))).toEqual(["Target label"]);
    expect(against(null, null, present).tracks).toHaveLength(2);
  });

  it("takes all texts over as one operation that undo takes back, and leaves what the draft lacks", async () => {
    const { drafts, store } = await open();
    store.edit("Write", [{ path: ["cot", "audio", "description"], before: "", after: "A whistle." }]);
    const before = structuredClone(store.doc.peek());
    const version = versionOf(1, "reasoning", reasoning());
    drafts.take(against(version, null, store.doc.peek()).texts, version);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toMatchObject({ words: "Take over reasoning of version 1" });
    expect(store.doc.value.cot).toEqual({ ...reasoning().cot, audio: before.cot.audio });
    expect(store.doc.value.target_label).toBe("dog");
    store.undo();
    expect(store.doc.value).toEqual(before);
  });

  it("takes one field of the imported version back", async () => {
    const { drafts, store } = await open();
    store.edit("Change", [{ path: ["target_label"], before: "dog", after: "cat" }]);
    drafts.take(against(null, store.payload.peek().generated, store.doc.peek()).texts, null);
    expect([store.doc.value.target_label, sent[1]?.words]).toEqual(["dog", "Take over target label of the imported version"]);
  });
});

const button = (name: string): HTMLButtonElement | undefined => [...document.querySelectorAll("button")].find((one) => (one.getAttribute("aria-label") ?? one.textContent ?? "").trim() === name);

describe("the dialog", () => {
  async function show() {
    versions = [versionOf(2, "target_label", { ...emptyDocument(), target_label: "brown dog" }), versionOf(1, "reasoning", reasoning())];
    const page = await open();
    render(h(VersionsDialog, { workspace: page as unknown as Workspace, close: () => {} }), document.body);
    return page;
  }

  it("lists versions, shows the chosen one against the answer with its warnings, and takes a field over", async () => {
    const { store } = await show();
    expect([...document.querySelectorAll(".draft-version")].map((one) => one.querySelector("span")?.textContent)).toEqual(["Version 2, target label", "Version 1, reasoning", "Version 0, imported"]);
    expect(document.body.textContent).toContain("Nothing is changed.");
    document.querySelectorAll<HTMLInputElement>(".draft-version input")[1]?.click();
    await pass(0);
    expect(document.querySelector(".notice")?.textContent).toContain("No pictures were sent.");
    expect([...document.querySelectorAll(".text-diff del")].map((one) => one.textContent)).toContain("A dog turns its head.");
    button("Take over visual cue, description")?.click();
    await pass(0);
    expect(store.doc.value.cot.visual.description).toBe("A dog turns its head.");
    expect(store.doc.value.cot.final_answer).toBe("");
  });

  it("drafts anew with a line on how far it is, and a way to stop", async () => {
    await show();
    button("Draft anew")?.click();
    await pass(0);
    expect(posted).toEqual([{ url: "/drafts/", body: { kind: "reasoning", connection: "" } }]);
    expect(document.querySelector("progress")).not.toBeNull();
    button("Cancel")?.click();
    await pass(0);
    expect(document.body.textContent).toContain("Cancelled.");
  });

  it("says why nothing can be drafted here", async () => {
    available = false;
    await show();
    expect(document.body.textContent).toContain("No model is set up here.");
    expect(button("Draft anew")).toBeUndefined();
  });
});

describe("the suggested label", () => {
  async function show() {
    const page = await open();
    document.body.innerHTML = '<input id="target-label"><div id="here"></div>';
    render(h(SuggestLabel, { workspace: page as unknown as Workspace }), document.querySelector("#here") as HTMLElement);
    return page;
  }

  it("is offered and changes nothing until it is taken over", async () => {
    const { store } = await show();
    button("Suggest")?.click();
    await pass(0);
    expect(posted[0]?.body).toEqual({ kind: "target_label", connection: "" });
    finish(versionOf(1, "target_label", { ...emptyDocument(), target_label: "brown dog" }));
    await pass();
    expect([store.doc.value.target_label, document.querySelector(".suggested b")?.textContent]).toEqual(["dog", "brown dog"]);
    button("Take over the suggested label brown dog")?.click();
    await pass(0);
    expect([store.doc.value.target_label, sent.length]).toEqual(["brown dog", 1]);
    expect(button("Suggest")).toBeDefined();
    store.undo();
    expect(store.doc.value.target_label).toBe("dog");
  });

  it("may be nothing, the same, or a failure with its sentence", async () => {
    await show();
    button("Suggest")?.click();
    await pass(0);
    finish(versionOf(1, "target_label", emptyDocument()));
    await pass();
    expect(document.querySelector(".suggested")?.textContent).toContain("Nothing to box, says writer.");
    button("Dismiss")?.click();
    await pass(0);
    button("Suggest")?.click();
    await pass(0);
    finish(versionOf(2, "target_label", { ...emptyDocument(), target_label: "dog" }));
    await pass();
    button("Same as yours")?.click();
    await pass(0);
    button("Suggest")?.click();
    await pass(0);
    runs = runs.map((run, k) => (k ? run : { ...run, state: "failed", message: "The model gave no answer. Try again." }));
    await pass();
    expect(document.querySelector("[role=alert]")?.textContent).toBe("The model gave no answer. Try again.");
    expect(sent).toEqual([]);
  });

  it("is not there where no model is", async () => {
    available = false;
    await show();
    expect(document.querySelector("button")).toBeNull();
  });
});
