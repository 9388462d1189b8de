// The page's head: clip, questions of the same clip, saved state, undo and redo, submit; and lines over the panes.
import { useRef } from "preact/hooks";
import type { QueueState } from "../../lib/save-queue";
import { plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import type { SaveWords } from "../shared/saved-state";
import { SavedState, saveWords } from "../shared/saved-state";
import { Bar, KeepsNothing, OpenElsewhere, ProblemBar, Returned } from "../shared/work-notices";
import { DecisionActions } from "./adjudication-dialogs";
import { flagWords } from "./flag-dialog";
import type { Profile } from "./keys";
import { PROFILES } from "./keys";
import type { DialogName } from "./store";
import type { Workspace } from "./workspace";

function duration(us: number): string {
  const seconds = Math.round(us / 1e5) / 10;
  const minutes = Math.floor(seconds / 60);
  return minutes ? `${minutes} min ${Math.round(seconds - minutes * 60)} s` : `${seconds} s`;
}

function rate(fraction: string): string {
  const [num, den = "1"] = fraction.split("/");
  const value = Number(num) / Number(den);
  return Number.isFinite(value) && value > 0 ? `${Number(value.toFixed(2))} fps` : "";
}

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const DONE = new Set(["submitted", "accepted", "adjudicated", "in_adjudication", "released"]);

export function SubHead({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { video, question, state, state_words, recall, urls, flag } = store.payload.value;
  const all = question.others.some((one) => one.here) ? question.others : [...question.others, { number: question.number, url: "", state, here: true }].sort((a, b) => a.number - b.number);
  const facts = [duration(video.duration_us), `${video.width} × ${video.height}`, [rate(video.mean_rate), `${video.n.toLocaleString("en").replaceAll(",", " ")} frames`].filter(Boolean).join(", ")];
  return (
    <>
      <h1 title={video.title}>{video.title}</h1>
      <span class="muted num nowrap clip-facts">{facts.join(" · ")}</span>
      <span class="grow" />
      {all.length > 1 && (
        <nav class="toggle questions" aria-label="Questions of this clip">
          {all.map((one) =>
            one.here ? (
              <span key={one.number} aria-current="page">
                Q{one.number}
              </span>
            ) : (
              <a key={one.number} href={one.url} onClick={inPlace(workspace, one.url)}>
                Q{one.number}
                {DONE.has(one.state) && (
                  <>
                    {" "}
                    <Icon name="check-lg" />
                    <span class="visually-hidden">done</span>
                  </>
                )}
              </a>
            ),
          )}
        </nav>
      )}
      {flag?.kind && (
        <button type="button" class="btn btn-quiet btn-sm" data-flag={flag.kind} title={flag.note || "What you reported to the lead of the study"} onClick={() => (store.dialog.value = "flag")}>
          <Icon name="flag" /> {flagWords(flag)}
        </button>
      )}
      <More workspace={workspace} />
      {workspace.adjudication ? (
        <DecisionActions workspace={workspace} adjudication={workspace.adjudication} />
      ) : store.isDraftState.value ? (
        <button type="button" id="submit-question" class="btn btn-primary btn-sm" disabled={!store.editable.value || store.busy.value} onClick={() => (store.dialog.value = "submit")}>
          {store.busy.value ? "Submitting" : `Finish Q${question.number}`}
        </button>
      ) : (
        <>
          <span class="chip accent">
            <Icon name="check-lg" />
            {capital(state_words ?? state.replaceAll("_", " "))}
          </span>
          {recall?.allowed && (
            <button type="button" class="btn btn-quiet btn-sm" disabled={store.busy.value} onClick={() => void workspace.recall()}>
              Take it back
            </button>
          )}
          {urls.next && (
            <a class="btn btn-primary btn-sm" href={urls.next} onClick={inPlace(workspace, urls.next)}>
              Next question
            </a>
          )}
        </>
      )}
    </>
  );
}

/** A plain click on a question of the same clip keeps the page; every other click is the browser's. */
const inPlace = (workspace: Workspace, url: string) => (event: MouseEvent): void => {
  if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey && workspace.openUrl(url)) event.preventDefault();
};

/** What is not needed all the time. */
function More({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { urls, notes, flag } = store.payload.value;
  const menu = useRef<HTMLDetailsElement>(null);
  const choose = (name: DialogName) => (): void => {
    if (menu.current) menu.current.open = false;
    // The dialog gives the focus back to where it was: the menu, not a line that is no more.
    menu.current?.querySelector<HTMLElement>("summary")?.focus();
    store.dialog.value = name;
  };
  return (
    <details
      class="pop-host more-menu"
      ref={menu}
      onKeyDown={(event) => {
        // The menu only: on the page Escape leaves tool and selection as well.
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.preventDefault();
        event.stopPropagation();
        menu.current.open = false;
        menu.current.querySelector<HTMLElement>("summary")?.focus();
      }}
      onFocusOut={(event) => {
        if (menu.current && event.relatedTarget && !menu.current.contains(event.relatedTarget as Node)) menu.current.open = false;
      }}
    >
      <summary class="btn btn-quiet btn-sm">
        <Icon name="three-dots" /> More
      </summary>
      <div class="pop link-menu">
        <button type="button" class="btn btn-quiet btn-sm" onClick={choose("changes")}>
          <Icon name="clock-history" /> Versions
        </button>
        {notes && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={choose("notes")}>
            <Icon name="journal-text" /> My notes
          </button>
        )}
        {flag && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={choose("flag")}>
            <Icon name="flag" /> {flag.kind ? "Reported problem" : "Report a problem"}
          </button>
        )}
        {urls.export && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={choose("export")}>
            <Icon name="download" /> Export
          </button>
        )}
        {urls.import && (
          <button type="button" class="btn btn-quiet btn-sm" disabled={!store.editable.value} onClick={choose("import")}>
            <Icon name="upload" /> Import
          </button>
        )}
      </div>
    </details>
  );
}

const refusedWords = ({ pending }: QueueState): string => plural(pending, "change");
const words = (state: QueueState, savedAt: string | null): SaveWords =>
  [...state.parked.values()].some((one) => one.kind === "refused") ? { kind: "bad", icon: "exclamation-triangle", text: `Not saved: ${refusedWords(state)}` } : saveWords(state, savedAt, refusedWords);

export function Saved({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const state = store.save.value;
  const act = state.hold?.kind === "login" ? "login" : workspace.pendingMerge.value ? "conflict" : null;
  const { past, future } = store.history.value;
  return (
    <>
      <SavedState state={state} words={words(state, store.savedAt.value)} act={act && (() => (store.dialog.value = act))} retry={() => workspace.queue.retryNow()} />
      <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Undo" title={past.length ? `Undo: ${past.at(-1)?.operation.words}` : "Nothing to undo"} disabled={!past.length || !store.editable.value} onClick={store.undo}>
        <Icon name="arrow-counterclockwise" />
      </button>
      <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Redo" title={future.length ? `Redo: ${future[0]?.operation.words}` : "Nothing to redo"} disabled={!future.length || !store.editable.value} onClick={store.redo}>
        <Icon name="arrow-clockwise" />
      </button>
      <label class="key-profile">
        <span class="visually-hidden">Keys</span>
        <select class="form-select form-select-sm" title="Keyboard profile" value={workspace.profile.value} onChange={(event) => workspace.setProfile(event.currentTarget.value as Profile)}>
          {Object.entries(PROFILES).map(([name, title]) => (
            <option key={name} value={name}>
              Keys: {title}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

export function Banners({ workspace }: { workspace: Workspace }) {
  const { store, queue, sender } = workspace;
  const tab = store.tab.value;
  const { durable, parked, pending } = store.save.value;
  const stopped = store.stopped.value;
  const refused = [...parked.values()].find((one) => one.kind === "refused");
  const download = (): void => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify({ operations: sender.waiting, document: store.doc.peek() }, null, 1)], { type: "application/json" }));
    link.download = "unsent-changes.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  return (
    <>
      {typeof tab !== "string" && store.isDraftState.value && !stopped && (
        <OpenElsewhere what="question" done="did" since={tab.since} busy={store.busy.value} takeOver={() => void workspace.takeOver()} />
      )}
      {workspace.pendingMerge.value && (
        <Bar kind="warn" icon="exclamation-triangle">
          This question was changed elsewhere, in the same places as here.{" "}
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => (store.dialog.value = "conflict")}>
            See both
          </button>
        </Bar>
      )}
      {(stopped || (refused && pending > 0)) && (
        <div class="notice notice-bar bad" role="alert">
          <Icon name="lock" />
          <p>
            {stopped?.message ?? (refused?.kind === "refused" ? refused.message : "")}{" "}
            {sender.waiting.length > 0 && (
              <>
                {plural(sender.waiting.length, "change")} of yours did not reach the server.{" "}
                <button type="button" class="btn btn-quiet btn-sm" onClick={download}>
                  Keep as a file
                </button>{" "}
                {refused && (
                  <button type="button" class="btn btn-quiet btn-sm" onClick={() => queue.retryNow()}>
                    Try again
                  </button>
                )}
              </>
            )}
          </p>
        </div>
      )}
      {workspace.unsentElsewhere.value.map(({ number, pending: waiting, url }) => (
        <Bar kind="warn" icon="cloud-slash" role="status" key={number}>
          {plural(waiting, "change")} of Q{number} {waiting === 1 ? "is" : "are"} kept in this browser and not on the server yet.{" "}
          <button type="button" class="btn-text" onClick={() => void workspace.openUrl(url)}>
            Open Q{number}
          </button>
        </Bar>
      ))}
      {!durable && store.isDraftState.value && <KeepsNothing />}
      {store.payload.value.returned && store.isDraftState.value && <Returned reason={store.payload.value.returned.reason} />}
      {!store.payload.value.editable && store.payload.value.why_not && (
        <div class="notice notice-bar" role="note">
          <Icon name="lock" />
          <p>{store.payload.value.why_not}</p>
        </div>
      )}
      {store.problem.value && <ProblemBar text={store.problem.value} close={() => (store.problem.value = "")} />}
    </>
  );
}
