// @vitest-environment jsdom
// The strip of the whole clip: its window is moved by hand and by keys; 4 s of clip on 400 pixels, so 10 ms a pixel.
import { h, render } from "preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Overview } from "./overview";
import { createStore } from "./store";
import { INDEX, payloadOf, playerOf } from "./testing";
import type { Workspace } from "./workspace";

let store: ReturnType<typeof createStore>;
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
const strip = (): Element => document.querySelector(".overview") as Element;
const slider = (): Element => document.querySelector("[data-overview]") as Element;
const pointer = (type: string, x: number): void => {
  const event = new MouseEvent(type, { clientX: x, button: 0, bubbles: true });
  Object.defineProperty(event, "pointerId", { value: 1 });
  strip().dispatchEvent(event);
};
const press = async (key: string): Promise<void> => {
  slider().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  await settle();
};
const sight = (): [number, number] => {
  const { start, scale, width } = store.view.peek();
  return [Math.round(start), Math.round(start + scale * width)];
};

beforeEach(async () => {
  Element.prototype.setPointerCapture = () => {};
  const player = playerOf();
  store = createStore(payloadOf(), INDEX, player, { changed: () => {}, now: () => 0, uuid: () => "" });
  store.setView({ start: 1_000_000, scale: 2500, width: 400 });
  document.body.innerHTML = "<div id='host'></div>";
  render(h(Overview, { workspace: { store, player, index: INDEX } as unknown as Workspace }), document.querySelector("#host") as Element);
  await settle();
});
afterEach(() => render(null, document.querySelector("#host") as Element));

describe("the window over the whole clip", () => {
  it("says what is in sight", () => {
    expect([slider().getAttribute("x"), slider().getAttribute("width")]).toEqual(["100.75", "98.5"]);
    expect(slider().getAttribute("aria-valuetext")).toBe("00:01.0 to 00:02.0");
  });

  it("is dragged along, and no further than the clip goes", async () => {
    pointer("pointerdown", 150);
    pointer("pointermove", 170);
    expect(sight()).toEqual([1_200_000, 2_200_000]);
    await settle();
    pointer("pointermove", 900);
    expect(sight()).toEqual([3_000_000, 4_000_000]);
    pointer("pointerup", 900);
    pointer("pointermove", 0);
    expect(sight()).toEqual([3_000_000, 4_000_000]);
  });

  it("gets wider by its ends", async () => {
    pointer("pointerdown", 199);
    pointer("pointermove", 299);
    expect(sight()).toEqual([1_000_000, 3_000_000]);
    pointer("pointerup", 299);
    await settle();
    pointer("pointerdown", 101);
    pointer("pointermove", 51);
    expect(sight()).toEqual([500_000, 3_000_000]);
  });

  it("comes to where somebody clicks", () => {
    pointer("pointerdown", 350);
    pointer("pointerup", 350);
    expect(sight()).toEqual([3_000_000, 4_000_000]);
    pointer("pointerdown", 60);
    expect(sight()).toEqual([100_000, 1_100_000]);
  });

  it("obeys keys", async () => {
    await press("ArrowRight");
    expect(sight()).toEqual([1_100_000, 2_100_000]);
    await press("PageDown");
    expect(sight()).toEqual([2_100_000, 3_100_000]);
    await press("End");
    expect(sight()).toEqual([3_000_000, 4_000_000]);
    await press("Home");
    expect(sight()).toEqual([0, 1_000_000]);
    await press("ArrowUp");
    expect(sight()).toEqual([100_000, 900_000]);
  });
});
