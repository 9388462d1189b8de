// Banner of the what-if mode: says that nothing is saved, what was changed, and what follows from it.
import { AUDIT_WORDS, RELATION_WORDS, edgeName, plural, segmentName } from "../../lib/words";
import { AuditChip, Icon } from "../shared/parts";
import type { Store } from "./store";

export function WhatIfBar({ store }: { store: Store }) {
  if (!store.whatIfOn.value) return null;
  const { past, future } = store.history.value;
  const edits = store.edits.value;
  const changes = store.changes.value;
  return (
    <section class="what-if" aria-label="What-if mode">
      <div class="what-if-head">
        <Icon name="magic" />
        <b>What-if: nothing is saved</b>
        {store.slow.value && (
          <span class="what-if-wait" role="status">
            <span class="spinner" /> auditing again
          </span>
        )}
        <span class="grow" />
        <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Undo" title="Undo (U)" disabled={past.length === 0} onClick={store.undo}>
          <Icon name="arrow-counterclockwise" />
        </button>
        <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Redo" title="Redo (Shift U)" disabled={future.length === 0} onClick={store.redo}>
          <Icon name="arrow-clockwise" />
        </button>
        <button type="button" class="btn btn-quiet btn-sm" disabled={edits.length === 0} onClick={store.reset}>
          Reset
        </button>
      </div>
      {store.problem.value && (
        <p class="what-if-problem" role="alert">
          {store.problem.value} The labels shown are those from before the last change.{" "}
          <button type="button" class="btn btn-link btn-sm" onClick={store.retry}>
            Try again
          </button>
        </p>
      )}
      {edits.length === 0 ? (
        <p class="muted small">Press the word on an edge, a column of the matrix, or a label in the table to relabel or remove a relation.</p>
      ) : (
        <div class="what-if-lists">
          <ul class="what-if-edits" aria-label="Changed relations">
            {edits.map((edit) => (
              <li key={edgeName(edit.premises, edit.target)}>
                {edgeName(edit.premises, edit.target)}: {edit.label ? RELATION_WORDS[edit.label] : "removed"}
              </li>
            ))}
          </ul>
          <ul class="what-if-changes" aria-label="Segments that change" aria-live="polite">
            {changes.map(({ index, from, to }) => (
              <li key={index}>
                <button type="button" class="btn btn-link btn-sm" onClick={() => store.select(index)} aria-label={`${segmentName(index)}: ${AUDIT_WORDS[from].word} becomes ${AUDIT_WORDS[to].word}`}>
                  {segmentName(index)}
                </button>
                <AuditChip label={from} />
                <span aria-hidden="true">→</span>
                <AuditChip label={to} />
              </li>
            ))}
            {changes.length === 0 && !store.asking.value && !store.problem.value && (
              <li class="muted">No label changes after {plural(edits.length, "change")}.</li>
            )}
          </ul>
        </div>
      )}
    </section>
  );
}
