// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { createNotes } from "./notes";
import { createStore } from "./store";
import { INDEX, payloadOf, playerOf } from "./testing";

afterEach(() => vi.unstubAllGlobals());

function open() {
  const payload = payloadOf();
  payload.urls.notes = "/notes/";
  payload.notes = { text: "Old.", version: 7, editable: true };
  const store = createStore(payload, INDEX, playerOf(), { changed: () => {}, now: () => 0, uuid: () => "" });
  return { store, notes: createNotes(store, "tab") };
}

it("saves a changed text on top of the version that was read, and nothing else", async () => {
  const fetched = vi.fn(async (_url: string, _init: RequestInit) => new Response(JSON.stringify({ version: 8, saved_at: "" })));
  vi.stubGlobal("fetch", fetched);
  const { store, notes } = open();
  await notes.save();
  notes.draft.value = "Old.";
  await notes.save();
  expect(fetched).not.toHaveBeenCalled();
  notes.draft.value = "The clip stutters.";
  await notes.save();
  const [url, init] = fetched.mock.calls[0] ?? ["", {}];
  expect([url, init.method, JSON.parse(String(init.body))]).toEqual(["/notes/", "PUT", { notes: "The clip stutters.", base_version: 7, tab: "tab" }]);
  expect([store.payload.value.notes, notes.draft.value]).toEqual([{ text: "The clip stutters.", version: 8, editable: true }, null]);
});

it("keeps the text where the server refuses, and says why", async () => {
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ error: { code: "version_conflict", message: "Your notes were changed elsewhere meanwhile." } }), { status: 409 }));
  const { store, notes } = open();
  notes.draft.value = "Mine.";
  await expect(notes.save()).rejects.toThrow("changed elsewhere");
  expect([notes.draft.value, store.payload.value.notes?.text]).toEqual(["Mine.", "Old."]);
});
