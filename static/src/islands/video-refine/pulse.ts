// Evidence of a reasoning step lights up once when somebody chooses the step: boxes on the picture, rows, sounds on their lane.
import type { Step, VideoDocument } from "../../lib/video/document";

const PULSE_MS = 900;
const COLOR = "#0b5c8f";

const stillOnly = (): boolean => window.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;

/** Elements that show what a step is linked to. */
export function evidenceOf(document: VideoDocument, step: Step, page: ParentNode): Element[] {
  const chosen = Object.values(document.links).filter((link) => link.step === step);
  return chosen.flatMap(({ kind, target }) => [...page.querySelectorAll(kind === "track" ? `[data-track="${target}"], [data-row="${target}"]` : `[data-span="event:${target}"]`)]);
}

/** One pulse of each; where people want no motion, a glow that stays a moment and moves nothing. */
export function pulse(elements: readonly Element[]): void {
  const bright = { filter: `drop-shadow(0 0 5px ${COLOR}) brightness(1.25)` };
  const plain = { filter: "none" };
  const frames = stillOnly() ? [bright, bright] : [plain, bright, plain];
  for (const element of elements) element.animate?.(frames, { duration: PULSE_MS, easing: "ease-in-out" });
}
