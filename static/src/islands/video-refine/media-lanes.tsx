// Lanes that show the clip itself: ruler, filmstrip, outline or spectrogram of the sound.
import { effect } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatClock } from "../../lib/video/cot";
import { columns, levelFor } from "../../lib/video/peaks";
import { endOf, ruler, toPx, toUs } from "../../lib/video/timeline";
import { usePick } from "./span-lane";
import type { Workspace } from "./workspace";

export function Ruler({ workspace }: { workspace: Workspace }) {
  const { store, player } = workspace;
  const view = store.view.value;
  const { ticks, digits } = ruler(view);
  const held = useRef(false);
  const go = (event: PointerEvent): void => {
    const area = (event.currentTarget as Element).getBoundingClientRect();
    void player.seek(store.index.atUs(Math.max(0, toUs(store.view.peek(), event.clientX - area.left))));
  };
  return (
    <svg
      class="lane ruler num"
      width={view.width}
      height={24}
      aria-hidden="true"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        held.current = true;
        player.pause();
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => held.current && go(event)}
      onPointerUp={() => (held.current = false)}
      onPointerCancel={() => (held.current = false)}
    >
      {ticks.map(({ us, labelled }) => {
        const x = toPx(view, us);
        return (
          <g key={us}>
            <line x1={x} x2={x} y1={labelled ? 14 : 19} y2={24} />
            {labelled && x < view.width - 30 && (
              <text x={x + 3} y={12}>
                {formatClock(us, digits)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

const STRIP_HEIGHT = 32;
/** Height in which the server makes them. */
const STRIP_LINES = 48;
/** Pictures that one request holds: one row of the server's sheet. */
const STRIP_COUNT = 16;
/** Nothing is asked for while somebody zooms or pans. */
const QUIET_MS = 250;

/** Pictures along the time, in sheets that begin at multiples of their length, so that the browser can keep them. */
export function Filmstrip({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const pick = usePick(workspace);
  const view = store.view.value;
  const { index } = store;
  const { video } = store.payload.value;
  const thumb = (video.width / video.height) * STRIP_HEIGHT;
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set());
  const known = useRef(new Set<string>());
  const [quiet, setQuiet] = useState(false);
  useLayoutEffect(() => {
    setQuiet(false);
    const timer = setTimeout(() => setQuiet(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, [view]);
  // A cell is two thirds of a picture wide or more: what is too much of the picture is cut off at both sides.
  const wide = (per: number): boolean => (per * store.bounds.picture) / view.scale >= thumb * 0.66;
  let per = 1;
  while (!wide(per)) per = wide(per * 1.5) && per > 1 ? per * 1.5 : per * 2;
  const first = index.atUs(Math.max(0, Math.floor(view.start)));
  const last = index.atUs(Math.min(index.durationUs, Math.ceil(endOf(view))));
  const size = per * STRIP_COUNT;
  const strips: preact.JSX.Element[] = [];
  for (let from = Math.floor(first / size) * size; from <= last; from += size) {
    const to = Math.min(index.n, from + size);
    const count = Math.ceil((to - from) / per);
    const url = `${video.urls.pictures}?${Array.from({ length: count }, (_, k) => `frame=${from + k * per}&`).join("")}lines=${STRIP_LINES}`;
    if (quiet) known.current.add(url);
    const wanted = known.current.has(url) && !broken.has(url);
    for (let k = 0; k < count; k++) {
      const start = from + k * per;
      const x = toPx(view, index.clipUs(start));
      const width = toPx(view, index.clipUs(Math.min(index.n, start + per))) - x;
      if (x + width < 0 || x > view.width) continue;
      // Wide cells at the finest zoom show their picture once, from the left.
      const shift = width < thumb ? (thumb - width) / 2 : 0;
      strips.push(
        <div key={start} class="strip-cell" style={{ left: `${x}px`, width: `${Math.max(1, Math.min(width, thumb) - 1)}px` }}>
          {wanted && <img src={url} alt="" draggable={false} style={{ left: `${-(k * thumb) - shift}px`, width: `${count * thumb}px` }} onError={() => setBroken((now) => new Set(now).add(url))} />}
        </div>,
      );
    }
  }
  return (
    <div class="lane filmstrip" aria-hidden="true" {...pick}>
      {strips}
    </div>
  );
}

const WAVE = "#5b7f9c";

export function Wave({ workspace, height }: { workspace: Workspace; height: number }) {
  const { store, peaks } = workspace;
  const canvas = useRef<HTMLCanvasElement>(null);
  const pick = usePick(workspace);
  const { video } = store.payload.value;
  useLayoutEffect(
    () =>
      effect(() => {
        const element = canvas.current;
        const view = store.view.value;
        void workspace.peaksVersion.value;
        if (!element || !peaks) return;
        const ratio = window.devicePixelRatio || 1;
        const width = Math.round(view.width * ratio);
        if (element.width !== width) element.width = width;
        if (element.height !== height * ratio) element.height = height * ratio;
        const pen = element.getContext("2d");
        if (!pen) return;
        pen.clearRect(0, 0, width, element.height);
        const scale = view.scale / ratio;
        const level = levelFor(peaks.facts, scale);
        const points = columns((point) => peaks.point(level, point), peaks.facts, level, video.peaks?.offset_us ?? 0, view.start, scale, width);
        const middle = element.height / 2;
        const reach = (element.height / 2 - ratio * 2) / 127;
        pen.fillStyle = WAVE;
        for (let px = 0; px < width; px++) {
          const low = points[2 * px] as number;
          const high = points[2 * px + 1] as number;
          const top = middle - high * reach;
          pen.fillRect(px, top, 1, Math.max(ratio * 0.75, (high - low) * reach));
        }
      }),
    [peaks, height],
  );
  const view = store.view.value;
  const tiles: preact.JSX.Element[] = [];
  if (store.spectrogram.value && video.spectrogram) {
    const length = video.spectrogram.seconds * 1e6;
    const last = Math.min(video.spectrogram.count - 1, Math.floor(endOf(view) / length));
    for (let tile = Math.max(0, Math.floor(view.start / length)); tile <= last; tile++) {
      tiles.push(<img key={tile} class="spectrogram" src={video.urls.spectrogram.replace("{tile}", String(tile))} alt="" draggable={false} style={{ left: `${toPx(view, tile * length)}px`, width: `${length / view.scale}px`, height: `${height}px` }} />);
    }
  }
  return (
    <div class="lane wave" {...pick}>
      {tiles}
      <canvas ref={canvas} class={tiles.length ? "is-over" : ""} role="img" aria-label="Outline of the sound" style={{ width: "100%", height: `${height}px` }} />
      {!video.has_audio && <p class="lane-note">This clip has no sound.</p>}
      {video.has_audio && !peaks && <p class="lane-note">The outline of the sound is being made.</p>}
      {workspace.peaksVersion.value >= 0 && peaks?.failed && (
        <p class="lane-note">
          Some of the sound's outline did not load.{" "}
          <button type="button" class="btn-text" onClick={() => peaks.retry()}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}
