// @vitest-environment jsdom
// The contact sheet: a few crops at a time, how many are there, and what the keys do; on an object of 1,000 pictures.
import { signal } from "@preact/signals";
import { h, render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PictureIndex } from "../../lib/video/index";
import { shownAt } from "../../lib/video/tracks";
import { createActions } from "./actions";
import { ContactSheet, mayLoad, nextPlace, sheetFrames, sheetUrl } from "./contact-sheet";
import { createStore } from "./store";
import { DOG, documentOf, payloadOf, playerOf, trackOf } from "./testing";
import type { Workspace } from "./workspace";

const LONG = PictureIndex.of(Array.from({ length: 1200 }, (_, k) => k), 1200, 1, 25);
const long = () => trackOf(DOG, "dog", { 100: [0, 0, 40, 40], 1099: [500, 200, 40, 40] }, [[100, 1100]]);
let wants: ((elements: Element[]) => void) | null = null;

const settle = (ms = 30): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const addresses = (): string[] => [...new Set([...document.querySelectorAll("img")].map((img) => img.getAttribute("src") ?? ""))];
const press = (key: string): boolean => (document.querySelector('.crops [tabindex="0"]') as Element).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

async function open() {
  const player = { ...playerOf(), index: LONG, frame: signal(600) } as ReturnType<typeof playerOf>;
  const store = createStore(payloadOf({ ...documentOf(), tracks: { [DOG]: long() } }), LONG, player, { changed: () => {}, now: () => 0, uuid: () => crypto.randomUUID() });
  store.tab.value = "held";
  store.select({ kind: "track", id: DOG });
  const close = vi.fn();
  const workspace = { store, player, actions: createActions(store) } as unknown as Workspace;
  document.body.innerHTML = "<div id='host'></div>";
  render(h(ContactSheet, { workspace, close }), document.querySelector("#host") as Element);
  await settle();
  return { store, close };
}

beforeEach(() => {
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function () {
    this.open = false;
  };
  // Nothing is in sight until a test says so.
  vi.stubGlobal("IntersectionObserver", class {
    constructor(seen: (entries: { isIntersecting: boolean; target: Element }[]) => void) {
      wants = (elements) => seen(elements.map((target) => ({ isIntersecting: true, target })));
    }
    observe(): void {}
    disconnect(): void {}
  });
});
afterEach(() => {
  const host = document.querySelector("#host");
  if (host) render(null, host);
  vi.unstubAllGlobals();
});

describe("crops of an object", () => {
  it("are every picture, with both ends, when one asks for all of 1,000", () => {
    const crops = sheetFrames(long(), 1);
    expect([crops.length, crops[0]?.frame, crops.at(-1)?.frame]).toEqual([1000, 100, 1099]);
    expect(sheetFrames(long(), 400).map(({ frame }) => frame)).toEqual([100, 500, 900, 1099]);
  });

  it("are never more than are drawn at once, at even distances", () => {
    const frames = sheetFrames(long(), 1, 11).map(({ frame }) => frame);
    // 100 to 1099 in ten steps of 99.9.
    expect(frames).toEqual([100, 200, 300, 400, 500, 600, 699, 799, 899, 999, 1099]);
  });

  it("name frame and box to a tenth of a pixel", () => {
    expect(sheetUrl("/crops", [{ frame: 7, shown: { box: [1.25, 2, 3.04, 4], status: "held", occluded: false, from: 7, to: 7 } as never }])).toBe("/crops?box=7:1.3,2,3,4&cell=128");
  });

  it("are fetched a few sheets at a time, those in sight first", () => {
    const urls = ["a", "b", "c", "d"];
    expect([...mayLoad(urls, new Set([1, 2, 3]), new Set(), 2)]).toEqual(["b", "c"]);
    expect([...mayLoad(urls, new Set([1, 2, 3]), new Set(["b"]), 2)].sort()).toEqual(["b", "c", "d"]);
    expect([...mayLoad(urls, new Set(), new Set(), 2)]).toEqual([]);
  });

  it("are gone through by arrow keys, that stay within the sheet", () => {
    expect(nextPlace("ArrowRight", 3, 10, 4)).toBe(4);
    expect(nextPlace("ArrowDown", 3, 10, 4)).toBe(7);
    expect(nextPlace("ArrowDown", 7, 10, 4)).toBe(7);
    expect(nextPlace("ArrowLeft", 0, 10, 4)).toBe(0);
    expect([nextPlace("Home", 5, 10, 4), nextPlace("End", 5, 10, 4), nextPlace("x", 5, 10, 4)]).toEqual([0, 9, null]);
  });
});

describe("the sheet", () => {
  it("loads two sheets of twelve, says how many are there, and goes on", async () => {
    await open();
    // 1,000 pictures, every 28th: 36 and the last one.
    expect(text(".sheet-bar")).toContain("37 crops");
    expect([addresses().length, text("[data-sheet-loaded]")]).toEqual([0, "0 of 37 loaded"]);
    wants?.([...document.querySelectorAll("[data-sheet]")]);
    await settle();
    expect(addresses().length).toBe(2);
    document.querySelector("img")?.dispatchEvent(new Event("load"));
    await settle();
    expect([addresses().length, text("[data-sheet-loaded]")]).toEqual([3, "12 of 37 loaded"]);
  });

  it("says what could not be made, and tries again", async () => {
    await open();
    wants?.([...document.querySelectorAll("[data-sheet]")]);
    await settle();
    document.querySelector("img")?.dispatchEvent(new Event("error"));
    await settle();
    expect(text(".notice")).toContain("1 row of crops could not be made.");
    document.querySelector<HTMLElement>(".notice button")?.click();
    await settle();
    expect(text(".notice")).toBe("(none)");
    expect(addresses().length).toBe(2);
  });

  it("begins at the crop nearest to the picture, keeps with Enter, takes away with Delete", async () => {
    const { store, close } = await open();
    // Every 28th from 100: 604 is nearest to 600.
    expect(text('.crops [tabindex="0"]')).toContain("604");
    press("Enter");
    await settle();
    const kept = store.doc.peek().tracks[DOG]?.keyframes["604"];
    expect(kept?.source).toBe("human");
    // Half of 500 and 200 at 504 of 999 pictures, within a pixel.
    expect(kept?.box[0]).toBeCloseTo((500 * 504) / 999, 6);
    press("Delete");
    await settle();
    expect(Object.keys(store.doc.peek().tracks[DOG]?.keyframes ?? {})).toEqual(["100", "1099"]);
    expect(close).not.toHaveBeenCalled();
  });

  it("accepts a proposed keyframe with Enter", async () => {
    const { store } = await open();
    press("End");
    await settle();
    expect(text('.crops [tabindex="0"]')).toContain("keyframe, proposed");
    press("Enter");
    await settle();
    expect(store.doc.peek().tracks[DOG]?.keyframes["1099"]?.source).toBe("human");
    expect(text('.crops [tabindex="0"]')).not.toContain("proposed");
  });

  it("shows the frame by a click", async () => {
    const { store, close } = await open();
    document.querySelector<HTMLElement>(".crops button")?.click();
    expect(close).toHaveBeenCalled();
    expect(shownAt(store.doc.peek().tracks[DOG] as never, 100)?.status).toBe("keyframe");
  });

  it("draws all of 1,000 pictures when asked, and loads none that nobody sees", async () => {
    await open();
    const field = document.querySelector<HTMLInputElement>("#sheet-every") as HTMLInputElement;
    field.value = "1";
    field.dispatchEvent(new Event("change", { bubbles: true }));
    await settle(300);
    expect(document.querySelectorAll(".crop").length).toBe(1000);
    expect(text("[data-sheet-loaded]")).toBe("0 of 1000 loaded");
    wants?.([...document.querySelectorAll("[data-sheet='80']")]);
    await settle(200);
    expect(addresses().length).toBe(1);
  });
});
