// From the payload to a film that plays; says in words why there is none.
import { Player } from "../video-refine/player";
import { loadIndex, makeVideo } from "../video-refine/clip";
import type { Film, FilmPayload } from "./film";
import { createFilm } from "./film";

const PLAYABLE = new Set(["original", "ready"]);

/** Why a clip cannot be played exactly here and now; "" where it can. */
export function whyNot({ why_not, video }: FilmPayload): string {
  if (why_not) return why_not;
  const state = video.playback?.state ?? "original";
  if (PLAYABLE.has(state)) return "";
  if (state === "failed") return `The clip could not be prepared for exact playing. ${video.playback?.message ?? ""}`.trim();
  if (state === "none") return "The clip needs a copy that plays exactly. Ask for it on the page of the video.";
  if (state === "unavailable") return "The clip is not there as a file that can be played.";
  return "The clip is being prepared for exact playing. Load the page again in a moment.";
}

export async function openFilm(payload: FilmPayload): Promise<Film> {
  const why = whyNot(payload);
  if (why) throw new Error(why);
  // At once: it loads while the index is fetched.
  const video = makeVideo(payload);
  const index = await loadIndex(payload.video.urls.index);
  if (index.n !== payload.video.n) throw new Error(`The clip has ${payload.video.n} frames, but its index has ${index.n}. Reload the page; if it stays, import the clip again.`);
  return createFilm(payload, index, new Player(video, index), video);
}
