// Edits of the what-if mode with undo and redo. Pure: nothing is sent or stored here.
import type { Edge, Model } from "./model";
import { edgeKey } from "./model";
import type { FlipChange, RelationWord } from "./payload";

export interface EdgeEdit {
  premises: number[];
  target: number;
  /** The label to suppose; null supposes that the relation was never scored. */
  label: RelationWord | null;
}

export interface History {
  past: EdgeEdit[][];
  present: EdgeEdit[];
  future: EdgeEdit[][];
}

export const EMPTY_HISTORY: History = { past: [], present: [], future: [] };

const keyOf = (edit: EdgeEdit): string => edgeKey(edit.premises, edit.target);
const same = (a: EdgeEdit[], b: EdgeEdit[]): boolean =>
  a.length === b.length && a.every((edit, k) => keyOf(edit) === keyOf(b[k] as EdgeEdit) && edit.label === b[k]?.label);

function moveTo(history: History, next: EdgeEdit[]): History {
  if (same(history.present, next)) return history;
  return { past: [...history.past, history.present], present: next, future: [] };
}

/** Adds edits as one step; an edit replaces an earlier one of the same relation, and one that says what is stored goes away. */
export function apply(history: History, edits: EdgeEdit[], stored: Model): History {
  const present = new Map(history.present.map((edit) => [keyOf(edit), edit]));
  for (const edit of edits) {
    const key = keyOf(edit);
    present.delete(key);
    if ((stored.byKey.get(key)?.label ?? null) !== edit.label) present.set(key, edit);
  }
  return moveTo(history, [...present.values()]);
}

/** Replaces all edits by one set of changes, as one step. */
export function tryChanges(history: History, changes: FlipChange[]): History {
  return moveTo(
    history,
    changes.map(({ premises, target, to }) => ({ premises, target, label: to })),
  );
}

export function undo(history: History): History {
  const previous = history.past.at(-1);
  if (!previous) return history;
  return { past: history.past.slice(0, -1), present: previous, future: [history.present, ...history.future] };
}

export function redo(history: History): History {
  const [next, ...rest] = history.future;
  if (!next) return history;
  return { past: [...history.past, history.present], present: next, future: rest };
}

/** Back to the stored audit; can be undone. */
export const reset = (history: History): History => moveTo(history, []);

export const editOf = (history: History, edge: Pick<Edge, "key">): EdgeEdit | undefined =>
  history.present.find((edit) => keyOf(edit) === edge.key);
