// Sounds marked while the clip plays: what is heard and when the key is pressed are not the same moment.
import { beforeEach, describe, expect, it } from "vitest";
import type { Operation } from "../../lib/video/document";
import { createActions } from "./actions";
import { HOLD_MS, createRecorder } from "./recorder";
import { REACTION_MS, createSettings } from "./settings";
import { createStore } from "./store";
import { INDEX, payloadOf, playerOf } from "./testing";

let clock = 0;
let sent: Operation[] = [];

/** 25 pictures a second: picture 50 is at 2 s. */
function setting(change: { audio?: boolean; editable?: boolean } = {}) {
  const payload = payloadOf();
  payload.video = { ...payload.video, has_audio: change.audio ?? true };
  payload.editable = change.editable ?? true;
  const player = playerOf();
  let ids = 0;
  const store = createStore(payload, INDEX, player, { changed: (operation) => sent.push(operation), now: () => clock, uuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}` });
  store.tab.value = "held";
  const settings = createSettings(payload.user.id);
  const recorder = createRecorder(store, createActions(store), settings, () => clock);
  const at = (frame: number, ms = 0): void => {
    player.frame.value = frame;
    clock += ms;
  };
  const sounds = (): [number, number][] => Object.values(store.doc.peek().events).map(({ start_us, end_us }) => [start_us, end_us]);
  player.playing.value = true;
  return { store, player, settings, recorder, at, sounds };
}

beforeEach(() => {
  clock = 0;
  sent = [];
});

describe("recording a sound", () => {
  it("lasts as long as the key is held, a reaction time earlier at both ends", () => {
    const { recorder, at, sounds } = setting();
    at(50);
    recorder.down();
    at(75, 1000);
    recorder.up();
    // 2.0 and 3.0 s less 0.2 s each.
    expect(sounds()).toEqual([[1_800_000, 2_800_000]]);
  });

  it("lasts from press to press where the key is let go at once", () => {
    const { recorder, at, sounds } = setting();
    at(50);
    recorder.down();
    at(52, HOLD_MS - 1);
    recorder.up();
    expect(sounds()).toEqual([]);
    at(75, 900);
    recorder.down();
    recorder.up();
    expect(sounds()).toEqual([[1_800_000, 2_800_000]]);
  });

  it("goes back half as far at half speed, for the clip went on only so far", () => {
    const { recorder, player, at, sounds } = setting();
    player.rate.value = 0.5;
    at(50);
    recorder.down();
    at(75, 2000);
    recorder.up();
    // Less 0.1 s of the clip: 1.9 and 2.9 s, to the next edge of a picture (40 ms): 1.88 or 1.92.
    const [[start, end]] = sounds() as [[number, number]];
    expect([Math.abs(start - 1_900_000) <= 20_000, Math.abs(end - 2_900_000) <= 20_000]).toEqual([true, true]);
    expect([start % 40_000, end % 40_000]).toEqual([0, 0]);
  });

  it("never begins before the clip, and is at least one picture long", () => {
    const { recorder, at, sounds } = setting();
    at(2);
    recorder.down();
    recorder.down();
    expect(sounds()).toEqual([[0, 40_000]]);
  });

  it("is one step of undo, and is selected to be named", () => {
    const { recorder, store, at, sounds } = setting();
    at(50);
    recorder.down();
    at(60, 400);
    recorder.up();
    expect(sent.map(({ words }) => words)).toEqual(["New sound"]);
    expect(store.selection.peek()?.kind).toBe("event");
    store.undo();
    expect(sounds()).toEqual([]);
  });

  it("ends with the clip, without a reaction to it", () => {
    const { recorder, player, at, sounds } = setting();
    at(75);
    recorder.down();
    at(99, 900);
    player.playing.value = false;
    expect(sounds()).toEqual([[2_800_000, 4_000_000]]);
  });

  it("ends where somebody stops the clip", () => {
    const { recorder, player, at, sounds } = setting();
    at(50);
    recorder.down();
    at(75, 900);
    player.playing.value = false;
    expect(sounds()).toEqual([[1_800_000, 2_800_000]]);
  });

  it("is given up by Escape, and when the clip goes back before its start", () => {
    const { recorder, store, at, sounds } = setting();
    at(50);
    recorder.down();
    expect(recorder.cancel()).toBe(true);
    expect(recorder.cancel()).toBe(false);
    at(50);
    recorder.down();
    at(10, 800);
    recorder.up();
    expect(sounds()).toEqual([]);
    expect(store.says.peek()).toContain("Nothing was recorded");
  });

  it.each([
    ["while the clip stands", { playing: false }, "while the clip plays"],
    ["backwards", { rate: -1 }, "while the clip plays"],
    ["without sound", { audio: false }, "This clip has no sound."],
    ["where nothing may be changed", { editable: false }, "cannot be changed"],
  ])("does not begin %s, and says so", (_, change: { playing?: boolean; rate?: number; audio?: boolean; editable?: boolean }, words) => {
    const { recorder, store, player } = setting(change);
    player.playing.value = change.playing ?? true;
    player.rate.value = change.rate ?? 1;
    recorder.down();
    expect(recorder.from.peek()).toBeNull();
    expect(store.says.peek()).toContain(words);
  });
});

describe("the reaction time", () => {
  it("is kept for each person, within bounds, in whole milliseconds", () => {
    const kept = new Map<string, string>();
    Object.assign(globalThis, { localStorage: { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) } });
    expect(createSettings(3).reactionMs.peek()).toBe(REACTION_MS);
    createSettings(3).setReaction(149.6);
    expect(createSettings(3).reactionMs.peek()).toBe(150);
    expect(createSettings(4).reactionMs.peek()).toBe(REACTION_MS);
    createSettings(3).setReaction(-5);
    expect(createSettings(3).reactionMs.peek()).toBe(0);
    createSettings(3).setReaction(1e9);
    expect(createSettings(3).reactionMs.peek()).toBe(2000);
    createSettings(3).setReaction(Number.NaN);
    expect(createSettings(3).reactionMs.peek()).toBe(REACTION_MS);
    Reflect.deleteProperty(globalThis, "localStorage");
  });
});
