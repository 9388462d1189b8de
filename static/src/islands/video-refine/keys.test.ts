// The three profiles of keys: no key for two things, and every key one that a keyboard event can have.
import { describe, expect, it } from "vitest";
import { ShortcutRegistry, keyName } from "../../lib/shortcuts";
import type { Profile } from "./keys";
import { PROFILES, keyShortcuts, keysOf } from "./keys";

// Only the texts and keys are read here: nothing is run.
const anything: unknown = new Proxy(() => undefined, { get: () => anything, apply: () => anything });
const shortcutsOf = (profile: Profile) => keyShortcuts(anything as never, profile);

describe.each(Object.keys(PROFILES) as Profile[])("profile %s", (profile) => {
  it("has no key twice, nor one of the page's own", () => {
    const registry = new ShortcutRegistry();
    registry.add([{ keys: ["?"], does: "Show this list", group: "Help", run: () => {} }]);
    expect(() => registry.add(shortcutsOf(profile))).not.toThrow();
  });

  it("has play, stepping, undo, submit and escape", () => {
    for (const action of ["play", "back", "forward", "undo", "redo", "submit", "escape", "remove", "newBox"] as const) expect(keysOf(profile, action).length).toBeGreaterThan(0);
  });

  it("names keys as events name them", () => {
    for (const { keys } of shortcutsOf(profile)) {
      for (const key of keys) {
        if (key === "Shift+ ") continue; // stands in the list only: Space answers to both
        const parts = key.split("+");
        const last = parts.at(-1) as string;
        const event = { key: last, ctrlKey: parts.includes("Ctrl"), altKey: parts.includes("Alt"), metaKey: false, shiftKey: parts.includes("Shift") || (last.length === 1 && last !== last.toLowerCase()) };
        expect(keyName(event)).toBe(key);
      }
    }
  });
});

it("keeps to what the other tools have", () => {
  expect([keysOf("vidat", "back"), keysOf("vidat", "keyForward"), keysOf("vidat", "play")]).toEqual([["ArrowLeft", "a"], [".", ">"], [" ", "p"]]);
  expect([keysOf("cvat", "back"), keysOf("cvat", "forward10"), keysOf("cvat", "pin"), keysOf("cvat", "shuttleStop")]).toEqual([["d", "ArrowLeft"], ["v", "Shift+ArrowRight"], ["k"], []]);
});
