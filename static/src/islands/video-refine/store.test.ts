// What actions do to the document: one operation each, nothing where nothing changed, and a way back.
import { beforeEach, describe, expect, it } from "vitest";
import type { Operation } from "../../lib/video/document";
import { apply, canonical } from "../../lib/video/document";
import { shownAt } from "../../lib/video/tracks";
import { createActions } from "./actions";
import type { Actions } from "./actions";
import type { Player } from "./player";
import type { Store } from "./store";
import { createStore } from "./store";
import { CAT, DOG, INDEX, documentOf, payloadOf, playerOf } from "./testing";

let store: Store;
let actions: Actions;
let player: Player;
let sent: Operation[];

beforeEach(() => {
  sent = [];
  let ids = 0;
  player = playerOf();
  store = createStore(payloadOf(), INDEX, player, { changed: (operation) => sent.push(operation), now: () => 0, uuid: () => `00000000-0000-4000-9000-${String(++ids).padStart(12, "0")}` });
  store.tab.value = "held";
  actions = createActions(store);
});

const dog = () => store.doc.value.tracks[DOG];
const choose = (id: string, frame: number): void => {
  store.select({ kind: "track", id });
  player.frame.value = frame;
};

describe("boxes", () => {
  it("makes a person's keyframe of a moved box, and nothing of a click", () => {
    choose(DOG, 15);
    expect(actions.setBox(DOG, [50, 25, 40, 40])).toBe(false);
    expect(sent).toEqual([]);
    expect(actions.setBox(DOG, [60, 25, 40, 40])).toBe(true);
    expect(dog()?.keyframes["15"]).toEqual({ box: [60, 25, 40, 40], occluded: false, source: "human", run: null });
    expect(sent.length).toBe(1);
    expect(sent[0]?.changes.map(({ path }) => path)).toEqual([["tracks", DOG, "keyframes", "15"]]);
  });

  it("refuses while the picture is not the one asked for, while locked, and in another tab's question", () => {
    choose(DOG, 15);
    player.exact.value = false;
    expect(actions.setBox(DOG, [60, 25, 40, 40])).toBe(false);
    player.exact.value = true;
    store.toggleLocked(DOG);
    expect(actions.setBox(DOG, [60, 25, 40, 40])).toBe(false);
    store.toggleLocked(DOG);
    store.tab.value = { since: "" };
    expect(actions.setBox(DOG, [60, 25, 40, 40])).toBe(false);
    expect(store.toast.value?.text).toContain("another tab");
    expect(sent).toEqual([]);
  });

  it("gives a new box a second to live and the target's name", () => {
    player.frame.value = 30;
    store.select(null);
    actions.drawn([1, 2, 30, 40]);
    const made = Object.values(store.doc.value.tracks).find((one) => one.source === "human");
    expect(made).toMatchObject({ label: "dog", visible: [[30, 55]] });
    expect(store.selection.value?.id).toBe(made?.id);
  });

  it("draws for the selected object where it is not shown", () => {
    choose(DOG, 60);
    actions.drawn([1, 2, 30, 40]);
    expect(Object.keys(store.doc.value.tracks).length).toBe(2);
    expect(dog()?.visible).toEqual([[10, 40], [60, 85]]);
  });

  it("keeps and takes away keyframes, but not the only one", () => {
    choose(DOG, 15);
    actions.togglePin();
    expect(dog()?.keyframes["15"]?.box).toEqual([50, 25, 40, 40]);
    actions.togglePin();
    expect(dog()?.keyframes["15"]).toBeUndefined();
    choose(CAT, 50);
    actions.togglePin();
    expect(store.toast.value?.text).toContain("only keyframe");
  });

  it("marks occlusion from here on", () => {
    choose(DOG, 15);
    actions.toggleOccluded();
    expect([14, 15, 18, 20].map((frame) => shownAt(dog() as never, frame)?.occluded)).toEqual([false, true, true, false]);
  });

  it("offers no undo of a step that is not the last one any more", () => {
    choose(DOG, 30);
    actions.hide();
    expect(store.toast.value?.undo).toBe(true);
    choose(CAT, 55);
    actions.togglePin();
    expect(store.toast.value).toBeNull();
  });

  it("removes from here on with Del and all with Shift Del, and says how much", () => {
    choose(DOG, 30);
    actions.remove();
    expect(dog()?.visible).toEqual([[10, 30]]);
    expect(store.toast.value).toMatchObject({ undo: true, text: expect.stringContaining("10 frames fewer") });
    player.frame.value = 5;
    actions.remove();
    expect(dog()).toBeDefined(); // all of it: that needs Shift
    actions.removeAll();
    expect(dog()).toBeUndefined();
    expect(store.selection.value).toBeNull();
  });

  it("takes links along with an object, and brings both back", () => {
    store.step.value = "visual";
    choose(DOG, 15);
    actions.linkSelected();
    const before = canonical(store.doc.value);
    actions.removeAll();
    expect(store.doc.value.links).toEqual({});
    store.undo();
    expect(canonical(store.doc.value)).toBe(before);
  });

  it("splits, and joins again under the first one with its links", () => {
    choose(DOG, 25);
    actions.splitHere();
    const second = store.selection.value?.id as string;
    actions.linkTo("visual", { kind: "track", id: second });
    store.select({ kind: "track", id: DOG });
    actions.startMerge();
    store.select({ kind: "track", id: second });
    actions.commitMerge();
    expect(Object.keys(store.doc.value.tracks).sort()).toEqual([DOG, CAT]);
    expect(dog()?.visible.at(-1)?.[1]).toBe(40);
    expect(Object.values(store.doc.value.links)[0]?.target).toBe(DOG);
  });

  it("asks whose boxes count where both objects are shown", () => {
    choose(DOG, 15);
    actions.duplicate();
    const twin = store.selection.value?.id as string;
    store.select({ kind: "track", id: DOG });
    actions.startMerge();
    store.select({ kind: "track", id: twin });
    actions.commitMerge();
    expect(actions.overlap.value).toEqual([[15, 40]]);
    expect(store.doc.value.tracks[twin]).toBeDefined();
    actions.commitMerge("a");
    expect(store.doc.value.tracks[twin]).toBeUndefined();
    expect(shownAt(dog() as never, 15)?.box).toEqual([50, 25, 40, 40]);
  });

  it("copies a box to another frame at the same place", () => {
    choose(DOG, 10);
    actions.copy();
    player.frame.value = 30;
    actions.paste();
    expect(shownAt(dog() as never, 30)?.box).toEqual([0, 0, 40, 40]);
  });
});

describe("undo", () => {
  it("goes where something happens out of sight, and says so", () => {
    choose(DOG, 15);
    actions.setBox(DOG, [60, 25, 40, 40]);
    player.frame.value = 70;
    store.undo();
    expect(player.frame.value).toBe(15);
    expect(store.toast.value?.text).toBe("Undone: Move box of dog, on frame 15");
    store.redo();
    expect(store.toast.value?.text).toBe("Done again: Move box of dog");
    expect(sent.length).toBe(3);
    // What was sent leads from the first document to the present one.
    expect(canonical(sent.reduce((at, operation) => apply(at, operation), documentOf()))).toBe(canonical(store.doc.value));
  });

  it("has nothing to do with what is shown or locked", () => {
    choose(DOG, 15);
    store.toggleHidden(DOG);
    store.toggleLocked(CAT);
    store.undo();
    expect(store.toast.value?.text).toBe("Nothing to undo.");
    expect([store.hidden.value.has(DOG), store.locked.value.has(CAT)]).toEqual([true, true]);
  });
});

describe("sounds and reasoning", () => {
  it("makes a sound of a chosen stretch, and extends from the one before", () => {
    store.span.value = [1_000_000.4, 1_500_000];
    actions.addEvent();
    expect(store.events.value[0]).toMatchObject({ start_us: 1_000_000, end_us: 1_500_000, source: "human" });
    player.frame.value = 75;
    actions.extendFromPrevious();
    expect(store.events.value[1]).toMatchObject({ start_us: 1_500_000, end_us: 3_000_000 });
  });

  it("chooses a stretch with [ and ], the frames of both ends counted in", () => {
    player.frame.value = 10;
    actions.setMark();
    player.frame.value = 19;
    actions.closeSpan();
    expect(store.span.value).toEqual([400_000, 800_000]);
  });

  it("writes the text of a timeframe with its intervals", () => {
    actions.setTimeframe("visual", [[400_000, 800_000]]);
    expect(store.doc.value.cot.visual.timeframe).toEqual({ whole: false, intervals: [[400_000, 800_000]], raw: "00:00.400 - 00:00.800" });
    expect(store.stepSpan("visual")).toEqual([400_000, 800_000]);
  });
});
