import { describe, expect, it, vi } from "vitest";
import { createStore } from "./store";
import { chainText, makePayload } from "./testing";
import type { AuditPayload } from "./types";

const open = (change: Partial<AuditPayload> = {}, startAt: number | null = null) => {
  const changed = vi.fn();
  const fetchTexts = vi.fn(async (url: string) => {
    const ids = (new URL(url, "http://x").searchParams.get("chains") ?? "").split(",").map(Number);
    return { chains: Object.fromEntries(ids.map((id) => [id, chainText(id)])), questions: {} };
  });
  return { store: createStore(makePayload(change), { changed, fetchTexts }, startAt), changed, fetchTexts };
};
const saved = (sound: "yes" | "no", note = "") => ({ answers: { sound }, note, version: 1, saved_at: "" });

describe("the queue", () => {
  it("begins at the first chain without a word, or where the address says", () => {
    expect(open({ said: { 11: saved("yes"), 12: saved("no") } }).store.at.value).toBe(2);
    expect(open({}, 3).store.at.value).toBe(3);
    expect(open({}, 9).store.at.value).toBe(0);
  });

  it("goes on to the next open chain, and round to one that was passed over", () => {
    const { store } = open({ said: { 12: saved("yes") } });
    store.move(1);
    store.move(1);
    store.answer("sound", "yes");
    store.next();
    expect(store.at.value).toBe(3);
    store.answer("sound", "no");
    store.next();
    expect(store.at.value).toBe(0);
    expect(store.finished.value).toBe(false);
    store.answer("sound", "unsure");
    expect(store.finished.value).toBe(true);
    store.next();
    expect(store.at.value).toBe(1);
  });

  it("does not go on without a word, and says so; the arrows do", () => {
    const { store } = open();
    store.next();
    expect([store.at.value, store.blocked.value]).toEqual([0, "Choose Sound, Not sound or Unsure first; the arrow keys go on without a word."]);
    store.move(1);
    expect([store.at.value, store.blocked.value]).toEqual([1, ""]);
    store.move(-5);
    expect(store.at.value).toBe(1);
  });

  it("asks for texts ahead, no more at once than the server gives, and each once", async () => {
    const queue = Array.from({ length: 30 }, (_, k): [number, number] => [k + 1, 1]);
    const { store, fetchTexts } = open({ queue, chains: { 1: chainText(1) }, limits: { note: 20, at_once: 5 } });
    await Promise.all([store.fetchAround(), store.fetchAround()]);
    expect(fetchTexts.mock.calls.map(([url]) => url)).toEqual(["/api/judgements/?kind=soundness&chains=2,3,4"]);
    store.go(20);
    await vi.waitFor(() => expect(store.chain.value).not.toBeNull());
    expect(fetchTexts).toHaveBeenLastCalledWith("/api/judgements/?kind=soundness&chains=20,21,22,23,24");
  });

  it("says when a chain cannot be loaded, and loads it when asked again", async () => {
    const { store, fetchTexts } = open({ chains: {} });
    fetchTexts.mockRejectedValueOnce(new Error("No network."));
    await store.fetchAround();
    expect(store.problem.value).toBe("This chain could not be loaded. No network.");
    expect(store.editable.value).toBe(false);
    await store.fetchAround();
    expect([store.problem.value, store.editable.value]).toEqual(["", true]);
  });
});

describe("a text that does not come", () => {
  it("because the chain is gone is said, once for this chain", async () => {
    const { store, fetchTexts } = open({ chains: {} });
    fetchTexts.mockImplementation(async () => ({ chains: { 12: chainText(12) }, questions: {} }) as never);
    await store.fetchAround();
    expect(store.problem.value).toContain("not in the study any more");
    store.move(1);
    expect([store.problem.value, store.chain.value?.steps[0]?.text]).toEqual(["", "First step of 12."]);
  });

  it("ahead of the place is no problem yet", async () => {
    const { store, fetchTexts } = open({ chains: { 11: chainText(11) } });
    fetchTexts.mockRejectedValueOnce(new Error("No network."));
    await store.fetchAround();
    expect(store.problem.value).toBe("");
  });
});

describe("words", () => {
  it("go out at once, notes after a pause, and the same word again not at all", () => {
    const { store, changed } = open();
    store.answer("sound", "no");
    store.answer("sound", "no");
    store.note("odd");
    expect(changed.mock.calls).toEqual([
      [11, { answers: { sound: "no" }, note: "" }, 0],
      [11, { answers: { sound: "no" }, note: "odd" }, 1500],
    ]);
  });

  it("are undone where they were said, a typed note in one step, and done again", () => {
    const { store, changed } = open();
    store.answer("sound", "no");
    for (const text of ["o", "od", "odd"]) store.note(text);
    store.next();
    store.answer("sound", "yes");
    store.undo();
    expect([store.at.value, store.current.value]).toEqual([1, { answers: {}, note: "" }]);
    store.undo();
    expect([store.at.value, store.current.value.note]).toEqual([0, ""]);
    store.undo();
    expect(store.current.value).toEqual({ answers: {}, note: "" });
    expect(changed).toHaveBeenLastCalledWith(11, { answers: {}, note: "" }, 0);
    store.undo();
    expect(store.says.value).toBe("Nothing to undo.");
    store.redo();
    store.redo();
    expect(store.current.value).toEqual({ answers: { sound: "no" }, note: "odd" });
  });

  it("of a decomposition go from criterion to criterion and are complete with all three", () => {
    const { store } = open({ kind: "decomposition" });
    store.answer("atomic", "yes");
    expect(store.criterion.value).toBe(1);
    store.answer("grounded", "no");
    store.next();
    expect(store.blocked.value).toBe("Still open: Right dependencies. The arrow keys go on without a word.");
    store.answer("dependencies", "unsure");
    expect([store.criterion.value, store.done.value]).toEqual([2, 1]);
    store.next();
    expect([store.at.value, store.criterion.value]).toEqual([1, 0]);
  });

  it("cannot be changed once the server takes no more", () => {
    const { store, changed } = open();
    store.save.value = { ...store.save.value, hold: { kind: "not_editable", message: "Gone." } };
    store.answer("sound", "yes");
    expect(changed).not.toHaveBeenCalled();
  });
});
