// What each place of a question's document may hold; the same rules as videos/core/values.py. Pure.
import { countCodePoints } from "../text-spans";
import { keyframeFrames } from "./tracks";

export type Path = readonly string[];

export const LONGEST_TEXT = 20_000;
export const LONGEST_LABEL = 200;
export const LONGEST_RAW = 2_000;
export const LONGEST_WORDS = 300;
const MOST_ATTRIBUTES = 100;
const MOST_TIMEFRAMES = 200;
export const MOST_KEYFRAMES = 300_000;
const MOST_US = 1e14;
const MOST_PX = 100_000;

export const SOURCES = ["human", "model", "import"];
export const TRACK_FIELDS = ["label", "color", "attributes", "visible", "source", "run", "external"] as const;

/** What is known of the clip; null or left out where it is not. */
export interface Limits {
  frames?: number | null;
  /** Displayed size. */
  width?: number | null;
  height?: number | null;
  /** The longer of picture and sound. */
  duration_us?: number | null;
}

export class InvalidChange extends Error {
  readonly path: Path;
  readonly sentence: string;
  constructor(path: Path, sentence: string) {
    super(sentence);
    this.name = "InvalidChange";
    this.path = path;
    this.sentence = sentence;
  }
}

type Entry = Record<string, unknown>;

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
};

export const isUuid = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
export const isFrameKey = (value: unknown): value is string => typeof value === "string" && /^(?:0|[1-9][0-9]{0,8})$/.test(value);
export const isEntry = (value: unknown): value is Entry => typeof value === "object" && value !== null && !Array.isArray(value);
const isWhole = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value);
const isPair = (value: unknown): value is [number, number] => Array.isArray(value) && value.length === 2 && value.every(isWhole);

export function checkText(path: Path, value: unknown, longest = LONGEST_TEXT): void {
  if (typeof value !== "string") throw new InvalidChange(path, `${shown(value)} is no text.`);
  const length = value.length > longest ? countCodePoints(value) : 0;
  if (length > longest) throw new InvalidChange(path, `The text has ${length.toLocaleString("en")} characters; at most ${longest.toLocaleString("en")} can be stored.`);
  if (value.includes("\0") || /\p{Surrogate}/u.test(value)) throw new InvalidChange(path, "The text holds a character that cannot be stored; remove it.");
}

function keys(path: Path, value: unknown, names: readonly string[]): asserts value is Entry {
  if (!isEntry(value)) throw new InvalidChange(path, `${shown(value)} is no object.`);
  const missing = names.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) throw new InvalidChange(path, `"${missing}" is missing.`);
  const unknown = Object.keys(value).filter((name) => !names.includes(name)).sort()[0];
  if (unknown !== undefined) throw new InvalidChange(path, `"${unknown.slice(0, 40)}" is no field here; known are ${names.join(", ")}.`);
}

const checkId = (path: Path, value: unknown): void => {
  if (value !== path.at(-1)) throw new InvalidChange(path, `The id inside is ${shown(value)}; it must be the one of the path.`);
};
const checkSource = (path: Path, value: unknown): void => {
  if (!SOURCES.includes(value as string)) throw new InvalidChange(path, `source is ${shown(value)}; use one of ${SOURCES.join(", ")}.`);
};
const checkRun = (path: Path, value: unknown): void => {
  if (value !== null) checkText(path, value, LONGEST_LABEL);
};
const checkBool = (path: Path, value: unknown, name: string): void => {
  if (typeof value !== "boolean") throw new InvalidChange(path, `${name} is ${shown(value)}; use true or false.`);
};

function checkFrame(path: Path, frame: number, { frames }: Limits): void {
  if (frame > 999_999_999) throw new InvalidChange(path, `There is no picture ${frame}.`);
  if (frames != null && frame >= frames) throw new InvalidChange(path, `There is no picture ${frame}; the clip has pictures 0 to ${frames - 1}.`);
}

export function checkKeyframe(path: Path, value: unknown, limits: Limits): void {
  keys(path, value, ["box", "occluded", "source", "run"]);
  checkFrame(path, Number(path.at(-1)), limits);
  const { box } = value;
  if (!Array.isArray(box) || box.length !== 4 || !box.every((one) => typeof one === "number" && Number.isFinite(one))) throw new InvalidChange(path, "A box is four finite numbers: x, y, width and height.");
  const [x, y, w, h] = box as [number, number, number, number];
  if (!(w > 0 && h > 0)) throw new InvalidChange(path, `The box is ${w} wide and ${h} high; both must be above 0.`);
  if (Math.max(Math.abs(x), Math.abs(y), w, h) > MOST_PX) throw new InvalidChange(path, `The box reaches further than ${MOST_PX.toLocaleString("en")} pixels.`);
  if ((limits.width != null && !(x < limits.width && x + w > 0)) || (limits.height != null && !(y < limits.height && y + h > 0))) throw new InvalidChange(path, "No part of the box is inside the picture; move it inside.");
  checkBool(path, value.occluded, "occluded");
  checkSource(path, value.source);
  checkRun(path, value.run);
}

function checkVisible(path: Path, value: unknown, limits: Limits): void {
  if (!Array.isArray(value) || !value.length) throw new InvalidChange(path, "An object needs at least one visible interval; remove the track instead.");
  let before = 0;
  for (const pair of value as unknown[]) {
    if (!isPair(pair)) throw new InvalidChange(path, `${shown(pair)} is no [start, end) of two whole numbers.`);
    const [start, end] = pair;
    if (start >= end) throw new InvalidChange(path, `The interval [${start}, ${end}) is empty; end must come after start.`);
    if (start < before) throw new InvalidChange(path, `The interval [${start}, ${end}) begins before the one before it ends, or before 0.`);
    checkFrame(path, end - 1, limits);
    before = end;
  }
}

export function checkTrackField(path: Path, value: unknown, limits: Limits): void {
  const name = path.at(-1);
  if (name === "label") checkText(path, value, LONGEST_LABEL);
  else if (name === "color") {
    if (value !== null && !(typeof value === "string" && /^#[0-9a-f]{6}$/.test(value))) throw new InvalidChange(path, `${shown(value)} is no colour; write it as #rrggbb, in lower case.`);
  } else if (name === "visible") checkVisible(path, value, limits);
  else if (name === "source") checkSource(path, value);
  else if (name === "run") checkRun(path, value);
  else {
    if (!isEntry(value) || Object.keys(value).length > MOST_ATTRIBUTES) throw new InvalidChange(path, `Expected an object of at most ${MOST_ATTRIBUTES} texts.`);
    for (const [key, text] of Object.entries(value)) {
      checkText(path, key, LONGEST_LABEL);
      checkText(path, text, LONGEST_RAW);
    }
  }
}

/** Refuses a track with a keyframe outside its intervals, or an interval without a keyframe. */
export function checkCoverage(path: Path, track: { keyframes: Record<string, unknown>; visible: [number, number][] }): void {
  const covered = new Set<number>();
  let place = 0;
  for (const frame of keyframeFrames(track as never)) {
    while (place < track.visible.length && frame >= (track.visible[place] as [number, number])[1]) place++;
    if (place >= track.visible.length || frame < (track.visible[place] as [number, number])[0]) throw new InvalidChange([...path, "keyframes", String(frame)], "The keyframe lies outside every visible interval.");
    covered.add(place);
  }
  for (const [k, [start, end]] of track.visible.entries()) if (!covered.has(k)) throw new InvalidChange([...path, "visible"], `The interval [${start}, ${end}) has no keyframe.`);
}

export function checkTrack(path: Path, value: unknown, limits: Limits): void {
  keys(path, value, ["id", "keyframes", ...TRACK_FIELDS]);
  checkId(path, value.id);
  for (const name of TRACK_FIELDS) checkTrackField([...path, name], value[name], limits);
  const { keyframes } = value;
  if (!isEntry(keyframes) || Object.keys(keyframes).length > MOST_KEYFRAMES) throw new InvalidChange(path, `Keyframes are an object of at most ${MOST_KEYFRAMES.toLocaleString("en")} entries.`);
  for (const [frame, keyframe] of Object.entries(keyframes)) {
    if (!isFrameKey(frame)) throw new InvalidChange(path, `${shown(frame)} is no picture; keyframes are named by whole numbers.`);
    checkKeyframe([...path, "keyframes", frame], keyframe, limits);
  }
  checkCoverage(path, value as never);
}

export function checkEvent(path: Path, value: unknown, limits: Limits): void {
  keys(path, value, ["id", "label", "start_us", "end_us", "note", "source", "run"]);
  checkId(path, value.id);
  checkText(path, value.label, LONGEST_LABEL);
  checkText(path, value.note);
  const [start, end] = [value.start_us, value.end_us];
  if (!isWhole(start) || !isWhole(end) || start < 0 || start >= end || end > MOST_US) throw new InvalidChange(path, `The event lasts from ${shown(start)} to ${shown(end)}; both are whole microseconds from 0, and the end comes after the start.`);
  if (limits.duration_us != null && end > limits.duration_us) throw new InvalidChange(path, `The event ends at ${end}, after the clip, which ends at ${limits.duration_us}.`);
  checkSource(path, value.source);
  checkRun(path, value.run);
}

export function checkLink(path: Path, value: unknown, limits: Limits): void {
  keys(path, value, ["id", "step", "kind", "target", "frames", "relation"]);
  checkId(path, value.id);
  const choices: [string, string[]][] = [["step", ["visual", "audio"]], ["kind", ["track", "event"]], ["relation", ["supports", "contradicts"]]];
  for (const [name, known] of choices) if (!known.includes(value[name] as string)) throw new InvalidChange(path, `${name} is ${shown(value[name])}; use one of ${known.join(", ")}.`);
  if (!isUuid(value.target)) throw new InvalidChange(path, `The target ${shown(value.target)} is no id.`);
  const { frames } = value;
  if (frames === null) return;
  if (value.kind === "event") throw new InvalidChange(path, "A link to an audio event has no pictures; frames must be null.");
  if (!isPair(frames) || frames[0] < 0 || frames[0] >= frames[1]) throw new InvalidChange(path, `${shown(frames)} is no [start, end) of pictures with end after start.`);
  checkFrame(path, frames[1] - 1, limits);
}

/** That a timeframe lies inside the clip is a live check, no condition. */
export function checkTimeframe(path: Path, value: unknown): void {
  keys(path, value, ["whole", "intervals", "raw"]);
  checkBool(path, value.whole, "whole");
  checkText(path, value.raw, LONGEST_RAW);
  const { intervals } = value;
  if (!Array.isArray(intervals) || intervals.length > MOST_TIMEFRAMES) throw new InvalidChange(path, `A timeframe has at most ${MOST_TIMEFRAMES} intervals.`);
  for (const pair of intervals as unknown[]) if (!isPair(pair) || pair[0] < 0 || pair[0] > pair[1] || pair[1] > MOST_US) throw new InvalidChange(path, `${shown(pair)} is no [start, end] in whole microseconds, from 0, start first.`);
}
