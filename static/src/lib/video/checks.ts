// Live checks: whether what the reasoning says fits the boxes and sounds it points at; the same as videos/core/checks.py. A finding is
// advice and refuses nothing. Pure.
import { formatTimeframe } from "./cot";
import type { AudioEvent, Change, Link, Step, VideoDocument } from "./document";
import type { PictureIndex } from "./index";
import type { Interval } from "./intervals";
import { intersect, length, overlap, subtract, tiou, union } from "./intervals";
import type { Said } from "./said";
import type { Track } from "./tracks";
import { uuid5 } from "./uuid5";
import { clock, nameOf, sameObject, short, span, spans, standsIn, wordsOf } from "./wording";

/** Nobody hears or states an edge more exactly than this. */
const EDGE_US = 100_000;
export const POINT_US = 10_000;
export const QUIET = 1;
const LOUD_SHARE = 0.01;
/** Below this overlap of stated and linked time the two hardly speak of the same thing. */
const LEAST_AGREEMENT = 0.5;
const LINKS = "0a0f4a9e-1d5b-5c58-8a0f-3f4f5f0f7d11";

export interface ClipFacts {
  index: PictureIndex;
  has_audio: boolean;
  /** How many of the sound's 10-ms points [from, to) are louder than silence; null where that is not known. */
  loud: ((from: number, to: number) => number | null) | null;
  audio_offset_us: number;
  /** End of the pictures or of the sound, whichever is later. */
  duration_us: number;
  speech: readonly Said[];
  /** Labels of the project, looked for in the text beside the target label. */
  vocabulary: readonly string[];
}

/** An operation without its id. */
export interface Remedy {
  words: string;
  changes: Change[];
}

export interface Finding {
  code: string;
  step: Step | null;
  sentence: string;
  remedy: Remedy | null;
}

const finding = (code: string, step: Step | null, sentence: string, remedy: Remedy | null = null): Finding => ({ code, step, sentence, remedy });

/** What does not fit, step by step, in the order of the work. */
export function check(document: VideoDocument, facts: ClipFacts): Finding[] {
  return [
    ...timeframe(document, facts, "visual"),
    ...evidence(document, facts, "visual"),
    ...visible(document, facts),
    ...named(document, facts),
    ...timeframe(document, facts, "audio"),
    ...evidence(document, facts, "audio"),
    ...sound(document, facts),
    ...linkFindings(document),
  ];
}

function timeframe(document: VideoDocument, facts: ClipFacts, step: Step): Finding[] {
  const { raw, intervals, whole } = document.cot[step].timeframe;
  if (raw.trim() && !intervals.length && !whole) return [finding("timeframe_unparsable", step, `"${short(raw)}" names no time; write it like 00:12 - 00:15.`)];
  const end_us = facts.duration_us;
  return intervals.flatMap(([start, end], place) => {
    if (end <= end_us + EDGE_US) return [];
    const remedy = start < end_us ? setInterval(document, step, place, [start, end_us], `Cut to ${clock(end_us)}`) : setInterval(document, step, place, null, `Remove ${span(start, end)}`);
    return [finding("timeframe_beyond_clip", step, `${span(start, end)} goes beyond the end of the clip, ${clock(end_us)}.`, remedy)];
  });
}

/** A step that says something must point at something, and at the time it states. */
function evidence(document: VideoDocument, facts: ClipFacts, step: Step): Finding[] {
  const cue = document.cot[step];
  const links = linksOf(document, step);
  const said = cue.description.trim() || cue.analysis.trim() || cue.timeframe.raw.trim();
  if (!said && !cue.timeframe.intervals.length) return [];
  if (!links.length) return [finding("cue_without_evidence", step, `The ${step} cue has no evidence; link the ${step === "visual" ? "object" : "sound"} it speaks of.`, linkRemedy(document, facts, step))];
  const stated = cue.timeframe.intervals;
  // A link to a whole track does not say which time it means.
  const linked = links.filter((link) => link.kind === "event" || link.frames !== null).flatMap((link) => linkSpans(document, facts, link));
  const agreement = linked.length && length(stated) ? tiou(stated, linked) : null;
  if (agreement === null || cue.timeframe.whole || !(agreement > 0 && agreement < LEAST_AGREEMENT)) return [];
  return [finding("timeframe_far_from_evidence", step, `The ${step} cue speaks of ${spans(stated)}, its evidence lies at ${spans(linked)}: only ${percent(agreement)} of both together is common.`)];
}

/** As Python's ":.0%": half goes to the even number. */
function percent(share: number): string {
  const value = share * 100;
  const down = Math.floor(value);
  const up = value - down > 0.5 || (value - down === 0.5 && down % 2 === 1);
  return `${down + (up ? 1 : 0)}%`;
}

/** The stated time against the time in which the linked objects can be seen. */
function visible(document: VideoDocument, facts: ClipFacts): Finding[] {
  const { intervals } = document.cot.visual.timeframe;
  const tracks = [...new Set(linksOf(document, "visual").filter((link) => link.kind === "track").map((link) => link.target))].map((id) => document.tracks[id] as Track);
  if (!tracks.length || !intervals.length) return [];
  const stated = intervals.map(thick);
  const seen = tracks.map((track) => [track, visibleSpans(track, facts.index)] as const);
  const found: Finding[] = [];
  for (const [track, shown] of seen) if (!overlap(stated, shown)) found.push(finding("object_never_in_timeframe", "visual", `${nameOf(track)} is visible at ${spans(shown)}, never at ${spans(stated)}.`));
  const together = union(seen.flatMap(([, shown]) => shown));
  for (const [place, [start, end]] of intervals.entries()) {
    // What lies beyond the clip has a finding of its own.
    const within: Interval[] = [[start, Math.min(end, facts.duration_us)]];
    const outside = subtract(within, together).filter((pair) => pair[1] - pair[0] > EDGE_US);
    const inside = intersect(within, together);
    const [first, last] = [inside[0], inside.at(-1)];
    if (!outside.length || !first || !last) continue;
    const sentence = `${span(start, end)} is partly outside the time in which the linked objects are visible: nothing is boxed at ${spans(outside)}.`;
    const [low, high] = [first[0], last[1]];
    const remedy = low !== start || high !== end ? setInterval(document, "visual", place, [low, high], `Set to ${span(low, high)}`) : null;
    found.push(finding("timeframe_outside_visible", "visual", sentence, remedy));
  }
  return found;
}

function named(document: VideoDocument, facts: ClipFacts): Finding[] {
  const cue = document.cot.visual;
  const texts = [wordsOf(cue.description), wordsOf(cue.analysis)];
  const boxed = Object.values(document.tracks).map((track) => wordsOf(track.label));
  return [...new Set([document.target_label, ...facts.vocabulary])].flatMap((label) => {
    const words = wordsOf(label);
    if (!texts.some((text) => standsIn(words, text)) || boxed.some((other) => sameObject(words, other))) return [];
    return [finding("object_not_boxed", "visual", `The visual cue names "${short(label)}", but nothing with this label is boxed.`)];
  });
}

function sound(document: VideoDocument, facts: ClipFacts): Finding[] {
  const cue = document.cot.audio;
  const { intervals, whole } = cue.timeframe;
  if (!facts.has_audio) return cue.description.trim() || intervals.length ? [finding("audio_cue_without_sound", "audio", "The clip has no sound, but there is an audio cue.")] : [];
  const found: Finding[] = [];
  for (const [start, end] of intervals.map(thick)) if (isSilent(facts, start, end)) found.push(finding("audio_cue_on_silence", "audio", `The audio cue speaks of ${span(start, end)}, which is silent.`));
  for (const event of Object.values(document.events)) if (isSilent(facts, event.start_us, event.end_us)) found.push(finding("event_on_silence", "audio", `${nameOf(event)} at ${span(event.start_us, event.end_us)} is silent.`));
  if (!intervals.length || whole) return found;
  for (const link of linksOf(document, "audio")) {
    if (link.kind !== "event") continue;
    const event = document.events[link.target] as AudioEvent;
    found.push(...cut(document, event.start_us, event.end_us, nameOf(event), "event"));
  }
  // A line of which nothing is inside is another matter, not a cut one.
  for (const line of facts.speech) if (overlap([[line.start_us, line.end_us]], intervals)) found.push(...cut(document, line.start_us, line.end_us, `The voice "${short(line.text)}"`, "voice"));
  return found;
}

/** A sound that the stated time of the audio cue cuts off or misses, with the span that would hold it. */
function cut(document: VideoDocument, start: number, end: number, name: string, kind: "event" | "voice"): Finding[] {
  const { intervals } = document.cot.audio.timeframe;
  if (!subtract([[start, end]], intervals).some((pair) => pair[1] - pair[0] > EDGE_US)) return [];
  const code = `${kind}_outside_timeframe`;
  const touching = [...intervals.keys()].filter((place) => (intervals[place] as Interval)[0] <= end && (intervals[place] as Interval)[1] >= start);
  const shared = (place: number): number => overlap([[start, end]], [intervals[place] as Interval]);
  const [first] = touching;
  if (first === undefined) return [finding(code, "audio", `${name} lies at ${span(start, end)}, outside the time of the audio cue.`, setInterval(document, "audio", intervals.length, [start, end], `Add ${span(start, end)}`))];
  const place = touching.reduce((best, one) => (shared(one) > shared(best) ? one : best), first);
  const [from, to] = intervals[place] as Interval;
  const [low, high] = [Math.min(start, from), Math.max(end, to)];
  const words = low < from && high > to ? `Extend to ${span(low, high)}` : `Extend to ${clock(high > to ? high : low)}`;
  return [finding(code, "audio", `${name} lies at ${span(start, end)}, partly outside ${span(from, to)}.`, setInterval(document, "audio", place, [low, high], words))];
}

/** Links to pictures on which the object is not visible. */
function linkFindings(document: VideoDocument): Finding[] {
  return Object.values(document.links).flatMap((link) => {
    if (link.kind !== "track" || link.frames === null) return [];
    const track = document.tracks[link.target] as Track;
    const [start, end] = link.frames;
    const inside = intersect([link.frames], track.visible);
    const missing = end - start - length(inside);
    if (!missing) return [];
    const sentence = `The link to ${nameOf(track)} points at pictures ${start} to ${end - 1}, but it is not visible on ${missing} of them.`;
    const [first, last] = [inside[0], inside.at(-1)];
    let remedy: Remedy | null = null;
    if (first && last && (first[0] !== start || last[1] !== end)) {
      const after: Link = { ...link, frames: [first[0], last[1]] };
      remedy = { words: `Link pictures ${first[0]} to ${last[1] - 1}`, changes: [{ path: ["links", link.id], before: link, after }] };
    }
    return [finding("link_outside_visible", link.step, sentence, remedy)];
  });
}

/** A link to the one track or event at the stated time; nothing where there is a choice. */
function linkRemedy(document: VideoDocument, facts: ClipFacts, step: Step): Remedy | null {
  const stated = document.cot[step].timeframe.intervals.map(thick);
  const times: [string, { label: string }, Interval[]][] =
    step === "visual"
      ? Object.entries(document.tracks).map(([id, track]) => [id, track, visibleSpans(track, facts.index)])
      : Object.entries(document.events).map(([id, event]) => [id, event, [[event.start_us, event.end_us]]]);
  const fitting = times.filter(([, , found]) => !stated.length || overlap(stated, found) > 0);
  const [only] = fitting;
  if (fitting.length !== 1 || !only) return null;
  const id = uuid5(LINKS, `${step} ${only[0]}`);
  const link: Link = { id, step, kind: step === "visual" ? "track" : "event", target: only[0], frames: null, relation: "supports" };
  return { words: `Link ${nameOf(only[1])}`, changes: [{ path: ["links", id], before: null, after: link }] };
}

/** The operation that sets, adds or removes one interval of a timeframe; its text follows. */
function setInterval(document: VideoDocument, step: Step, place: number, pair: Interval | null, words: string): Remedy {
  const before = document.cot[step].timeframe;
  const intervals = before.intervals.map(([start, end]): Interval => [start, end]);
  intervals.splice(place, 1, ...(pair ? [pair] : []));
  const after = { whole: before.whole, intervals, raw: "" };
  after.raw = formatTimeframe(after);
  return { words, changes: [{ path: ["cot", step, "timeframe"], before, after }] };
}

/** Whether nothing can be heard in a stretch; false where that is not known. */
function isSilent(facts: ClipFacts, start: number, end: number): boolean {
  const low = Math.floor((start - facts.audio_offset_us) / POINT_US);
  const high = Math.ceil((end - facts.audio_offset_us) / POINT_US);
  const loud = facts.loud?.(Math.max(low, 0), Math.max(high, 0)) ?? null;
  return loud !== null && loud <= LOUD_SHARE * (high - low);
}

const linksOf = (document: VideoDocument, step: Step): Link[] => Object.values(document.links).filter((link) => link.step === step);

/** Microseconds [start, end) of the pictures [start, end). */
const spanUs = (index: PictureIndex, start: number, end: number): Interval => [index.clipUs(start), index.clipUs(end)];

function linkSpans(document: VideoDocument, { index }: ClipFacts, link: Link): Interval[] {
  if (link.kind === "event") {
    const event = document.events[link.target] as AudioEvent;
    return [[event.start_us, event.end_us]];
  }
  const [start, end] = link.frames as Interval;
  const last = Math.min(end, index.n);
  return start < last ? [spanUs(index, start, last)] : [];
}

export const visibleSpans = (track: Track, index: PictureIndex): Interval[] => union(track.visible.filter(([start]) => start < index.n).map(([start, end]) => spanUs(index, start, Math.min(end, index.n))));

/** A stated time with a length: a point stands for the tenth of a second around it. */
const thick = ([start, end]: Interval): Interval => (start < end ? [start, end] : [Math.max(start - EDGE_US / 2, 0), end + EDGE_US / 2]);
