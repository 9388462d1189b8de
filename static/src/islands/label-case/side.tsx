// Right pane: guideline and progress while the audit is hidden; after submitting what may be done, then the audit.
import { useEffect, useRef, useState } from "preact/hooks";
import { plural } from "../../lib/words";
import { Icon, Notice } from "../shared/parts";
import { CommentField } from "./choice";
import type { Workspace } from "./workspace";
import { NOTES } from "./workspace";

export function Side({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  if (store.revealed.value && store.comparing.value && store.sideView.value === "main") return <Review workspace={workspace} />;
  return (
    <>
      <div class="pane-head">
        <h2>{store.isDraftState.value ? "Guideline and progress" : "Your case"}</h2>
        <span class="grow" />
        {store.revealed.value && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => ((store.sideView.value = "main"), (store.comparing.value = true))}>
            Back to the audit
          </button>
        )}
      </div>
      <div class="pane-body side">
        {store.problem.value && (
          <Notice kind="bad" icon="exclamation-circle">
            <p>{store.problem.value}</p>
          </Notice>
        )}
        {store.isDraftState.value ? <Hidden workspace={workspace} /> : <Submitted workspace={workspace} />}
        <Progress workspace={workspace} />
        <OwnNotes workspace={workspace} />
        <Guideline workspace={workspace} />
      </div>
    </>
  );
}

function Hidden({ workspace }: { workspace: Workspace }) {
  const { blinding } = workspace.store.payload.value.study;
  const { allowed, done } = workspace.store.payload.value.reveal;
  if (allowed && !done) {
    return (
      <div class="locked">
        <Icon name="eye" />
        <p>
          <b>This study shows the audit from the start.</b> Labels given after it was shown are marked so.
        </p>
        <button type="button" class="btn btn-quiet btn-sm" onClick={() => (workspace.store.dialog.value = "reveal")}>
          Show the audit
        </button>
      </div>
    );
  }
  return (
    <div class="locked">
      <Icon name="lock" />
      <p>
        <b>{blinding === "blind" ? "The audit is hidden in this study." : "The audit is hidden until you submit."}</b> So are the labels of others and of models: what you say is yours alone.
      </p>
    </div>
  );
}

function Submitted({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { reveal, recall, state, urls, why_not, kind } = store.payload.value;
  const mayRecall = recall?.allowed ?? (state === "submitted" && !reveal.done);
  const feedback = store.feedback.value;
  const right = feedback ? Object.entries(feedback.segments).filter(([index, one]) => one.agrees ?? one.expected === store.draft(Number(index)).value.label).length : 0;
  return (
    <div class="submitted">
      <p class="submitted-head">
        <Icon name="check-circle-fill" />
        <b>{state === "withdrawn" ? "This case was withdrawn." : "This case is submitted."}</b>
      </p>
      {why_not && state !== "submitted" && <p class="muted">{why_not}</p>}
      {feedback && (
        <p>
          {right} of {plural(Object.keys(feedback.segments).length, "segment")} as expected. What was expected, and why, stands at each segment.
        </p>
      )}
      {store.noAudit.value && <p>{store.noAudit.value}</p>}
      <div class="card-actions">
        {urls.next && (
          <a class="btn btn-primary" href={urls.next}>
            Next case
          </a>
        )}
        {reveal.allowed && !reveal.done && (
          <button type="button" class="btn btn-quiet" disabled={store.busy.value} onClick={() => (store.dialog.value = "reveal")}>
            <Icon name="eye" />
            Show the audit
          </button>
        )}
        {mayRecall && (
          <button type="button" class="btn btn-quiet" disabled={store.busy.value} onClick={() => void workspace.recall()}>
            <Icon name="arrow-counterclockwise" />
            Take it back
          </button>
        )}
        <a class="btn btn-quiet" href={urls.work}>
          My work
        </a>
      </div>
      {mayRecall && <p class="muted small">You can take it back{kind === "main" ? " until the audit is shown to you or an adjudicator begins" : ""}.</p>}
    </div>
  );
}

function Progress({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { progress } = store.payload.value;
  const all = store.judged.value.length;
  return (
    <section aria-label="My progress">
      <div class="section-head">
        <h2>My progress</h2>
      </div>
      <div class="progress-rows num">
        <span>This case</span>
        <progress class="progress-line done" max={all} value={store.done.value} aria-label="Segments labelled" />
        <span>
          {store.done.value} of {all} segments
        </span>
        <span>This study</span>
        <progress class="progress-line" max={progress.of} value={progress.submitted} aria-label="Cases submitted" />
        <span>
          {progress.submitted} of {progress.of} cases
        </span>
      </div>
    </section>
  );
}

/** Notes on the case as a whole, saved like labels and read by nobody else. */
function OwnNotes({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const [open] = useState(store.notes.peek() !== "");
  const parked = store.save.value.parked.get(NOTES);
  return (
    <details class="own-notes" open={open}>
      <summary>My notes</summary>
      <CommentField
        id="own-notes"
        label="On this case, for yourself"
        value={store.notes.value}
        limit={store.payload.value.limits.notes}
        disabled={!store.mayNote.value}
        invalid={false}
        onText={store.note}
        onBlur={workspace.leftField}
      />
      {parked?.kind === "refused" && (
        <p class="card-blocked" role="alert">
          <Icon name="exclamation-circle" />
          <span>
            Not saved: {parked.message} <span class="muted">Your text is kept here.</span>
          </span>
        </p>
      )}
      {parked?.kind === "conflict" && (
        <p class="card-blocked">
          <Icon name="exclamation-triangle" />
          <span>Changed in another place too. </span>
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => (store.dialog.value = "conflict")}>
            Compare and choose
          </button>
        </p>
      )}
      <p class="muted small">Only you see them: no page shows them to others, and exports of the study leave them out. They are no part of what you submit.</p>
    </details>
  );
}

function Guideline({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { guideline } = store.payload.value;
  const section = useRef<HTMLElement>(null);
  const asked = store.sideView.value === "guideline";
  useEffect(() => {
    if (!asked) return;
    section.current?.focus();
    section.current?.scrollIntoView({ block: "start" });
    if (!store.revealed.peek()) store.sideView.value = "main";
  }, [asked]);
  return (
    <section id="guideline" aria-label={`Guideline, version ${guideline.version}`} tabIndex={-1} ref={section}>
      <div class="section-head">
        <h2>Guideline</h2>
        <span class="muted small">version {guideline.version}</span>
        <span class="grow" />
        <kbd title="Key of the guideline">G</kbd>
      </div>
      {/* Markdown that the server has made into harmless HTML. */}
      <div class="guideline" dangerouslySetInnerHTML={{ __html: guideline.html }} />
    </section>
  );
}

/** The audit's own island parts, loaded only now. */
function Review({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const off = new AbortController();
    const element = host.current;
    import("./audit")
      .then(({ showAudit }) => element && !off.signal.aborted && showAudit(element, workspace, off.signal))
      .catch((error: unknown) => {
        console.error(error);
        store.problem.value = "The audit could not be drawn. Reload the page.";
      });
    return () => off.abort();
  }, [store.audit.value]);
  return (
    <>
      {store.problem.value && (
        <Notice kind="bad" icon="exclamation-circle">
          <p>{store.problem.value}</p>
        </Notice>
      )}
      <div data-island="trace-audit" ref={host} />
    </>
  );
}
