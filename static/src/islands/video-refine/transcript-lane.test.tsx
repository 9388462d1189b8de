// @vitest-environment jsdom
// The lane of what is said: words or pieces by zoom, where a click leads, keys, and what it says without a transcript.
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Said } from "../../lib/video/said";
import type { Player } from "./player";
import type { Store } from "./store";
import { createStore } from "./store";
import { INDEX, payloadOf, playerOf } from "./testing";
import { Transcript } from "./transcript-lane";
import type { RefinePayload } from "./types";
import type { Workspace } from "./workspace";

const WORDS: Said[] = [
  { start_us: 0, end_us: 300_000, text: "Tell" },
  { start_us: 300_000, end_us: 500_000, text: "me." },
  { start_us: 2_000_000, end_us: 2_400_000, text: "Yes." },
];

let player: Player;
let store: Store;
const pass = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));
const buttons = (): HTMLButtonElement[] => [...document.querySelectorAll<HTMLButtonElement>(".word")];
const texts = (): (string | null)[] => buttons().map((one) => one.textContent);

async function show(change: Partial<RefinePayload>, width: number): Promise<void> {
  player = playerOf();
  store = createStore(payloadOf(undefined, change), INDEX, player, { changed: () => {}, now: () => 0, uuid: () => "" });
  // The whole clip of four seconds.
  store.setView({ start: 0, scale: INDEX.durationUs / width, width });
  render(<Transcript workspace={{ store, player } as unknown as Workspace} />, document.body);
  await pass();
}

beforeEach(() => void vi.stubGlobal("requestAnimationFrame", (then: () => void) => setTimeout(then, 0)));
afterEach(() => {
  render(null, document.body);
  vi.unstubAllGlobals();
});

describe("the lane of what is said", () => {
  it("shows words where they can be read, pieces where they cannot", async () => {
    // 13 letters and spaces in 0.9 s: 10.4 px a letter in 600 px, 1.7 in 100.
    await show({ transcript: WORDS }, 600);
    expect(texts()).toEqual(["Tell", "me.", "Yes."]);
    store.setView({ start: 0, scale: INDEX.durationUs / 100, width: 100 });
    await pass();
    expect(texts()).toEqual(["Tell me.", "Yes."]);
  });

  it("goes to a word by a click and marks the one of the picture", async () => {
    await show({ transcript: WORDS }, 600);
    buttons()[2]?.click();
    await pass();
    expect(player.frame.value).toBe(50); // 2 s at 25 pictures a second
    expect(store.span.value).toEqual([2_000_000, 2_400_000]);
    expect(buttons().map((one) => one.getAttribute("aria-current"))).toEqual([null, null, "true"]);
    player.frame.value = 30;
    await pass();
    expect(document.querySelector("[aria-current]")).toBeNull();
    player.frame.value = 8;
    await pass();
    expect(document.querySelector("[aria-current]")?.textContent).toBe("me.");
  });

  it("is one stop for the tab key, and arrow keys go from word to word, also out of sight", async () => {
    await show({ transcript: WORDS }, 600);
    expect(buttons().map((one) => one.tabIndex)).toEqual([0, -1, -1]);
    store.setView({ start: 0, scale: 2000, width: 600 }); // the first 1.2 s
    await pass();
    expect(texts()).toEqual(["Tell", "me."]);
    buttons()[1]?.focus();
    buttons()[1]?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
    await pass();
    expect(document.activeElement?.textContent).toBe("Yes.");
    expect(store.view.value.start).toBeGreaterThan(0);
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true, cancelable: true }));
    await pass();
    expect(document.activeElement?.textContent).toBe("Tell");
    expect(player.frame.value).toBe(0);
  });

  it("says why it is empty", async () => {
    await show({ transcript: [] }, 400);
    expect(document.body.textContent).toContain("This clip has no sound");
    await show({ transcript: [], video: { ...payloadOf().video, has_audio: true } }, 400);
    expect(document.body.textContent).toContain("No transcript of this clip yet");
  });
});
