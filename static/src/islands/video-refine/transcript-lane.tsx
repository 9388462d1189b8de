// What is said, along the time: single words where they can be read, else pieces of sentences.
import { computed } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { formatClock } from "../../lib/video/cot";
import type { Said } from "../../lib/video/said";
import { firstFrom, letterUs, pieces, saidAt } from "../../lib/video/said";
import { endOf, reveal, toPx } from "../../lib/video/timeline";
import type { Workspace } from "./workspace";

/** Room of a letter on the average from which most words are not cut off: its width, and its share of what is around a word. */
const LETTER_PX = 8;
/** Less room than this shows nothing anybody could read. */
const LEAST_PX = 8;

export function Transcript({ workspace }: { workspace: Workspace }) {
  const { store, player } = workspace;
  const view = store.view.value;
  const { transcript: words, video } = store.payload.value;
  const joined = useMemo(() => pieces(words), [words]);
  const letter = useMemo(() => letterUs(joined), [joined]);
  const list: readonly Said[] = letter / view.scale >= LETTER_PX ? words : joined;
  const lane = useRef<HTMLDivElement>(null);
  const focused = useRef(-1);
  const at = useMemo(
    () =>
      computed(() => {
        const frame = player.frame.value;
        return saidAt(list, store.index.clipUs(frame), store.index.clipUs(frame + 1));
      }),
    [list, workspace],
  );
  if (!words.length) return <p class="lane lane-said">{video.has_audio ? "No transcript of this clip yet. Whoever looks after the videos can make one or upload it." : "This clip has no sound, so there is nothing to transcribe."}</p>;

  // The one before the first in sight may reach into it.
  const first = Math.max(0, firstFrom(list, view.start) - 1);
  const past = firstFrom(list, endOf(view));
  const now = at.value;
  const visible: { place: number; left: number; room: number }[] = [];
  for (let place = first; place < past; place++) {
    const x = toPx(view, (list[place] as Said).start_us);
    const next = list[place + 1];
    const right = next ? toPx(view, next.start_us) : view.width;
    const left = Math.max(0, x);
    const room = right - left - 4;
    // A word that was reached by keys stays, however narrow.
    if (toPx(view, (list[place] as Said).end_us) >= 0 && (room >= LEAST_PX || place === now || place === focused.current)) visible.push({ place, left, room: Math.max(LEAST_PX, room) });
  }
  const stop = visible.find(({ place }) => place === focused.current) ?? visible.find(({ place }) => place === now) ?? visible[0];

  const choose = ({ start_us, end_us }: Said): void => {
    store.span.value = [start_us, end_us];
    void player.seek(store.index.atUs(start_us));
  };
  const go = (to: number): void => {
    const there = list[to];
    if (!there) return;
    focused.current = to;
    // Drawn anew even where the view stays, so that a narrow one gets its place.
    store.setView(reveal(store.view.peek(), there.start_us, store.bounds));
    requestAnimationFrame(() => lane.current?.querySelector<HTMLElement>(`[data-said="${to}"]`)?.focus());
  };
  const keys = (event: KeyboardEvent, place: number): void => {
    const to = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: list.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  };
  return (
    <div class="lane words" ref={lane} role="group" aria-label={list === words ? "Transcript, words" : "Transcript, pieces"}>
      {visible.map(({ place, left, room }) => {
        const one = list[place] as Said;
        return (
          <button
            type="button"
            key={place}
            class={`word${place === now ? " is-now" : ""}`}
            data-said={place}
            tabIndex={place === stop?.place ? 0 : -1}
            aria-current={place === now ? "true" : undefined}
            title={`${one.text} (${formatClock(one.start_us)} to ${formatClock(one.end_us)}). Click to go there, arrow keys for the next`}
            style={{ left: `${left}px`, maxWidth: `${room}px` }}
            onFocus={() => (focused.current = place)}
            onKeyDown={(event) => keys(event, place)}
            onClick={() => choose(one)}
          >
            {one.text}
          </button>
        );
      })}
    </div>
  );
}
