// Chains of thought as text: clock times, timeframes, the three sections. Pure; the same tables as videos/core/cot.py.
import type { Interval } from "./intervals";
import type { Cue, Step, Timeframe } from "./document";

export interface CotText {
  visual: Record<keyof Cue, string>;
  audio: Record<keyof Cue, string>;
  final_answer: string;
  /** Empty fields, such as "audio.timeframe", in the order of the schema. */
  missing: string[];
}

const STEPS: readonly Step[] = ["visual", "audio"];
const FIELDS = ["timeframe", "description", "analysis"] as const;

const SECTION = /^(?:[0-9]+\s*[.)]\s*)?(visual|audio)\s+cues?\s*:?\s*$/i;
const ANSWER = /^(?:[0-9]+\s*[.)]\s*)?final\s+answer\s*:\s*(.*)$/i;
const FIELD = /^[-*•]?\s*(timeframe|description|analysis)\s*:\s*(.*)$/i;

/** Reads a chain of thought line by line. Never fails: what is not there is missing. */
export function parse(text: string): CotText {
  const found: Record<string, string> = {};
  let section = "";
  let field = "";
  for (const written of text.split(/\r\n|\r|\n/)) {
    const line = written.replaceAll("**", "").trim();
    let match = SECTION.exec(line);
    if (match) {
      section = (match[1] as string).toLowerCase();
      field = "";
    } else if ((match = ANSWER.exec(line))) {
      section = "";
      field = "final_answer";
      found[field] = (match[1] as string).trim();
    } else if (section && (match = FIELD.exec(line))) {
      field = `${section}.${(match[1] as string).toLowerCase()}`;
      found[field] = (match[2] as string).trim();
    } else if (field && line) found[field] = `${found[field]} ${line}`.trim();
  }
  const names = [...STEPS.flatMap((step) => FIELDS.map((name) => `${step}.${name}`)), "final_answer"];
  const cue = (step: Step): Record<keyof Cue, string> => ({ timeframe: found[`${step}.timeframe`] ?? "", description: found[`${step}.description`] ?? "", analysis: found[`${step}.analysis`] ?? "" });
  return { visual: cue("visual"), audio: cue("audio"), final_answer: found.final_answer ?? "", missing: names.filter((name) => !found[name]) };
}

const PARTS = /[,;]|\band\b/;
const VALUES = /[-–—]|\bto\b/;
const WHOLE = /\b(?:throughout|entire|whole|full)\b/;
const LEADING = /^(?:(?:from|between|at|around|approximately|about)\b|approx\b\.?|~)\s*/;
const CLOCK = /^(?:([0-9]{1,9}):)?([0-9]{1,9}):([0-9]{1,2}(?:\.[0-9]+)?)\.?$/;
const NUMBER = /^([0-9]{1,9}(?:\.[0-9]+)?)\s*(?:s|sec|secs|second|seconds)?\.?$/;

const strip = (text: string): string => text.replace(/^[\s[\]()]+|[\s[\]()]+$/g, "");

function seconds(text: string): number | null {
  const clock = CLOCK.exec(text);
  if (clock) {
    const [, hours, minutes, rest] = clock;
    if (Number(rest) >= 60 || (hours !== undefined && Number(minutes) >= 60)) return null;
    return Number(hours ?? 0) * 3600 + Number(minutes) * 60 + Number(rest);
  }
  const number = NUMBER.exec(text);
  return number ? Number(number[1]) : null;
}

/** What a timeframe such as "00:12 - 00:15 and around 20s" says, in seconds. What is no time is left out. */
export function parseTimeframe(text: string): { intervals: Interval[]; whole: boolean; raw: string } {
  const intervals: Interval[] = [];
  let whole = false;
  for (const written of text.toLowerCase().split(PARTS)) {
    if (WHOLE.test(written)) {
      whole = true;
      continue;
    }
    const values = strip(written).replace(LEADING, "").split(VALUES).map((value) => seconds(strip(value)));
    const [start, end] = [values[0] ?? null, values.at(-1) ?? null];
    if (values.length <= 2 && start !== null && end !== null && start <= end) intervals.push([start, end]);
  }
  return { intervals, whole, raw: text };
}

const us = (value: number): number => Math.floor(value * 1e6 + 0.5);

/** A time as a person types it ("1:22.5", "82.5 s") in whole microseconds; null when it is none. */
export function parseClock(text: string): number | null {
  const value = seconds(strip(text.toLowerCase().replace(",", ".")));
  return value === null ? null : us(value);
}

/** MM:SS.mmm, rounded half up; minutes go on past 99. Without decimals there is no point. */
export function formatClock(time: number, decimals = 3): string {
  const unit = 10 ** (6 - decimals);
  const count = Math.floor((Math.abs(time) + Math.floor(unit / 2)) / unit);
  const perMinute = 60 * 10 ** decimals;
  const rest = count % perMinute;
  const two = (value: number): string => String(value).padStart(2, "0");
  const part = decimals ? `.${String(rest % 10 ** decimals).padStart(decimals, "0")}` : "";
  return `${time < 0 && count ? "-" : ""}${two(Math.floor(count / perMinute))}:${two(Math.floor(rest / 10 ** decimals))}${part}`;
}

/** A timeframe in the form of the document. */
export function timeframeOf(text: string): Timeframe {
  const { intervals, whole } = parseTimeframe(text);
  return { whole, intervals: intervals.map(([start, end]): Interval => [us(start), us(end)]), raw: text };
}

const formatSpan = ([start, end]: Interval): string => (start === end ? formatClock(start) : `${formatClock(start)} - ${formatClock(end)}`);

const sameIntervals = (a: readonly Interval[], b: readonly Interval[]): boolean => a.length === b.length && a.every(([start, end], k) => start === b[k]?.[0] && end === b[k]?.[1]);

/** The text of a timeframe: what a person wrote where it says just that, times in milliseconds otherwise. */
export function formatTimeframe(timeframe: Timeframe): string {
  const said = timeframeOf(timeframe.raw);
  if (said.whole === timeframe.whole && sameIntervals(said.intervals, timeframe.intervals)) return timeframe.raw;
  return [...(timeframe.whole ? ["throughout"] : []), ...timeframe.intervals.map(formatSpan)].join(", ");
}

/** A timeframe set by hand, with the text that says it. */
export function madeTimeframe(intervals: readonly Interval[], whole = false): Timeframe {
  const sorted = intervals.map(([start, end]): Interval => [start, end]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return { whole, intervals: sorted, raw: formatTimeframe({ whole, intervals: sorted, raw: "" }) };
}

/** The chain of thought as text that `parse` reads; line breaks inside a field become spaces. */
export function formatCot(cot: { visual: Cue; audio: Cue; final_answer: string }): string {
  const plain = (text: string): string => text.split(/\s+/).filter(Boolean).join(" ");
  const lines = STEPS.flatMap((step) => [
    `${step === "visual" ? "Visual" : "Audio"} Cue:`,
    ...FIELDS.map((name) => {
      const text = name === "timeframe" ? formatTimeframe(cot[step].timeframe) : cot[step][name];
      return `- ${name.charAt(0).toUpperCase()}${name.slice(1)}: ${plain(text)}`.trimEnd();
    }),
  ]);
  return `${[...lines, `Final Answer: ${plain(cot.final_answer)}`.trimEnd()].join("\n")}\n`;
}
