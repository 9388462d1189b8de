// A small question for the tests, and a player that shows what it is told.
import { signal } from "@preact/signals";
import { emptyDocument } from "../../lib/video/document";
import type { VideoDocument } from "../../lib/video/document";
import { PictureIndex } from "../../lib/video/index";
import type { Track } from "../../lib/video/tracks";
import type { Player } from "./player";
import type { RefinePayload } from "./types";

export const FRAMES = 100;
/** 25 pictures a second. */
export const INDEX = PictureIndex.of(Array.from({ length: FRAMES }, (_, k) => k), FRAMES, 1, 25);

export const DOG = "00000000-0000-4000-8000-000000000001";
export const CAT = "00000000-0000-4000-8000-000000000002";

export function trackOf(id: string, label: string, keyframes: Record<number, [number, number, number, number]>, visible: [number, number][]): Track {
  return {
    id, label, color: null, attributes: {}, source: "model", run: "run", external: {}, visible,
    keyframes: Object.fromEntries(Object.entries(keyframes).map(([frame, box]) => [frame, { box, occluded: false, source: "model", run: "run" }])),
  };
}

export function documentOf(): VideoDocument {
  return {
    ...emptyDocument(),
    target_label: "dog",
    tracks: { [DOG]: trackOf(DOG, "dog", { 10: [0, 0, 40, 40], 20: [100, 50, 40, 40] }, [[10, 40]]), [CAT]: trackOf(CAT, "cat", { 50: [10, 10, 30, 30] }, [[50, 80]]) },
  };
}

export function payloadOf(document: VideoDocument = documentOf(), change: Partial<RefinePayload> = {}): RefinePayload {
  const urls = Object.fromEntries(["detail", "save", "submit", "recall", "tab", "relogin", "work"].map((name) => [name, `/${name}`])) as RefinePayload["urls"];
  return {
    id: "7",
    user: { id: 3, username: "reader" },
    question: { text: "Why?", answer: "Because.", options: null, number: 1, of: 2, difficulty: null, others: [] },
    video: { title: "Clip", n: FRAMES, width: 640, height: 360, duration_us: INDEX.durationUs, mean_rate: "25/1", audio_offset_us: 0, has_audio: false, peaks: null, urls: { media: "/media", index: "/index", peaks: "/peaks", spectrogram: "/spectrogram/{tile}/", pictures: "/pictures", crops: "/crops" } },
    transcript: [],
    document,
    generated: structuredClone(document),
    version: 1,
    state: "draft",
    editable: true,
    why_not: "",
    limits: { comment: 20_000 },
    guideline: null,
    urls,
    ...change,
  };
}

/** An index as the server writes it: 25 pictures a second. */
export function indexBytes(n: number): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(40 + 4 * (n - 1)));
  [..."RAPI"].forEach((letter, k) => view.setUint8(k, letter.charCodeAt(0)));
  view.setUint32(4, 1, true);
  view.setBigUint64(8, BigInt(n), true);
  view.setUint32(16, 1, true);
  view.setUint32(20, 25, true);
  view.setBigUint64(32, 1n, true);
  for (let k = 0; k < n - 1; k++) view.setUint32(40 + 4 * k, 1, true);
  return view.buffer;
}

/** Shows each picture at once. */
export function playerOf(): Player {
  const frame = signal(0);
  const exact = signal(true);
  return {
    index: INDEX,
    frame,
    exact,
    playing: signal(false),
    rate: signal(1),
    wanted: signal(null),
    range: signal(null),
    stalled: signal(false),
    problem: signal(null),
    seek: async (to: number) => void (frame.value = INDEX.clamp(to)),
    pause: () => {},
  } as unknown as Player;
}
