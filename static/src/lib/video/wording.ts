// How findings speak of times and objects, and whether a text names an object; the same as videos/core/wording.py. Pure.
import { formatClock } from "./cot";
import type { Interval } from "./intervals";

const LONGEST_QUOTE = 60;
const WORD = /[\p{L}\p{N}_]+/gu;

/** Words of a text in a form to compare: without case and without a plural s. */
export const wordsOf = (text: string): string[] => (text.toLowerCase().replaceAll("ß", "ss").match(WORD) ?? []).map((word) => word.replace(/(?<=[\p{L}\p{N}_]{2})s$/u, ""));

/** Whether words stand in a text side by side; no words stand nowhere. */
export const standsIn = (words: readonly string[], text: readonly string[]): boolean => words.length > 0 && text.some((_, place) => words.every((word, k) => text[place + k] === word));

/** Whether one label ends with the words of the other. */
export function sameObject(a: readonly string[], b: readonly string[]): boolean {
  const size = Math.min(a.length, b.length);
  return size > 0 && a.slice(-size).join(" ") === b.slice(-size).join(" ");
}

export function short(written: string): string {
  const text = written.split(/\s+/).filter(Boolean).join(" ");
  const points = [...text];
  return points.length <= LONGEST_QUOTE ? text : `${points.slice(0, LONGEST_QUOTE - 1).join("")}…`;
}

export const nameOf = ({ label }: { label: string }): string => (label.trim() ? `"${short(label)}"` : "The one without a label");

export const clock = (us: number): string => formatClock(us, 1);
export const span = (start: number, end: number): string => (start === end ? clock(start) : `${clock(start)} - ${clock(end)}`);

/** The first three of several spans, and that there are more. */
export function spans(pairs: readonly Interval[]): string {
  const texts = pairs.map(([start, end]) => span(start, end));
  return texts.slice(0, 3).join(", ") + (texts.length > 3 ? " and more" : "");
}
