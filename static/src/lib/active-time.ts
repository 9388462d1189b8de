// How long a person was busy with a segment: the page is visible and has the focus, and there was input in the last minute.

export const IDLE_MS = 60_000;

export class ActiveTime {
  readonly #now: () => number;
  readonly #totals = new Map<number, number>();
  #segment: number | null = null;
  #visible = true;
  #focused = true;
  #lastInput: number;
  #counted: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#lastInput = this.#counted = now();
  }

  /** Time that was measured before, in ms. A total never goes down. */
  start(segment: number, ms: number): void {
    this.#totals.set(segment, Math.max(ms, this.#totals.get(segment) ?? 0));
  }

  select(segment: number | null): void {
    this.#count();
    this.#segment = segment;
  }

  input(): void {
    this.#count();
    this.#lastInput = this.#now();
  }

  visible(is: boolean): void {
    this.#count();
    this.#visible = is;
  }

  focused(is: boolean): void {
    this.#count();
    this.#focused = is;
  }

  /** Milliseconds since the last input. */
  idle(): number {
    return this.#now() - this.#lastInput;
  }

  /** Whole milliseconds spent on a segment so far. */
  total(segment: number): number {
    this.#count();
    return Math.round(this.#totals.get(segment) ?? 0);
  }

  #count(): void {
    const now = this.#now();
    const until = Math.min(now, this.#lastInput + IDLE_MS);
    const spent = until - this.#counted;
    if (this.#segment !== null && this.#visible && this.#focused && spent > 0) {
      this.#totals.set(this.#segment, (this.#totals.get(this.#segment) ?? 0) + spent);
    }
    this.#counted = now;
  }
}
