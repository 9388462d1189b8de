// What the page's head says: which case, how far, whether everything is saved; and "Submit case".
import { useEffect, useRef } from "preact/hooks";
import { isComplete } from "../../lib/label-draft";
import type { QueueState } from "../../lib/save-queue";
import { plural, segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
import { SavedState, saveWords } from "../shared/saved-state";
import type { Workspace } from "./workspace";
import { NOTES } from "./workspace";

export function SubHead({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { case: { title }, position, study, kind, reveal } = store.payload.value;
  const draft = store.isDraftState.value;
  const mayCompare = reveal.done || reveal.allowed;
  const compare = (): void => {
    if (reveal.done) store.comparing.value = true;
    else store.dialog.value = "reveal";
  };
  return (
    <>
      <div class="sub-title">
        <h1 title={title}>{title}</h1>
        <span class="muted small clip">
          Case {position.number} of {position.of}, {study.name}
          {kind === "training" ? " (training)" : ""}
        </span>
      </div>
      <span class="grow" />
      <Dots workspace={workspace} />
      <span class="muted num nowrap">
        {store.done.value} of {store.judged.value.length} labelled
      </span>
      {study.blinding !== "blind" && (
        <span class="toggle" role="group" aria-label="View">
          <button type="button" aria-pressed={!store.comparing.value} onClick={() => (store.comparing.value = false)}>
            Label blind
          </button>
          <button type="button" aria-pressed={store.comparing.value} disabled={!mayCompare} title={mayCompare ? "Your labels beside the audit" : "The audit is hidden until you submit"} onClick={compare}>
            Compare
          </button>
        </span>
      )}
      {draft ? (
        <button type="button" id="submit-case" class="btn btn-primary btn-sm" disabled={!store.editable.value || store.busy.value} onClick={() => (store.dialog.value = "submit")}>
          {store.busy.value ? "Submitting" : "Submit case"}
        </button>
      ) : (
        <span class="chip accent">
          <Icon name="check-lg" />
          {stateWord(store.payload.value.state)}
        </span>
      )}
    </>
  );
}

const stateWord = (state: string): string => (state.charAt(0).toUpperCase() + state.slice(1)).replaceAll("_", " ");

function Dots({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const row = useRef<HTMLElement>(null);
  const current = store.current.value;
  useEffect(() => {
    const here = row.current?.querySelector<HTMLElement>('[aria-current="true"]');
    if (row.current && here) row.current.scrollLeft = here.offsetLeft - row.current.offsetLeft - row.current.clientWidth / 2;
  }, [current]);
  return (
    <nav class="dots" aria-label="Segments" ref={row}>
      {store.judged.value.map(({ index }) => {
        const draft = store.draft(index).value;
        const done = isComplete(draft);
        const words = done ? "labelled" : store.opened(index) ? "open" : "later";
        return (
          <a
            key={index}
            href={`#S${index}`}
            class={done ? "is-done" : ""}
            aria-current={index === current ? "true" : undefined}
            title={`${segmentName(index)}: ${words}${draft.flagged ? ", flagged" : ""}`}
            onClick={(event) => {
              event.preventDefault();
              store.tryGo(index);
            }}
          >
            {segmentName(index)}
            {draft.flagged && <span class="dot-flag" aria-hidden="true" />}
            <span class="visually-hidden">, {words}</span>
          </a>
        );
      })}
    </nav>
  );
}

function refusedWords({ parked }: QueueState): string {
  const notes = parked.has(NOTES);
  const segments = parked.size - Number(notes);
  return [...(segments ? [plural(segments, "segment")] : []), ...(notes ? ["my notes"] : [])].join(", ");
}

export function Saved({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const lastSaved = [...store.saved.value.values()].map((label) => label.saved_at ?? "").sort().at(-1) ?? null;
  const state = store.save.value;
  const act = state.hold?.kind === "login" ? "login" : [...state.parked.values()].some((one) => one.kind === "conflict") ? "conflict" : null;
  return <SavedState state={state} words={saveWords(state, lastSaved || null, refusedWords)} act={act && (() => (store.dialog.value = act))} retry={() => workspace.queue.retryNow()} />;
}
