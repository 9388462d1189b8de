import { IDBFactory } from "fake-indexeddb";
import { describe, expect, it, vi } from "vitest";
import type { QueueStore, StoredChange } from "./queue-store";
import { MemoryStore, openStore } from "./queue-store";

const change = (key: string, seq: number, more: Partial<StoredChange> = {}): StoredChange => ({ key, user: 7, assignment: "a", seq, lane: "s3", body: { text: key }, ...more });

describe.each<[string, () => Promise<QueueStore>]>([
  ["IndexedDB", () => openStore(new IDBFactory())],
  ["memory", async () => new MemoryStore()],
])("changes kept in %s", (_, open) => {
  it("come back in order, of one person and assignment only", async () => {
    const store = await open();
    await store.write([change("c", 3), change("a", 1), change("b", 2), change("x", 1, { user: 8 }), change("y", 1, { assignment: "b" })], []);
    expect((await store.load(7, "a")).map((one) => one.key)).toEqual(["a", "b", "c"]);
    expect(await store.load(8, "a")).toEqual([change("x", 1, { user: 8 })]);
  });

  it("are replaced and removed in one go", async () => {
    const store = await open();
    await store.write([change("a", 1)], []);
    await store.write([change("b", 1)], ["a"]);
    expect(await store.load(7, "a")).toEqual([change("b", 1)]);
  });

  it("pr_06: are counted and cleared for one person over all assignments", async () => {
    const store = await open();
    await store.write([change("a", 1), change("b", 1, { assignment: "b" }), change("x", 1, { user: 8 })], []);
    expect(await store.count(7)).toBe(2);
    await store.clear(7);
    expect([await store.count(7), await store.count(8)]).toEqual([0, 1]);
  });

  it("do not change with the object that was handed in", async () => {
    const store = await open();
    const one = change("a", 1);
    await store.write([one], []);
    one.body.text = "changed later";
    expect((await store.load(7, "a"))[0]?.body).toEqual({ text: "a" });
  });
});

describe("the browser's store", () => {
  it("ds_05: keeps changes over a reload", async () => {
    const browser = new IDBFactory();
    await (await openStore(browser)).write([change("a", 1)], []);
    const again = await openStore(browser);
    expect(again.durable).toBe(true);
    expect(await again.load(7, "a")).toEqual([change("a", 1)]);
  });

  it("is memory, and says so, where the browser has none or refuses", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    expect((await openStore(undefined)).durable).toBe(false);
    const refuses = { open: () => { throw new DOMException("no", "SecurityError"); } } as unknown as IDBFactory;
    expect((await openStore(refuses)).durable).toBe(false);
    warn.mockRestore();
  });
});
