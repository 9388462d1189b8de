// Several people's documents of one question beside each other: whom the decision's document follows at each difference, and one
// person's part of it as changes. Pure; whom a document matches is the same as in videos/core/comparison.py.
import type { AudioEvent, Change, Link, Step, Timeframe, VideoDocument } from "./document";
import { EMPTY_TIMEFRAME, equal } from "./document";
import { answerChange, cueChange, linkChange, removeEvent, removeTrack, targetChange } from "./edits";
import { iou } from "./geometry";
import type { Interval } from "./intervals";
import { intersect, length, subtract, tiou, union } from "./intervals";
import type { Keyframe, Track } from "./tracks";
import { boxAt, firstFrame, keyframeFrames, lastFrame } from "./tracks";
import { uuid5 } from "./uuid5";

export interface Difference {
  id: string;
  kind: "target_label" | "text" | "timeframe" | "track" | "event";
  step: Step | "final" | null;
  field: string | null;
  title: string;
  /** 0 to 1, of the pair that agrees least; null where it cannot be said. */
  agreement: number | null;
  /** By letter: the text or timeframe, or the id of the track or event in that person's document; null where there is none. */
  sides: Record<string, unknown>;
}

export interface Side {
  letter: string;
  document: VideoDocument;
}

/** Where a difference stands: with these people, with a value of its own, or nothing is there yet. */
export interface Standing {
  letters: string[];
  kind: "side" | "own" | "open";
}

/** From here on two tracks or sounds belong together, and from here on they are the same. */
const LEAST = 0.1;
const AGREED = 0.9;

const SPACE = "5b1d6f0e-6f43-5f0c-9a0d-2f6a5f6f0d11";

export type Part = Track | AudioEvent;
type Kind = "track" | "event";

export const lettersOf = (difference: Difference): string[] => Object.keys(difference.sides).sort();

/** Whether a difference is about a track or sound, not about a text or a time. */
export const isPart = (difference: Difference): difference is Difference & { kind: Kind } => difference.kind === "track" || difference.kind === "event";
const partsIn = (document: VideoDocument, kind: Kind): Record<string, Part> => (kind === "track" ? document.tracks : document.events);

/** Rounded, so that nine tenths in different sums are the same nine tenths. */
const rounded = (value: number): number => Math.round(value * 1e9) / 1e9;

interface Extent {
  first: number;
  last: number;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const extents = new WeakMap<Track, Extent>();

/** Frames and pixels that a track stays within: between keyframes a box lies within their hull. */
function extentOf(track: Track): Extent {
  let extent = extents.get(track);
  if (!extent) {
    extent = { first: firstFrame(track), last: lastFrame(track), left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const frame of keyframeFrames(track)) {
      const [x, y, w, h] = (track.keyframes[String(frame)] as Keyframe).box;
      extent = { ...extent, left: Math.min(extent.left, x), top: Math.min(extent.top, y), right: Math.max(extent.right, x + w), bottom: Math.max(extent.bottom, y + h) };
    }
    extents.set(track, extent);
  }
  return extent;
}

function neverMeet(a: Extent, b: Extent): boolean {
  return a.last < b.first || b.last < a.first || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
}

const known = new WeakMap<Track, WeakMap<Track, number>>();

/** Mean IoU over the frames on which either shows a box; a box that the other lacks counts 0. */
export function trackOverlap(a: Track, b: Track): number {
  if (neverMeet(extentOf(a), extentOf(b))) return 0;
  const kept = known.get(a)?.get(b);
  if (kept !== undefined) return kept;
  let sum = 0;
  for (const [start, end] of intersect(a.visible, b.visible)) {
    for (let frame = start; frame < end; frame++) {
      const [one, other] = [boxAt(a, frame), boxAt(b, frame)];
      if (one && other) sum += iou(one, other);
    }
  }
  const frames = length([...a.visible, ...b.visible]);
  const mean = frames ? rounded(sum / frames) : 0;
  if (!known.has(a)) known.set(a, new WeakMap());
  known.get(a)?.set(b, mean);
  return mean;
}

const spanOf = ({ start_us, end_us }: AudioEvent): Interval[] => [[start_us, end_us]];
const overlapOf = (kind: Kind, a: Part, b: Part): number => (kind === "track" ? trackOverlap(a as Track, b as Track) : rounded(tiou(spanOf(a as AudioEvent), spanOf(b as AudioEvent)) ?? 0));

/** The first frame on which two of the tracks agree least. */
export function worstFrame(tracks: readonly Track[]): number {
  let worst = { frame: Math.min(...tracks.map(firstFrame)), iou: Number.POSITIVE_INFINITY };
  for (const [start, end] of union(tracks.flatMap((track) => track.visible))) {
    for (let frame = start; frame < end; frame++) {
      const boxes = tracks.map((track) => boxAt(track, frame));
      for (const [k, one] of boxes.entries()) {
        for (const other of boxes.slice(k + 1)) {
          if (!one && !other) continue;
          const value = one && other ? iou(one, other) : 0;
          // Not for the last digits of a sum: boxes that keep their distance are as far apart on the first frame.
          if (value < worst.iou - 1e-9) worst = { frame, iou: value };
        }
      }
      if (worst.iou === 0) return worst.frame;
    }
  }
  return worst.frame;
}

/** The first moment that one of them covers and another does not; where all cover the same, the first one covered. */
export function firstApart(spans: readonly (readonly Interval[])[]): number | null {
  const all = union(spans.flat());
  const apart = spans.flatMap((one) => subtract(all, one).map(([start]) => start));
  return apart.length ? Math.min(...apart) : (all[0]?.[0] ?? null);
}

function sameTimeframe(a: Timeframe, b: Timeframe): boolean {
  if (a.whole || b.whole) return a.whole === b.whole;
  const overlap = tiou(a.intervals, b.intervals);
  return overlap === null ? equal(a.intervals, b.intervals) : rounded(overlap) >= AGREED;
}

/** What a document says at a difference that is a text or a time. */
function valueAt(document: VideoDocument, { kind, step, field }: Difference): string | Timeframe {
  if (kind === "target_label") return document.target_label;
  if (step !== "visual" && step !== "audio") return document.cot.final_answer;
  return kind === "timeframe" ? document.cot[step].timeframe : document.cot[step][field as "description" | "analysis"];
}

export class Comparison {
  readonly #sides: readonly Side[];
  readonly #differences: readonly Difference[];
  /** Whose each id of the sides is: letter, id, and the difference that it stands in; "": all agree on it. */
  readonly #members: Record<Kind, { letter: string; part: Part; of: string }[]>;
  /** The ids that tracks and sounds get in the decision's document, by difference and letter. */
  readonly #places = new Map<string, Record<string, string>>();
  /** Every id that has a place, with the difference that has it; "": all agree on it. */
  readonly #owner = new Map<string, string>();

  constructor(sides: readonly Side[], differences: readonly Difference[]) {
    this.#sides = [...sides].sort((a, b) => (a.letter < b.letter ? -1 : 1));
    this.#differences = differences;
    const membersOf = (kind: Kind) => this.#sides.flatMap(({ letter, document }) => Object.values(partsIn(document, kind)).map((part) => ({ letter, part, of: differences.find((one) => one.kind === kind && one.sides[letter] === part.id)?.id ?? "" })));
    this.#members = { track: membersOf("track"), event: membersOf("event") };
    const first = this.#sides[0]?.letter;
    for (const { letter, part, of } of [...this.#members.track, ...this.#members.event]) if (letter === first && of === "") this.#owner.set(part.id, "");
    for (const difference of differences) if (isPart(difference)) this.#places.set(difference.id, this.#place(difference));
  }

  /** A person's id stays unless another place has it: people who began with one proposal may have made different objects of it. */
  #place(difference: Difference): Record<string, string> {
    const ids: Record<string, string> = {};
    for (const letter of lettersOf(difference)) {
      const id = difference.sides[letter];
      if (typeof id !== "string") continue;
      const own = this.#owner.get(id) ?? difference.id;
      ids[letter] = own === difference.id ? id : uuid5(SPACE, `${difference.id}:${letter}`);
      this.#owner.set(ids[letter], difference.id);
    }
    return ids;
  }

  /** The track or sound of one person at a difference; null where that person has none. */
  partOf(difference: Difference, letter: string): Part | null {
    const id = difference.sides[letter];
    const document = this.#sides.find((one) => one.letter === letter)?.document;
    return document && isPart(difference) && typeof id === "string" ? (partsIn(document, difference.kind)[id] ?? null) : null;
  }

  /** The difference that a track or sound of the decision's document belongs to by what it covers; null: to none. */
  #covers(kind: Kind, part: Part): string | null {
    let best: { overlap: number; of: string | null } = { overlap: 0, of: null };
    for (const { part: theirs, of } of this.#members[kind]) {
      const overlap = overlapOf(kind, part, theirs);
      if (overlap >= LEAST && overlap > best.overlap) best = { overlap, of };
    }
    return best.of;
  }

  /** What the decision's document has at the place of a track or sound. */
  present(document: VideoDocument, difference: Difference): Part[] {
    if (!isPart(difference)) return [];
    return Object.values(partsIn(document, difference.kind)).filter((part) => (this.#owner.get(part.id) ?? this.#covers(difference.kind, part)) === difference.id);
  }

  /** Whom the document follows at each difference. */
  standings(document: VideoDocument): Map<string, Standing> {
    const touched = new Set((["track", "event"] as const).flatMap((kind) => Object.values(partsIn(document, kind)).map((part) => this.#covers(kind, part))));
    return new Map(this.#differences.map((one) => [one.id, isPart(one) ? this.#partStanding(document, one, touched.has(one.id)) : this.#valueStanding(document, one)]));
  }

  #partStanding(document: VideoDocument, difference: Difference & { kind: Kind }, touched: boolean): Standing {
    const all = Object.values(partsIn(document, difference.kind));
    const letters = lettersOf(difference).filter((letter) => {
      const theirs = this.partOf(difference, letter);
      return theirs ? all.some((part) => part.label.trim() === theirs.label.trim() && overlapOf(difference.kind, part, theirs) >= AGREED) : !touched;
    });
    return { letters, kind: letters.length ? "side" : touched || this.present(document, difference).length ? "own" : "open" };
  }

  #valueStanding(document: VideoDocument, difference: Difference): Standing {
    const now = valueAt(document, difference);
    const same = (theirs: unknown): boolean => (typeof now === "string" ? now.trim() === String(theirs ?? "").trim() : sameTimeframe(now, (theirs ?? EMPTY_TIMEFRAME) as Timeframe));
    const letters = lettersOf(difference).filter((letter) => same(difference.sides[letter]));
    const nothing = typeof now === "string" ? !now.trim() : !now.whole && !now.intervals.length;
    return { letters, kind: letters.length ? "side" : nothing ? "open" : "own" };
  }

  /** The changes that put one person's part where the difference is, in place of what is there. */
  take(document: VideoDocument, difference: Difference, letter: string): Change[] {
    if (isPart(difference)) return this.#takePart(document, difference, letter);
    const value = difference.sides[letter];
    const { kind, step, field } = difference;
    if (kind === "target_label") return [targetChange(document, String(value ?? ""))];
    if (step !== "visual" && step !== "audio") return [answerChange(document, String(value ?? ""))];
    if (kind === "timeframe") return [cueChange(document, step, "timeframe", (value ?? EMPTY_TIMEFRAME) as Timeframe)];
    return [cueChange(document, step, field as "description" | "analysis", String(value ?? ""))];
  }

  /** The changes that leave the track or sound out, with the links to it. */
  leaveOut(document: VideoDocument, difference: Difference): Change[] {
    return this.present(document, difference).flatMap((part) => (difference.kind === "track" ? removeTrack(document, part as Track) : removeEvent(document, part as AudioEvent)));
  }

  #takePart(document: VideoDocument, difference: Difference & { kind: Kind }, letter: string): Change[] {
    const theirs = this.partOf(difference, letter);
    const id = this.#places.get(difference.id)?.[letter];
    if (!theirs || id === undefined) return this.leaveOut(document, difference);
    const root = difference.kind === "track" ? "tracks" : "events";
    const present = this.present(document, difference);
    const gone: Change[] = present.filter((part) => part.id !== id).map((part) => ({ path: [root, part.id], before: part, after: null }));
    const part = { path: [root, id], before: partsIn(document, difference.kind)[id] ?? null, after: { ...theirs, id } };
    return [...gone, part, ...this.#linkChanges(document, difference, letter, id, new Set(present.map((one) => one.id)))];
  }

  /** Links follow: those of the person taken come, those of the others go, and what the adjudicator linked stays. */
  #linkChanges(document: VideoDocument, difference: Difference & { kind: Kind }, letter: string, target: string, present: ReadonlySet<string>): Change[] {
    const derived = (of: string, link: Link): string => uuid5(SPACE, `${difference.id}:${of}:${link.id}`);
    const linksOf = ({ letter: of, document: theirs }: Side): Link[] => Object.values(theirs.links).filter((link) => link.kind === difference.kind && link.target === difference.sides[of]);
    const now = Object.values(document.links).filter((link) => present.has(link.target));
    const here = new Set(now.map((link) => link.id));
    const foreign = new Set(this.#sides.flatMap((side) => linksOf(side).flatMap((link) => [link.id, derived(side.letter, link)])));
    const coming = new Map<string, Link>();
    for (const link of this.#sides.filter((side) => side.letter === letter).flatMap(linksOf)) {
      const id = document.links[link.id] && !here.has(link.id) ? derived(letter, link) : link.id;
      coming.set(id, { ...link, id, target });
    }
    const steps = new Set([...coming.values()].map(({ step }) => step));
    const changes = now.map((link) => linkChange(link, coming.get(link.id) ?? (foreign.has(link.id) || steps.has(link.step) ? null : { ...link, target })));
    return [...changes, ...[...coming.values()].filter(({ id }) => !here.has(id)).map((link) => linkChange(null, link))];
  }
}
