// Spans on a time axis that people move by hand or by keys: sounds, timeframes of cues, visible intervals.
import type { Signal } from "@preact/signals";
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { formatClock } from "../../lib/video/cot";
import type { Interval } from "../../lib/video/intervals";
import { snap, toPx } from "../../lib/video/timeline";
import type { Workspace } from "./workspace";

export interface Span {
  key: string;
  name: string;
  start: number;
  end: number;
  top: number;
  height: number;
  kind: string;
  selected: boolean;
  /** Faint and not to be changed: a proposal. */
  fixed?: boolean;
  label?: ComponentChildren;
}

export interface SpanActions {
  select(span: Span): void;
  /** The span was let go at another place; both ends are on picture edges or on other spans' ends. */
  change(span: Span, next: Interval): void;
  open?(span: Span): void;
}

/** Ends of the span under a hand, for everything that shows its numbers meanwhile. */
export type Dragging = Signal<{ key: string; start: number; end: number } | null>;

type Grip = "start" | "end" | "all";

/** A click leaves the arrow keys to the pictures: only who comes by Tab moves a span with them. */
export function leaveFocus(event: MouseEvent): void {
  event.preventDefault();
  (document.activeElement as HTMLElement | null)?.blur?.();
}

const CLICK_PX = 3;
/** A narrower span has no room for a letter. */
const LEAST_LABEL = 16;

export function SpanShape({ workspace, span, actions, others }: { workspace: Workspace; span: Span; actions: SpanActions; others: () => number[] }) {
  const { store } = workspace;
  const held = useRef<{ grip: Grip; x: number; moved: boolean; from: Interval } | null>(null);
  const view = store.view.value;
  // Only the span under the hand is drawn again as it moves.
  const dragged = useComputed(() => (workspace.dragging.value?.key === span.key ? workspace.dragging.value : null));
  const live = dragged.value ?? span;
  const x0 = toPx(view, live.start);
  const x1 = toPx(view, live.end);
  if (x1 < -2 || x0 > view.width + 2) return null;
  const may = store.editable.value && !span.fixed;

  const moved = (grip: Grip, from: Interval, px: number): Interval => {
    const by = px * store.view.peek().scale;
    const [start, end] = from;
    if (grip === "start") return [Math.min(start + by, end - 1000), end];
    if (grip === "end") return [start, Math.max(end + by, start + 1000)];
    return [start + by, end + by];
  };
  /** On settle only: while the hand moves the span follows it. */
  const settled = (grip: Grip, [start, end]: Interval, free: boolean): Interval => {
    const at = (us: number): number => (free ? Math.round(us) : snap(store.index, store.view.peek(), us, others()));
    const most = store.limits.duration_us as number;
    if (grip === "start") return [Math.max(0, Math.min(at(start), end - 1000)), end];
    if (grip === "end") return [start, Math.min(most, Math.max(at(end), start + 1000))];
    const length = end - start;
    const first = Math.max(0, Math.min(at(start), most - length));
    return [first, first + length];
  };
  const down = (grip: Grip) => (event: PointerEvent): void => {
    if (event.button !== 0) return;
    event.stopPropagation();
    actions.select(span);
    if (!may) return;
    held.current = { grip, x: event.clientX, moved: false, from: [span.start, span.end] };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const now = held.current;
    if (!now) return;
    const px = event.clientX - now.x;
    if (!now.moved && Math.abs(px) < CLICK_PX) return;
    now.moved = true;
    const [start, end] = moved(now.grip, now.from, px);
    workspace.dragging.value = { key: span.key, start: Math.round(start), end: Math.round(end) };
  };
  const up = (event: PointerEvent): void => {
    const now = held.current;
    held.current = null;
    const there = workspace.dragging.peek();
    workspace.dragging.value = null;
    if (!now?.moved || !there) return;
    const next = settled(now.grip, [there.start, there.end], event.altKey);
    if (next[0] !== span.start || next[1] !== span.end) actions.change(span, next);
  };
  const cancel = (): void => {
    held.current = null;
    workspace.dragging.value = null;
  };
  const drag = (grip: Grip) => ({ onPointerDown: down(grip), onPointerMove: move, onPointerUp: up, onPointerCancel: cancel });

  /** Arrow keys move an edge by one picture; with Shift by 10 ms. */
  const edgeKey = (grip: Grip) => (event: KeyboardEvent): void => {
    const way = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (!way) {
      if (grip === "all" && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        event.stopPropagation();
        actions.select(span);
        actions.open?.(span);
      }
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (!may) return;
    const from = grip === "end" ? span.end : span.start;
    const frame = store.index.atUs(from);
    const exact = store.index.clipUs(frame) === from;
    const target = event.shiftKey ? from + way * 10_000 : store.index.clipUs(Math.min(store.index.n, Math.max(0, way > 0 ? frame + 1 : exact ? frame - 1 : frame)));
    const by = target - from;
    const raw: Interval = grip === "start" ? [span.start + by, span.end] : grip === "end" ? [span.start, span.end + by] : [span.start + by, span.end + by];
    const next = settled(grip, raw, true);
    if (next[0] !== span.start || next[1] !== span.end) actions.change(span, next);
  };
  const edge = (grip: "start" | "end", x: number) => (
    <rect
      class="span-edge"
      x={x - 4}
      y={span.top}
      width={8}
      height={span.height}
      // In lower case: names of SVG attributes are written as they stand, and "tabIndex" is none.
      tabindex={span.selected && may ? 0 : -1}
      role="slider"
      aria-label={`${grip === "start" ? "Start" : "End"} of ${span.name}`}
      aria-valuemin={0}
      aria-valuemax={store.limits.duration_us as number}
      aria-valuenow={grip === "start" ? live.start : live.end}
      aria-valuetext={formatClock(grip === "start" ? live.start : live.end)}
      onKeyDown={edgeKey(grip)}
      {...drag(grip)}
    />
  );
  return (
    <g class={`span ${span.kind}${span.selected ? " is-selected" : ""}${span.fixed ? " is-fixed" : ""}`} data-span={span.key} onMouseDown={leaveFocus}>
      <rect
        class="span-body"
        x={x0}
        y={span.top}
        width={Math.max(2, x1 - x0)}
        height={span.height}
        rx={4}
        tabindex={0}
        role="button"
        aria-label={`${span.name}, ${formatClock(live.start)} to ${formatClock(live.end)}`}
        aria-pressed={span.selected}
        onKeyDown={edgeKey("all")}
        onDblClick={() => actions.open?.(span)}
        {...drag("all")}
      />
      {span.label !== undefined && x1 - x0 > LEAST_LABEL && (
        <svg x={Math.max(0, x0)} y={span.top} width={Math.max(0, x1 - Math.max(0, x0) - 4)} height={span.height} class="span-label">
          <text x={7} y={span.height / 2 + 4}>
            {span.label}
          </text>
        </svg>
      )}
      {may && x1 - x0 > 10 && edge("start", x0)}
      {may && x1 - x0 > 10 && edge("end", x1)}
    </g>
  );
}

/** Choosing a stretch by dragging, and going to a place by a click, on lanes that hold nothing to move themselves. */
export function usePick(workspace: Workspace) {
  const { store, player } = workspace;
  const from = useSignal<number | null>(null);
  const time = (event: PointerEvent): number => {
    const area = (event.currentTarget as Element).getBoundingClientRect();
    const view = store.view.peek();
    return Math.min(store.limits.duration_us as number, Math.max(0, view.start + (event.clientX - area.left) * view.scale));
  };
  return {
    onPointerDown: (event: PointerEvent): void => {
      if (event.button !== 0) return;
      from.value = time(event);
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent): void => {
      const start = from.peek();
      if (start === null) return;
      const now = time(event);
      if (Math.abs(now - start) < CLICK_PX * store.view.peek().scale) return;
      store.span.value = start < now ? [start, now] : [now, start];
    },
    onPointerUp: (event: PointerEvent): void => {
      const start = from.peek();
      from.value = null;
      if (start === null) return;
      const now = time(event);
      if (Math.abs(now - start) < CLICK_PX * store.view.peek().scale) {
        store.span.value = null;
        if (player.playing.peek()) player.pause();
        void player.seek(store.index.atUs(now));
        return;
      }
      const [a, b] = start < now ? [start, now] : [now, start];
      const at = (us: number): number => (event.altKey ? Math.round(us) : snap(store.index, store.view.peek(), us));
      const [left, right] = [at(a), at(b)];
      store.span.value = right > left ? [left, right] : null;
    },
    onPointerCancel: (): void => void (from.value = null),
  };
}
