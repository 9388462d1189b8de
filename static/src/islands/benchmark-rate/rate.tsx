// On the right: three facets from 1 to 5, a note to each, and the way on.
import { useLayoutEffect, useRef } from "preact/hooks";
import { overLimit } from "../../lib/label-draft";
import { countCodePoints } from "../../lib/text-spans";
import { plural } from "../../lib/words";
import { Icon, Notice } from "../shared/parts";
import type { Store } from "./store";
import type { Facet } from "./types";
import { LEVELS } from "./types";

export function Rate({ store }: { store: Store }) {
  const { page } = store;
  const head = useRef<HTMLHeadingElement>(null);
  const [answer] = store.place.value;
  const focus = store.focusOn.value;
  // At once: a key pressed in between would go to where the focus was.
  useLayoutEffect(() => {
    if (focus === "head") head.current?.focus({ preventScroll: true });
    if (focus === "note") document.querySelector<HTMLElement>("#rate-note")?.focus();
    if (focus === "facet") document.querySelector<HTMLElement>(".rate-facet.is-active [role='radio'][tabindex='0']")?.focus();
    store.focusOn.value = null;
  }, [focus]);
  const total = page.queue.length;
  const aside = store.passedOver.value;
  return (
    <>
      <div class="pane-head">
        <h2 ref={head} tabIndex={-1} class="chain-place">
          <span class="num">{store.at.value + 1}</span> of <span class="num">{total}</span>
        </h2>
        <span class="grow" />
        <span class="muted num nowrap">
          {store.done.value.toLocaleString("en")} rated{aside > 0 && `, ${aside} set aside`}
        </span>
      </div>
      <div class="pane-body">
        <progress class={`progress-line${store.finished.value ? " done" : ""}`} max={total} value={store.done.value} aria-label="Answers rated">
          {store.done.value} of {total}
        </progress>
        {store.finished.value && <Thanks store={store} />}
        {page.facets.map((facet, k) => (
          <Scale key={facet.id} store={store} facet={facet} place={k} />
        ))}
        {store.passed(answer) && (
          <p class="muted small">
            You set this answer aside in this session: it does not count as rated.{" "}
            <button type="button" class="btn-text" onClick={store.skip}>
              Take it up again
            </button>
          </p>
        )}
        <p class="muted small chain-blind">You are not told which model answered, nor what judges or others gave.</p>
      </div>
      {/* In sight however long the scales are. */}
      <div class="rate-foot">
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
          <button type="button" class="btn btn-primary" id="next-answer" onClick={store.next}>
            Next <kbd class="on-primary">Enter</kbd>
          </button>
          <button type="button" class="btn btn-quiet" disabled={store.past.value.length === 0 || !store.editable.value} onClick={store.undo}>
            <Icon name="arrow-counterclockwise" />
            Undo
          </button>
          {store.open(answer) && (
            <button type="button" class="btn btn-quiet" disabled={!store.editable.value} onClick={store.skip}>
              Cannot judge <kbd>S</kbd>
            </button>
          )}
        </div>
      </div>
    </>
  );
}

function Thanks({ store }: { store: Store }) {
  const { page } = store;
  const [, item] = store.place.value;
  const rated = store.done.value;
  const aside = store.passedOver.value;
  return (
    <Notice kind="good" icon="check-circle">
      <p>
        Thank you: {plural(rated, "answer is", "answers are")} rated{aside > 0 && ` and ${plural(aside, "is", "are")} set aside`}. Ratings can still be changed.{" "}
        {page.urls.items ? (
          <>
            Of the answers that you rated you can see now what judges and others gave:{" "}
            <a href={`${page.urls.items.replace(/\/0\/$/, `/${item}/`)}#answer-${store.place.value[0]}`}>this one on its page</a>.
          </>
        ) : (
          "Whoever leads the benchmark compares them with what judges gave; your name is not shown there."
        )}
      </p>
    </Notice>
  );
}

function Scale({ store, facet, place }: { store: Store; facet: Facet; place: number }) {
  const group = useRef<HTMLDivElement>(null);
  const given = store.of(store.place.value[0], facet.id);
  const active = store.facet.value === place;
  const disabled = !store.editable.value;
  const onKeyDown = (event: KeyboardEvent): void => {
    // Up and down go to another facet (keys of the page); the other two move inside the scale.
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const buttons = [...(group.current?.querySelectorAll<HTMLElement>("[role='radio']") ?? [])];
    const next = (buttons.indexOf(document.activeElement as HTMLElement) + step + buttons.length) % buttons.length;
    buttons[next]?.focus();
    const level = LEVELS[next];
    if (level) store.give(facet.id, level, false);
  };
  return (
    // The keys 1 to 5 are for the facet where the focus is.
    <section onFocusIn={() => (store.facet.value = place)} class={`rate-facet${active ? " is-active" : ""}`} aria-labelledby={`facet-${facet.id}`}>
      <h3 id={`facet-${facet.id}`}>{facet.title}</h3>
      <p class="muted small" id={`facet-help-${facet.id}`} hidden={!active}>
        {facet.help}
      </p>
      <div class="rate-scale" role="radiogroup" aria-labelledby={`facet-${facet.id}`} aria-describedby={`facet-help-${facet.id}`} aria-disabled={disabled || undefined} ref={group} onKeyDown={onKeyDown}>
        {LEVELS.map((level) => (
          <button
            key={level}
            type="button"
            role="radio"
            class="rate-level num"
            aria-checked={given.value === level}
            aria-label={`${level}: ${facet.levels[level - 1] ?? ""}`}
            title={facet.levels[level - 1]}
            tabIndex={level === (given.value ?? 1) ? 0 : -1}
            disabled={disabled}
            onClick={() => store.give(facet.id, level)}
          >
            {level}
          </button>
        ))}
      </div>
      {active ? (
        <dl class="rate-words">
          {[...LEVELS].reverse().map((level) => (
            <div key={level} class={given.value === level ? "is-given" : ""}>
              <dt class="num">{level}</dt>
              <dd>{facet.levels[level - 1]}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <p class="rate-given small">{given.value === null ? <span class="muted">Not rated yet</span> : facet.levels[given.value - 1]}</p>
      )}
      {active && <Note store={store} facet={facet} />}
    </section>
  );
}

function Note({ store, facet }: { store: Store; facet: Facet }) {
  const { note, value } = store.of(store.place.value[0], facet.id);
  const over = overLimit(note, store.page.limits.note);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      store.next();
    } else if (event.key === "Escape") {
      event.preventDefault();
      store.focusOn.value = "facet";
    }
  };
  return (
    <>
      <label class="comment-label" for="rate-note">
        Note, if you like <kbd aria-hidden="true">M</kbd>
      </label>
      <textarea
        id="rate-note"
        class="form-control comment"
        rows={2}
        value={note}
        readOnly={!store.editable.value || value === null}
        placeholder={value === null ? "Rate first; the note is kept with the rating." : ""}
        spellcheck
        aria-invalid={over > 0 || undefined}
        aria-describedby={over ? "rate-note-limit" : undefined}
        onInput={(event) => store.note(facet.id, event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {over > 0 && (
        <p class="comment-limit num" id="rate-note-limit" role="alert">
          <Icon name="exclamation-triangle" />
          {countCodePoints(note).toLocaleString("en")} characters, and {store.page.limits.note.toLocaleString("en")} are allowed: shorten the note to save it. It is kept here.
        </p>
      )}
    </>
  );
}
