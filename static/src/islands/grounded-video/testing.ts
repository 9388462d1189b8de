// A small film for the tests: ten times ten frames, a reference with two objects and a sound, an answer with one box.
import { FRAMES, INDEX, payloadOf, playerOf, trackOf } from "../video-refine/testing";
import type { Player } from "../video-refine/player";
import type { FilmPayload, Side } from "./film";
import { createFilm } from "./film";

export const DOG = "00000000-0000-4000-8000-000000000001";
export const CAT = "00000000-0000-4000-8000-000000000002";
export const CLINK = "00000000-0000-4000-8000-000000000003";
export const MINE = "00000000-0000-4000-8000-000000000004";

/** 25 pictures a second: frame 25 is at 1 s. The dog is still from frame 10 to 39, the cat is seen twice. */
export const reference = (): Side => ({
  id: "reference-1",
  name: "human",
  tracks: { [DOG]: trackOf(DOG, "dog", { 10: [0, 0, 40, 40] }, [[10, 40]]), [CAT]: trackOf(CAT, "cat", { 50: [10, 10, 30, 30], 80: [10, 10, 30, 30] }, [[50, 60], [80, 90]]) },
  events: { [CLINK]: { id: CLINK, label: "clink", start_us: 400_000, end_us: 800_000, note: "", source: "human", run: null } },
  times: { visual: [[400_000, 1_600_000]], audio: [[400_000, 400_000]] },
});

/** Half of the answer's box lies on the dog's. */
export const answer = (): Side => ({
  id: "answer-7",
  name: "model-a, all cues",
  tracks: { [MINE]: trackOf(MINE, "dog", { 0: [0, 20, 40, 40] }, [[0, 100]]) },
  events: {},
  times: { visual: [[0, 1_000_000]], audio: [] },
});

export const filmPayload = (change: Partial<FilmPayload> = {}): FilmPayload => ({
  video: { ...payloadOf().video, n: FRAMES },
  why_not: "",
  reference: reference(),
  answers: [answer()],
  speech: [[1_000_000, 2_000_000, "Come here!"]],
  ...change,
});

export interface Played {
  start: number;
  end: number;
  loop: boolean;
}

/** A player that shows what it is told, and what it was asked to play. */
export function filmOf(payload: FilmPayload = filmPayload()) {
  const played: Played[] = [];
  const player = Object.assign(playerOf(), {
    leaveRange: (): void => {},
    playRange: async (range: Played): Promise<void> => void played.push(range),
    step: async (by: number): Promise<void> => void (player.frame.value = INDEX.clamp(player.frame.peek() + by)),
    toggle: (): void => void (player.playing.value = !player.playing.peek()),
  }) as Player;
  const film = createFilm(payload, INDEX, player, { muted: false } as HTMLVideoElement);
  return { film, player, played };
}
