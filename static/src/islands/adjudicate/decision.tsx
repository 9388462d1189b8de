// The decision: as A, as B or neither, reasons, note. A decision that stands is shown, and opened again only with a reason.
import { useRef } from "preact/hooks";
import { LABEL_ORDER, hasWord } from "../../lib/label-draft";
import { countCodePoints } from "../../lib/text-spans";
import { GOLD_WORDS, segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
import { matchesNobody, whose } from "./draft";
import { SaidChip } from "./queue";
import type { Store } from "./store";
import type { JudgedSegment } from "./types";

export function Decision({ store, segment }: { store: Store; segment: JudgedSegment }) {
  if (!segment.open && segment.decision.final) return <Decided store={store} segment={segment} />;
  if (!segment.open) return null;
  if (!store.page.may_decide) return <p class="adj-hint muted">Not decided yet.</p>;
  const reopened = segment.decision.draft?.reason;
  return (
    <div class="adj-decision">
      {reopened && (
        <p class="muted small">
          <Icon name="arrow-counterclockwise" /> Opened again: {reopened}
        </p>
      )}
      <h3 id="adj-your-decision">Your decision</h3>
      <Choice store={store} segment={segment} />
      <Reasons store={store} />
      <Note store={store} segment={segment} />
      {store.blocked.value && (
        <p class="card-blocked" role="alert">
          <Icon name="exclamation-circle" />
          {store.blocked.value}
        </p>
      )}
      <Failed store={store} />
      <Actions store={store} segment={segment} />
    </div>
  );
}

function Choice({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const group = useRef<HTMLDivElement>(null);
  const { label } = store.draft.value;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const buttons = [...(group.current?.querySelectorAll<HTMLElement>("[role='radio']") ?? [])];
    const next = (buttons.indexOf(document.activeElement as HTMLElement) + step + buttons.length) % buttons.length;
    buttons[next]?.focus();
    const chosen = LABEL_ORDER[next];
    if (chosen) store.choose(chosen);
  };
  return (
    <div class="choice" role="radiogroup" aria-labelledby="adj-your-decision" ref={group} onKeyDown={onKeyDown}>
      {LABEL_ORDER.map((one, k) => (
        <button
          key={one}
          type="button"
          role="radio"
          class={`choice-button ${one}`}
          aria-checked={label === one}
          tabIndex={one === (label ?? LABEL_ORDER[0]) ? 0 : -1}
          disabled={!store.editable.value}
          onClick={() => store.choose(one)}
        >
          <Icon name={GOLD_WORDS[one].icon} />
          {GOLD_WORDS[one].word}
          <span class="adj-whose">{whose(one, segment.labels)}</span>
          <kbd aria-hidden="true">{k + 1}</kbd>
        </button>
      ))}
    </div>
  );
}

/** Reasons of all labels: a segment may be right in one part and unsafe in another. Those of the labels given come first. */
function Reasons({ store }: { store: Store }) {
  const offered = new Map(Object.values(store.page.guideline?.reasons ?? {}).flatMap((list) => list.map(({ code, words }) => [code, words] as const)));
  if (offered.size === 0) return null;
  const { reasons } = store.draft.value;
  const given = new Set(Object.values(store.segment.value?.labels ?? {}).flatMap((one) => one.reasons));
  const order = [...offered].sort(([a], [b]) => Number(given.has(b)) - Number(given.has(a)));
  return (
    <div class="adj-reasons" role="group" aria-label="Reasons for your decision">
      <span class="muted small" aria-hidden="true">
        Reasons
      </span>
      {order.map(([code, words]) => {
        const on = reasons.includes(code);
        return (
          <button key={code} type="button" class="adj-reason" aria-pressed={on} disabled={!store.editable.value} onClick={() => store.toggleReason(code)}>
            {on && <Icon name="check-lg" />}
            {words}
          </button>
        );
      })}
    </div>
  );
}

function Note({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const { label, note } = store.draft.value;
  const required = label !== null && matchesNobody(label, segment.labels);
  const who = Object.keys(segment.labels).length === 2 ? "neither physician" : "nobody's label";
  const over = countCodePoints(note) > store.page.limits.note;
  return (
    <>
      <label class={required ? "adj-note required" : "adj-note"} for="adj-note">
        {required && <Icon name="exclamation-triangle" />}
        {required ? `Note required, because your decision matches ${who}. It becomes part of the record.` : "Note, if you like. It becomes part of the record."}
      </label>
      <textarea
        id="adj-note"
        class="form-control comment"
        rows={2}
        value={note}
        spellcheck
        required={required}
        readOnly={!store.editable.value}
        aria-invalid={over || (store.blocked.value !== "" && required && !hasWord(note)) || undefined}
        aria-describedby="adj-count"
        onInput={(event) => store.note(event.currentTarget.value)}
        onBlur={() => void store.saveDraft()}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            void store.decide();
          } else if (event.key === "Escape") {
            event.preventDefault();
            event.currentTarget.blur();
          }
        }}
      />
    </>
  );
}

function Failed({ store }: { store: Store }) {
  const state = store.save.value;
  if (state.kind !== "failed") return null;
  return (
    <p class="card-blocked" role="alert">
      <Icon name="exclamation-circle" />
      <span>Not saved. {state.message}</span>
      <button type="button" class="btn btn-quiet btn-sm" onClick={store.tryAgain}>
        Try now
      </button>
    </p>
  );
}

function Actions({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const { label, note } = store.draft.value;
  const count = countCodePoints(note);
  const limit = store.page.limits.note;
  const enough = count <= limit && (hasWord(note) || (label !== null && !matchesNobody(label, segment.labels)));
  return (
    <div class="adj-actions">
      <button type="button" class="btn btn-primary" disabled={!store.editable.value} onClick={() => void store.decide()}>
        Save decision
        <kbd class="on-primary" aria-hidden="true">
          ↵
        </kbd>
      </button>
      <button type="button" class="btn btn-quiet" onClick={store.skip} disabled={store.next.value === null}>
        Skip for now
      </button>
      {store.page.may_decide && (
        <button type="button" class="btn btn-quiet" aria-pressed={segment.clause_unclear} title="Tell the study's lead that the guideline is not clear here" onClick={() => void store.flagClause()}>
          <Icon name="flag" />
          Clause unclear
        </button>
      )}
      <span class="grow" />
      <span class={`small num adj-count${count > limit ? " over" : enough ? " enough" : ""}`} id="adj-count">
        {enough && <Icon name="check-lg" />}
        {count.toLocaleString("en")} / {limit.toLocaleString("en")}
        <span class="visually-hidden"> characters of the note</span>
      </span>
    </div>
  );
}

function Decided({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const final = segment.decision.final;
  if (!final?.label) return null;
  const released = store.item.value?.state === "released";
  const next = store.next.value;
  return (
    <div class="adj-decision">
      <h3>Decided</h3>
      <div class="adj-decided">
        <SaidChip label={final.label} large />
        <span class="muted">{whose(final.label, segment.labels)}</span>
        {final.after_audit && (
          <span class="chip outline" title="Decided when the audit could be seen">
            after audit
          </span>
        )}
        {segment.decision.finals > 1 && <span class="muted small">{segment.decision.finals} decisions; the earlier ones are kept</span>}
      </div>
      {final.note && <blockquote>{final.note}</blockquote>}
      {final.reason && <p class="muted small">Why it was changed: {final.reason}</p>}
      <Failed store={store} />
      <div class="adj-actions">
        {next && (
          <button type="button" class="btn btn-primary" onClick={store.skip}>
            Next: {next.case}, {segmentName(next.index)}
            <kbd class="on-primary" aria-hidden="true">
              ↵
            </kbd>
          </button>
        )}
        {store.page.may_decide && !released && (
          <button type="button" class="btn btn-quiet" onClick={() => (store.dialog.value = { kind: "reopen", index: segment.index })}>
            Change the decision…
          </button>
        )}
      </div>
    </div>
  );
}
