import { describe, expect, it } from "vitest";
import type { RunMessage } from "./progress";
import { START, canCancel, canResume, hasEnded, percent, reconnectDelay, reduce, timeLeft } from "./progress";

const message = (change: Partial<RunMessage> = {}): RunMessage => ({
  seq: 1,
  id: 5,
  state: "running",
  done: 61,
  total: 96,
  cached: 4,
  invalid: 0,
  failed: 0,
  calls_per_second: 40.1,
  seconds_left: 10,
  message: "",
  ...change,
});

describe("run progress", () => {
  it("takes a newer message and ignores an older one, whatever it says", () => {
    let state = reduce(START, { type: "message", message: message({ seq: 12, done: 61 }) });
    state = reduce(state, { type: "message", message: message({ seq: 11, done: 60 }) });
    expect(state.run?.done).toBe(61);
    state = reduce(state, { type: "message", message: message({ seq: 13, state: "cancelled" }) });
    expect(state.run?.state).toBe("cancelled");
    expect(reduce(state, { type: "message", message: message({ seq: 12 }) })).toBe(state);
  });

  it("ignores the message of another run", () => {
    const state = reduce(START, { type: "message", message: message() });
    expect(reduce(state, { type: "message", message: message({ id: 6, seq: 99 }) })).toBe(state);
  });

  it("keeps the run when the link or a problem changes", () => {
    const run = reduce(START, { type: "message", message: message() });
    const state = reduce(reduce(run, { type: "link", link: "polling" }), { type: "problem", text: "Refused." });
    expect(state).toEqual({ run: run.run, link: "polling", problem: "Refused." });
  });

  it("says what may be done in each state", () => {
    const states = ["queued", "running", "paused", "cancelled", "failed", "partial", "done"] as const;
    const which = (test: (run: RunMessage) => boolean): string[] => states.filter((state) => test(message({ state })));
    expect(which(canCancel)).toEqual(["queued", "running", "paused"]);
    expect(which(canResume)).toEqual(["paused", "cancelled", "failed", "partial"]);
    expect(which(hasEnded)).toEqual(["cancelled", "failed", "partial", "done"]);
    expect([canCancel(null), canResume(null), hasEnded(null)]).toEqual([false, false, false]);
  });

  it("never rounds up to 100 per cent and knows no share of nothing", () => {
    expect(percent(message())).toBe(63); // 61/96 = 63.5
    expect(percent({ done: 9999, total: 10000 })).toBe(99);
    expect(percent({ done: 96, total: 96 })).toBe(100);
    expect(percent({ done: 0, total: 0 })).toBeNull();
  });

  it("says the time left in the unit that fits", () => {
    expect([0.4, 10.2, 89, 90, 3600, 3900].map(timeLeft)).toEqual(["less than 1 s left", "10 s left", "89 s left", "2 min left", "1 h 0 min left", "1 h 5 min left"]);
    expect([null, Number.NaN, -1].map(timeLeft)).toEqual(["", "", ""]);
  });

  it("waits longer after each lost connection, up to 15 s", () => {
    expect([0, 1, 2, 3, 4, 9].map(reconnectDelay)).toEqual([1, 2, 4, 8, 15, 15]);
  });
});
