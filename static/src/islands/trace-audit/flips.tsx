// "What would flip S8?": the smallest sets of relation changes that give the segment another label.
import { useState } from "preact/hooks";
import type { AuditWord, FlipChange, FlipsPayload } from "../../lib/payload";
import { AUDIT_WORDS, RELATION_WORDS, edgeName, plural, segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
import type { Store } from "./store";

/** Sets shown before "n more": the drawing below should stay in view. */
const FIRST = 4;

export function Flips({ store }: { store: Store }) {
  const index = store.selected.value;
  const state = store.flips.value;
  const stored = store.stored.segments.get(index)?.label;
  const others = (Object.keys(AUDIT_WORDS) as AuditWord[]).filter((word) => word !== stored);
  const first = others[0] ?? "supported";
  if (state.kind === "closed") {
    return (
      <button type="button" class="btn btn-quiet btn-sm" onClick={() => void store.askFlips(first)}>
        <Icon name="signpost-split" />
        What would flip {segmentName(index)}?
      </button>
    );
  }
  return (
    <section class="flips" aria-label={`What would flip ${segmentName(index)}`}>
      <div class="flips-head">
        <h3>Smallest changes that make {segmentName(index)}</h3>
        <select
          class="form-select form-select-sm"
          aria-label="Label to reach"
          value={state.to}
          onChange={(event) => void store.askFlips(event.currentTarget.value as AuditWord)}
        >
          {others.map((word) => (
            <option key={word} value={word}>
              {AUDIT_WORDS[word].word}
            </option>
          ))}
        </select>
        <span class="grow" />
        <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Close" onClick={store.closeFlips}>
          <Icon name="x-lg" />
        </button>
      </div>
      <div role="status">
        {state.kind === "asking" && (
          <p class="muted">
            <span class="spinner slow" /> Searching…
          </p>
        )}
        {state.kind === "failed" && <p class="what-if-problem">{state.problem}</p>}
        {state.kind === "ready" && <Answer key={`${index}${state.to}`} store={store} answer={state.answer} />}
      </div>
    </section>
  );
}

function Answer({ store, answer }: { store: Store; answer: FlipsPayload }) {
  const [all, setAll] = useState(false);
  if (!answer.found) return <p class="muted">No set of up to {plural(answer.searched_up_to, "change")} does it.</p>;
  const shown = all ? answer.sets : answer.sets.slice(0, FIRST);
  return (
    <>
      <p class="muted small">
        {answer.truncated ? "At least " : ""}
        {plural(answer.sets.length, "set")} of {plural(answer.size ?? 0, "change")} in the stored audit; no smaller set does it.
      </p>
      <ul class="flip-sets">
        {shown.map((set) => (
          <li key={set.map((change) => edgeName(change.premises, change.target)).join()}>
            <span class="grow">{set.map(changeSentence).join("; ")}</span>
            <button type="button" class="btn btn-quiet btn-sm" onClick={() => store.tryFlip(set)}>
              Try
            </button>
          </li>
        ))}
      </ul>
      {shown.length < answer.sets.length && (
        <button type="button" class="btn btn-link btn-sm" onClick={() => setAll(true)}>
          {plural(answer.sets.length - shown.length, "more set")}
        </button>
      )}
    </>
  );
}

function changeSentence({ premises, target, from, to }: FlipChange): string {
  const word = (label: FlipChange["from"]): string => (label ? RELATION_WORDS[label] : "no label");
  return `${edgeName(premises, target)}: ${word(from)} becomes ${word(to)}`;
}
