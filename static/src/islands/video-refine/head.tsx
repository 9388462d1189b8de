// The page's head: clip, questions of the same clip, saved state, undo and redo, submit; and lines over the panes.
import { useEffect, useRef } from "preact/hooks";
import type { QueueState } from "../../lib/save-queue";
import { plural } from "../../lib/words";
import { saveWords } from "../label-case/header";
import { Icon } from "../shared/parts";
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

const DONE = new Set(["submitted", "accepted", "adjudicated", "in_adjudication", "released"]);

export function SubHead({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { video, question, state, state_words, recall, urls } = store.payload.value;
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
              <a key={one.number} href={one.url}>
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
      <More workspace={workspace} />
      {store.isDraftState.value ? (
        <button type="button" id="submit-question" class="btn btn-primary btn-sm" disabled={!store.editable.value || store.busy.value} onClick={() => (store.dialog.value = "submit")}>
          {store.busy.value ? "Submitting" : `Finish Q${question.number}`}
        </button>
      ) : (
        <>
          <span class="chip accent">
            <Icon name="check-lg" />
            {state_words ?? (state.charAt(0).toUpperCase() + state.slice(1)).replaceAll("_", " ")}
          </span>
          {recall?.allowed && (
            <button type="button" class="btn btn-quiet btn-sm" disabled={store.busy.value} onClick={() => void workspace.recall()}>
              Take it back
            </button>
          )}
          {urls.next && (
            <a class="btn btn-primary btn-sm" href={urls.next}>
              Next question
            </a>
          )}
        </>
      )}
    </>
  );
}

/** What is not needed all the time. */
function More({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { urls, notes } = store.payload.value;
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
          <Icon name="clock-history" /> Changes
        </button>
        {notes && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={choose("notes")}>
            <Icon name="journal-text" /> My notes
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

const words = (state: QueueState, savedAt: string | null): ReturnType<typeof saveWords> =>
  [...state.parked.values()].some((one) => one.kind === "refused") ? { kind: "bad", icon: "exclamation-triangle", text: `Not saved: ${plural(state.pending, "change")}` } : saveWords(state, savedAt);

export function Saved({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const said = words(store.save.value, store.savedAt.value);
  const hold = store.save.value.hold?.kind;
  const act = hold === "login" ? "login" : workspace.pendingMerge.value ? "conflict" : null;
  // A screen reader hears what needs somebody, and that it is over; not each of many saves.
  const region = useRef<HTMLSpanElement>(null);
  const worth = said.kind === "bad" || said.kind === "warn" ? said.text : said.kind === "good" ? "All saved" : null;
  const silent = useRef(true);
  useEffect(() => {
    if (worth === null) return;
    if (!silent.current && region.current) region.current.textContent = worth;
    silent.current = false;
  }, [worth]);
  const { past, future } = store.history.value;
  return (
    <>
      <span class={`saved ${said.kind}`} data-save-state={said.kind}>
        <Icon name={said.icon} />
        {act ? (
          <button type="button" class="btn-text" onClick={() => (store.dialog.value = act)}>
            {said.text}
          </button>
        ) : (
          said.text
        )}
        {store.save.value.offline && (
          <button type="button" class="btn-text" onClick={() => workspace.queue.retryNow()}>
            Try now
          </button>
        )}
      </span>
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
      <span class="visually-hidden" role="status" ref={region} />
    </>
  );
}

const clock = (iso: string): string => {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? "" : ` since ${time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
};

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
        <div class="notice notice-bar warn" role="alert">
          <Icon name="eye" />
          <p>
            Read only here: this question is open in another tab or window{clock(tab.since)}. What you did there is safe.{" "}
            <button type="button" class="btn btn-quiet btn-sm" disabled={store.busy.value} onClick={() => void workspace.takeOver()}>
              Take over here
            </button>
          </p>
        </div>
      )}
      {workspace.pendingMerge.value && (
        <div class="notice notice-bar warn" role="alert">
          <Icon name="exclamation-triangle" />
          <p>
            This question was changed elsewhere, in the same places as here.{" "}
            <button type="button" class="btn btn-quiet btn-sm" onClick={() => (store.dialog.value = "conflict")}>
              See both
            </button>
          </p>
        </div>
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
      {!durable && store.isDraftState.value && (
        <div class="notice notice-bar warn" role="note">
          <Icon name="exclamation-triangle" />
          <p>This browser keeps nothing over a reload (a private window, or no room). Your work is saved to the server as you go; do not close the page while it says “offline”.</p>
        </div>
      )}
      {store.payload.value.returned && store.isDraftState.value && (
        <div class="notice notice-bar warn" role="note">
          <Icon name="arrow-counterclockwise" />
          <p>
            <b>Returned to you.</b> {store.payload.value.returned.reason}
          </p>
        </div>
      )}
      {!store.payload.value.editable && store.payload.value.why_not && (
        <div class="notice notice-bar" role="note">
          <Icon name="lock" />
          <p>{store.payload.value.why_not}</p>
        </div>
      )}
      {store.problem.value && (
        <div class="notice notice-bar bad" role="alert">
          <Icon name="exclamation-circle" />
          <p>
            {store.problem.value}{" "}
            <button type="button" class="btn-text" onClick={() => (store.problem.value = "")}>
              Close
            </button>
          </p>
        </div>
      )}
    </>
  );
}
