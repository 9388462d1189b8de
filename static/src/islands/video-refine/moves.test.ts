// @vitest-environment jsdom
// Choosing a step lights up what it rests on, and "fit" shows what was chosen last.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { signal } from "@preact/signals";
import type { Link } from "../../lib/video/document";
import { createMoves } from "./moves";
import { pulse } from "./pulse";
import { createStore } from "./store";
import { CAT, DOG, INDEX, documentOf, payloadOf, playerOf } from "./testing";

const BARK = "00000000-0000-4000-8000-000000000003";
const link = (step: "visual" | "audio", kind: "track" | "event", target: string, frames: [number, number] | null = null): Link => ({ id: crypto.randomUUID(), step, kind, target, frames, relation: "supports" });

function setting(links: Link[], intervals: [number, number][] = []) {
  const document = documentOf();
  document.events = { [BARK]: { id: BARK, label: "bark", start_us: 3_000_000, end_us: 3_400_000, note: "", source: "human", run: null } };
  document.links = Object.fromEntries(links.map((one) => [one.id, one]));
  document.cot.audio.timeframe = { raw: "", whole: false, intervals };
  const store = createStore(payloadOf(document), INDEX, playerOf(), { changed: () => {}, now: () => 0, uuid: () => "" });
  return { store, moves: createMoves(store, signal([]), () => false) };
}

const shown = new Map<Element, Keyframe[]>();
let reduced = false;
beforeEach(() => {
  shown.clear();
  reduced = false;
  document.body.innerHTML = `<svg><g data-track="${DOG}"></g><g data-track="${CAT}"></g></svg><li data-row="${DOG}"></li><g data-span="event:${BARK}"></g>`;
  Element.prototype.animate = function (this: Element, frames: Keyframe[]) {
    shown.set(this, frames);
    return {} as Animation;
  } as Element["animate"];
  vi.stubGlobal("matchMedia", () => ({ matches: reduced }));
});
afterEach(() => vi.unstubAllGlobals());
const names = (): (string | undefined)[] => [...shown.keys()].map((element) => Object.values((element as HTMLElement).dataset)[0]);

describe("choosing a step", () => {
  it("pulses its boxes, rows and sounds, once, and no others", () => {
    const { moves } = setting([link("audio", "event", BARK), link("audio", "track", DOG), link("visual", "track", CAT)]);
    moves.chooseStep("audio");
    expect(names().sort()).toEqual([DOG, DOG, `event:${BARK}`].sort());
    shown.clear();
    moves.chooseStep("audio");
    expect(names()).toEqual([]);
  });

  it("pulses again when the step is chosen after something else", () => {
    const { store, moves } = setting([link("visual", "track", CAT)]);
    store.select({ kind: "track", id: DOG });
    moves.chooseStep("visual");
    expect(names()).toEqual([CAT]);
  });

  it("moves nothing where people want no motion", () => {
    reduced = true;
    const element = document.querySelector("li") as Element;
    pulse([element]);
    const frames = shown.get(element) as Keyframe[];
    expect(new Set(frames.map(({ filter }) => filter)).size).toBe(1);
  });
});

describe("fit", () => {
  const inSight = (store: ReturnType<typeof setting>["store"]): [number, number] => [store.view.peek().start, store.view.peek().start + store.view.peek().scale * store.view.peek().width];

  it("shows the chosen step with its evidence", () => {
    const { store, moves } = setting([link("audio", "event", BARK)], [[1_000_000, 2_000_000]]);
    moves.chooseStep("audio");
    moves.fit();
    const [start, end] = inSight(store);
    // From 1.0 s of the cue to 3.4 s of the sound, with room on both sides.
    expect([start <= 1_000_000, end >= 3_400_000]).toEqual([true, true]);
    expect(moves.latest.peek()).toBe("step");
  });

  it("shows an object as a whole only where the step says no time", () => {
    const { store, moves } = setting([link("audio", "track", CAT)]);
    moves.chooseStep("audio");
    moves.fit();
    // Frames 50 to 79: 2.0 to 3.2 s, and two fifths of that around it.
    expect(inSight(store)[0]).toBeCloseTo(2_000_000 - 480_000, -1);
  });

  it("shows what is selected when that was chosen after the step", () => {
    const { store, moves } = setting([link("audio", "event", BARK)], [[0, 500_000]]);
    moves.chooseStep("audio");
    store.select({ kind: "event", id: BARK });
    expect(moves.latest.peek()).toBe("selection");
    moves.fit();
    expect(inSight(store)[0]).toBeGreaterThan(2_000_000);
  });
});
