// Crops along one object: what interpolation made of it is seen in seconds, and put right from here.
import { useSignal } from "@preact/signals";
import { formatClock } from "../../lib/video/cot";
import type { Shown, Track } from "../../lib/video/tracks";
import { shownAt } from "../../lib/video/tracks";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/parts";
import { nameOf } from "./actions";
import type { Workspace } from "./workspace";

/** Crops of one picture from the server; it puts them side by side in one row. */
const PER_SHEET = 12;
/** Side of a crop as the server makes it, and as it is shown. */
const CELL = 128;
const SHOWN = 112;
const MOST = 96;

interface Crop {
  frame: number;
  shown: Shown;
}

/** Frames of a track `every` frames apart, with all of its ends, at most so many. */
export function sheetFrames(track: Track, every: number, most = MOST): Crop[] {
  const frames = track.visible.flatMap(([start, end]) => {
    const found: number[] = [];
    for (let frame = start; frame < end; frame += every) found.push(frame);
    if (found.at(-1) !== end - 1) found.push(end - 1);
    return found;
  });
  const kept = frames.length <= most ? frames : Array.from({ length: most }, (_, k) => frames[Math.round((k * (frames.length - 1)) / (most - 1))] as number);
  return [...new Set(kept)].flatMap((frame) => {
    const shown = shownAt(track, frame);
    return shown ? [{ frame, shown }] : [];
  });
}

/** A sheet's address: frame and box of each crop, to a tenth of a pixel. */
export const sheetUrl = (base: string, crops: readonly Crop[]): string => `${base}?${crops.map(({ frame, shown }) => `box=${frame}:${shown.box.map((value) => Number(value.toFixed(1))).join(",")}&`).join("")}cell=${CELL}`;

export function ContactSheet({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store, player } = workspace;
  const track = store.selectedTrack.value;
  const visible = track ? track.visible.reduce((sum, [start, end]) => sum + end - start, 0) : 0;
  const every = useSignal(Math.max(1, Math.ceil(visible / 36)));
  const failed = useSignal(false);
  if (!track) return null;
  const crops = sheetFrames(track, every.value);
  const sheets = Array.from({ length: Math.ceil(crops.length / PER_SHEET) }, (_, k) => crops.slice(k * PER_SHEET, (k + 1) * PER_SHEET));
  const go = (frame: number): void => {
    close();
    store.goTo(frame);
  };
  return (
    <Dialog title={`Crops along ${nameOf(track)}`} wide close={close}>
      <div class="sheet-bar">
        <label for="sheet-every">Every</label>
        <input id="sheet-every" class="form-control form-control-sm num" type="number" min={1} max={Math.max(1, visible)} value={every.value} onChange={(event) => (every.value = Math.max(1, Math.round(Number(event.currentTarget.value) || 1)))} />
        <span>
          {every.value === 1 ? "frame" : "frames"}, {crops.length} crops
        </span>
        <span class="grow" />
        <button type="button" class="btn btn-quiet btn-sm" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      {failed.value && (
        <div class="notice warn" role="status">
          <Icon name="exclamation-triangle" />
          <p>Some crops could not be made. The frames below can be opened all the same.</p>
        </div>
      )}
      <ol class="crops">
        {sheets.flatMap((sheet) => {
          const url = sheetUrl(store.payload.value.video.urls.crops, sheet);
          return sheet.map(({ frame, shown }, k) => (
            <li key={frame} class={`crop is-${shown.status}`}>
              <button type="button" onClick={() => go(frame)} aria-current={frame === player.frame.value ? "true" : undefined} aria-label={`Frame ${frame}, ${shown.status}`}>
                <span class="crop-picture">
                  <img src={url} alt="" loading="lazy" style={{ left: `${-k * SHOWN}px`, width: `${sheet.length * SHOWN}px`, height: `${SHOWN}px` }} onError={() => (failed.value = true)} />
                </span>
                <span class="num">
                  {frame} <span class="muted">{formatClock(store.index.clipUs(frame), 1)}</span>
                </span>
                <span class="crop-status">
                  {shown.status === "keyframe" && <Icon name="diamond" />}
                  {shown.status === "interpolated" ? "between" : shown.status}
                  {shown.occluded ? ", occluded" : ""}
                </span>
              </button>
            </li>
          ));
        })}
      </ol>
    </Dialog>
  );
}
