// @vitest-environment jsdom
// Deciding in a page without layout or video: taking sides, the note, deciding, opening again, giving back.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Difference } from "../../lib/video/comparison";
import type { Operation, VideoDocument } from "../../lib/video/document";
import { apply, emptyDocument } from "../../lib/video/document";
import { CAT, DOG, FRAMES, INDEX, documentOf, indexBytes, payloadOf, playerOf, trackOf } from "./testing";
import type { Questions } from "./questions";
import type { AdjudicationPart, RefinePayload } from "./types";
import type { Workspace } from "./workspace";

const LINK = "00000000-0000-4000-8000-00000000000a";
let opened: Questions | null = null;
let workspace: Workspace;
let server = { document: emptyDocument(), version: 0, words: [] as string[], ids: new Set<string>(), state: "draft", posted: [] as [string, unknown][], refuse: null as null | object };
const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const pass = (ms = 40): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const until = (what: () => boolean): Promise<void> => vi.waitFor(() => void expect(what()).toBe(true), { timeout: 8000, interval: 10 });
const button = (name: string, within: ParentNode = document): HTMLButtonElement => {
  const found = [...within.querySelectorAll("button")].find((one) => (one.getAttribute("aria-label") ?? one.textContent ?? "").trim() === name);
  if (!found) throw new Error(`There is no button ${name}.`);
  return found;
};
const row = (id: string): HTMLElement => document.querySelector<HTMLElement>(`[data-difference="${id}"]`) as HTMLElement;
const standing = (id: string): string | undefined => row(id).querySelector<HTMLElement>("[data-standing]")?.dataset.standing;

/** A has the dog and a link to it, B has it elsewhere from frame 15 on, and a cat that A lacks. */
function sidesOf(): [VideoDocument, VideoDocument] {
  const a = documentOf();
  delete a.tracks[CAT];
  a.links[LINK] = { id: LINK, step: "visual", kind: "track", target: DOG, frames: null, relation: "supports" };
  a.cot.visual.description = "A dog runs to the child.";
  const b = documentOf();
  b.tracks[DOG] = trackOf(DOG, "dog", { 10: [0, 0, 40, 40], 20: [300, 50, 40, 40] }, [[10, 40]]);
  b.cot.visual.description = "A dog sits by the child.";
  return [a, b];
}

const DIFFERENCES: Difference[] = [
  { id: "visual.description", kind: "text", step: "visual", field: "description", title: "Visual cue, description", agreement: 0.7143, sides: { A: "A dog runs to the child.", B: "A dog sits by the child." } },
  { id: "dog", kind: "track", step: null, field: null, title: 'Boxes of "dog"', agreement: 0.1, sides: { A: DOG, B: DOG } },
  { id: "cat", kind: "track", step: null, field: null, title: 'Boxes of "cat"', agreement: 0, sides: { A: null, B: CAT } },
];

function decision(change: Partial<RefinePayload> = {}): RefinePayload {
  const [a, b] = sidesOf();
  const adjudication: AdjudicationPart = {
    letters: ["A", "B"],
    sides: [{ letter: "A", document: a }, { letter: "B", document: b }],
    differences: DIFFERENCES,
    measures: { boxes: 0.1, boxes_unmatched: 1, events: null, events_unmatched: 0, timeframes: null, texts: 0.7143 },
    note: "", decided: null, may_reopen: true, sampled: false, history: [],
  };
  const base = payloadOf(server.document, { adjudication, state: server.state, editable: server.state === "draft", version: server.version, assignment_version: server.version });
  return { ...base, urls: { ...base.urls, tab: null, recall: null, reopen: "/reopen", give_back: "/give-back", next: null }, ...change };
}

async function openPage(): Promise<void> {
  vi.resetModules();
  document.body.innerHTML = `<span data-video-saved></span><div data-video-head></div><div data-video-notices></div><button data-shortcuts hidden></button>
    <main class="refine"><div data-island="video-refine"></div></main><script type="application/json" id="question">${JSON.stringify(decision())}</script>`;
  const { mount } = await import("./index");
  opened = await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  workspace = (opened as Questions).current.peek();
  await pass();
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
  localStorage.clear();
  server = { document: { ...emptyDocument(), target_label: "dog" }, version: 0, words: [], ids: new Set(), state: "draft", posted: [], refuse: null };
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
    disconnect(): void {}
  });
  Element.prototype.scrollIntoView = () => {};
  HTMLDialogElement.prototype.showModal = function (this: HTMLDialogElement) {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function (this: HTMLDialogElement) {
    this.open = false;
  };
  for (const name of ["load", "pause"] as const) vi.spyOn(HTMLMediaElement.prototype, name).mockImplementation(() => {});
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    await pass(2);
    const body = init.body ? (JSON.parse(String(init.body)) as Record<string, unknown>) : null;
    if (url === "/index") return new Response(indexBytes(FRAMES));
    if (url === "/detail") return new Response(JSON.stringify(decision()));
    if (url === "/save") {
      for (const operation of body?.operations as Operation[]) {
        if (server.ids.has(operation.id)) continue;
        server.ids.add(operation.id);
        server.document = apply(server.document, operation);
        server.words.push(operation.words);
        server.version++;
      }
      return new Response(JSON.stringify({ version: server.version, saved_at: "2026-11-30T12:00:00Z", assignment: { state: "draft", version: server.version } }));
    }
    if (["/submit", "/reopen", "/give-back"].includes(url)) {
      server.posted.push([url, body]);
      if (server.refuse) return new Response(JSON.stringify(server.refuse), { status: 422 });
      server.state = url === "/submit" ? "adjudicated" : "draft";
      return new Response(JSON.stringify({ state: server.state, next: null }));
    }
    return new Response("{}", { status: 404 });
  });
});
afterEach(async () => {
  // What is under way would land in the next test.
  await opened?.current.peek().queue.drained();
  opened?.stop();
  opened = null;
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

vi.setConfig({ testTimeout: 20_000 }); // the machine may be busy with other things

describe("an adjudicator", () => {
  it("sees each difference with what everybody has there, and asks for no hold of a tab", async () => {
    await openPage();
    expect(text("[data-decided]")).toBe("1 of 3 decided");
    expect(text(".differences")).toContain("Agreement of A, B: boxes 10 % · texts 71 % · 1 object of one only");
    expect(DIFFERENCES.map(({ id }) => standing(id))).toEqual(["open", "open", "A"]);
    expect([...row("visual.description").querySelectorAll(".difference-side")].map((one) => one.querySelector(".side-text")?.textContent)).toEqual(["A dog runs to the child.", "A dog sits by the child."]);
    expect([...row("visual.description").querySelectorAll("mark")].map((one) => one.textContent)).toEqual(["runs", "to", "sits", "by"]);
    expect(row("cat").querySelector(".difference-side")?.textContent).toContain("nothing");
    expect(text("[data-video-head]")).toContain("Decide");
    expect(document.querySelector("#submit-question")).toBeNull();
    expect(workspace.store.editable.value).toBe(true);
  });

  it("takes sides, each an operation that can be undone, and leaves out", async () => {
    await openPage();
    button("Take A", row("visual.description")).click();
    button("Take A", row("dog")).click();
    button("Take B", row("cat")).click();
    await until(() => server.words.length === 3);
    expect(server.words).toEqual(["Take A: Visual cue, description", 'Take A: Boxes of "dog"', 'Take B: Boxes of "cat"']);
    const [a, b] = sidesOf();
    expect(server.document.tracks).toEqual({ [DOG]: a.tracks[DOG], [CAT]: b.tracks[CAT] });
    expect(server.document.links).toEqual(a.links);
    expect(text("[data-decided]")).toBe("3 of 3 decided");
    button("Leave out", row("dog")).click();
    await pass();
    expect(standing("dog")).toBe("open");
    expect(workspace.store.doc.value.links).toEqual({});
    workspace.store.undo();
    button("Take B", row("dog")).click();
    expect(workspace.store.doc.value.tracks[DOG]).toEqual(b.tracks[DOG]);
    await pass();
    expect(standing("dog")).toBe("B");
    workspace.store.undo();
    await pass();
    expect(standing("dog")).toBe("A");
    expect(workspace.store.doc.value.links).toEqual(a.links);
  });

  it("is shown both sides where they are furthest apart", async () => {
    await openPage();
    const { adjudication, store } = workspace;
    if (!adjudication) throw new Error("no adjudication");
    Object.assign(store.player, playerOf());
    button("Boxes of \"dog\"", row("dog")).click();
    // From frame 10 on the boxes part by 20 pixels a frame; 40 apart they no longer overlap.
    expect(store.player.frame.value).toBe(12);
    expect(adjudication.shown.value.map(({ letter, spans }) => [letter, spans])).toEqual([["A", [[INDEX.clipUs(10), INDEX.clipUs(40)]]], ["B", [[INDEX.clipUs(10), INDEX.clipUs(40)]]]]);
    await pass();
    expect(text("[data-sides] .title")).toBe('Boxes of "dog"');
    adjudication.move(1);
    expect(adjudication.chosen.value?.id).toBe("cat");
    adjudication.takeNth(1);
    expect(store.selection.value).toEqual({ kind: "track", id: CAT });
    adjudication.move(1);
    expect(adjudication.chosen.value?.id).toBe("visual.description");
    await pass();
    expect(document.querySelector("[data-sides]")).toBeNull();
  });

  it("says why where the decision follows nobody, and decides; the note outlives a reload until then", async () => {
    await openPage();
    button("Take A", row("dog")).click();
    workspace.store.dialog.value = "submit";
    await pass();
    expect(text("dialog")).toContain("At 1 difference the decision follows nobody");
    expect(text("dialog")).toContain("Visual cue, description (nothing there yet)");
    // The cat counts as "like A", who has none: that it goes is said all the same.
    expect(text("[data-left-out]")).toBe('Boxes of "cat" (B)');
    expect(button("Decide", document.querySelector("dialog") as HTMLElement).disabled).toBe(true);
    workspace.adjudication?.write("Neither saw it.");
    expect(Object.values({ ...localStorage })).toContain("Neither saw it.");
    await pass();
    button("Decide", document.querySelector("dialog") as HTMLElement).click();
    await until(() => server.state === "adjudicated" && text("[data-decision]") === "Decided");
    expect(server.posted).toEqual([["/submit", { base_version: 1, note: "Neither saw it." }]]);
    expect(Object.values({ ...localStorage })).not.toContain("Neither saw it.");
    expect(button("Take B", row("dog")).disabled).toBe(true);

    button("Open again").click();
    await pass();
    const field = document.querySelector<HTMLTextAreaElement>("#decision-reason") as HTMLTextAreaElement;
    field.value = "New clip.";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await pass();
    button("Open again", document.querySelector("dialog") as HTMLElement).click();
    await until(() => workspace.store.editable.value);
    expect(server.posted.at(-1)).toEqual(["/reopen", { reason: "New clip." }]);
  });

  it("reads what is missing when the server refuses, and keeps the note", async () => {
    await openPage();
    server.refuse = { error: { code: "incomplete", message: "Not complete.", remedy: "", fields: { parts: ["The final answer is empty."] } } };
    workspace.adjudication?.write("No.");
    await workspace.adjudication?.decide();
    await pass();
    expect(text("[data-video-notices]")).toContain("Not complete. The final answer is empty.");
    expect(workspace.adjudication?.note.value).toBe("No.");
    expect(Object.values({ ...localStorage })).toContain("No.");
  });

  it("gives the question back to a letter, with a reason", async () => {
    await openPage();
    const left: string[] = [];
    const { createAdjudication } = await import("./adjudication");
    const again = createAdjudication(workspace.store, workspace.session, (url) => left.push(url));
    await again.giveBack("B", "The cat is missing.");
    expect(server.posted).toEqual([["/give-back", { letter: "B", reason: "The cat is missing." }]]);
    expect(left).toEqual(["/work"]);
  });
});
