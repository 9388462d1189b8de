// What belongs to the clip and not to one question: it stays as it is when another question of the clip is opened.
import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import { PictureIndex } from "../../lib/video/index";
import { PeakTiles } from "../../lib/video/peaks";
import { Player } from "./player";
import type { Settings } from "./settings";
import { createSettings } from "./settings";
import type { RefinePayload, VideoFacts } from "./types";

export interface Clip {
  index: PictureIndex;
  video: HTMLVideoElement;
  player: Player;
  /** The outline of the sound; null without sound, or until it is made. */
  peaks: PeakTiles | null;
  /** Counts the pieces of the outline that came, so that what shows them is drawn again. */
  peaksVersion: Signal<number>;
  muted: Signal<boolean>;
  settings: Settings;
}

export function makeVideo({ video: { title, urls } }: { video: Pick<VideoFacts, "title" | "urls"> }): HTMLVideoElement {
  const video = document.createElement("video");
  video.src = urls.media;
  video.preload = "auto";
  video.playsInline = true;
  video.disablePictureInPicture = true;
  video.setAttribute("aria-label", title);
  video.tabIndex = -1;
  return video;
}

export async function loadIndex(url: string): Promise<PictureIndex> {
  const response = await fetch(url, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`The index of the pictures could not be loaded: the server answered with status ${response.status}.`);
  return PictureIndex.decode(await response.arrayBuffer());
}

export function openClip(payload: RefinePayload, index: PictureIndex, video: HTMLVideoElement): Clip {
  const { peaks: facts, has_audio, urls } = payload.video;
  const peaksVersion = signal(0);
  const fetchPeaks = async (level: number, start: number, count: number): Promise<Int8Array> => {
    const response = await fetch(`${urls.peaks}?level=${level}&start=${start}&count=${count}`, { credentials: "same-origin" });
    if (!response.ok) throw new Error(`The outline of the sound answered with status ${response.status}.`);
    return new Int8Array(await response.arrayBuffer());
  };
  return {
    index,
    video,
    player: new Player(video, index),
    peaks: has_audio && facts ? new PeakTiles(facts, fetchPeaks, () => peaksVersion.value++) : null,
    peaksVersion,
    muted: signal(video.muted),
    settings: createSettings(payload.user.id),
  };
}

/** The page has no use for the clip any more. */
export function closeClip({ player, video }: Clip): void {
  player.dispose();
  video.removeAttribute("src");
  video.load();
}
