// Crops along one object: what interpolation made of it is seen in seconds, and put right from here.
import { useSignal } from "@preact/signals";
import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { plural } from "../../lib/words";
import { formatClock } from "../../lib/video/cot";
import type { PictureIndex } from "../../lib/video/index";
import type { Shown, Track } from "../../lib/video/tracks";
import { keyframeAt, shownAt } from "../../lib/video/tracks";
import { Dialog } from "../shared/dialog";
import { memo } from "../shared/memo";
import { Icon } from "../shared/parts";
import { nameOf } from "./actions";
import type { Workspace } from "./workspace";

/** Crops of one picture from the server; it puts them side by side in one row. */
const PER_SHEET = 12;
/** Side of a crop as the server makes it, and as it is shown. */
const CELL = 128;
const SHOWN = 112;
/** More crops than this are not drawn at once. */
const MOST = 1200;
/** Crops that a sheet begins with. */
const FIRST = 36;
/** Sheets on their way at a time: the server makes a few, and others want some too. */
const AT_A_TIME = 2;
/** Sheets this close to being seen are fetched. */
const AHEAD_PX = 400;

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

/** Which sheets may be fetched: those that are wanted, in the order of the sheet, a few at a time. */
export function mayLoad(urls: readonly string[], wanted: ReadonlySet<number>, done: ReadonlySet<string>, atATime = AT_A_TIME): Set<string> {
  const open = urls.filter((url, k) => wanted.has(k) && !done.has(url));
  return new Set([...urls.filter((url) => done.has(url)), ...open.slice(0, atATime)]);
}

/** The place in the grid that an arrow key leads to, with so many in a row; null for another key. */
export function nextPlace(key: string, at: number, count: number, inRow: number): number | null {
  const to: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - inRow, ArrowDown: at + inRow, Home: 0, End: count - 1 };
  const next = to[key];
  if (next === undefined) return null;
  return next < 0 || next >= count ? at : next;
}

export function ContactSheet({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store, player, actions } = workspace;
  const track = store.selectedTrack.value;
  const visible = track ? track.visible.reduce((sum, [start, end]) => sum + end - start, 0) : 0;
  const every = useSignal(Math.max(1, Math.ceil(visible / FIRST)));
  const wanted = useSignal<ReadonlySet<number>>(new Set());
  const loaded = useSignal<ReadonlySet<string>>(new Set());
  const failed = useSignal<ReadonlySet<string>>(new Set());
  /** The crop that the keys are on. */
  const active = useSignal<number | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const base = store.payload.value.video.urls.crops;
  const { crops, sheets, urls } = useMemo(() => {
    const crops = track ? sheetFrames(track, every.value) : [];
    const sheets = Array.from({ length: Math.ceil(crops.length / PER_SHEET) }, (_, k) => crops.slice(k * PER_SHEET, (k + 1) * PER_SHEET));
    return { crops, sheets, urls: sheets.map((sheet) => sheetUrl(base, sheet)) };
  }, [track, every.value, base]);
  const go = useCallback((frame: number): void => {
    close();
    store.goTo(frame);
  }, []);
  const came = useCallback((url: string, well: boolean): void => {
    const among = well ? loaded : failed;
    if (!among.peek().has(url)) among.value = new Set([...among.peek(), url]);
  }, []);
  const onto = useCallback((frame: number): void => void (active.value = frame), []);
  useLayoutEffect(() => {
    const all = [...(list.current?.querySelectorAll("[data-sheet]") ?? [])];
    const want = (elements: readonly Element[]): void => {
      if (elements.length) wanted.value = new Set([...wanted.peek(), ...elements.map((element) => Number((element as HTMLElement).dataset.sheet))]);
    };
    wanted.value = new Set();
    if (typeof IntersectionObserver === "undefined") return want(all);
    const observer = new IntersectionObserver((seen) => want(seen.filter((one) => one.isIntersecting).map((one) => one.target)), { root: list.current?.closest("dialog") ?? null, rootMargin: `${AHEAD_PX}px 0px` });
    for (const element of all) observer.observe(element);
    return () => observer.disconnect();
  }, [every.value, crops.length]);
  useLayoutEffect(() => list.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus(), []);
  if (!track) return null;

  const done = new Set([...loaded.value, ...failed.value]);
  const may = mayLoad(urls, wanted.value, done);
  const there = sheets.reduce((sum, sheet, k) => sum + (loaded.value.has(urls[k] as string) ? sheet.length : 0), 0);
  const broken = urls.filter((url) => failed.value.has(url)).length;
  const here = player.frame.value;
  // Begins at the crop nearest to the picture on the screen.
  const at = crops.findIndex(({ frame }) => frame === active.value);
  const current = at >= 0 ? at : crops.reduce((best, { frame }, k) => (Math.abs(frame - here) < Math.abs((crops[best] as Crop).frame - here) ? k : best), 0);

  const key = (event: KeyboardEvent): void => {
    const crop = crops[current];
    if (!crop || event.ctrlKey || event.altKey || event.metaKey) return;
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const second = buttons.findIndex((button) => button.offsetTop !== buttons[0]?.offsetTop);
    const inRow = second < 0 ? buttons.length : second;
    const next = nextPlace(event.key, current, crops.length, inRow);
    if (next !== null) {
      active.value = (crops[next] as Crop).frame;
      buttons[next]?.focus();
      buttons[next]?.scrollIntoView?.({ block: "nearest" });
    } else if (event.key === "Enter") actions.pinAt(track.id, crop.frame);
    else if (event.key === "Delete") actions.unpinAt(track.id, crop.frame);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Dialog title={`Crops along ${nameOf(track)}`} wide close={close}>
      <div class="sheet-bar">
        <label for="sheet-every">Every</label>
        <input id="sheet-every" class="form-control form-control-sm num" type="number" min={1} max={Math.max(1, visible)} value={every.value} onChange={(event) => (every.value = Math.max(1, Math.round(Number(event.currentTarget.value) || 1)))} />
        <span>
          {every.value === 1 ? "frame" : "frames"}, {crops.length === MOST ? `${MOST} crops at even distances, no more at once` : `${crops.length} crops`}
        </span>
        <span class="grow" />
        {there < crops.length && <progress class="sheet-progress" max={crops.length} value={there} aria-label="Loaded crops" />}
        <span class="muted num" role="status" data-sheet-loaded>
          {there} of {crops.length} loaded
        </span>
        <button type="button" class="btn btn-quiet btn-sm" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      <p class="muted small sheet-hint">
        Arrow keys move. <kbd>Enter</kbd> keeps the box as keyframe or accepts a proposed one, <kbd>Del</kbd> takes the keyframe away, <kbd>Space</kbd> or a click shows the frame.
      </p>
      {broken > 0 && (
        <div class="notice warn" role="status">
          <Icon name="exclamation-triangle" />
          <p>
            {plural(broken, "row")} of crops could not be made. Their frames can be opened and kept all the same.{" "}
            <button type="button" class="btn-text" onClick={() => (failed.value = new Set())}>
              Try again
            </button>
          </p>
        </div>
      )}
      <ol class="crops" ref={list} onKeyDown={key}>
        {sheets.map((sheet, which) => {
          const url = urls[which] as string;
          const has = (frame: number | undefined): number | null => (sheet.some((crop) => crop.frame === frame) ? (frame as number) : null);
          return <SheetRow key={which} which={which} track={track} sheet={sheet} url={url} shows={may.has(url) && !failed.value.has(url)} onKeys={has(crops[current]?.frame)} onScreen={has(here)} index={store.index} go={go} onto={onto} came={came} />;
        })}
      </ol>
    </Dialog>
  );
}

interface RowProps {
  which: number;
  track: Track;
  sheet: readonly Crop[];
  url: string;
  /** Whether its picture may be fetched. */
  shows: boolean;
  /** Frame of the crop that the keys are on, and of the one on the screen; null: in another row. */
  onKeys: number | null;
  onScreen: number | null;
  index: PictureIndex;
  go: (frame: number) => void;
  onto: (frame: number) => void;
  came: (url: string, well: boolean) => void;
}

/** The crops of one picture from the server. A key changes one or two of many rows: the others are not drawn again. */
const SheetRow = memo(({ which, track, sheet, url, shows, onKeys, onScreen, index, go, onto, came }: RowProps) => (
  <>
    {sheet.map(({ frame, shown }, k) => {
      const person = shown.status === "keyframe" && keyframeAt(track, frame)?.source === "human";
      const words = `${shown.status === "interpolated" ? "between" : shown.status}${shown.status === "keyframe" && !person ? ", proposed" : ""}${shown.occluded ? ", occluded" : ""}`;
      return (
        <li key={frame} class={`crop is-${shown.status}${person ? " is-human" : ""}`} data-sheet={k ? undefined : which}>
          <button type="button" tabIndex={frame === onKeys ? 0 : -1} onFocus={() => onto(frame)} onClick={() => go(frame)} aria-current={frame === onScreen ? "true" : undefined} aria-label={`Frame ${frame}, ${words}`}>
            <span class="crop-picture">
              {shows && <img src={url} alt="" style={{ left: `${-k * SHOWN}px`, width: `${sheet.length * SHOWN}px`, height: `${SHOWN}px` }} onLoad={() => came(url, true)} onError={() => came(url, false)} />}
            </span>
            <span class="num">
              {frame} <span class="muted">{formatClock(index.clipUs(frame), 1)}</span>
            </span>
            <span class="crop-status">
              {shown.status === "keyframe" && <Icon name="diamond" />}
              {words}
            </span>
          </button>
        </li>
      );
    })}
  </>
), (a, b) => (Object.keys(b) as (keyof RowProps)[]).every((name) => a[name] === b[name]));
