// What an adjudicator does with the question as a whole: decide, give it back to one of the people, open a decision again.
import { useState } from "preact/hooks";
import { hasWord } from "../../lib/label-draft";
import { plural } from "../../lib/words";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/parts";
import type { Adjudication } from "./adjudication";
import { NoteField } from "./adjudication-panel";
import { FindingsNotice, FirstLines } from "./findings-notice";
import type { Workspace } from "./workspace";

interface Props {
  workspace: Workspace;
  adjudication: Adjudication;
}

/** The head's buttons, in place of those that hand in an answer. */
export function DecisionActions({ workspace, adjudication }: Props) {
  const { store } = workspace;
  const { state, state_words, urls } = store.payload.value;
  if (store.isDraftState.value) {
    return (
      <>
        {urls.give_back && (
          <button type="button" class="btn btn-quiet btn-sm" disabled={!store.editable.value || store.busy.value} onClick={() => (store.dialog.value = "give-back")}>
            <Icon name="arrow-counterclockwise" /> Give back
          </button>
        )}
        <button type="button" id="decide" class="btn btn-primary btn-sm" disabled={!store.editable.value || store.busy.value} onClick={() => (store.dialog.value = "submit")}>
          {store.busy.value ? "Deciding" : "Decide"}
        </button>
      </>
    );
  }
  const { decided, may_reopen } = adjudication.part.value;
  return (
    <>
      <span class="chip accent" title={decided?.note || undefined} data-decision>
        <Icon name="check-lg" />
        {state !== "adjudicated" ? (state_words ?? state) : decided?.by_agreement ? "Agreed" : "Decided"}
      </span>
      {may_reopen && urls.reopen && (
        <button type="button" class="btn btn-quiet btn-sm" disabled={store.busy.value} onClick={() => (store.dialog.value = "reopen")}>
          Open again
        </button>
      )}
      {urls.next && (
        <a class="btn btn-primary btn-sm" href={urls.next}>
          Next question
        </a>
      )}
    </>
  );
}

export function DecideDialog({ workspace, adjudication, close }: Props & { close: () => void }) {
  const alone = adjudication.alone.value;
  const leftOut = adjudication.leftOut.value;
  const missing = adjudication.noteIsNeeded();
  return (
    <Dialog title="Decide this question?" close={close}>
      {alone.length > 0 ? (
        <div class="notice">
          <Icon name="people" />
          <div>
            <p>At {plural(alone.length, "difference")} the decision follows nobody; say in the note why:</p>
            <ul class="finding-list">
              <FirstLines
                of={alone}
                most={8}
                line={({ id, title }) => (
                  <li key={id}>
                    {title}
                    {adjudication.standings.value.get(id)?.kind === "open" && <span class="muted"> (nothing there yet)</span>}
                  </li>
                )}
              />
            </ul>
          </div>
        </div>
      ) : (
        <p>At every difference the decision follows somebody.</p>
      )}
      {leftOut.length > 0 && (
        <div class="notice">
          <Icon name="trash" />
          <div>
            <p>The decision leaves out what not all have:</p>
            <ul class="finding-list" data-left-out>
              <FirstLines
                of={leftOut}
                most={8}
                line={({ id, title, sides }) => (
                  <li key={id}>
                    {title} <span class="muted">({Object.keys(sides).filter((letter) => sides[letter] !== null).join(", ")})</span>
                  </li>
                )}
              />
            </ul>
          </div>
        </div>
      )}
      <FindingsNotice findings={workspace.findings.value} />
      <NoteField workspace={workspace} adjudication={adjudication} id="decide-note" />
      <div class="form-actions">
        <button type="button" class="btn btn-primary" id="decide-now" disabled={missing} onClick={() => void adjudication.decide()}>
          Decide
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Not yet
        </button>
      </div>
    </Dialog>
  );
}

export function ReopenDialog({ adjudication, close }: Props & { close: () => void }) {
  const [reason, setReason] = useState("");
  return (
    <Dialog title="Open the decision again?" close={close}>
      <p>The decision that stands is kept; the new one is a record of its own with your reason.</p>
      <Reason value={reason} change={setReason} />
      <div class="form-actions">
        <button type="button" class="btn btn-primary" disabled={!hasWord(reason)} onClick={() => void adjudication.reopen(reason)}>
          Open again
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Not now
        </button>
      </div>
    </Dialog>
  );
}

export function GiveBackDialog({ adjudication, close }: Props & { close: () => void }) {
  const { letters } = adjudication.part.value;
  const [letter, setLetter] = useState(letters[0] ?? "");
  const [reason, setReason] = useState("");
  return (
    <Dialog title="Give the question back?" close={close}>
      <p>This person can change the answer and hands in again; until then the question leaves the queue. They read what you write here.</p>
      <fieldset class="file-modes">
        <legend>To whom</legend>
        {letters.map((one) => (
          <label class="form-check" key={one}>
            <input class="form-check-input" type="radio" name="give-back-letter" value={one} checked={one === letter} onChange={() => setLetter(one)} /> Annotator {one}
          </label>
        ))}
      </fieldset>
      <Reason value={reason} change={setReason} />
      <p class="form-text">Say nothing of what others answered: the work stays blind.</p>
      <div class="form-actions">
        <button type="button" class="btn btn-primary" disabled={!letter || !hasWord(reason)} onClick={() => void adjudication.giveBack(letter, reason)}>
          Give back to {letter}
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Not now
        </button>
      </div>
    </Dialog>
  );
}

const Reason = ({ value, change }: { value: string; change: (text: string) => void }) => (
  <div class="form-row">
    <label class="form-label" for="decision-reason">
      Reason
    </label>
    <textarea class="form-control" id="decision-reason" rows={2} value={value} onInput={(event) => change(event.currentTarget.value)} />
  </div>
);
