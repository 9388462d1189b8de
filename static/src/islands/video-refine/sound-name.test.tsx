// @vitest-environment jsdom
// The name of the selected sound, changed in the head of its lane.
import { render } from "preact";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AudioEvent } from "../../lib/video/document";
import type { Actions } from "./actions";
import { createActions } from "./actions";
import { SoundHead } from "./sound-name";
import type { Store } from "./store";
import { createStore } from "./store";
import { INDEX, payloadOf, playerOf } from "./testing";
import type { Workspace } from "./workspace";

const BARK = "00000000-0000-4000-8000-000000000011";
const bark: AudioEvent = { id: BARK, label: "sound", start_us: 0, end_us: 500_000, note: "", source: "human", run: null };
let store: Store;
let actions: Actions;
const pass = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));
const field = (): HTMLInputElement | null => document.querySelector<HTMLInputElement>("[aria-label='Name of the sound']");

async function type(text: string): Promise<void> {
  const input = field() as HTMLInputElement;
  input.value = text;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  await pass();
}

beforeEach(async () => {
  store = createStore(payloadOf(), INDEX, playerOf(), { changed: () => {}, now: () => 0, uuid: () => BARK });
  store.tab.value = "held";
  actions = createActions(store);
  store.edit("New sound", [{ path: ["events", BARK], before: null, after: bark }]);
  render(<SoundHead workspace={{ store, actions } as unknown as Workspace} />, document.body);
  await pass();
});
afterEach(() => render(null, document.body));

it("has no field while no sound is selected", () => {
  expect(field()).toBeNull();
  expect(document.body.textContent).toBe("Sounds");
});

it("renames the selected sound in one step that can be undone", async () => {
  store.select({ kind: "event", id: BARK });
  await pass();
  await type("  two barks ");
  expect(store.doc.value.events[BARK]).toEqual({ ...bark, label: "two barks" });
  store.undo();
  await pass();
  expect(store.doc.value.events[BARK]?.label).toBe("sound");
  expect(field()?.value).toBe("sound");
});

it("keeps the old name where nothing was written", async () => {
  store.select({ kind: "event", id: BARK });
  await pass();
  await type("   ");
  expect(field()?.value).toBe("sound");
  expect(store.doc.value.events[BARK]?.label).toBe("sound");
});
