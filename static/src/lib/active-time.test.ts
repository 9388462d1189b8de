import { describe, expect, it } from "vitest";
import { ActiveTime } from "./active-time";

function clock(): { time: ActiveTime; wait(ms: number): void } {
  let now = 1000;
  const time = new ActiveTime(() => now);
  return { time, wait: (ms) => void (now += ms) };
}

describe("active time", () => {
  it("counts for the segment that is open", () => {
    const { time, wait } = clock();
    wait(500); // nothing is open yet
    time.select(2);
    wait(3000);
    time.select(3);
    wait(2000);
    time.select(2);
    wait(100);
    expect([time.total(2), time.total(3)]).toEqual([3100, 2000]);
  });

  it("stops a minute after the last input and goes on with the next", () => {
    const { time, wait } = clock();
    time.select(2);
    time.input();
    wait(300_000);
    expect(time.total(2)).toBe(60_000);
    time.input();
    wait(10_000);
    expect(time.total(2)).toBe(70_000);
    expect(time.idle()).toBe(10_000);
  });

  it("stops while the page is hidden or another window has the focus", () => {
    const { time, wait } = clock();
    time.select(2);
    wait(1000);
    time.visible(false);
    wait(5000);
    time.visible(true);
    wait(1000);
    time.focused(false);
    wait(5000);
    time.focused(true);
    wait(1000);
    expect(time.total(2)).toBe(3000);
  });

  it("adds to what was measured before, and never goes back", () => {
    const { time, wait } = clock();
    time.start(2, 8000);
    time.select(2);
    wait(1000);
    time.start(2, 5000); // an older number of the server
    expect(time.total(2)).toBe(9000);
  });
});
