// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { StoredChange } from "../lib/queue-store";
import { MemoryStore } from "../lib/queue-store";
import { guardLogout } from "./logout-guard";

const change = (key: string, user: number): StoredChange => ({ key, user, assignment: "a", seq: 1, lane: "s3", body: {} });
let form: HTMLFormElement;
let store: MemoryStore;
const sent = vi.fn();

beforeEach(async () => {
  sent.mockReset();
  form = document.createElement("form");
  form.dataset.user = "7";
  form.submit = sent;
  store = new MemoryStore();
  await store.write([change("x", 8)], []);
  localStorage.setItem("reasonaudit-tab:7:a", "t");
});

describe("logging out", () => {
  it("pr_06: asks nothing when the server has everything, and leaves nothing behind", async () => {
    const ask = vi.fn();
    await guardLogout(form, async () => store, ask);
    expect(ask).not.toHaveBeenCalled();
    expect(sent).toHaveBeenCalledTimes(1);
    expect(localStorage.getItem("reasonaudit-tab:7:a")).toBeNull();
  });

  it("ds_05 pr_06: says how many changes would be lost; without a yes nothing happens", async () => {
    await store.write([change("a", 7), change("b", 7)], []);
    const ask = vi.fn(() => false);
    await guardLogout(form, async () => store, ask);
    expect(ask).toHaveBeenCalledWith("2 changes are not on the server yet. Logging out deletes them from this browser. Log out all the same?");
    expect([sent.mock.calls.length, await store.count(7)]).toEqual([0, 2]);
  });

  it("ds_05 pr_06: clears this person's changes only, after the yes", async () => {
    await store.write([change("a", 7)], []);
    await guardLogout(form, async () => store, () => true);
    expect([sent.mock.calls.length, await store.count(7), await store.count(8)]).toEqual([1, 0, 1]);
  });

  it("logs out where the browser has no store", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    await guardLogout(form, async () => Promise.reject(new Error("no")), () => false);
    expect(sent).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });
});
