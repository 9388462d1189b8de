import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StoredChange } from "./queue-store";
import { MemoryStore } from "./queue-store";
import type { SendAnswer } from "./save-queue";
import { SaveQueue } from "./save-queue";

/** A server of a few lines: optimistic versions per lane, and one result per key. */
class Server {
  readonly rows = new Map<string, { version: number; text: string }>();
  readonly done = new Map<string, { body: string; version: number }>();
  /** Every write that took effect, in order. */
  readonly log: string[] = [];

  save({ key, lane, body }: StoredChange): SendAnswer {
    const before = this.done.get(key);
    if (before) {
      if (before.body !== JSON.stringify(body)) return { kind: "refused", code: "idempotency_mismatch", message: "Same key, other body." };
      return { kind: "saved", version: before.version, savedAt: "10:00", reply: {} };
    }
    const row = this.rows.get(lane) ?? { version: 0, text: "" };
    if (body.base_version !== row.version) return { kind: "conflict", current: { version: row.version, text: row.text } };
    const version = row.version + 1;
    this.rows.set(lane, { version, text: String(body.text) });
    this.done.set(key, { body: JSON.stringify(body), version });
    this.log.push(`${lane}=${String(body.text)}`);
    return { kind: "saved", version, savedAt: "10:00", reply: {} };
  }
}

const open: SaveQueue[] = [];

function queueOn(store: MemoryStore, send: (change: StoredChange, leaving: boolean) => Promise<SendAnswer>, more: { tab?: string; user?: number } = {}): SaveQueue {
  const queue = new SaveQueue({
    store,
    user: more.user ?? 7,
    assignment: "a",
    tab: more.tab ?? "t1",
    send,
    same: (body, current) => body.text === current.text,
    onChange: () => undefined,
    onSaved: () => undefined,
    random: () => 0,
  });
  open.push(queue);
  return queue;
}

const texts = (changes: StoredChange[]): unknown[] => changes.map((change) => [change.lane, change.body.text]);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const queue of open.splice(0)) queue.close();
  vi.useRealTimers();
});

const pass = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("save queue", () => {
  it("ds_04: sends two seconds after the last key at the latest, and while somebody types on and on", async () => {
    const server = new Server();
    const queue = queueOn(new MemoryStore(), async (change) => server.save(change));
    for (let k = 0; k < 4; k++) {
      queue.put("s3", { text: `word ${k}` }, 1500);
      await pass(1000);
    }
    expect(server.log).toEqual([]);
    await pass(600);
    expect(server.log).toEqual(["s3=word 3"]);
    for (let k = 0; k < 20; k++) {
      queue.put("s3", { text: `more ${k}` }, 1500);
      await pass(500);
    }
    expect(server.log.length).toBeGreaterThan(1);
    expect(queue.state.pending).toBeLessThan(2);
  });

  it("takes along what waits before a change that goes at once, in order", async () => {
    const server = new Server();
    const queue = queueOn(new MemoryStore(), async (change) => server.save(change));
    queue.put("s3", { text: "comment" }, 1500);
    queue.put("s4", { text: "label" }, 0);
    await pass();
    expect(server.log).toEqual(["s3=comment", "s4=label"]);
  });

  it("keeps a change before it sends it", async () => {
    const store = new MemoryStore();
    const kept: unknown[] = [];
    const queue = queueOn(store, async () => {
      kept.push(...texts(await store.load(7, "a")));
      return { kind: "saved", version: 1, savedAt: "", reply: {} };
    });
    queue.put("s3", { text: "x" });
    await pass();
    expect(kept).toEqual([["s3", "x"]]);
    expect(await store.count(7)).toBe(0);
  });

  it("merges what was never sent, and sends again unchanged what may have arrived", async () => {
    const server = new Server();
    const sent: StoredChange[] = [];
    let down = true;
    const queue = queueOn(new MemoryStore(), async (change) => {
      sent.push(change);
      const answer = server.save(change); // the server does it, the answer is lost
      return down ? { kind: "retry" } : answer;
    });
    queue.put("s3", { text: "a" });
    await pass();
    for (const text of ["b", "c", "d"]) queue.put("s3", { text });
    expect(queue.state).toMatchObject({ pending: 2, offline: true });
    down = false;
    expect(await Promise.all([queue.drained(), pass(10)]).then(([all]) => all)).toBe(true);
    expect(sent[1]).toEqual(sent[0]);
    expect(server.log).toEqual(["s3=a", "s3=d"]);
  });

  it("ds_05: comes back after a reload and goes on where it was", async () => {
    const store = new MemoryStore();
    const server = new Server();
    const first = queueOn(store, async () => ({ kind: "retry" }));
    first.put("s3", { text: "kept" });
    first.put("s4", { text: "too" });
    await pass();
    first.close();
    const second = queueOn(store, async (change) => server.save(change), { tab: "t1" });
    await second.open();
    expect(second.latest("s3")).toMatchObject({ text: "kept" });
    await Promise.all([second.drained(), pass(10)]);
    expect(server.log).toEqual(["s3=kept", "s4=too"]);
  });

  it("ds_05: never loads another person's changes", async () => {
    const store = new MemoryStore();
    const first = queueOn(store, async () => ({ kind: "retry" }), { user: 7 });
    first.put("s3", { text: "mine" });
    await pass();
    const sent = vi.fn(async (): Promise<SendAnswer> => ({ kind: "retry" }));
    const other = queueOn(store, sent, { user: 8 });
    await other.open();
    await Promise.all([other.drained(), pass(10)]);
    expect(sent).not.toHaveBeenCalled();
    expect(await store.count(7)).toBe(1);
  });

  it("ds_03: parks a conflict with both texts, goes on with others, and settles it on top of the server's version", async () => {
    const server = new Server();
    server.rows.set("s3", { version: 9, text: "theirs" });
    const queue = queueOn(new MemoryStore(), async (change) => server.save(change));
    queue.setVersion("s3", 8);
    queue.put("s3", { text: "mine" });
    queue.put("s4", { text: "other" });
    await pass();
    expect(queue.state.parked.get("s3")).toEqual({ kind: "conflict", current: { version: 9, text: "theirs" } });
    expect(server.rows.get("s3")?.text).toBe("theirs");
    expect(server.rows.get("s4")?.text).toBe("other");
    queue.put("s3", { text: "mine, more" }); // typing on does not send it
    await pass(10_000);
    expect(queue.latest("s3")).toMatchObject({ text: "mine, more" });
    expect(server.rows.get("s3")?.text).toBe("theirs");
    queue.settle("s3", { text: "both" }, 9);
    await pass();
    expect(server.rows.get("s3")).toEqual({ version: 10, text: "both" });
    expect(queue.state).toMatchObject({ pending: 0 });
  });

  it("takes a conflict with the same text for saved", async () => {
    const server = new Server();
    server.rows.set("s3", { version: 9, text: "same" });
    const queue = queueOn(new MemoryStore(), async (change) => server.save(change));
    queue.put("s3", { text: "same" });
    await pass();
    expect(queue.state).toMatchObject({ pending: 0, parked: new Map() });
    queue.put("s3", { text: "next" });
    await pass();
    expect(server.rows.get("s3")).toEqual({ version: 10, text: "next" });
  });

  it("parks what the server refuses until it is changed", async () => {
    const queue = queueOn(new MemoryStore(), async (change) =>
      String(change.body.text).length > 5 ? { kind: "refused", code: "comment_too_long", message: "Too long." } : { kind: "saved", version: 1, savedAt: "", reply: {} },
    );
    queue.put("s3", { text: "far too long" });
    await pass();
    expect(queue.state.parked.get("s3")).toMatchObject({ kind: "refused", message: "Too long." });
    await pass(60_000);
    expect(queue.state.pending).toBe(1);
    queue.put("s3", { text: "short" });
    await pass();
    expect(queue.state).toMatchObject({ pending: 0, parked: new Map() });
  });

  it("tries again what came before its turn, once another change is saved", async () => {
    let turn = false;
    const queue = queueOn(new MemoryStore(), async ({ lane }) => {
      if (lane === "s4" && !turn) return { kind: "refused", code: "not_in_order", message: "S3 first." };
      if (lane === "s3") turn = true;
      return { kind: "saved", version: 1, savedAt: "", reply: {} };
    });
    queue.put("s4", { text: "early" });
    await pass();
    expect(queue.state.pending).toBe(1);
    queue.put("s3", { text: "first" });
    await pass();
    expect(queue.state.pending).toBe(0);
  });

  it.each<[string, SendAnswer]>([
    ["another tab", { kind: "other_tab", since: "10:00" }],
    ["the login ran out", { kind: "login", message: "" }],
    ["somebody else", { kind: "other_user", message: "" }],
    ["it was withdrawn", { kind: "not_editable", message: "" }],
  ])("stops for %s, keeps everything, and goes on when told to", async (_, answer) => {
    let now: SendAnswer | null = answer;
    const send = vi.fn(async (): Promise<SendAnswer> => now ?? { kind: "saved", version: 1, savedAt: "", reply: {} });
    const queue = queueOn(new MemoryStore(), send);
    queue.put("s3", { text: "a" });
    queue.put("s4", { text: "b" });
    await pass(120_000);
    queue.put("s5", { text: "c" });
    await pass(120_000);
    expect(send).toHaveBeenCalledTimes(1);
    expect(queue.state).toMatchObject({ pending: 3, hold: { kind: answer.kind } });
    now = null;
    queue.resume();
    await pass();
    expect(queue.state).toMatchObject({ pending: 0, hold: null });
  });

  it("makes a change that an earlier tab left behind its own", async () => {
    const store = new MemoryStore();
    const old = queueOn(store, async () => ({ kind: "retry" }), { tab: "old" });
    old.put("s3", { text: "left" });
    await pass();
    old.close();
    const tabs: unknown[] = [];
    const keys = new Set<string>();
    const queue = queueOn(
      store,
      async (change) => {
        tabs.push(change.body.tab);
        keys.add(change.key);
        return change.body.tab === "new" ? { kind: "saved", version: 1, savedAt: "", reply: {} } : { kind: "other_tab", since: "" };
      },
      { tab: "new" },
    );
    await queue.open();
    await Promise.all([queue.drained(), pass(10)]);
    expect(tabs).toEqual(["old", "new"]);
    expect(keys.size).toBe(2); // another body, another key
    expect(queue.state.pending).toBe(0);
  });

  it("waits longer after each failure, never over a minute, and not at all when the network is back", async () => {
    const times: number[] = [];
    const queue = queueOn(new MemoryStore(), async () => {
      times.push(Date.now());
      return { kind: "retry" };
    });
    queue.put("s3", { text: "a" });
    await pass(300_000);
    const waits = times.slice(1).map((time, k) => time - (times[k] ?? 0));
    // Half of 1 s, 2 s, 4 s … 60 s: `random` is 0 here.
    expect(waits.slice(0, 8)).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
    const before = times.length;
    queue.retryNow();
    await pass();
    expect(times.length).toBe(before + 1);
  });

  it("keeps the time that the server asks for", async () => {
    const times: number[] = [];
    const queue = queueOn(new MemoryStore(), async () => {
      times.push(Date.now());
      return { kind: "retry", afterMs: 12_000 };
    });
    queue.put("s3", { text: "a" });
    await pass(13_000);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(12_000);
  });

  it("sends what waits when the page goes away, and does not do it twice", async () => {
    const server = new Server();
    const leaving: boolean[] = [];
    const queue = queueOn(new MemoryStore(), async (change, away) => {
      leaving.push(away);
      return server.save(change);
    });
    queue.put("s3", { text: "typed just now" }, 1500);
    queue.leave();
    await pass(5000);
    expect(leaving).toEqual([true, false]);
    expect(server.log).toEqual(["s3=typed just now"]);
    expect(queue.state.pending).toBe(0);
  });

  it("says when the browser cannot keep a change, and sends it all the same", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const store = new MemoryStore();
    store.write = async () => Promise.reject(new Error("full"));
    Object.defineProperty(store, "durable", { value: true });
    const server = new Server();
    const queue = queueOn(store, async (change) => server.save(change));
    queue.put("s3", { text: "a" });
    await pass();
    expect(queue.state.durable).toBe(false);
    expect(server.log).toEqual(["s3=a"]);
    warn.mockRestore();
  });
});

/** A small generator of numbers, so that a failure can be played again by its seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("save queue under random faults", () => {
  it.each(Array.from({ length: 60 }, (_, k) => k + 1))("ds_02 ds_05: nothing lost, nothing twice, order kept (seed %i)", async (seed) => {
    const pick = numbers(seed);
    const store = new MemoryStore();
    const server = new Server();
    const bodies = new Map<string, string>();
    const put: string[] = [];
    let faults = true;
    const send = async (change: StoredChange): Promise<SendAnswer> => {
      const body = JSON.stringify(change.body);
      expect(bodies.get(change.key) ?? body).toBe(body);
      bodies.set(change.key, body);
      const fate = faults ? pick(6) : 5;
      await new Promise((resolve) => setTimeout(resolve, faults ? pick(400) : 1));
      if (fate === 0) return { kind: "retry" }; // never arrived
      const answer = server.save(change);
      if (fate === 1) return { kind: "retry" }; // the answer was lost
      if (fate === 2) return { kind: "retry", afterMs: pick(3000) };
      return answer;
    };
    let queue = queueOn(store, send);
    const last = new Map<string, string>();
    for (let step = 0; step < 40; step++) {
      const what = pick(10);
      if (what < 6) {
        const lane = `s${pick(3)}`;
        const text = `${lane}-${step}`;
        queue.put(lane, { text }, pick(2) * 1500);
        last.set(lane, text);
        put.push(`${lane}=${text}`);
      } else if (what < 7) queue.retryNow();
      else if (what < 8) queue.leave();
      else if (what < 9) {
        // A crash after the browser has kept the change.
        await Promise.all([queue.written(), pass(0)]);
        queue.close();
        queue = queueOn(store, send);
        await queue.open();
        for (const [lane, row] of server.rows) queue.setVersion(lane, row.version);
      }
      await pass(pick(2500));
    }
    faults = false;
    for (let k = 0; k < 5 && queue.state.pending; k++) await Promise.all([queue.drained(), pass(5000)]);
    expect(queue.state).toMatchObject({ pending: 0, parked: new Map() });
    for (const [lane, text] of last) expect(server.rows.get(lane)?.text).toBe(text);
    expect(new Set(server.log).size).toBe(server.log.length);
    // Per lane the server saw texts in the order in which they were put.
    for (const lane of last.keys()) {
      const places = server.log.filter((line) => line.startsWith(`${lane}=`)).map((line) => put.indexOf(line));
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
  });
});
