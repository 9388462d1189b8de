// Moving about in the workspace: between steps and warnings, over the selection, and out of what is begun.
import { effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { Finding } from "../../lib/video/checks";
import type { Interval } from "../../lib/video/intervals";
import { firstFrame, lastFrame } from "../../lib/video/tracks";
import { evidenceOf, pulse } from "./pulse";
import type { Store, StepName } from "./store";

const STEPS: StepName[] = ["visual", "audio", "final"];

export function createMoves(store: Store, findings: ReadonlySignal<Finding[]>, cancelDrag: () => boolean) {
  const { player, index } = store;

  /** What was chosen last, an object or sound or a step: the timelines fit that. */
  const latest = signal<"selection" | "step">("step");
  effect(() => void (latest.value = store.selection.value ? "selection" : "step"));

  /** Chooses a step and shows once what it rests on. */
  function chooseStep(step: StepName): void {
    if (store.step.peek() === step && latest.peek() === "step") return;
    store.step.value = step;
    latest.value = "step";
    if (step !== "final") pulse(evidenceOf(store.doc.peek(), step, document));
  }

  /** From where to where a step's time and evidence go; null where it has neither. */
  function stepSpan(step: StepName): Interval | null {
    const { tracks, events, links } = store.doc.peek();
    const stated = store.stepSpan(step);
    const spans: Interval[] = stated ? [stated] : [];
    for (const { target, kind, frames } of Object.values(links).filter((link) => link.step === step)) {
      const [event, track] = [events[target], tracks[target]];
      if (kind === "event" && event) spans.push([event.start_us, event.end_us]);
      else if (frames) spans.push([index.clipUs(frames[0]), index.clipUs(Math.min(frames[1], index.n))]);
      // An object as a whole says nothing of the time that is meant, unless nothing else does.
      else if (track && !stated) spans.push([index.clipUs(firstFrame(track)), index.clipUs(Math.min(lastFrame(track) + 1, index.n))]);
    }
    return spans.length ? [Math.min(...spans.map(([start]) => start)), Math.max(...spans.map(([, end]) => end))] : null;
  }

  /** The timelines show the chosen stretch, else what was chosen last. */
  function fit(): void {
    const step = latest.peek() === "step" ? stepSpan(store.step.peek()) : null;
    store.fit(store.span.peek() ?? step ?? store.selectedSpan());
  }

  function moveStep(by: 1 | -1): void {
    const next = STEPS[STEPS.indexOf(store.step.peek()) + by];
    if (!next) return;
    chooseStep(next);
    document.querySelector(`[data-step="${next}"]`)?.scrollIntoView({ block: "nearest" });
    store.fit(stepSpan(next));
  }

  function editStep(): void {
    const step = store.step.peek();
    document.querySelector<HTMLElement>(step === "final" ? "#final-answer" : `#${step}-description`)?.focus();
  }

  let atFinding = -1;
  function toFinding(by: 1 | -1): void {
    const all = findings.peek();
    if (!all.length) return store.say("No warning is left.");
    atFinding = (atFinding + by + all.length) % all.length;
    const found = all[atFinding];
    if (!found) return;
    chooseStep(found.step ?? "final");
    const line = [...document.querySelectorAll<HTMLElement>("[data-finding]")].find((one) => one.textContent?.includes(found.sentence));
    line?.scrollIntoView({ block: "nearest" });
    const span = found.step ? store.stepSpan(found.step) : null;
    if (span) store.fit(span);
    store.says.value = found.sentence;
  }

  function playSelection(loop: boolean): void {
    const span = store.selectedSpan();
    if (!span) return store.say("There is nothing selected to play: drag on the timelines, or select an object, a sound or a step.");
    void player.playRange({ start: index.atUs(span[0]), end: index.atUs(Math.max(span[0], span[1] - 1)) + 1, loop });
  }

  function loop(): void {
    if (player.range.peek()?.loop) player.leaveRange();
    else playSelection(true);
  }

  function escape(): void {
    if (cancelDrag()) return;
    if (store.tool.peek() !== "select") store.tool.value = "select";
    else if (store.mergeWith.peek()) store.mergeWith.value = null;
    else if (store.span.peek() || store.mark.peek() !== null) {
      store.span.value = null;
      store.mark.value = null;
    } else if (player.range.peek()) player.leaveRange();
    else if (document.activeElement instanceof SVGElement) document.activeElement.blur();
    else store.select(null);
  }

  return { latest, chooseStep, fit, moveStep, editStep, toFinding, playSelection, loop, escape };
}
