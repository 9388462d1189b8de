// What a person made of what was generated: texts side by side, objects and sounds by what happened to them. Pure.
import { formatTimeframe } from "./cot";
import type { VideoDocument } from "./document";
import { equal } from "./document";
import { iou } from "./geometry";
import { intersect, length, subtract } from "./intervals";
import type { Track } from "./tracks";
import { boxAt, keyframeFrames } from "./tracks";

export interface TextChange {
  name: string;
  /** Where it stands in the document. */
  path: string[];
  before: string;
  after: string;
}

export interface PartChange {
  id: string;
  /** Its name now, or its last one. */
  label: string;
  kind: "added" | "removed" | "changed";
  /** What is different, in words. */
  words: string[];
}

export interface Changes {
  texts: TextChange[];
  tracks: PartChange[];
  sounds: PartChange[];
  links: { added: number; removed: number; changed: number };
}

const many = (count: number, one: string): string => `${count.toLocaleString("en").replaceAll(",", " ")} ${one}${count === 1 ? "" : "s"}`;

/** Boxes are compared on at most so many frames of an object. */
const COMPARED = 400;

/** Lowest agreement of two tracks on the frames on which both show a box; null where there is none. */
export function lowestIou(a: Track, b: Track): { iou: number; frame: number } | null {
  const frames = intersect(a.visible, b.visible).flatMap(([start, end]) => Array.from({ length: end - start }, (_, k) => start + k));
  const step = Math.max(1, Math.ceil(frames.length / COMPARED));
  let lowest: { iou: number; frame: number } | null = null;
  for (let k = 0; k < frames.length; k += step) {
    const frame = frames[k] as number;
    const [one, other] = [boxAt(a, frame), boxAt(b, frame)];
    if (!one || !other) continue;
    const value = iou(one, other);
    if (!lowest || value < lowest.iou) lowest = { iou: value, frame };
  }
  return lowest;
}

function trackWords(before: Track, after: Track): string[] {
  const words: string[] = [];
  if (before.label !== after.label) words.push(`called ${before.label || "nothing"} before`);
  const [old, now] = [new Set(keyframeFrames(before)), keyframeFrames(after)];
  const set = now.filter((frame) => !old.has(frame)).length;
  const gone = keyframeFrames(before).filter((frame) => !after.keyframes[String(frame)]).length;
  const moved = now.filter((frame) => old.has(frame) && !equal(before.keyframes[String(frame)], after.keyframes[String(frame)])).length;
  if (set) words.push(`${many(set, "keyframe")} more`);
  if (gone) words.push(`${many(gone, "keyframe")} fewer`);
  if (moved) words.push(`${many(moved, "keyframe")} changed`);
  const [more, fewer] = [length(subtract(after.visible, before.visible)), length(subtract(before.visible, after.visible))];
  if (more) words.push(`seen on ${many(more, "frame")} more`);
  if (fewer) words.push(`not seen any more on ${many(fewer, "frame")}`);
  const lowest = lowestIou(before, after);
  if (lowest && lowest.iou < 0.995) words.push(`boxes agree to ${Math.round(lowest.iou * 100)} per cent (IoU) on frame ${lowest.frame}, the lowest`);
  if (!equal(before.attributes, after.attributes)) words.push("other attributes");
  return words;
}

function parts<T extends { id: string; label: string }>(before: Record<string, T>, after: Record<string, T>, wordsOf: (before: T, after: T) => string[], about: (part: T) => string[]): PartChange[] {
  const found: PartChange[] = [];
  for (const part of Object.values(after)) {
    const old = before[part.id];
    if (!old) found.push({ id: part.id, label: part.label, kind: "added", words: about(part) });
    else if (!equal(old, part)) {
      const words = wordsOf(old, part);
      if (words.length) found.push({ id: part.id, label: part.label, kind: "changed", words });
    }
  }
  for (const part of Object.values(before)) if (!after[part.id]) found.push({ id: part.id, label: part.label, kind: "removed", words: about(part) });
  return found;
}

/** Everything that is different between two states of a question's answer. */
export function changesOf(before: VideoDocument, after: VideoDocument): Changes {
  const texts: TextChange[] = [];
  const text = (name: string, path: string[], one: string, other: string): void => void (one !== other && texts.push({ name, path, before: one, after: other }));
  text("Target label", ["target_label"], before.target_label, after.target_label);
  for (const step of ["visual", "audio"] as const) {
    const name = step === "visual" ? "Visual cue" : "Audio cue";
    const [one, other] = [before.cot[step], after.cot[step]];
    text(`${name}, time`, ["cot", step, "timeframe"], formatTimeframe(one.timeframe), formatTimeframe(other.timeframe));
    text(`${name}, description`, ["cot", step, "description"], one.description, other.description);
    text(`${name}, analysis`, ["cot", step, "analysis"], one.analysis, other.analysis);
  }
  text("Final answer", ["cot", "final_answer"], before.cot.final_answer, after.cot.final_answer);
  const links = { added: 0, removed: 0, changed: 0 };
  for (const link of Object.values(after.links)) {
    const old = before.links[link.id];
    if (!old) links.added++;
    else if (!equal(old, link)) links.changed++;
  }
  for (const id of Object.keys(before.links)) if (!after.links[id]) links.removed++;
  return {
    texts,
    tracks: parts(before.tracks, after.tracks, trackWords, (track) => [`${many(keyframeFrames(track).length, "keyframe")}, ${many(length(track.visible), "frame")}`]),
    sounds: parts(
      before.events,
      after.events,
      (one, other) => [one.label === other.label ? "" : `called ${one.label || "nothing"} before`, one.start_us === other.start_us && one.end_us === other.end_us ? "" : "other times", one.note === other.note ? "" : "another note"].filter(Boolean),
      (event) => [`${((event.end_us - event.start_us) / 1e6).toFixed(2)} s`],
    ),
    links,
  };
}

export const isNone = ({ texts, tracks, sounds, links }: Changes): boolean => !texts.length && !tracks.length && !sounds.length && links.added + links.removed + links.changed === 0;
