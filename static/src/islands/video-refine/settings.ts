// What a person sets for themselves in the workspace: it holds for every question, and stays in this browser.
import { signal } from "@preact/signals";
import { keep, readKept } from "../../lib/kept";
import type { Profile } from "./keys";
import { PROFILES } from "./keys";

export type Settings = ReturnType<typeof createSettings>;

const PROFILE_KEY = "reasonaudit-video-keys";
const REACTION_KEY = "reasonaudit-video-reaction";
/** Between hearing a sound and pressing a key, in ms, unless the person says otherwise. */
export const REACTION_MS = 200;
export const MOST_REACTION_MS = 2000;

export function createSettings(user: number) {
  const keptProfile = readKept(PROFILE_KEY) ?? "";
  const keptReaction = readKept(`${REACTION_KEY}:${user}`);
  const profile = signal<Profile>(keptProfile in PROFILES ? (keptProfile as Profile) : "default");
  const reactionMs = signal(keptReaction === null ? REACTION_MS : whole(Number(keptReaction)));
  return {
    profile,
    /** How much earlier than the key a recorded sound began, in ms of a person's time. */
    reactionMs,
    setProfile(next: Profile): void {
      profile.value = next;
      keep(PROFILE_KEY, next);
    },
    setReaction(ms: number): void {
      reactionMs.value = whole(ms);
      keep(`${REACTION_KEY}:${user}`, String(reactionMs.peek()));
    },
  };
}

const whole = (ms: number): number => (Number.isFinite(ms) ? Math.min(MOST_REACTION_MS, Math.max(0, Math.round(ms))) : REACTION_MS);
