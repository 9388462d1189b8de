// Looking at what the server makes for a question: once a second while something is under way and somebody can see it.
import type { Signal } from "@preact/signals";
import { errorText } from "../../lib/api";

export const POLL_MS = 1000;

/** `busy`: whether something is under way; `look`: asks the server; `problem`: where people read what it ran into. */
export function createWatch(problem: Signal<string>, busy: () => boolean, look: () => Promise<void>) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = true;
  let looking = false;
  /** What the last look ran into; it goes when a later one succeeds. */
  let lookProblem = "";

  function watch(): void {
    clearTimeout(timer);
    if (stopped || looking || document.visibilityState !== "visible" || !busy()) return;
    timer = setTimeout(() => void tick(), POLL_MS);
  }

  async function tick(): Promise<void> {
    looking = true;
    try {
      await look();
      if (problem.peek() === lookProblem) problem.value = "";
    } catch (error) {
      problem.value = lookProblem = errorText(error);
    } finally {
      looking = false;
      watch();
    }
  }

  return {
    watch,
    start(): void {
      stopped = false;
      document.addEventListener("visibilitychange", watch);
    },
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", watch);
    },
  };
}
