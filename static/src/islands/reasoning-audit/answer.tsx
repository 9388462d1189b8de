// What one says of the chain: a word for each criterion, a note, and the way on.
import { useLayoutEffect, useRef } from "preact/hooks";
import { overLimit } from "../../lib/label-draft";
import { countCodePoints } from "../../lib/text-spans";
import { Icon } from "../shared/parts";
import type { Store } from "./store";
import type { Criterion, Word } from "./types";
import { WORDS } from "./types";

const LOOK: Record<Word, { css: string; icon: string }> = {
  yes: { css: "correct", icon: "check-lg" },
  no: { css: "incorrect", icon: "x-lg" },
  unsure: { css: "uncertain", icon: "question-lg" },
};
const SOUND: Record<Word, string> = { yes: "Sound", no: "Not sound", unsure: "Unsure" };
const PLAIN: Record<Word, string> = { yes: "Yes", no: "No", unsure: "Unsure" };
export const wordFor = (criterion: string, word: Word): string => (criterion === "sound" ? SOUND : PLAIN)[word];

export function Answer({ store }: { store: Store }) {
  const { page } = store;
  const head = useRef<HTMLHeadingElement>(null);
  const focus = store.focusOn.value;
  // At once: a key pressed in between would go to where the focus was.
  useLayoutEffect(() => {
    if (focus === "answer") head.current?.focus({ preventScroll: true });
    if (focus === "note") document.querySelector<HTMLElement>("#audit-note")?.focus();
    store.focusOn.value = null;
  }, [focus]);
  const total = page.queue.length;
  return (
    <>
      <div class="pane-head">
        <h2 ref={head} tabIndex={-1} class="chain-place">
          <span class="num">{store.at.value + 1}</span> of <span class="num">{total}</span>
        </h2>
        <span class="grow" />
        <span class="muted num nowrap">{store.done.value.toLocaleString("en")} judged</span>
      </div>
      <div class="pane-body">
        <progress class={`progress-line${store.finished.value ? " done" : ""}`} max={total} value={store.done.value} aria-label="Chains judged">
          {store.done.value} of {total}
        </progress>
        {page.criteria.map((criterion, k) => (
          <Choice key={criterion.id} store={store} criterion={criterion} active={page.criteria.length === 1 || store.criterion.value === k} />
        ))}
        <Note store={store} />
        {store.blocked.value && (
          <p class="card-blocked" role="alert">
            <Icon name="exclamation-triangle" />
            {store.blocked.value}
          </p>
        )}
        <div class="card-actions">
          <button type="button" class="btn btn-quiet" disabled={store.at.value === 0} onClick={() => store.move(-1)}>
            <Icon name="arrow-left" />
            Back
          </button>
          <button type="button" class="btn btn-primary" id="next-chain" onClick={store.next}>
            Next <kbd class="on-primary">Enter</kbd>
          </button>
          <button type="button" class="btn btn-quiet" disabled={store.past.value.length === 0 || !store.editable.value} onClick={store.undo}>
            <Icon name="arrow-counterclockwise" />
            Undo
          </button>
        </div>
        {store.finished.value && (
          <div class="notice good" role="status">
            <Icon name="check-circle" />
            <p>
              All {total.toLocaleString("en")} chains are judged. Answers can still be changed. <a href={`?kind=${page.kind}&view=results${limits()}`}>See the results</a>
            </p>
          </div>
        )}
        <p class="muted small chain-blind">You are not told which rule chose a chain, how it scored, or what anybody else said of it.</p>
      </div>
    </>
  );
}

/** How much of the queue is asked for stays in the address. */
const limits = (): string => {
  const query = new URLSearchParams(location.search);
  return ["paths", "most"].map((name) => (query.get(name) ? `&${name}=${encodeURIComponent(query.get(name) ?? "")}` : "")).join("");
};

function Choice({ store, criterion, active }: { store: Store; criterion: Criterion; active: boolean }) {
  const group = useRef<HTMLDivElement>(null);
  const word = store.current.value.answers[criterion.id];
  const disabled = !store.editable.value;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const buttons = [...(group.current?.querySelectorAll<HTMLElement>("[role='radio']") ?? [])];
    const next = (buttons.indexOf(document.activeElement as HTMLElement) + step + buttons.length) % buttons.length;
    buttons[next]?.focus();
    const chosen = WORDS[next];
    if (chosen) store.answer(criterion.id, chosen, false);
  };
  return (
    // The keys 1 to 3 are for the criterion where the focus is.
    <section
      onFocusIn={() => (store.criterion.value = store.page.criteria.indexOf(criterion))}
      class={`audit-criterion${active && store.page.criteria.length > 1 ? " is-active" : ""}`}
      aria-labelledby={`criterion-${criterion.id}`}
    >
      <h3 id={`criterion-${criterion.id}`}>{criterion.title}</h3>
      <p class="muted small" id={`help-${criterion.id}`}>
        {criterion.help}
      </p>
      <div class="choice" role="radiogroup" aria-labelledby={`criterion-${criterion.id}`} aria-describedby={`help-${criterion.id}`} aria-disabled={disabled || undefined} ref={group} onKeyDown={onKeyDown}>
        {WORDS.map((one, k) => (
          <button
            key={one}
            type="button"
            role="radio"
            class={`choice-button ${LOOK[one].css}`}
            aria-checked={word === one}
            tabIndex={one === (word ?? "yes") ? 0 : -1}
            disabled={disabled}
            onClick={() => store.answer(criterion.id, one)}
          >
            <Icon name={LOOK[one].icon} />
            {wordFor(criterion.id, one)}
            {active && <kbd aria-hidden="true">{k + 1}</kbd>}
          </button>
        ))}
      </div>
    </section>
  );
}

function Note({ store }: { store: Store }) {
  const { note } = store.current.value;
  const over = overLimit(note, store.page.limits.note);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      store.next();
    } else if (event.key === "Escape") {
      event.preventDefault();
      store.focusOn.value = "answer";
    }
  };
  return (
    <>
      <label class="comment-label" for="audit-note">
        Note, if you like <kbd aria-hidden="true">M</kbd>
      </label>
      <textarea
        id="audit-note"
        class="form-control comment"
        rows={2}
        value={note}
        readOnly={!store.editable.value}
        spellcheck
        aria-invalid={over > 0 || undefined}
        aria-describedby={over ? "audit-note-limit" : undefined}
        onInput={(event) => store.note(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {over > 0 && (
        <p class="comment-limit num" id="audit-note-limit" role="alert">
          <Icon name="exclamation-triangle" />
          {countCodePoints(note).toLocaleString("en")} characters, and {store.page.limits.note.toLocaleString("en")} are allowed: shorten the note to save it. It is kept here.
        </p>
      )}
    </>
  );
}
