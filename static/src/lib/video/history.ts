// Undo and redo: what was done is kept as operations, and taking one back is an operation of its own. View state is none of it. Pure.
import type { Operation, Path } from "./document";
import { equal, inverse } from "./document";
import { keyframeFrames } from "./tracks";
import type { Track } from "./tracks";

/** Where something happened, for the words and to go there. */
export interface Place {
  track: string | null;
  event: string | null;
  step: "visual" | "audio" | "final" | null;
  frame: number | null;
}

export interface Done {
  operation: Operation;
  /** The frame that was on the screen. */
  frame: number;
  /** Operations of one group (typing in one field) that follow each other closely are one step. */
  group: string | null;
  at: number;
}

export interface History {
  past: Done[];
  future: Done[];
}

export const NO_HISTORY: History = { past: [], future: [] };

/** A pause longer than this starts a new step while typing. */
export const GROUP_MS = 1500;

const key = (path: Path): string => path.join("\u0000");

/** Two operations after each other as one, under the id and words of the later one. */
export function join(first: Operation, second: Operation): Operation {
  const changes = first.changes.map((change) => ({ ...change }));
  for (const change of second.changes) {
    const same = changes.find((one) => key(one.path) === key(change.path));
    if (same) same.after = change.after;
    else changes.push({ ...change });
  }
  return { ...second, changes: changes.filter((change) => !equal(change.before, change.after)) };
}

/** Whether an operation goes on with the last step. */
export function joins(history: History, done: Done): boolean {
  const last = history.past.at(-1);
  return last !== undefined && done.group !== null && last.group === done.group && done.at - last.at <= GROUP_MS;
}

export function record(history: History, done: Done): History {
  const last = history.past.at(-1);
  if (!last || !joins(history, done)) return { past: [...history.past, done], future: [] };
  const operation = join(last.operation, done.operation);
  const past = history.past.slice(0, -1);
  return { past: operation.changes.length ? [...past, { ...done, frame: last.frame, operation }] : past, future: [] };
}

export interface Taken {
  history: History;
  /** What to apply, and what it was; null when there is nothing. */
  done: { operation: Operation; of: Done } | null;
}

export function undo(history: History, id: string): Taken {
  const last = history.past.at(-1);
  if (!last) return { history, done: null };
  return {
    history: { past: history.past.slice(0, -1), future: [last, ...history.future] },
    done: { operation: inverse(last.operation, id, `Undo: ${last.operation.words}`), of: last },
  };
}

export function redo(history: History, id: string): Taken {
  const [next, ...future] = history.future;
  if (!next) return { history, done: null };
  return {
    // What was redone is a finished step: typing on does not join it.
    history: { past: [...history.past, { ...next, group: null }], future },
    done: { operation: { ...next.operation, id, words: `Redo: ${next.operation.words}` }, of: next },
  };
}

/** What an operation is about, so that a step out of sight can be shown. A whole track is shown where it begins. */
export function placeOf(operation: Operation): Place {
  const place: Place = { track: null, event: null, step: null, frame: null };
  for (const { path, before, after } of operation.changes) {
    const [root, id, field, frame] = path;
    if (root === "tracks") {
      place.track ??= id ?? null;
      if (field === "keyframes") place.frame ??= Number(frame);
      else if (field === undefined) place.frame ??= keyframeFrames((after ?? before) as Track)[0] ?? null;
    } else if (root === "events") place.event ??= id ?? null;
    else if (root === "cot") place.step ??= id === "visual" || id === "audio" ? id : "final";
  }
  return place;
}
