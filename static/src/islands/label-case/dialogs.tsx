// Questions that stop the work for a moment: submit, log in again, a conflict, the reveal. None of them loses text.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Draft } from "../../lib/label-draft";
import { draftOf, isComplete } from "../../lib/label-draft";
import { GOLD_WORDS, segmentName } from "../../lib/words";
import { Dialog } from "../shared/dialog";
import { LoginDialog } from "../shared/login-dialog";
import { SaidChip } from "./segments";
import type { Workspace } from "./workspace";
import { NOTES } from "./workspace";

export function Dialogs({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const close = (): void => void (store.dialog.value = null);
  switch (store.dialog.value) {
    case "submit":
      return <SubmitDialog workspace={workspace} close={close} />;
    case "reveal":
      return <RevealDialog workspace={workspace} close={close} />;
    case "login":
      return <LoginDialog url={store.payload.value.urls.relogin} username={store.payload.value.user.username} pending={store.save.value.pending} done={workspace.loggedIn} close={close} />;
    case "conflict":
      return <ConflictDialog workspace={workspace} close={close} />;
    default:
      return null;
  }
}

function SubmitDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store } = workspace;
  const drafts = store.judged.value.map((segment) => [segment.index, store.draft(segment.index).value] as const);
  const open = drafts.filter(([, draft]) => !isComplete(draft)).map(([index]) => index);
  const flagged = drafts.filter(([, draft]) => draft.flagged).map(([index]) => segmentName(index));
  const first = open[0];
  if (first !== undefined) {
    return (
      <Dialog title="Not complete yet" close={close}>
        <p>
          {open.map(segmentName).join(", ")} {open.length === 1 ? "is" : "are"} not complete: each segment needs a label, or “cannot judge”, and a word of why for all but Correct.
        </p>
        <div class="form-actions">
          <button
            type="button"
            class="btn btn-primary"
            onClick={() => {
              close();
              store.go(first);
            }}
          >
            Go to {segmentName(first)}
          </button>
          <button type="button" class="btn btn-quiet" onClick={close}>
            Close
          </button>
        </div>
      </Dialog>
    );
  }
  const counts = (["correct", "uncertain", "incorrect"] as const).map((label) => [GOLD_WORDS[label].word, drafts.filter(([, draft]) => draft.label === label).length] as const);
  const unjudged = drafts.filter(([, draft]) => draft.cannot_judge).length;
  return (
    <Dialog title="Submit this case?" close={close}>
      <dl class="facts num">
        {counts.map(([word, count]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{count}</dd>
          </div>
        ))}
        {unjudged > 0 && (
          <div>
            <dt>Cannot judge</dt>
            <dd>{unjudged}</dd>
          </div>
        )}
        {flagged.length > 0 && (
          <div>
            <dt>Flagged for discussion</dt>
            <dd>{flagged.join(", ")}</dd>
          </div>
        )}
      </dl>
      <p class="muted mt-2">After this nothing can be changed, unless you take the case back before it is used.</p>
      <div class="form-actions">
        <button type="button" class="btn btn-primary" id="submit-now" onClick={() => void workspace.submit()}>
          Submit case
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Not yet
        </button>
      </div>
    </Dialog>
  );
}

function RevealDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const draft = workspace.store.isDraftState.value;
  return (
    <Dialog title="Show the audit?" close={close}>
      <p>
        {draft
          ? "From then on your labels of this case count as given with the audit in sight."
          : "After this you cannot take the case back. You may still revise single labels; each revision needs its reason and stands beside your first label."}
      </p>
      <div class="form-actions">
        <button type="button" class="btn btn-primary" onClick={() => void workspace.reveal()}>
          Show the audit
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Not yet
        </button>
      </div>
    </Dialog>
  );
}

function ConflictDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store, queue } = workspace;
  const lane = [...store.save.value.parked].find(([, parked]) => parked.kind === "conflict")?.[0];
  const parked = lane ? store.save.value.parked.get(lane) : undefined;
  useEffect(() => {
    if (!lane) close();
  }, [lane]);
  if (!lane || parked?.kind !== "conflict") return null;
  if (lane === NOTES) return <CompareNotes workspace={workspace} mine={String(queue.latest(lane)?.notes ?? "")} theirs={String(parked.current.notes ?? "")} close={close} />;
  const mine = queue.latest(lane) as unknown as Draft & { reason?: string };
  return <Compare key={lane} workspace={workspace} lane={lane} mine={mine} theirs={parked.current as unknown as Draft & { reason?: string }} close={close} />;
}

function CompareNotes({ workspace, mine, theirs, close }: { workspace: Workspace; mine: string; theirs: string; close: () => void }) {
  const choices = [
    { title: "Yours, here", text: mine, words: "Keep mine", kept: mine },
    { title: "On the server", text: theirs, words: "Take the server's", kept: null },
  ];
  return (
    <Dialog title="My notes were changed in two places" wide close={close}>
      <p>Choose which text stays, or keep both, one under the other. The text that is not kept is gone.</p>
      <div class="versions">
        {choices.map(({ title, text, words, kept }) => (
          <section class="version" aria-label={title} key={title}>
            <h3>{title}</h3>
            <p class="version-text">{text || <span class="muted">No notes</span>}</p>
            <button type="button" class="btn btn-quiet" onClick={() => workspace.settleNotes(kept)}>
              {words}
            </button>
          </section>
        ))}
      </div>
      <button type="button" class="btn btn-primary" onClick={() => workspace.settleNotes([mine, theirs].filter(Boolean).join("\n"))}>
        Keep both
      </button>
    </Dialog>
  );
}

interface CompareProps {
  workspace: Workspace;
  lane: string;
  mine: Draft & { reason?: string };
  theirs: Draft & { reason?: string };
  close: () => void;
}

function Compare({ workspace, lane, mine, theirs, close }: CompareProps) {
  const [merged, setMerged] = useState<string | null>(null);
  const [labelFrom, setLabelFrom] = useState<"mine" | "theirs">("mine");
  const name = segmentName(Number(lane.slice(1)));
  const merge = (): void => {
    const from = labelFrom === "mine" ? mine : theirs;
    workspace.settle(lane, { ...draftOf(from), comment: merged ?? mine.comment });
  };
  const both = (): string => [mine.comment, theirs.comment].filter(Boolean).join("\n");
  return (
    <Dialog title={`${name} was changed in two places`} wide close={close}>
      <p>Nothing is lost: choose which one is to count. The other one stays in the undo steps of this page.</p>
      <div class="versions">
        <Version title="Yours, here" draft={mine}>
          <button type="button" class="btn btn-primary" onClick={() => workspace.settle(lane, draftOf(mine), mine.reason ? { reason: mine.reason } : {})}>
            Keep mine
          </button>
        </Version>
        <Version title="On the server" draft={theirs}>
          <button type="button" class="btn btn-quiet" onClick={() => workspace.settle(lane, "theirs")}>
            Take the server's
          </button>
        </Version>
      </div>
      {merged === null ? (
        <button type="button" class="btn btn-quiet" onClick={() => setMerged(both())}>
          Merge the two
        </button>
      ) : (
        <div class="merge">
          <fieldset class="merge-label">
            <legend class="form-label">Label and reasons from</legend>
            <label>
              <input type="radio" name="label-from" checked={labelFrom === "mine"} onChange={() => setLabelFrom("mine")} /> mine
            </label>
            <label>
              <input type="radio" name="label-from" checked={labelFrom === "theirs"} onChange={() => setLabelFrom("theirs")} /> the server's
            </label>
          </fieldset>
          <label class="form-label" for="merge-comment">
            Comment
          </label>
          <textarea id="merge-comment" class="form-control comment" rows={4} value={merged} onInput={(event) => setMerged(event.currentTarget.value)} />
          <div class="form-actions">
            <button type="button" class="btn btn-primary" onClick={merge}>
              Save the merged text
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

function Version({ title, draft, children }: { title: string; draft: Draft & { reason?: string }; children: ComponentChildren }) {
  return (
    <section class="version" aria-label={title}>
      <h3>{title}</h3>
      <div class="chips">
        <SaidChip label={draft.label ?? null} cannotJudge={draft.cannot_judge ?? false} />
        {draft.flagged && <span class="chip plain">Flagged</span>}
        {(draft.reasons ?? []).map((code) => (
          <span class="chip plain" key={code}>
            {code.replaceAll("_", " ")}
          </span>
        ))}
      </div>
      <p class="version-text">{draft.comment || <span class="muted">No comment</span>}</p>
      {draft.reason && <p class="version-text muted">Reason: {draft.reason}</p>}
      {children}
    </section>
  );
}
