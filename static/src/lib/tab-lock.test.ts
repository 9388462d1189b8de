import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TabChannel, TabWord } from "./tab-channel";
import { TabLock, claimTabId } from "./tab-lock";

/** Tabs of one browser: what one says the others hear a moment later. */
function browser(): { open: () => TabChannel; storage: { getItem(key: string): string | null; setItem(key: string, value: string): void } } {
  const hearing: { hear: (word: TabWord) => void; from: TabChannel }[] = [];
  const kept = new Map<string, string>();
  const open = (): TabChannel => {
    const channel: TabChannel = {
      say: (word) => setTimeout(() => hearing.filter((one) => one.from !== channel).forEach((one) => one.hear(word)), 1),
      listen: (hear) => void hearing.push({ hear, from: channel }),
    };
    return channel;
  };
  return { open, storage: { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => void kept.set(key, value) } };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const after = async <T>(promise: Promise<T>, ms = 300): Promise<T> => (await vi.advanceTimersByTimeAsync(ms), promise);

describe("id of a tab", () => {
  it("is used again after a reload or crash, when no living page has it", async () => {
    const one = browser();
    const first = await after(claimTabId("n", one.storage, one.open, () => "first"));
    const elsewhere = browser(); // the page is gone: nobody answers
    expect(await after(claimTabId("n", one.storage, elsewhere.open, () => "second"))).toBe(first);
  });

  it("is a new one beside a living page", async () => {
    const one = browser();
    await after(claimTabId("n", one.storage, one.open, () => "first"));
    expect(await after(claimTabId("n", one.storage, one.open, () => "second"))).toBe("second");
    // The first page still answers for its own.
    one.storage.setItem("n", "first");
    expect(await after(claimTabId("n", one.storage, one.open, () => "third"))).toBe("third");
  });

  it("needs no storage", async () => {
    const broken = { getItem: () => { throw new Error("no"); }, setItem: () => { throw new Error("no"); } };
    expect(await after(claimTabId("n", broken, browser().open, () => "only"))).toBe("only");
  });
});

function lockOn(ask: (tab: string, take: boolean) => Promise<{ held: boolean; since: string }>, active = (): boolean => true) {
  const seen: string[] = [];
  const lock = new TabLock("t1", { user: 7, assignment: "a", ask, active, onHeld: () => seen.push("held"), onLost: (since) => seen.push(`lost ${since}`) });
  return { lock, seen };
}

describe("ds_06: hold of an assignment", () => {
  it("is lost to another tab and comes back when taken over", async () => {
    let holder = "t1";
    const { lock, seen } = lockOn(async (tab, take) => {
      if (take) holder = tab;
      return { held: holder === tab, since: "10:40" };
    });
    await lock.start();
    holder = "t2";
    await vi.advanceTimersByTimeAsync(20_000);
    expect(lock.held).toBe(false);
    await lock.ask(true);
    expect(seen).toEqual(["held", "lost 10:40", "held"]);
    lock.stop();
  });

  it("is not renewed by a page that was left alone", async () => {
    const ask = vi.fn(async () => ({ held: true, since: "" }));
    const { lock } = lockOn(ask, () => false);
    await lock.start();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(ask).toHaveBeenCalledTimes(1);
    lock.stop();
  });

  it("goes on without a network, and is lost when a save says so", async () => {
    const { lock, seen } = lockOn(async () => Promise.reject(new Error("offline")));
    await lock.start();
    lock.lost("10:41");
    lock.lost("10:41");
    expect(seen).toEqual(["held", "lost 10:41"]);
    lock.stop();
  });
});
