// Undo and redo as commands: each holds the fields that it changed, before and after. Pure.
import type { Draft } from "./label-draft";

export interface Command {
  segment: number;
  before: Partial<Draft>;
  after: Partial<Draft>;
  /** Words for the message: "the comment". */
  what: string;
  /** Commands of one group (typing in one comment) that follow each other closely are one step. */
  group: string | null;
  at: number;
}

export interface History {
  past: Command[];
  future: Command[];
}

export const NO_HISTORY: History = { past: [], future: [] };

/** A pause longer than this starts a new step while typing. */
export const GROUP_MS = 1500;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The command of changing a draft by `change`; null when nothing changes. */
export function command(segment: number, draft: Draft, change: Partial<Draft>, what: string, at: number, group: string | null = null): Command | null {
  const before: Record<string, unknown> = {};
  const after: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(change)) {
    const old = draft[field as keyof Draft];
    if (same(old, value)) continue;
    before[field] = old;
    after[field] = value;
  }
  return Object.keys(after).length ? { segment, before, after, what, group, at } : null;
}

export function record(history: History, done: Command): History {
  const last = history.past.at(-1);
  const joins = last && done.group !== null && last.group === done.group && last.segment === done.segment && done.at - last.at <= GROUP_MS;
  if (!joins) return { past: [...history.past, done], future: [] };
  const joined: Command = { ...done, before: { ...done.before, ...last.before }, after: { ...last.after, ...done.after } };
  const past = history.past.slice(0, -1);
  return { past: same(joined.before, joined.after) ? past : [...past, joined], future: [] };
}

export interface Step {
  history: History;
  /** What to change, and where; null when there is nothing to undo or redo. */
  step: { segment: number; change: Partial<Draft>; what: string } | null;
}

export function undo(history: History): Step {
  const last = history.past.at(-1);
  if (!last) return { history, step: null };
  return {
    history: { past: history.past.slice(0, -1), future: [last, ...history.future] },
    step: { segment: last.segment, change: last.before, what: last.what },
  };
}

export function redo(history: History): Step {
  const [next, ...future] = history.future;
  if (!next) return { history, step: null };
  return {
    // What was redone is a finished step: typing on does not join it.
    history: { past: [...history.past, { ...next, group: null }], future },
    step: { segment: next.segment, change: next.after, what: next.what },
  };
}
