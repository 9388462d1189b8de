// @vitest-environment jsdom
// Asking for proposals, watching and deciding, against a server that answers as the contract says.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Operation } from "../../lib/video/document";
import type { Prompt, Run } from "../../lib/video/proposals";
import type { Requests } from "./proposals";
import { createProposals } from "./proposals";
import { createStore } from "./store";
import { CAT, DOG, FRAMES, INDEX, documentOf, payloadOf, playerOf, trackOf } from "./testing";
import { POLL_MS } from "./watching";

const RUN = "00000000-0000-4000-8000-0000000000aa";
const FOUND = "00000000-0000-4000-8000-0000000000bb";
const PROPOSERS = [
  { name: "opencv", title: "Tracker", available: true, why_not: "", text: false, box: true },
  { name: "sam3", title: "SAM 3", available: false, why_not: "This server has no GPU.", text: true, box: true },
];

let posted: { url: string; body: unknown }[] = [];
let asked: string[] = [];
let run: Run | null = null;
let sent: Operation[] = [];
let visible = true;

const requests: Requests = {
  get: async <T>(url: string): Promise<T> => {
    asked.push(url);
    return structuredClone(url === "/proposals/" ? { proposers: PROPOSERS, runs: run ? [{ ...run, tracks: null }] : [] } : run) as T;
  },
  post: async <T>(url: string, body: unknown): Promise<T> => {
    posted.push({ url, body });
    if (url.endsWith("/cancel/")) run = { ...(run as Run), state: "cancelled" };
    else run = { id: RUN, proposer: "opencv", state: "queued", done: 0, total: 0, message: "", created_at: "2026-01-01", prompt: body as Prompt, version: {}, tracks: null, flags: {} };
    return structuredClone(run) as T;
  },
};

function start() {
  const player = playerOf();
  const payload = payloadOf();
  payload.urls.proposals = "/proposals/";
  let ids = 0;
  const store = createStore(payload, INDEX, player, { changed: (operation) => sent.push(operation), now: () => 0, uuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}` });
  store.tab.value = "held";
  const proposals = createProposals(store, requests);
  return { store, player, proposals };
}
let opened: ReturnType<typeof start> | null = null;
const open = (): ReturnType<typeof start> => (opened = start());

/** What the server has found meanwhile: two boxes of the dog, one flag. */
const finish = (): void => {
  run = { ...(run as Run), state: "done", done: 30, total: 30, tracks: [{ ...trackOf(FOUND, "dog", { 20: [100, 50, 40, 40], 49: [200, 60, 40, 40] }, [[20, 50]]), run: RUN }], flags: { 44: ["jump"] } };
};

beforeEach(() => {
  [posted, asked, run, sent, visible] = [[], [], null, [], true];
  localStorage.clear();
  vi.useFakeTimers();
  vi.spyOn(document, "visibilityState", "get").mockImplementation(() => (visible ? "visible" : "hidden"));
});
afterEach(() => {
  opened?.proposals.stop();
  opened = null;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("what is asked", () => {
  it("starts from the selected object's box on this frame", async () => {
    const { store, player, proposals } = open();
    await proposals.begin();
    store.select({ kind: "track", id: DOG });
    await player.seek(20);
    proposals.count.value = 29;
    await proposals.propose();
    expect(posted).toEqual([{ url: "/proposals/", body: { proposer: "opencv", label: "dog", track: DOG, frame: 20, box: [100, 50, 40, 40], text: "", start: 20, end: 50, direction: "forward" } }]);
  });

  it("runs the gap between the keyframes around this frame again", async () => {
    const { store, player, proposals } = open();
    await proposals.begin();
    store.select({ kind: "track", id: DOG });
    await player.seek(15);
    proposals.direction.value = "gap";
    await proposals.propose();
    expect(posted[0]?.body).toMatchObject({ frame: 10, box: [0, 0, 40, 40], box_end: [100, 50, 40, 40], start: 10, end: 20, direction: "gap" });
    await player.seek(30);
    expect(proposals.wanted.value).toEqual({ why: "There are no two keyframes around this frame." });
  });

  it("says what is missing instead of asking", async () => {
    const { store, player, proposals } = open();
    await proposals.begin();
    expect(proposals.wanted.value).toEqual({ why: "Tracker needs a box to start from: select an object that is on this frame." });
    store.select({ kind: "track", id: CAT });
    expect(proposals.wanted.value).toEqual({ why: "cat is not on this frame: go to one where it is." });
    await player.seek(60);
    proposals.chosen.value = "sam3";
    expect(proposals.wanted.value).toEqual({ why: "This server has no GPU." });
    await proposals.propose();
    expect(posted).toEqual([]);
  });

  it("takes the target label where nothing is selected and the proposer reads text", async () => {
    const { player, proposals } = open();
    await proposals.begin();
    proposals.proposers.value = PROPOSERS.map((one) => ({ ...one, available: true }));
    proposals.chosen.value = "sam3";
    await player.seek(90);
    await proposals.propose();
    expect(posted[0]?.body).toEqual({ proposer: "sam3", label: "dog", track: null, text: "dog", frame: 90, box: null, start: 90, end: FRAMES, direction: "forward" });
  });
});

async function asks() {
  const page = open();
  await page.proposals.begin();
  page.store.select({ kind: "track", id: DOG });
  await page.player.seek(20);
  await page.proposals.propose();
  return page;
}

describe("watching", () => {
  it("asks once a second while a run is under way, and not while nobody looks", async () => {
    const { proposals } = await asks();
    asked = [];
    await vi.advanceTimersByTimeAsync(POLL_MS * 2 + 50);
    expect(asked).toEqual([`/proposals/${RUN}/`, `/proposals/${RUN}/`]);
    visible = false;
    await vi.advanceTimersByTimeAsync(POLL_MS * 3);
    expect(asked.length).toBeLessThanOrEqual(3);
    const before = asked.length;
    await vi.advanceTimersByTimeAsync(POLL_MS * 10);
    expect(asked.length).toBe(before);
    visible = true;
    finish();
    document.dispatchEvent(new Event("visibilitychange"));
    await vi.advanceTimersByTimeAsync(POLL_MS + 10);
    expect(proposals.runs.value[0]?.state).toBe("done");
    const last = asked.length;
    await vi.advanceTimersByTimeAsync(POLL_MS * 10);
    expect(asked.length).toBe(last);
  });

  it("cancels", async () => {
    const { proposals } = await asks();
    await proposals.cancel(proposals.runs.peek()[0] as Run);
    expect(posted[1]?.url).toBe(`/proposals/${RUN}/cancel/`);
    expect(proposals.runs.value[0]?.state).toBe("cancelled");
  });
});

describe("deciding", () => {
  it("accepts as one operation that undo takes back, and the proposal is open again", async () => {
    const { store, proposals } = await asks();
    finish();
    await vi.advanceTimersByTimeAsync(POLL_MS + 10);
    expect(proposals.shown.value).toHaveLength(1);
    const before = structuredClone(store.doc.peek());
    proposals.accept(proposals.runs.peek()[0] as Run);
    expect(sent).toHaveLength(1);
    expect(store.doc.value.tracks[DOG]?.visible).toEqual([[10, 50]]);
    expect(store.doc.value.tracks[DOG]?.keyframes["49"]).toEqual({ box: [200, 60, 40, 40], occluded: false, source: "model", run: RUN });
    expect(proposals.shown.value).toHaveLength(0);
    store.undo();
    expect(store.doc.value).toEqual(before);
    expect(proposals.shown.value).toHaveLength(1);
  });

  it("accepts the chosen stretch only, and keeps the rest open", async () => {
    const { store, proposals } = await asks();
    finish();
    await vi.advanceTimersByTimeAsync(POLL_MS + 10);
    store.span.value = [INDEX.clipUs(38), INDEX.clipUs(45)];
    proposals.accept(proposals.runs.peek()[0] as Run, proposals.range.value);
    expect(store.doc.value.tracks[DOG]?.visible).toEqual([[10, 45]]);
    expect(proposals.shown.value).toHaveLength(1);
  });

  it("rejects without changing anything, and remembers it over a reload", async () => {
    const { store, proposals } = await asks();
    finish();
    await vi.advanceTimersByTimeAsync(POLL_MS + 10);
    proposals.reject(proposals.runs.peek()[0] as Run);
    expect([sent, proposals.shown.value, store.doc.value]).toEqual([[], [], documentOf()]);
    proposals.stop();
    const again = open();
    await again.proposals.begin();
    expect(again.proposals.decisionOf(again.proposals.runs.peek()[0] as Run)).toBe("rejected");
    expect(again.proposals.shown.value).toEqual([]);
  });

  it("changes nothing of a locked object", async () => {
    const { store, proposals } = await asks();
    finish();
    await vi.advanceTimersByTimeAsync(POLL_MS + 10);
    store.toggleLocked(DOG);
    proposals.accept(proposals.runs.peek()[0] as Run);
    expect(sent).toEqual([]);
  });
});
