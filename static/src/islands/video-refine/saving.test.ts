// Operations through the queue: none lost, none twice on a server that passes over ids it knows, typing joined until it is sent.
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../../lib/queue-store";
import type { StoredChange } from "../../lib/queue-store";
import type { SendAnswer } from "../../lib/save-queue";
import type { Operation } from "../../lib/video/document";
import { apply, canonical } from "../../lib/video/document";
import { cueChange, targetChange } from "../../lib/video/edits";
import { LANE, OperationQueue } from "./saving";
import { documentOf } from "./testing";

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
