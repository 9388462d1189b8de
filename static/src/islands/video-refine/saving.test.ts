// Operations through the queue: none lost, none twice on a server that passes over ids it knows, typing joined until it is sent.
import { afterEach, describe, expect, it, vi } from "vitest";
import { MemoryStore } from "../../lib/queue-store";
import type { StoredChange } from "../../lib/queue-store";
import type { SendAnswer } from "../../lib/save-queue";
import type { Operation } from "../../lib/video/document";
import { apply, canonical } from "../../lib/video/document";
import { cueChange, targetChange } from "../../lib/video/edits";
import { LANE, OperationQueue, inParts, sendBody } from "./saving";
import { documentOf } from "./testing";
import type { RefinePayload } from "./types";

const uuid = (k: number): string => `00000000-0000-4000-a000-${String(k).padStart(12, "0")}`;
const pass = (ms = 15): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A server as it should be: applies an operation once, whatever body it comes in. */
class FakeServer {
  document = documentOf();
  version = 1;
  known = new Set<string>();
  bodies: Operation[][] = [];
  /** "lost": does it, and the answer gets lost. */
  fault: "none" | "offline" | "lost" = "none";

  async send(change: StoredChange): Promise<SendAnswer> {
    if (this.fault === "offline") return { kind: "retry", afterMs: 5 };
    const operations = change.body.operations as Operation[];
    this.bodies.push(operations);
    for (const operation of operations) {
      if (this.known.has(operation.id)) continue;
      this.document = apply(this.document, operation);
      this.known.add(operation.id);
    }
    this.version++;
    if (this.fault === "lost") return { kind: "retry", afterMs: 5 };
    return { kind: "saved", version: this.version, savedAt: "", reply: {} };
  }
}

function queueOn(server: FakeServer, store = new MemoryStore()): OperationQueue {
  const queue = new OperationQueue({ store, user: 3, assignment: "7", tab: "t", send: (change) => server.send(change), onChange: () => {}, onSaved: () => {} });
  queue.queue.setVersion(LANE, 1);
  return queue;
}

function edits(server: FakeServer, count: number): Operation[] {
  let document = server.document;
  return Array.from({ length: count }, (_, k) => {
    const made: Operation = { id: uuid(k), words: "Edit", changes: [targetChange(document, `label ${k}`)] };
    document = apply(document, made);
    return made;
  });
}

describe("operations on their way", () => {
  it("arrive in order and once", async () => {
    const server = new FakeServer();
    const queue = queueOn(server);
    for (const one of edits(server, 6)) {
      queue.send(one, 0, false);
      await pass(1);
    }
    expect(await queue.queue.drained()).toBe(true);
    expect([...server.known]).toEqual([0, 1, 2, 3, 4, 5].map(uuid));
    expect(server.document.target_label).toBe("label 5");
    expect(queue.waiting).toEqual([]);
    queue.queue.close();
  });

  it("are done once when the answer was lost", async () => {
    const server = new FakeServer();
    const queue = queueOn(server);
    const [first, second] = edits(server, 2) as [Operation, Operation];
    server.fault = "lost";
    queue.send(first, 0, false);
    await pass();
    queue.send(second, 0, false);
    server.fault = "none";
    await pass(40);
    expect(await queue.queue.drained()).toBe(true);
    expect(server.document.target_label).toBe("label 1");
    expect(server.known.size).toBe(2);
    queue.queue.close();
  });

  it("outlive the page: what was kept is sent by the next one", async () => {
    const server = new FakeServer();
    const store = new MemoryStore();
    const before = queueOn(server, store);
    server.fault = "offline";
    for (const one of edits(server, 3)) before.send(one, 0, false);
    await before.queue.written();
    before.queue.close();
    const after = queueOn(server, store);
    const waiting = await after.open();
    expect(waiting.map(({ id }) => id)).toEqual([0, 1, 2].map(uuid));
    server.fault = "none";
    after.queue.resume();
    expect(await after.queue.drained()).toBe(true);
    expect(server.document.target_label).toBe("label 2");
    after.queue.close();
  });

  it("join while somebody types, but never change once they may be on the server", async () => {
    const server = new FakeServer();
    const queue = queueOn(server);
    let document = server.document;
    const type = (k: number, text: string, delay: number): void => {
      const made: Operation = { id: uuid(k), words: "Edit", changes: [cueChange(document, "visual", "description", text)] };
      document = apply(document, made);
      queue.send(made, delay, k > 0);
    };
    type(0, "a", 1000);
    type(1, "ab", 1000);
    type(2, "abc", 1000);
    expect(queue.waiting.length).toBe(1);
    queue.queue.flush();
    await pass();
    expect(server.bodies).toEqual([[{ id: uuid(0), words: "Edit", changes: [expect.objectContaining({ before: "", after: "abc" })] }]]);
    server.fault = "lost";
    type(3, "abcd", 0);
    await pass(3);
    type(4, "abcde", 0);
    server.fault = "none";
    await pass(60);
    expect(await queue.queue.drained()).toBe(true);
    expect(canonical(server.document)).toBe(canonical(document));
    expect([...server.known]).toEqual([uuid(0), uuid(3), uuid(4)]);
    queue.queue.close();
  });

  it("go on top of another version after a conflict", async () => {
    const server = new FakeServer();
    const queue = queueOn(server);
    const [first] = edits(server, 1) as [Operation];
    server.fault = "offline";
    queue.send(first, 0, false);
    await pass(3);
    server.fault = "none";
    queue.settle([{ ...first, id: uuid(50) }], 9);
    await pass(30);
    expect(await queue.queue.drained()).toBe(true);
    expect([...server.known]).toContain(uuid(50));
    queue.queue.close();
  });
});

describe("a long body", () => {
  const words = (k: number, text: string): Operation => ({ id: uuid(k), words: "Edit", changes: [{ path: ["target_label"], before: "", after: text }] });
  const payload = { urls: { save: "/save/", relogin: "/relogin/" }, user: { id: 3, username: "a" } } as unknown as RefinePayload;
  const changeOf = (operations: Operation[]): StoredChange => ({ key: uuid(99), user: 3, assignment: "7", seq: 1, lane: LANE, body: { operations, tab: "t" } });
  afterEach(() => vi.unstubAllGlobals());

  /** A server that answers each request in turn; what it was sent, by the ids of the operations, with the keys. */
  function answering(...answers: [number, unknown][]): { ids: string[][]; keys: string[] } {
    const sent = { ids: [] as string[][], keys: [] as string[] };
    vi.stubGlobal("document", { cookie: "csrftoken=t" });
    vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
      sent.ids.push((JSON.parse(String(init.body)) as { operations: Operation[] }).operations.map(({ id }) => id));
      sent.keys.push(new Headers(init.headers).get("Idempotency-Key") ?? "");
      const [status, body] = answers.shift() ?? [500, null];
      return Promise.resolve(new Response(JSON.stringify(body), { status }));
    });
    return sent;
  }

  it("is cut by bytes and by number, in order; what is too long alone stays alone", () => {
    const size = new Blob([JSON.stringify(words(0, "a"))]).size;
    const five = [0, 1, 2, 3, 4].map((k) => words(k, "a"));
    const ids = (parts: Operation[][]): number[][] => parts.map((part) => part.map(({ id }) => Number(id.slice(-2))));
    expect(ids(inParts(five, 2 * size))).toEqual([[0, 1], [2, 3], [4]]);
    expect(ids(inParts(five, 1e9, 3))).toEqual([[0, 1, 2], [3, 4]]);
    expect(ids(inParts([words(0, "a"), words(1, "b".repeat(500)), words(2, "a")], 2 * size))).toEqual([[0], [1], [2]]);
    // Bytes, not letters: each of these has three.
    expect(ids(inParts([words(0, "あ".repeat(100)), words(1, "あ".repeat(100))], 2 * (size + 150)))).toEqual([[0], [1]]);
    expect(inParts([])).toEqual([[]]);
  });

  it("goes part by part, the last one under its own key", async () => {
    const saved = (version: number): [number, unknown] => [200, { version, saved_at: "now" }];
    const sent = answering(saved(2000), saved(2001));
    const all = Array.from({ length: 2001 }, (_, k) => words(k, "a"));
    expect(await sendBody(payload, changeOf(all), false)).toMatchObject({ kind: "saved", version: 2001 });
    expect(sent.ids.map((part) => part.length)).toEqual([2000, 1]);
    expect(sent.keys[1]).toBe(uuid(99));
    expect(sent.keys[0]).not.toBe(uuid(99));
  });

  it("stops at the first part that is not saved", async () => {
    const sent = answering([409, { error: { code: "version_conflict" }, current: { version: 7 } }]);
    const all = Array.from({ length: 2001 }, (_, k) => words(k, "a"));
    expect(await sendBody(payload, changeOf(all), false)).toEqual({ kind: "conflict", current: { version: 7 } });
    expect(sent.ids.length).toBe(1);
  });

  it("that the server finds too large is refused with its sentence, not sent again and again", async () => {
    const error = { code: "too_large", message: "The request is longer than 16,777,216 bytes.", remedy: "Import the file in parts." };
    const sent = answering([413, { error }]);
    const queue = new OperationQueue({ store: new MemoryStore(), user: 3, assignment: "7", tab: "t", send: (change) => sendBody(payload, change, false), onChange: () => {}, onSaved: () => {} });
    queue.send(words(1, "a"), 0, false);
    await pass(60);
    expect(queue.queue.state.parked.get(LANE)).toEqual({ kind: "refused", code: "too_large", message: "The request is longer than 16,777,216 bytes. Import the file in parts." });
    expect(queue.queue.state.offline).toBe(false);
    expect(sent.ids.length).toBe(1);
    expect(queue.waiting.length).toBe(1);
    queue.queue.close();
  });
});
