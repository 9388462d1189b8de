// Marking a sound while the clip plays: a key is held as long as it sounds, or pressed where it begins and where it ends. What a
// person hears they press a moment later, so both ends are set back by their reaction time.
import { effect, signal, untracked } from "@preact/signals";
import { formatClock } from "../../lib/video/cot";
import { nearestEdge } from "../../lib/video/timeline";
import type { Actions } from "./actions";
import type { Settings } from "./settings";
import type { Store } from "./store";

export type Recorder = ReturnType<typeof createRecorder>;

/** A key that is let go earlier was pressed, not held: the next press ends the sound. */
export const HOLD_MS = 350;

export function createRecorder(store: Store, actions: Actions, settings: Settings, now: () => number = () => performance.now()) {
  const { player, index } = store;
  /** Where the sound that is being recorded begins, in microseconds; null: none is. */
  const from = signal<number | null>(null);
  let pressedAt = 0;

  /** What was heard when the key went down or up: at half speed the clip went on only half as far since. */
  function heard(): number {
    const late = settings.reactionMs.peek() * 1000 * Math.abs(player.rate.peek());
    return index.clipUs(nearestEdge(index, Math.max(0, index.clipUs(player.frame.peek()) - late)));
  }

  function begin(): void {
    if (!store.editable.peek()) return store.say(store.whyNot(), { bad: true });
    if (!store.payload.peek().video.has_audio) return store.say("This clip has no sound.");
    if (!player.playing.peek() || player.rate.peek() <= 0) return store.say("Sounds are recorded while the clip plays: start it, then hold the key as long as the sound lasts, or press it twice.");
    pressedAt = now();
    from.value = heard();
    store.says.value = "Recording a sound.";
  }

  function finish(end: number): void {
    const start = from.peek();
    if (start === null) return;
    from.value = null;
    if (end < start) return store.say("Nothing was recorded: the clip went back meanwhile.");
    // The shortest sound is one picture long.
    const until = Math.max(end, index.clipUs(index.atUs(start) + 1));
    if (actions.addEvent([start, until])) store.say(`Sound recorded, ${formatClock(start, 1)} to ${formatClock(until, 1)}.`, { undo: true });
  }

  effect(() => {
    if (player.playing.value || from.peek() === null) return;
    // Played to the end of the clip: nobody reacted to anything.
    untracked(() => finish(player.frame.peek() >= index.n - 1 ? index.durationUs : heard()));
  });

  return {
    from,
    down(): void {
      if (from.peek() === null) begin();
      else finish(heard());
    },
    up(): void {
      if (from.peek() !== null && now() - pressedAt >= HOLD_MS) finish(heard());
    },
    /** Gives up what is being recorded; false: nothing was. */
    cancel(): boolean {
      if (from.peek() === null) return false;
      from.value = null;
      store.says.value = "Recording given up.";
      return true;
    },
  };
}
