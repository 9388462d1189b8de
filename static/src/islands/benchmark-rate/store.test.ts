import { describe, expect, it, vi } from "vitest";
import { TYPING_MS, createStore } from "./store";
import { answerText, given, makePayload, rated } from "./testing";
import type { RatePayload } from "./types";

const open = (change: Partial<RatePayload> = {}, startAt: number | null = null, marked: number[] = []) => {
  const changed = vi.fn();
  const write = vi.fn();
  const fetchTexts = vi.fn(async (url: string) => {
    const ids = (new URL(url, "http://x").searchParams.get("answers") ?? "").split(",").map(Number);
    return { answers: Object.fromEntries(ids.map((id) => [id, answerText(id)])), items: {} };
  });
  return { store: createStore(makePayload(change), { changed, fetchTexts, skipped: { read: () => marked, write } }, startAt), changed, fetchTexts, write };
};
const rateAll = (store: ReturnType<typeof open>["store"], value = 4): void => {
  for (const { id } of store.page.facets) store.give(id, value);
};

describe("the queue", () => {
  it("begins at the first answer that is not rated on every facet, or where the address says", () => {
    expect(open({ said: { 11: rated(3), 12: { answer: given(3) } } }).store.at.value).toBe(1);
    expect(open({}, 3).store.at.value).toBe(3);
    expect(open({}, 9).store.at.value).toBe(0);
  });

  it("goes on to the next open answer, and round to one that was passed over", () => {
    const { store } = open({ said: { 12: rated(3) } });
    store.move(1);
    store.move(1);
    rateAll(store);
    store.next();
    expect(store.at.value).toBe(3);
    rateAll(store);
    store.next();
    expect([store.at.value, store.finished.value]).toEqual([0, false]);
    rateAll(store);
    expect([store.done.value, store.finished.value]).toEqual([4, true]);
  });

  it("does not go on while a facet is open, and says which; the arrows do", () => {
    const { store } = open();
    store.give("answer", 4);
    store.next();
    expect([store.at.value, store.blocked.value]).toEqual([0, "Still open: Hallucination, Divergence. S sets the answer aside if you cannot judge it; the arrow keys go on without a rating."]);
    store.move(1);
    expect([store.at.value, store.blocked.value]).toEqual([1, ""]);
    store.move(-5);
    expect(store.at.value).toBe(1);
  });

  it("asks for texts ahead, no more at once than the server gives, and each once", async () => {
    const queue = Array.from({ length: 30 }, (_, k): [number, number] => [k + 1, 1]);
    const { store, fetchTexts } = open({ queue, answers: { 1: answerText(1) }, limits: { note: 20, at_once: 5 } });
    await Promise.all([store.fetchAround(), store.fetchAround()]);
    expect(fetchTexts.mock.calls.map(([url]) => url)).toEqual(["/api/ratings/?answers=2,3,4"]);
    store.go(20);
    await vi.waitFor(() => expect(store.answer.value).not.toBeNull());
    expect(fetchTexts).toHaveBeenLastCalledWith("/api/ratings/?answers=20,21,22,23,24");
  });

  it("says when an answer cannot be loaded or is gone, and loads it when asked again", async () => {
    const { store, fetchTexts } = open({ answers: {} });
    fetchTexts.mockRejectedValueOnce(new Error("No network."));
    await store.fetchAround();
    expect([store.problem.value, store.editable.value]).toEqual(["This answer could not be loaded. No network.", false]);
    fetchTexts.mockResolvedValueOnce({ answers: {}, items: {} });
    await store.fetchAround();
    expect(store.problem.value).toContain("not among those that are rated any more");
    await store.fetchAround();
    expect([store.problem.value, store.editable.value]).toEqual(["", true]);
  });
});

describe("ratings", () => {
  it("go out at once with the texts that were seen, and the same one again not at all", () => {
    const { store, changed } = open();
    store.give("answer", 2);
    expect(changed.mock.calls).toEqual([[11, "answer", { value: 2, note: "" }, "texts-11", 0]]);
    store.give("answer", 2);
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it("move on to the next facet without one", () => {
    const { store } = open({ said: { 11: { hallucination: given(5) } } });
    expect(store.facet.value).toBe(0);
    store.give("answer", 2);
    expect(store.facet.value).toBe(2);
    store.give("divergence", 1);
    expect([store.facet.value, store.complete(11)]).toEqual([2, true]);
    store.facet.value = 0;
    store.give("answer", 3);
    expect(store.facet.value).toBe(0);
  });

  it("are on the scale or not at all", () => {
    const { store, changed } = open();
    for (const value of [0, 6, 2.5, Number.NaN]) store.give("answer", value);
    expect(changed).not.toHaveBeenCalled();
  });

  it("are taken back with their note, and come back by undo", () => {
    const { store, changed } = open({ said: { 11: { answer: given(2, "why") } } });
    store.facet.value = 0;
    store.takeBack();
    expect(changed).toHaveBeenLastCalledWith(11, "answer", { value: null, note: "" }, "texts-11", 0);
    store.undo();
    expect(store.of(11, "answer")).toEqual({ value: 2, note: "why" });
    store.redo();
    expect(store.of(11, "answer")).toEqual({ value: null, note: "" });
  });

  it("of another answer are undone where they are", () => {
    const { store } = open();
    rateAll(store);
    store.next();
    expect(store.at.value).toBe(1);
    store.undo();
    expect([store.at.value, store.facet.value, store.of(11, "divergence").value]).toEqual([0, 2, null]);
    expect(store.says.value).toBe("Undone: Divergence of answer 1.");
  });

  it("have a note only where there is a rating; typing is one step and goes out after a pause", () => {
    const { store, changed } = open();
    store.note("answer", "lost");
    expect(changed).not.toHaveBeenCalled();
    store.give("answer", 2);
    store.note("answer", "a");
    store.note("answer", "ab");
    expect(changed).toHaveBeenLastCalledWith(11, "answer", { value: 2, note: "ab" }, "texts-11", TYPING_MS);
    store.undo();
    expect(store.of(11, "answer")).toEqual({ value: 2, note: "" });
  });

  it("cannot be given once the server takes no more", () => {
    const { store, changed } = open();
    store.save.value = { ...store.save.value, hold: { kind: "not_editable", message: "Closed." } };
    store.give("answer", 2);
    store.undo();
    expect([changed.mock.calls, store.says.value]).toEqual([[], "Nothing to undo."]);
  });
});

describe("an answer that cannot be judged", () => {
  it("is set aside for the session and not counted as rated", () => {
    const { store, changed, write } = open();
    store.skip();
    expect([store.at.value, store.passed(11), store.done.value, store.passedOver.value]).toEqual([1, true, 0, 1]);
    expect(write).toHaveBeenLastCalledWith([11]);
    expect(changed).not.toHaveBeenCalled();
    store.move(-1);
    store.skip();
    expect([store.at.value, store.passed(11)]).toEqual([0, false]);
    expect(write).toHaveBeenLastCalledWith([]);
  });

  it("ends the queue when the others are rated, and is not asked again after a reload", () => {
    const said = { 11: rated(3), 12: rated(3), 21: rated(3) };
    const { store } = open({ said }, null, [22]);
    expect([store.finished.value, store.done.value, store.passedOver.value]).toEqual([true, 3, 1]);
    expect(open({ said: { 11: rated(3) } }, null, [12]).store.at.value).toBe(2);
  });

  it("counts as rated once it is, and a rated one cannot be set aside", () => {
    const { store } = open({}, null, [11]);
    store.go(0);
    rateAll(store);
    expect([store.passed(11), store.done.value]).toEqual([false, 1]);
    store.skip();
    expect([store.at.value, store.says.value]).toEqual([0, "This answer is rated: take a rating back first."]);
  });
});

describe("facets", () => {
  it("are gone through with the arrows and end at both ends", () => {
    const { store } = open();
    store.toFacet(-1);
    expect([store.facet.value, store.focusOn.value]).toEqual([0, null]);
    store.toFacet(1);
    store.toFacet(1);
    store.toFacet(1);
    expect([store.facet.value, store.focusOn.value]).toEqual([2, "facet"]);
  });
});

describe("what waited in the browser", () => {
  it("is newer than what came with the page; another tab's rating takes its place when it is chosen", () => {
    const { store } = open({ said: { 11: { answer: given(2) } } });
    store.restore((lane) => (lane === "a11.answer" ? { value: 5, note: "" } : null));
    expect(store.of(11, "answer").value).toBe(5);
    store.take("a11.answer", { value: 1 });
    expect(store.of(11, "answer")).toEqual({ value: 1, note: "" });
  });
});
