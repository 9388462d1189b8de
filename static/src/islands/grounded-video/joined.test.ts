import { expect, it, vi } from "vitest";
import { drawnSpans } from "./joined";
import type { LaneSpan } from "./lanes";

const SECOND = 1_000_000;
const HOUR = 3600 * SECOND;
const piece = (k: number, start: number, length: number, more: Partial<LaneSpan> = {}): LaneSpan => ({ key: `p${k}`, span: [start * SECOND, (start + length) * SECOND], label: `words ${k}`, kind: "speech", pick: vi.fn(), ...more });
/** Speech without a pause: a piece of 3 s after each other. */
const talk = (count: number): LaneSpan[] => Array.from({ length: count }, (_, k) => piece(k, 3 * k, 3));

it("gives each span a button where there are few", () => {
  const spans = talk(60);
  expect(drawnSpans(spans, [0, HOUR])).toEqual(spans);
});

it("joins slivers of a long clip up to a fortieth of what is shown", () => {
  const drawn = drawnSpans(talk(1200), [0, HOUR]);
  // 1/40 of an hour is 90 s, 30 pieces of 3 s.
  expect(drawn).toHaveLength(40);
  expect(drawn[1]?.span).toEqual([90 * SECOND, 180 * SECOND]);
  expect(drawn[1]?.label).toBe("30 in a row: words 30 … (closer shows each)");
});

it("leaves out what is not shown, and shows each again once there is room", () => {
  const drawn = drawnSpans(talk(1200), [600 * SECOND, 660 * SECOND]);
  expect(drawn.map(({ key }) => key).slice(0, 2)).toEqual(["p200", "p201"]);
  expect(drawn).toHaveLength(21);
});

it("joins nothing over a pause, nothing wide and nothing in the light", () => {
  const spans = talk(100);
  spans[50] = piece(50, 150, 3, { lit: true });
  spans.push(piece(100, 400, 3), piece(101, 900, 60), piece(102, 960, 3));
  const keys = drawnSpans(spans, [0, HOUR]).map(({ key }) => key);
  expect(keys).toEqual(["p0+30", "p30+20", "p50", "p51+30", "p81+19", "p100", "p101", "p102"]);
});

it("plays the first of those that it joins", () => {
  const spans = talk(1200);
  drawnSpans(spans, [0, HOUR])[0]?.pick();
  expect(spans[0]?.pick).toHaveBeenCalledOnce();
});
