// One registry of keyboard shortcuts: what a key does is written once and the "?" sheet is made from it.

export interface Shortcut {
  /** `KeyboardEvent.key`, with "Shift+", "Ctrl+" in front where needed: "j", "?", "Ctrl+z". Several keys do the same. */
  keys: string[];
  /** Words for the sheet. */
  does: string;
  group: string;
  run(event: KeyboardEvent): void;
  /** The shortcut exists only while this holds. */
  when?(): boolean;
}

export class ShortcutRegistry {
  readonly #byKey = new Map<string, Shortcut>();
  readonly #all: Shortcut[] = [];

  /** Adds shortcuts and returns how to take them away; throws when a key is taken. */
  add(shortcuts: Shortcut[]): () => void {
    for (const shortcut of shortcuts) {
      for (const key of shortcut.keys) {
        const taken = this.#byKey.get(key);
        if (taken) throw new Error(`The key "${key}" is used twice: for "${taken.does}" and for "${shortcut.does}".`);
        this.#byKey.set(key, shortcut);
      }
      this.#all.push(shortcut);
    }
    return () => {
      for (const shortcut of shortcuts) {
        for (const key of shortcut.keys) this.#byKey.delete(key);
        this.#all.splice(this.#all.indexOf(shortcut), 1);
      }
    };
  }

  /** Whether the key is for something already. */
  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Shortcuts by group, in the order they were added. */
  groups(): { group: string; shortcuts: Shortcut[] }[] {
    const groups = new Map<string, Shortcut[]>();
    for (const shortcut of this.#all) groups.set(shortcut.group, [...(groups.get(shortcut.group) ?? []), shortcut]);
    return [...groups].map(([group, shortcuts]) => ({ group, shortcuts }));
  }

  /** Runs what the key is for; false when it is for nothing here. */
  handle(event: KeyboardEvent): boolean {
    if (event.defaultPrevented || event.isComposing || isTyping(event.target)) return false;
    const shortcut = this.#byKey.get(keyName(event));
    if (!shortcut || (shortcut.when && !shortcut.when())) return false;
    event.preventDefault();
    shortcut.run(event);
    return true;
  }
}

/** Shift is part of the name only for keys that are no character ("Shift+ArrowDown"): "?" already says it. */
export function keyName(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): string {
  const command = event.ctrlKey || event.metaKey;
  const character = event.key.length === 1;
  const key = character ? (event.shiftKey && !command ? event.key : event.key.toLowerCase()) : event.key;
  const shift = event.shiftKey && (!character || command) ? "Shift+" : "";
  return `${event.altKey ? "Alt+" : ""}${command ? "Ctrl+" : ""}${shift}${key}`;
}

/** Enter keeps its own meaning on links and buttons; buttons of a choice are picked with Space, so Enter goes on from them. */
export function enterIsFree(): boolean {
  const at = document.activeElement?.closest("a, button, summary, select, [role='tab'], [role='tree']");
  return !at || at.getAttribute("role") === "radio";
}

/** Arrows move inside a choice, tabs or a tree, where they have a meaning of their own. */
export const arrowsAreFree = (): boolean => !document.activeElement?.closest("[role='radiogroup'], [role='tablist'], [role='tree'], select");

const NOT_TEXT = new Set(["checkbox", "radio", "button", "submit", "reset", "range", "color", "file", "image"]);

/** Whether a key pressed at this element is meant as text, or the element uses letters itself (a select). */
export function isTyping(target: EventTarget | null): boolean {
  const element = target as (Partial<HTMLElement> & { type?: string }) | null;
  if (!element?.tagName) return false;
  if (element.isContentEditable) return true;
  const tag = element.tagName.toUpperCase();
  if (tag === "TEXTAREA" || tag === "SELECT") return true;
  return tag === "INPUT" && !NOT_TEXT.has((element.type ?? "text").toLowerCase());
}
