import { describe, expect, it, vi } from "vitest";
import { ShortcutRegistry, isTyping, keyName } from "./shortcuts";

const event = (key: string, more: object = {}): KeyboardEvent =>
  ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, target: null, preventDefault: vi.fn(), ...more }) as unknown as KeyboardEvent;

describe("shortcuts", () => {
  it("names keys with their modifiers", () => {
    expect(keyName(event("j"))).toBe("j");
    expect(keyName(event("J", { shiftKey: true }))).toBe("J");
    expect(keyName(event("J"))).toBe("j"); // caps lock
    expect(keyName(event("?", { shiftKey: true }))).toBe("?");
    expect(keyName(event("z", { metaKey: true }))).toBe("Ctrl+z");
    expect(keyName(event("Z", { ctrlKey: true, shiftKey: true }))).toBe("Ctrl+Shift+z");
    expect(keyName(event("ArrowDown", { shiftKey: true }))).toBe("Shift+ArrowDown");
  });

  it("refuses a key that is taken", () => {
    const registry = new ShortcutRegistry();
    registry.add([{ keys: ["j"], does: "Next", group: "Segments", run: () => {} }]);
    expect(() => registry.add([{ keys: ["x", "j"], does: "Judge", group: "Other", run: () => {} }])).toThrow('"j" is used twice: for "Next" and for "Judge"');
  });

  it("runs a shortcut, keeps the browser from using the key, and forgets it when taken away", () => {
    const registry = new ShortcutRegistry();
    const run = vi.fn();
    const remove = registry.add([{ keys: ["j", "ArrowDown"], does: "Next", group: "Segments", run }]);
    const press = event("ArrowDown");
    expect(registry.handle(press)).toBe(true);
    expect(run).toHaveBeenCalledTimes(1);
    expect(press.preventDefault).toHaveBeenCalled();
    remove();
    expect(registry.handle(event("j"))).toBe(false);
    expect(registry.groups()).toEqual([]);
  });

  it("does nothing while typing, with an unknown key, or when its condition does not hold", () => {
    const registry = new ShortcutRegistry();
    const run = vi.fn();
    let allowed = false;
    registry.add([{ keys: ["u"], does: "Undo", group: "What-if", run, when: () => allowed }]);
    expect(registry.handle(event("u"))).toBe(false);
    allowed = true;
    for (const target of [{ tagName: "TEXTAREA" }, { tagName: "INPUT", type: "text" }, { tagName: "input", type: "search" }, { tagName: "SELECT" }, { tagName: "DIV", isContentEditable: true }]) {
      expect(registry.handle(event("u", { target }))).toBe(false);
    }
    expect(registry.handle(event("u", { defaultPrevented: true }))).toBe(false);
    expect(registry.handle(event("q"))).toBe(false);
    expect(run).not.toHaveBeenCalled();
    expect(registry.handle(event("u", { target: { tagName: "BUTTON" } }))).toBe(true);
  });

  it("takes a check box for no text field", () => {
    expect(isTyping({ tagName: "INPUT", type: "checkbox" } as unknown as EventTarget)).toBe(false);
    expect(isTyping(null)).toBe(false);
  });

  it("lists shortcuts by group in the order they were added", () => {
    const registry = new ShortcutRegistry();
    const add = (key: string, group: string): unknown => registry.add([{ keys: [key], does: key, group, run: () => {} }]);
    add("a", "One");
    add("b", "Two");
    add("c", "One");
    expect(registry.groups().map(({ group, shortcuts }) => [group, shortcuts.map((item) => item.does)])).toEqual([
      ["One", ["a", "c"]],
      ["Two", ["b"]],
    ]);
  });
});
