// Under the picture: play, step, where we are, loop, speed, sound, zoom.
import { effect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatClock } from "../../lib/video/cot";
import { RATES } from "../../lib/video/shuttle";
import { Icon } from "../shared/parts";
import { nextZoom } from "./stage";
import type { Workspace } from "./workspace";

export function Transport({ workspace }: { workspace: Workspace }) {
  const { store, player, video, actions } = workspace;
  const clock = useRef<HTMLSpanElement>(null);
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(
    () =>
      effect(() => {
        const frame = player.frame.value;
        const wanted = player.wanted.value;
        if (clock.current) clock.current.textContent = formatClock(player.index.clipUs(frame));
        if (place.current) {
          place.current.textContent = wanted !== null ? `to frame ${wanted}` : `frame ${frame} ${player.exact.value ? "exact" : "not exact"}`;
          place.current.classList.toggle("is-off", wanted === null && !player.exact.value);
          place.current.dataset.frame = String(frame);
          place.current.dataset.exact = String(player.exact.value);
        }
      }),
    [],
  );
  const playing = player.playing.value;
  const looping = player.range.value?.loop ?? false;
  const rate = player.rate.value;
  const muted = workspace.muted.value;
  const zoom = store.zoom.value.scale;
  const loop = (): void => workspace.loop();
  return (
    <div class="transport" role="group" aria-label="Playback">
      <button type="button" aria-label="Previous keyframe" title="Previous keyframe" onClick={() => actions.nextKeyframe(-1)}>
        <Icon name="skip-start-fill" />
      </button>
      <button type="button" aria-label="Back one frame" title="Back one frame" onClick={() => void player.step(-1)}>
        <Icon name="chevron-left" />
      </button>
      <button type="button" class="play" aria-label={playing ? "Pause" : "Play"} title={playing ? "Pause" : "Play"} onClick={() => player.toggle()}>
        <Icon name={playing ? "pause-fill" : "play-fill"} />
      </button>
      <button type="button" aria-label="Forward one frame" title="Forward one frame" onClick={() => void player.step(1)}>
        <Icon name="chevron-right" />
      </button>
      <button type="button" aria-label="Next keyframe" title="Next keyframe" onClick={() => actions.nextKeyframe(1)}>
        <Icon name="skip-end-fill" />
      </button>
      <span class="timecode num" ref={clock} data-clock />
      <span class="receipt num" ref={place} data-receipt />
      <span class="grow" />
      <button type="button" class="worded" aria-pressed={looping} title="Play the selection again and again" onClick={loop}>
        <Icon name="repeat" />
        <span>Loop {store.span.value ? "selection" : (store.selection.value?.kind === "event" ? "sound" : store.selection.value ? "object" : "step")}</span>
      </button>
      <label class="worded rate">
        <span class="visually-hidden">Speed</span>
        <select value={String(rate)} onChange={(event) => player.setRate(Number(event.currentTarget.value))}>
          {(RATES.includes(rate) ? RATES : [...RATES, rate].sort((a, b) => a - b)).map((one) => (
            <option key={one} value={String(one)}>
              {one}×
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        aria-label={muted ? "Sound on" : "Sound off"}
        title={store.payload.value.video.has_audio ? (muted ? "Sound on" : "Sound off") : "This clip has no sound"}
        disabled={!store.payload.value.video.has_audio}
        onClick={() => {
          video.muted = !video.muted;
          workspace.muted.value = video.muted;
        }}
      >
        <Icon name={muted || !store.payload.value.video.has_audio ? "volume-mute" : "volume-up"} />
      </button>
      <button type="button" aria-label={`Zoom picture, now ${Math.round(zoom * 100)} per cent`} title="Zoom the picture (Ctrl and wheel; 0 fits)" onClick={() => (store.zoom.value = { scale: nextZoom(zoom), x: 0, y: 0 })}>
        <Icon name={zoom >= 8 ? "zoom-out" : "zoom-in"} />
      </button>
    </div>
  );
}
