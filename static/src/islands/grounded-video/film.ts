// A clip with the evidence of a reference and of answers on one clock: what is drawn on which frame, and what a click plays.
import { computed, signal } from "@preact/signals";
import type { AudioEvent } from "../../lib/video/document";
import { iou } from "../../lib/video/geometry";
import type { PictureIndex } from "../../lib/video/index";
import type { Interval } from "../../lib/video/intervals";
import { bestPairs } from "../../lib/video/pairing";
import type { Track } from "../../lib/video/tracks";
import { shownAt } from "../../lib/video/tracks";
import type { Drawn } from "../video-refine/boxes";
import type { Player } from "../video-refine/player";
import type { VideoFacts } from "../video-refine/types";

/** What one reference or one answer says is to be seen and heard when. Times are microseconds of clip time. */
export interface Side {
  id: string;
  name: string;
  tracks: Record<string, Track>;
  events: Record<string, AudioEvent>;
  times: { visual: Interval[]; audio: Interval[] };
}

export interface FilmPayload {
  video: VideoFacts;
  /** Why nothing can be played; "" where it can. */
  why_not: string;
  reference: Side | null;
  answers: Side[];
  speech: [start: number, end: number, text: string][];
}

/** How well an answer's boxes lie on those of the reference on one frame, as the scores count it (paper, appendix A.6). */
export interface Overlap {
  name: string;
  /** Sum over the pairs by the larger number of boxes, 0 to 1. */
  iou: number;
  /** One to one for the largest sum, by the label of the reference's box; best first. */
  pairs: { label: string; iou: number }[];
}

const REFERENCE_COLORS = ["#38b6ff", "#6fdc8c", "#3ddbd9", "#be95ff"];
const ANSWER_COLORS = ["#f2b84b", "#ff7eb6", "#ff8a5b", "#d2e05a"];
/** What lies on a picture when one box is in the light. */
const LIT = "#ffffff";
/** A step of zoom shows so much less time, and no less than this in all. */
const ZOOM_BY = 4;
const LEAST_SHOWN_US = 4_000_000;

export type Film = ReturnType<typeof createFilm>;

export function createFilm(payload: FilmPayload, index: PictureIndex, player: Player, video: HTMLVideoElement) {
  /** Answers whose boxes are drawn. */
  const shown = signal<ReadonlySet<string>>(new Set(payload.answers.map((side) => side.id)));
  /** The track in the light, as "side:track". */
  const lit = signal<string | null>(null);
  const muted = signal(video.muted);
  const sides = computed(() => [...(payload.reference ? [payload.reference] : []), ...payload.answers.filter((side) => shown.value.has(side.id))]);
  const durationUs = Math.max(1, payload.video.duration_us || index.durationUs);
  const mostZoom = Math.max(0, Math.floor(Math.log(durationUs / LEAST_SHOWN_US) / Math.log(ZOOM_BY)));
  const zoom = signal(0);
  /** Which part of the clip the lanes show: parts follow each other like pages, the one with the playhead is open. */
  const part = computed(() => {
    const parts = ZOOM_BY ** zoom.value;
    const at = index.clipUs(player.wanted.value ?? player.frame.value);
    return Math.min(parts - 1, Math.max(0, Math.floor((at * parts) / durationUs)));
  });
  /** The time that the lanes show. */
  const span = computed((): Interval => {
    const length = durationUs / ZOOM_BY ** zoom.value;
    return [part.value * length, (part.value + 1) * length];
  });

  /** Objects of the reference have a colour each, those of an answer the answer's. */
  function colorOf(side: Side, id: string): string {
    const own = side.id === payload.reference?.id;
    const at = own ? Object.keys(side.tracks).sort().indexOf(id) : payload.answers.findIndex((one) => one.id === side.id);
    const colors = own ? REFERENCE_COLORS : ANSWER_COLORS;
    return colors[Math.max(0, at) % colors.length] as string;
  }

  /** Boxes of a frame: those of the reference solid, those of answers dashed, with their tags under them. */
  function drawnAt(frame: number): Drawn[] {
    return sides.value.flatMap((side, k) => {
      const own = side === payload.reference;
      const below = own ? {} : { below: k - (payload.reference ? 1 : 0) };
      return Object.keys(side.tracks).sort().flatMap((id): Drawn[] => {
        const track = side.tracks[id] as Track;
        const box = shownAt(track, frame);
        if (!box) return [];
        const key = `${side.id}:${id}`;
        const bright = lit.value === key;
        const color = bright ? LIT : colorOf(side, id);
        return [{ id: key, label: own ? track.label || "object" : `${track.label || "object"} (${side.name})`, color, box: box.box, status: box.status, occluded: box.occluded, source: own ? "human" : "model", selected: bright, locked: true, ...below }];
      });
    });
  }

  /** Of each answer that has boxes on a frame where the reference has some, too. */
  function overlapsAt(frame: number): Overlap[] {
    const mine = payload.reference ? boxesOf(payload.reference, frame) : [];
    return sides.value.filter((side) => side !== payload.reference).flatMap((side): Overlap[] => {
      const theirs = boxesOf(side, frame);
      if (!mine.length || !theirs.length) return [];
      const table = mine.map(({ box }) => theirs.map((other) => iou(box, other.box)));
      const pairs = bestPairs(table).map(([row, column]) => ({ label: mine[row]?.label ?? "", iou: table[row]?.[column] ?? 0 }));
      const sum = pairs.reduce((all, pair) => all + pair.iou, 0);
      return [{ name: side.name, iou: sum / Math.max(mine.length, theirs.length), pairs: pairs.sort((one, two) => two.iou - one.iou) }];
    });
  }

  async function showFrame(frame: number): Promise<void> {
    player.pause();
    player.leaveRange();
    await player.seek(frame);
  }

  return {
    payload, index, player, video, muted, shown, lit, sides, durationUs, zoom, mostZoom, span, colorOf, drawnAt, overlapsAt, showFrame,
    showUs: (us: number): Promise<void> => showFrame(index.atUs(us)),
    /** Plays [start, end) once and stops at its last frame. */
    playSpan: ([start, end]: Interval): Promise<void> => {
      const first = index.atUs(start);
      return player.playRange({ start: first, end: Math.max(first + 1, index.atUs(Math.max(start, end - 1)) + 1), loop: false });
    },
    /** Stops at the first frame of an object, inside `within` where it is seen there, with its box in the light. */
    async showTrack(side: Side, id: string, within: readonly Interval[] = []): Promise<void> {
      const track = side.tracks[id];
      if (!track) return;
      lit.value = `${side.id}:${id}`;
      await showFrame(firstSeen(track, index, within));
    },
    zoomBy(by: number): void {
      zoom.value = Math.min(mostZoom, Math.max(0, zoom.peek() + by));
    },
    toggle(id: string): void {
      const next = new Set(shown.peek());
      if (!next.delete(id)) next.add(id);
      shown.value = next;
    },
  };
}

const boxesOf = (side: Side, frame: number) =>
  Object.keys(side.tracks).sort().flatMap((id) => {
    const track = side.tracks[id] as Track;
    const at = shownAt(track, frame);
    return at ? [{ box: at.box, label: track.label || "object" }] : [];
  });

/** The first frame on which an object is seen, inside one of some times where there is such a frame. */
export function firstSeen(track: Track, index: PictureIndex, within: readonly Interval[]): number {
  for (const [start, end] of within) {
    const [from, to] = [index.atUs(start), index.atUs(Math.max(start, end - 1))];
    for (const [first, last] of track.visible) if (first <= to && from < last) return Math.max(first, from);
  }
  return track.visible[0]?.[0] ?? 0;
}

/** When an object is seen, in microseconds. */
export const seenUs = (track: Track, index: PictureIndex): Interval[] => track.visible.map(([start, end]): Interval => [index.clipUs(start), index.clipUs(end)]);
