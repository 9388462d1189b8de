// What is ticked in a list, in words. Pure.
import { plural } from "./words";

export interface Ticks {
  /** Ticked rows of this page. */
  ticked: number;
  /** Rows of this page. */
  shown: number;
  /** Rows of all pages that match the filters. */
  matching: number;
  /** All rows that match were chosen, those of other pages too. */
  all: boolean;
}

export interface SelectionWords {
  /** "12 selected"; empty when nothing is. */
  count: string;
  /** "Select all 412 that match"; empty where that would add nothing. */
  offer: string;
  run: string;
}

/** `unit` is what a row is: "trace", "question". */
export function selectionWords({ ticked, shown, matching, all }: Ticks, unit = "trace"): SelectionWords {
  const chosen = all ? matching : ticked;
  return {
    count: chosen === 0 ? "" : all ? `All ${plural(chosen, unit)} that match selected` : `${number(chosen)} selected`,
    offer: !all && shown > 0 && ticked === shown && matching > shown ? `Select all ${number(matching)} that match` : "",
    run: chosen === 0 ? "Run audit" : `Run audit on ${number(chosen)}`,
  };
}

/** State of the box in the head of the list. */
export const headState = ({ ticked, shown }: Ticks): "none" | "some" | "all" =>
  ticked === 0 ? "none" : ticked === shown ? "all" : "some";

const number = (value: number): string => value.toLocaleString("en");

/** Whether limits in per cent reach into the range of ten per cent that begins at `first`; the last one holds 100 too. */
export const barIsTaken = (first: number, low: number, high: number): boolean =>
  low <= high && high >= first && (low < first + 10 || (first === 90 && low === 100));
