// The picture with its boxes, and what plays it. Only the boxes change with each frame; they are written by an effect.
import { effect, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatClock } from "../../lib/video/cot";
import { Icon } from "../shared/parts";
import { BoxLayer } from "../video-refine/boxes";
import type { Film, Overlap } from "./film";

export function Screen({ film }: { film: Film }) {
  const { player, video, payload } = film;
  const { width, height, title } = payload.video;
  const room = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const overlay = useRef<SVGSVGElement>(null);
  useLayoutEffect(() => {
    const [around, picture, svg] = [room.current, holder.current, overlay.current];
    if (!around || !picture || !svg) return;
    picture.prepend(video);
    const layer = new BoxLayer(svg, height);
    const scale = signal(1);
    const measure = (): void => {
      const fit = Math.min(around.clientWidth / width, around.clientHeight / height) || 1;
      picture.style.width = `${width * fit}px`;
      picture.style.height = `${height * fit}px`;
      scale.value = fit;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(around);
    measure();
    const off = new AbortController();
    const light = (event: Event): void => {
      const key = (event.target as Element).closest<SVGElement>("[data-track]")?.dataset.track;
      if (!key || (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      event.stopPropagation();
      film.lit.value = film.lit.peek() === key ? null : key;
    };
    for (const type of ["click", "keydown"]) svg.addEventListener(type, light, { signal: off.signal });
    const stop = effect(() => layer.draw(film.drawnAt(player.frame.value), 1 / scale.value, null));
    return () => {
      observer.disconnect();
      off.abort();
      stop();
    };
  }, []);
  const problem = player.problem.value;
  return (
    <div class="view film-view" ref={room}>
      <div class="picture" ref={holder}>
        <svg class="overlay" ref={overlay} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="group" aria-label={`Boxes on ${title}`} />
      </div>
      {problem && (
        <div class="stage-state" role="alert">
          <Icon name="exclamation-circle" />
          <p>{problem.sentence}</p>
        </div>
      )}
      {!problem && player.stalled.value && (
        <div class="stage-state is-small" role="status">
          <span class="spinner" />
          <p>Loading the picture</p>
        </div>
      )}
    </div>
  );
}

export function Controls({ film }: { film: Film }) {
  const { player, video, muted } = film;
  const { has_audio } = film.payload.video;
  const clock = useRef<HTMLSpanElement>(null);
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(
    () =>
      effect(() => {
        const frame = player.frame.value;
        const wanted = player.wanted.value;
        if (clock.current) clock.current.textContent = formatClock(player.index.clipUs(frame));
        if (!place.current) return;
        place.current.textContent = wanted !== null ? `to frame ${wanted}` : `frame ${frame}`;
        place.current.dataset.frame = String(frame);
        place.current.dataset.exact = String(player.exact.value);
      }),
    [],
  );
  const playing = player.playing.value;
  return (
    <div class="transport" role="group" aria-label="Playback">
      <button type="button" aria-label="Back one frame" title="Back one frame (left arrow)" onClick={() => void player.step(-1)}>
        <Icon name="chevron-left" />
      </button>
      <button type="button" class="play" aria-label={playing ? "Pause" : "Play"} title={playing ? "Pause (space)" : "Play (space)"} onClick={() => player.toggle()}>
        <Icon name={playing ? "pause-fill" : "play-fill"} />
      </button>
      <button type="button" aria-label="Forward one frame" title="Forward one frame (right arrow)" onClick={() => void player.step(1)}>
        <Icon name="chevron-right" />
      </button>
      <span class="timecode num" ref={clock} data-clock />
      <span class="receipt num" ref={place} data-receipt />
      <span class="grow" />
      <Overlaps film={film} />
      <button
        type="button"
        aria-label={muted.value ? "Sound on" : "Sound off"}
        title={has_audio ? (muted.value ? "Sound on" : "Sound off") : "This clip has no sound"}
        disabled={!has_audio}
        onClick={() => {
          video.muted = !video.muted;
          muted.value = video.muted;
        }}
      >
        <Icon name={muted.value || !has_audio ? "volume-mute" : "volume-up"} />
      </button>
    </div>
  );
}

/** How well the boxes of answers lie on those of the reference on the frame that is shown. */
function Overlaps({ film }: { film: Film }) {
  const { payload, player } = film;
  if (!payload.reference || !payload.answers.some((side) => Object.keys(side.tracks).length)) return null;
  const found = film.overlapsAt(player.frame.value);
  const words = found.length === 0 ? "–" : found.length === 1 ? overlapWords(found[0] as Overlap) : found.slice(0, 3).map((one) => `${one.name} ${one.iou.toFixed(2)}`).join(" · ");
  const title = found.length ? "Intersection over union on this frame, as the scores count it: boxes paired one to one for the largest sum, by the larger number of boxes" : "On this frame the reference and the answers do not both have a box";
  return (
    <span class="receipt num film-overlap" title={title}>
      IoU {words}
    </span>
  );
}

/** The number of the frame, and the pairs that it is made of where there is more than one box. */
export function overlapWords({ iou, pairs }: Overlap): string {
  const [first] = pairs;
  if (pairs.length === 1 && first && first.iou === iou) return `${first.label} ${iou.toFixed(2)}`;
  return `${iou.toFixed(2)} (${pairs.slice(0, 3).map((pair) => `${pair.label} ${pair.iou.toFixed(2)}`).join(", ")}${pairs.length > 3 ? ", …" : ""})`;
}
