// When the login dialogue opens by itself: once each time that a login is needed, and never under the hands of who types.
import { isTyping } from "./shortcuts";

/** Keys that are pressed in this time would go into the dialogue, and Enter would send it. */
export const HANDS_OFF_MS = 1500;

export class LoginPrompt {
  readonly #open: () => void;
  readonly #idle: () => number;
  #needed = false;
  #asked = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `idle`: milliseconds since the last input. */
  constructor(open: () => void, idle: () => number) {
    this.#open = open;
    this.#idle = idle;
  }

  /** Says whether a login is needed now. */
  tell(needed: boolean): void {
    this.#needed = needed;
    if (!needed) this.#asked = false;
    this.look();
  }

  /** Opens the dialogue if it is needed and this is the moment; to be called when a field lost the focus, too. */
  look(): void {
    clearTimeout(this.#timer);
    if (!this.#needed || this.#asked || isTyping(document.activeElement)) return;
    if (this.#idle() < HANDS_OFF_MS) {
      this.#timer = setTimeout(() => this.look(), HANDS_OFF_MS);
      return;
    }
    this.#asked = true;
    this.#open();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
