// Lanes of time under the picture: what is cited, what is seen, heard and said. Each span is a button; one playhead through all.
import { effect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatClock } from "../../lib/video/cot";
import type { Interval } from "../../lib/video/intervals";
import type { Film } from "./film";
import { drawnSpans } from "./joined";

export interface LaneSpan {
  key: string;
  span: Interval;
  /** Words in the span, cut where there is no room, and read to screen readers. */
  label: string;
  kind: "cited" | "refined" | "box" | "sound" | "speech";
  /** Of a box: the one that it has on the picture. */
  color?: string;
  lit?: boolean;
  pick(): void;
}

export interface LaneRow {
  key: string;
  name: string;
  title?: string;
  spans: LaneSpan[];
}

/** Marks of time over the lanes, in parts of what is shown. */
const MARKS = [0, 0.25, 0.5, 0.75, 1];

export function Lanes({ film, rows }: { film: Film; rows: LaneRow[] }) {
  const head = useRef<HTMLDivElement>(null);
  useLayoutEffect(
    () =>
      effect(() => {
        const [start, end] = film.span.value;
        const us = film.index.clipUs(film.player.wanted.value ?? film.player.frame.value);
        head.current?.style.setProperty("--at", String(Math.min(1, Math.max(0, (us - start) / (end - start)))));
      }),
    [],
  );
  const [from, to] = film.span.value;
  const seek = (event: MouseEvent): void => {
    const place = (event.currentTarget as HTMLElement).getBoundingClientRect();
    if (place.width > 0) void film.showUs(Math.round(from + ((event.clientX - place.left) / place.width) * (to - from)));
  };
  return (
    <div class="lanes" role="group" aria-label="Times">
      <Ruler film={film} onSeek={seek} />
      {rows.map((row) => (
        <div class="lane-row" key={row.key}>
          <span class="lane-name clip" title={row.title ?? row.name}>
            {row.name}
          </span>
          <div class="lane-track" onClick={seek}>
            {drawnSpans(row.spans, [from, to]).map((one) => (
              <Span key={one.key} shown={[from, to]} span={one} />
            ))}
          </div>
        </div>
      ))}
      <div class="lane-over" aria-hidden="true">
        <div class="lane-playhead" ref={head} data-playhead />
      </div>
    </div>
  );
}

/** Which time the lanes show. In a long clip a span is a sliver: closer, it has room. */
function Ruler({ film, onSeek }: { film: Film; onSeek(event: MouseEvent): void }) {
  const [from, to] = film.span.value;
  const decimals = to - from < 20_000_000 ? 1 : 0;
  return (
    <div class="lane-row lane-ruler">
      <span class="lane-name">
        {film.mostZoom > 0 && (
          <>
            <button type="button" aria-label="Show less time, closer" title="Closer, around the playhead (+)" disabled={film.zoom.value >= film.mostZoom} onClick={() => film.zoomBy(1)}>
              +
            </button>
            <button type="button" aria-label="Show more time" title="More of the clip (-)" disabled={film.zoom.value === 0} onClick={() => film.zoomBy(-1)}>
              −
            </button>
          </>
        )}
      </span>
      <div class="lane-track" onClick={onSeek} aria-hidden="true">
        {MARKS.map((part) => (
          <span key={part} class={`lane-mark num${part === 1 ? " is-last" : ""}`} style={{ left: `${100 * part}%` }}>
            {formatClock(from + part * (to - from), decimals)}
          </span>
        ))}
      </div>
    </div>
  );
}

function Span({ shown: [from, to], span: { span, label, kind, color, lit, pick, key } }: { shown: Interval; span: LaneSpan }) {
  const [start, end] = span;
  const percent = (us: number): number => (100 * (Math.min(to, Math.max(from, us)) - from)) / (to - from);
  const [left, right] = [percent(start), percent(end)];
  const words = `${label}, ${formatClock(start, 1)}${end > start ? ` to ${formatClock(end, 1)}` : ""}`;
  return (
    <button
      type="button"
      class={`lane-span is-${kind}${lit ? " is-lit" : ""}`}
      data-span={key}
      title={words}
      aria-label={words}
      // The style sheet gives each span a width that can be hit; the last ones are kept inside.
      style={{ left: `min(${left}%, 100% - var(--least))`, width: `${right - left}%`, ...(color ? { backgroundColor: color } : {}) }}
      onClick={(event) => {
        event.stopPropagation();
        pick();
      }}
    >
      {label}
    </button>
  );
}
