// The whole clip in one strip over the lanes: where keyframes and sounds are, what of it the lanes show, and where the picture is.
import { effect } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { formatClock } from "../../lib/video/cot";
import { centredAt, keyframeDensity, withEdge } from "../../lib/video/overview";
import { endOf, panBy, zoomAt } from "../../lib/video/timeline";
import { leaveFocus } from "./span-lane";
import type { Workspace } from "./workspace";

const HEIGHT = 26;
/** Room of the sounds, under the keyframes. */
const SOUNDS = 5;
/** Width of one bar of the density. */
const BAR = 3;
/** The window stays wide enough to be taken hold of. */
const LEAST = 10;
const EDGE = 5;

type Grip = "start" | "end" | "all";

export function Overview({ workspace }: { workspace: Workspace }) {
  const { store, player, index } = workspace;
  const view = store.view.value;
  const { bounds } = store;
  const tracks = store.tracks.value;
  const { width } = view;
  const perPx = bounds.duration / Math.max(1, width);
  const held = useRef<{ grip: Grip; x: number; from: typeof view } | null>(null);
  const head = useRef<SVGLineElement>(null);
  const bars = useMemo(() => {
    const counts = keyframeDensity(tracks, index, Math.max(1, Math.floor(width / BAR)));
    const most = Math.max(...counts);
    const room = HEIGHT - SOUNDS - 3;
    // A single keyframe is seen beside a place that has hundreds.
    return counts.flatMap((count, k) => (count ? [`M${k * BAR} ${HEIGHT - SOUNDS}v-${(3 + (room - 3) * Math.sqrt(count / most)).toFixed(1)}h${BAR - 1}V${HEIGHT - SOUNDS}z`] : [])).join("");
  }, [tracks, width, index]);
  const events = store.events.value;
  // One shape for all: there may be thousands, and this is drawn again with each step of a zoom.
  const sounds = useMemo(() => {
    const each = bounds.duration / Math.max(1, width);
    return events.map(({ start_us, end_us }) => `M${(start_us / each).toFixed(1)} ${HEIGHT - SOUNDS + 1}h${Math.max(1.5, (end_us - start_us) / each).toFixed(1)}v${SOUNDS - 2}H${(start_us / each).toFixed(1)}z`).join("");
  }, [events, width]);
  useLayoutEffect(
    () =>
      effect(() => {
        const x = String(index.clipUs(player.wanted.value ?? player.frame.value) / (bounds.duration / Math.max(1, store.view.value.width)));
        head.current?.setAttribute("x1", x);
        head.current?.setAttribute("x2", x);
      }),
    [],
  );
  const x0 = view.start / perPx;
  const x1 = endOf(view) / perPx;
  // What is in sight of a long clip may be less than a pixel.
  const spare = Math.max(0, LEAST - (x1 - x0)) / 2;
  const [left, right] = [Math.max(0, x0 - spare), Math.min(width, x1 + spare)];
  const at = (event: PointerEvent): number => event.clientX - (event.currentTarget as Element).getBoundingClientRect().left;
  const gripAt = (x: number): Grip => (right - left < 4 * EDGE ? "all" : x < left + EDGE ? "start" : x > right - EDGE ? "end" : "all");
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const x = at(event);
    const inside = x >= left - EDGE && x <= right + EDGE;
    if (!inside) store.setView(centredAt(view, x * perPx, bounds));
    held.current = { grip: inside ? gripAt(x) : "all", x, from: store.view.peek() };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const now = held.current;
    if (!now) return;
    const us = (at(event) - now.x) * perPx;
    if (now.grip === "all") store.setView({ ...now.from, start: now.from.start + us });
    else store.setView(withEdge(now.from, now.grip, (now.grip === "start" ? now.from.start : endOf(now.from)) + us, bounds));
  };
  const done = (): void => void (held.current = null);
  const key = (event: KeyboardEvent): void => {
    const view = store.view.peek();
    const tenth = view.width / 10;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => store.setView(panBy(view, -tenth, bounds)),
      ArrowRight: () => store.setView(panBy(view, tenth, bounds)),
      PageUp: () => store.setView(panBy(view, -view.width, bounds)),
      PageDown: () => store.setView(panBy(view, view.width, bounds)),
      ArrowUp: () => store.setView(zoomAt(view, 0.8, view.width / 2, bounds)),
      ArrowDown: () => store.setView(zoomAt(view, 1.25, view.width / 2, bounds)),
      Home: () => store.setView({ ...view, start: 0 }),
      End: () => store.setView({ ...view, start: bounds.duration }),
    };
    const run = event.ctrlKey || event.altKey || event.metaKey ? undefined : moves[event.key];
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  return (
    <div class="tl-row is-overview">
      <div class="tl-name">
        <span class="title">Whole clip</span>
        <span class="end num">{formatClock(bounds.duration, 0)}</span>
      </div>
      <svg class="lane overview" width={width} height={HEIGHT} onMouseDown={leaveFocus} onPointerDown={down} onPointerMove={move} onPointerUp={done} onPointerCancel={done}>
        <path class="overview-keys" d={bars} />
        <path class="overview-sound" d={sounds} />
        <rect class="overview-out" x={0} y={0} width={left} height={HEIGHT} />
        <rect class="overview-out" x={right} y={0} width={Math.max(0, width - right)} height={HEIGHT} />
        <rect
          class="overview-window"
          x={left + 0.75}
          y={0.75}
          width={Math.max(1, right - left - 1.5)}
          height={HEIGHT - 1.5}
          rx={3}
          tabindex={0}
          role="slider"
          aria-label="Part of the clip that the timelines show"
          aria-valuemin={0}
          aria-valuemax={Math.round(bounds.duration)}
          aria-valuenow={Math.round(view.start)}
          aria-valuetext={`${formatClock(view.start, 1)} to ${formatClock(Math.min(endOf(view), bounds.duration), 1)}`}
          data-overview
          onKeyDown={key}
        >
          <title>Drag to move, its ends to zoom; arrow keys do both</title>
        </rect>
        <line class="overview-head" ref={head} y1={0} y2={HEIGHT} />
      </svg>
    </div>
  );
}
