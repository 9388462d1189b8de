// The answer to one question as data, and the only way to change it: operations that name each value before and after. Pure;
// the same rules as videos/core/document.py.
import type { Interval } from "./intervals";
import type { Source, Track } from "./tracks";
import type { Limits, Path } from "./values";
import { InvalidChange, LONGEST_LABEL, LONGEST_WORDS, MOST_KEYFRAMES, TRACK_FIELDS, checkCoverage, checkEvent, checkKeyframe, checkLink, checkText, checkTimeframe, checkTrack, checkTrackField, isEntry, isFrameKey, isUuid } from "./values";

export type { Limits, Path } from "./values";
export { InvalidChange } from "./values";

export interface AudioEvent {
  id: string;
  label: string;
  start_us: number;
  end_us: number;
  note: string;
  source: Source;
  run: string | null;
}

export interface Timeframe {
  whole: boolean;
  /** Microseconds of clip time, half-open. */
  intervals: Interval[];
  /** As it was written; kept where it could not be read. */
  raw: string;
}

export type Step = "visual" | "audio";

export interface Cue {
  timeframe: Timeframe;
  description: string;
  analysis: string;
}

export interface Link {
  id: string;
  step: Step;
  kind: "track" | "event";
  target: string;
  /** Frames of a track that count; null: all of it. */
  frames: Interval | null;
  relation: "supports" | "contradicts";
}

export interface VideoDocument {
  target_label: string;
  tracks: Record<string, Track>;
  events: Record<string, AudioEvent>;
  cot: { visual: Cue; audio: Cue; final_answer: string };
  links: Record<string, Link>;
}

export interface Change {
  path: Path;
  /** null: there is nothing. */
  before: unknown;
  after: unknown;
}

export interface Operation {
  id: string;
  /** For people: "Move box of dog". */
  words: string;
  changes: Change[];
}

export const EMPTY_TIMEFRAME: Timeframe = { whole: false, intervals: [], raw: "" };

export const emptyDocument = (): VideoDocument => ({
  target_label: "",
  tracks: {},
  events: {},
  cot: {
    visual: { timeframe: { ...EMPTY_TIMEFRAME }, description: "", analysis: "" },
    audio: { timeframe: { ...EMPTY_TIMEFRAME }, description: "", analysis: "" },
    final_answer: "",
  },
  links: {},
});

/** The document has moved on: a value is not the one the operation was made for. */
export class Conflict extends Error {
  readonly path: Path;
  readonly mine: unknown;
  readonly theirs: unknown;
  readonly before: unknown;
  constructor(path: Path, mine: unknown, theirs: unknown, before: unknown = null) {
    super(`${path.join("/")} was changed in the meantime.`);
    this.name = "Conflict";
    this.path = path;
    this.mine = mine;
    this.theirs = theirs;
    this.before = before;
  }
}

/** JSON with sorted keys and no spaces: equal values give equal text (RFC 8785). */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (isEntry(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) : part));
}

export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, k) => equal(one, b[k]));
  if (!isEntry(a) || !isEntry(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]));
}

const MOST_CHANGES = 20_000;
const MOST: Record<string, number> = { tracks: 2_000, events: 10_000, links: 10_000 };
const CUE_FIELDS = ["timeframe", "description", "analysis"];

function checkPath(path: Path): void {
  const [root, a, b, c] = path;
  const known =
    (root === "target_label" && path.length === 1) ||
    (root === "cot" && a === "final_answer" && path.length === 2) ||
    (root === "cot" && (a === "visual" || a === "audio") && path.length === 3 && CUE_FIELDS.includes(b ?? "")) ||
    ((root === "tracks" || root === "events" || root === "links") && path.length === 2 && isUuid(a)) ||
    (root === "tracks" && path.length === 3 && isUuid(a) && (TRACK_FIELDS as readonly string[]).includes(b ?? "")) ||
    (root === "tracks" && path.length === 4 && isUuid(a) && b === "keyframes" && isFrameKey(c));
  if (!known) throw new InvalidChange(path.slice(0, 5).map((part) => part.slice(0, 60)), "There is nothing at this path that can be changed.");
}

/** Where null means "not there": everything else is a field that keeps its place. */
const isRemovable = (path: Path): boolean => path.length === 4 || (path.length === 2 && path[0] !== "cot");

function checkValue(path: Path, value: unknown, limits: Limits): void {
  const [root] = path;
  if (root === "target_label") checkText(path, value, LONGEST_LABEL);
  else if (root === "cot") {
    if (path[2] === "timeframe") checkTimeframe(path, value);
    else checkText(path, value);
  } else if (root === "events") checkEvent(path, value, limits);
  else if (root === "links") checkLink(path, value, limits);
  else if (path.length === 4) checkKeyframe(path, value, limits);
  else if (path.length === 3) checkTrackField(path, value, limits);
  else checkTrack(path, value, limits);
}

function checkForm(operation: Operation, limits: Limits): void {
  const names = isEntry(operation) ? Object.keys(operation).sort().join() : "";
  if (names !== "changes,id,words") throw new InvalidChange([], "An operation is an object with exactly id, words and changes.");
  if (!isUuid(operation.id)) throw new InvalidChange([], "The id of an operation is a UUID in lower case.");
  checkText([], operation.words, LONGEST_WORDS);
  if (!Array.isArray(operation.changes) || !operation.changes.length || operation.changes.length > MOST_CHANGES) throw new InvalidChange([], `An operation has from 1 to ${MOST_CHANGES.toLocaleString("en")} changes.`);
  for (const change of operation.changes as unknown[]) {
    if (!isEntry(change) || Object.keys(change).sort().join() !== "after,before,path") throw new InvalidChange([], "A change is an object with exactly path, before and after.");
    const { path, after } = change;
    if (!Array.isArray(path) || path.some((part) => typeof part !== "string")) throw new InvalidChange([], "A path is a list of texts.");
    checkPath(path as string[]);
    if (after !== null || !isRemovable(path as string[])) checkValue(path as string[], after, limits);
  }
}

const missingParent = (document: VideoDocument, path: Path): Path | null => (path.length > 2 && path[0] === "tracks" && !Object.hasOwn(document.tracks, path[1] as string) ? path.slice(0, 2) : null);

export function valueAt(document: VideoDocument, path: Path): unknown {
  let value: unknown = document;
  for (const part of path) {
    if (!isEntry(value) || !Object.hasOwn(value, part)) return null;
    value = value[part];
  }
  return value ?? null;
}

/** Sets one value, copying only the objects on the way that are not copies already. */
function put(document: Record<string, unknown>, path: Path, after: unknown, owned: Set<unknown>): void {
  let parent = document;
  for (const part of path.slice(0, -1)) {
    let child = parent[part] as Record<string, unknown>;
    if (!owned.has(child)) {
      child = parent[part] = { ...child } as Record<string, unknown>;
      owned.add(child);
    }
    parent = child as Record<string, unknown>;
  }
  const last = path.at(-1) as string;
  if (after === null && isRemovable(path)) delete parent[last];
  else parent[last] = after;
}

/** The document after an operation: all of its changes or none. Throws `Conflict` or `InvalidChange`. */
export function apply(document: VideoDocument, operation: Operation, limits: Limits = {}): VideoDocument {
  checkForm(operation, limits);
  const result = { ...document };
  const owned = new Set<unknown>([result]);
  for (const { path, before, after } of operation.changes) {
    const missing = missingParent(result, path);
    if (missing) throw new Conflict(missing, after, null, before);
    const theirs = valueAt(result, path);
    if (!equal(before, theirs)) throw new Conflict(path, after, theirs, before);
    put(result as unknown as Record<string, unknown>, path, after, owned);
  }
  checkResult(result, operation.changes);
  return result;
}

function checkResult(document: VideoDocument, changes: readonly Change[]): void {
  const whole = new Set(changes.filter(({ path }) => path.length === 3 && path[2] === "visible").map(({ path }) => path[1] as string));
  for (const { path, after } of changes) {
    const [root, id, field, frame] = path as [string, string, string?, string?];
    if (root === "tracks" && field === "keyframes" && frame !== undefined && !whole.has(id)) checkPlace(document, path, id, Number(frame), after === null);
  }
  for (const id of whole) {
    const track = document.tracks[id];
    if (track) checkCoverage(["tracks", id], track);
  }
  for (const [place, most] of Object.entries(MOST)) if (Object.keys(document[place as "tracks"]).length > most) throw new InvalidChange([place], `A question can have at most ${most.toLocaleString("en")} ${place}.`);
  const gone = changes.some(({ path, after }) => path.length === 2 && (path[0] === "tracks" || path[0] === "events") && after === null);
  const touched = new Set(changes.filter(({ path }) => path[0] === "links").map(({ path }) => path[1] as string));
  for (const link of Object.values(document.links)) if (gone || touched.has(link.id)) checkTarget(document, link);
}

function checkPlace(document: VideoDocument, path: Path, id: string, frame: number, removed: boolean): void {
  const track = document.tracks[id];
  if (!track) return;
  const there = Object.hasOwn(track.keyframes, String(frame));
  const inside = track.visible.find(([start, end]) => start <= frame && frame < end);
  if (there && !inside) throw new InvalidChange(path, "The keyframe lies outside every visible interval.");
  if (removed && !there && inside && !Object.keys(track.keyframes).some((one) => inside[0] <= Number(one) && Number(one) < inside[1])) throw new InvalidChange([...path.slice(0, 2), "visible"], `The interval [${inside[0]}, ${inside[1]}) has no keyframe.`);
  if (Object.keys(track.keyframes).length > MOST_KEYFRAMES) throw new InvalidChange(path, `A track has at most ${MOST_KEYFRAMES.toLocaleString("en")} keyframes.`);
}

function checkTarget(document: VideoDocument, link: Link): void {
  if (!Object.hasOwn(link.kind === "track" ? document.tracks : document.events, link.target)) throw new InvalidChange(["links", link.id], `The link points at a ${link.kind === "track" ? "track" : "sound"} that is not there; remove the link in the same operation.`);
}

/** The operation that takes another back, with an id of its own if one is given. */
export const inverse = (operation: Operation, id = operation.id, words = operation.words): Operation => ({
  id,
  words,
  changes: [...operation.changes].reverse().map(({ path, before, after }) => ({ path, before: after, after: before })),
});

export interface Merged {
  document: VideoDocument;
  /** Operations that fitted, and ids of those whose effect was there before. */
  applied: Operation[];
  already: string[];
  /** What did not fit, with every place that another change has taken. */
  conflicts: { operation: Operation; at: Conflict[] }[];
  /** What fits but would leave something invalid, such as a link to a track that is gone. */
  refused: { operation: Operation; error: InvalidChange }[];
}

/** Every place of an operation that does not hold what the operation was made for. What builds on an earlier change of it is none. */
export function conflicts(document: VideoDocument, operation: Operation): Conflict[] {
  const result = { ...document };
  const owned = new Set<unknown>([result]);
  const found = new Map<string, Conflict>();
  const add = (conflict: Conflict): void => void (found.has(conflict.path.join("/")) || found.set(conflict.path.join("/"), conflict));
  for (const { path, before, after } of operation.changes) {
    const missing = missingParent(result, path);
    if (missing) {
      add(new Conflict(missing, after, null, before));
      continue;
    }
    const theirs = valueAt(result, path);
    if (!equal(before, theirs)) add(new Conflict(path, after, theirs, before));
    put(result as unknown as Record<string, unknown>, path, after, owned);
  }
  return [...found.values()];
}

/** One's own operations on top of a document that others have changed; one that does not fit is left out as a whole. */
export function merge(document: VideoDocument, operations: readonly Operation[], limits: Limits = {}): Merged {
  const merged: Merged = { document, applied: [], already: [], conflicts: [], refused: [] };
  for (const operation of operations) {
    try {
      merged.document = apply(merged.document, operation, limits);
      merged.applied.push(operation);
    } catch (error) {
      if (error instanceof Conflict) {
        const last = new Map(operation.changes.map(({ path, after }) => [path.join("/"), { path, after }]));
        const there = [...last.values()].every(({ path, after }) => !missingParent(merged.document, path) && equal(after, valueAt(merged.document, path)));
        if (there) merged.already.push(operation.id);
        else merged.conflicts.push({ operation, at: conflicts(merged.document, operation) });
      } else if (error instanceof InvalidChange) merged.refused.push({ operation, error });
      else throw error;
    }
  }
  return merged;
}

/** The operation made for the present document: what it sets wins over what others set. Throws `Conflict` where a track is gone. */
export function keepMine(document: VideoDocument, operation: Operation): Operation {
  const result = { ...document };
  const owned = new Set<unknown>([result]);
  const changes = operation.changes.map(({ path, before, after }): Change => {
    const missing = missingParent(result, path);
    if (missing) throw new Conflict(missing, after, null, before);
    const present = valueAt(result, path);
    put(result as unknown as Record<string, unknown>, path, after, owned);
    return { path, before: present, after };
  });
  return { ...operation, changes };
}
