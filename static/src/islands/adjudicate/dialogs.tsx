// Dialogues: log in again, two decisions side by side, returning work, opening a decision again.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { hasWord } from "../../lib/label-draft";
import { segmentName } from "../../lib/words";
import { Dialog } from "../shared/dialog";
import { LoginDialog } from "../shared/login-dialog";
import { Icon } from "../shared/parts";
import type { Draft } from "./draft";
import { draftOf } from "./draft";
import { SaidChip } from "./queue";
import type { DialogState, Store } from "./store";

export function Dialogs({ store }: { store: Store }) {
  const state = store.dialog.value;
  const close = (): void => void (store.dialog.value = null);
  if (!state) return null;
  if (state.kind === "login") {
    const { user, urls } = store.page;
    const done = (): void => {
      close();
      store.tryAgain();
    };
    return <LoginDialog url={urls.relogin} username={user.username} pending={null} done={done} close={close} />;
  }
  if (state.kind === "conflict") return <Conflict store={store} state={state} />;
  if (state.kind === "return") return <Return store={store} letter={state.letter} close={close} />;
  return <Reopen store={store} index={state.index} close={close} />;
}

function Problem({ text }: { text: string }) {
  if (!text) return null;
  return (
    <p class="card-blocked" role="alert">
      <Icon name="exclamation-circle" />
      {text}
    </p>
  );
}

function Conflict({ store, state }: { store: Store; state: Extract<DialogState, { kind: "conflict" }> }) {
  const theirs = draftOf(state.current);
  const decided = state.current.draft === null && state.current.final !== null;
  return (
    <Dialog title={`${segmentName(state.place.index)} was saved in another place too`} wide close={() => (store.dialog.value = null)}>
      <p>Nothing was overwritten. Choose which one is to count{decided ? "; the other one is final already, so yours can only replace it with a reason" : ""}.</p>
      <div class="versions">
        <Version title="Yours, here" draft={state.mine}>
          <button type="button" class="btn btn-primary" onClick={() => void store.keepMine()}>
            Keep mine
          </button>
        </Version>
        <Version title={decided ? "Saved elsewhere, final" : "Saved elsewhere"} draft={theirs}>
          <button type="button" class="btn btn-quiet" onClick={() => void store.takeTheirs()}>
            Take the other
          </button>
        </Version>
      </div>
    </Dialog>
  );
}

function Version({ title, draft, children }: { title: string; draft: Draft; children: ComponentChildren }) {
  return (
    <section class="version" aria-label={title}>
      <h3>{title}</h3>
      <div class="chips">
        {draft.label ? <SaidChip label={draft.label} /> : <span class="muted">No label yet</span>}
        {draft.reasons.map((code) => (
          <span class="chip plain" key={code}>
            {code.replaceAll("_", " ")}
          </span>
        ))}
      </div>
      <p class="version-text">{draft.note || <span class="muted">No note</span>}</p>
      {children}
    </section>
  );
}

function Return({ store, letter, close }: { store: Store; letter: string; close: () => void }) {
  const [problem, setProblem] = useState("");
  const name = segmentName(store.current.peek()?.index ?? 0);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const reason = String(data.get("reason") ?? "");
    if (!hasWord(reason)) return setProblem("Say why the work goes back.");
    setProblem(await store.giveBack(letter, reason, String(data.get("remark") ?? "")));
  };
  return (
    <Dialog title={`Return the case to physician ${letter}?`} close={close}>
      <p>Physician {letter} can change the labels and hands in again; until then the case leaves the queue. The other labels stay as they are, and physician {letter} reads what you write here.</p>
      <form onSubmit={(event) => void send(event as unknown as SubmitEvent)}>
        <div class="form-row">
          <label class="form-label" for="adj-return-reason">
            Reason
          </label>
          <textarea class="form-control" id="adj-return-reason" name="reason" rows={2} required autofocus />
        </div>
        <div class="form-row">
          <label class="form-label" for="adj-return-remark">
            Remark on {name}, if you like
          </label>
          <textarea class="form-control" id="adj-return-remark" name="remark" rows={2} />
          <div class="form-text">Say nothing of what others said: the work stays blind.</div>
        </div>
        <Problem text={problem} />
        <div class="form-actions">
          <button class="btn btn-primary">Return the case</button>
          <button type="button" class="btn btn-quiet" onClick={close}>
            Not yet
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Reopen({ store, index, close }: { store: Store; index: number; close: () => void }) {
  const [problem, setProblem] = useState("");
  const name = segmentName(index);
  const decided = store.judged.peek().find((one) => one.index === index)?.decision.final;
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const reason = String(new FormData(event.currentTarget as HTMLFormElement).get("reason") ?? "");
    if (!hasWord(reason)) return setProblem("Say why.");
    setProblem(await store.reopen(index, reason));
  };
  return (
    <Dialog title={decided ? `Decide ${name} again?` : `Decide ${name} although all agree?`} close={close}>
      <p>
        {decided
          ? `The decision that stands is kept; the new one is a record of its own with your reason${store.page.study.blinding === "blind" ? "" : ", marked “after audit”"}.`
          : "The segment goes into the queue with your reason."}
      </p>
      <form onSubmit={(event) => void send(event as unknown as SubmitEvent)}>
        <div class="form-row">
          <label class="form-label" for="adj-reopen-reason">
            Reason
          </label>
          <textarea class="form-control" id="adj-reopen-reason" name="reason" rows={2} required autofocus />
        </div>
        <Problem text={problem} />
        <div class="form-actions">
          <button class="btn btn-primary">Open {name}</button>
          <button type="button" class="btn btn-quiet" onClick={close}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  );
}
