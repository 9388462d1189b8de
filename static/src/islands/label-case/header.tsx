// What the page's head says: which case, how far, whether everything is saved; and "Submit case".
import { useEffect, useRef } from "preact/hooks";
import { isComplete } from "../../lib/label-draft";
import type { QueueState } from "../../lib/save-queue";
import { plural, segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
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

export interface SaveWords {
  kind: "good" | "busy" | "warn" | "bad";
  icon: string;
  text: string;
}

const clock = (iso: string): string => {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
};

function refusedWords({ parked }: QueueState): string {
  const notes = parked.has(NOTES);
  const segments = parked.size - Number(notes);
  return [...(segments ? [plural(segments, "segment")] : []), ...(notes ? ["my notes"] : [])].join(", ");
}

/** The state of saving in words; one of saved, saving, offline, conflict, not saved, log in again, read only. */
export function saveWords(state: QueueState, lastSaved: string | null): SaveWords {
  const kept = `${plural(state.pending, "change")} kept here`;
  const conflicts = [...state.parked.values()].filter((one) => one.kind === "conflict").length;
  const at = clock(state.savedAt ?? lastSaved ?? "");
  if (state.hold?.kind === "other_user") return { kind: "bad", icon: "exclamation-circle", text: `Another login, ${kept}` };
  if (state.hold?.kind === "not_editable") return { kind: "bad", icon: "lock", text: state.pending ? `Not saved, ${kept}` : "Closed" };
  if (state.hold?.kind === "login") return { kind: "bad", icon: "lock", text: `Log in again${state.pending ? `, ${kept}` : ""}` };
  if (state.hold?.kind === "other_tab") return { kind: "warn", icon: "eye", text: "Read only: open in another tab" };
  if (conflicts) return { kind: "bad", icon: "exclamation-triangle", text: conflicts === 1 ? "Conflict: changed in two places" : `${conflicts} conflicts` };
  if (state.parked.size) return { kind: "bad", icon: "exclamation-triangle", text: `Not saved: ${refusedWords(state)}` };
  if (state.offline) return { kind: "warn", icon: "cloud-slash", text: `Offline, ${kept}` };
  if (state.pending || state.sending) return { kind: "busy", icon: "arrow-repeat", text: "Saving" };
  return { kind: "good", icon: "check-circle-fill", text: at ? `Saved ${at}` : "Nothing to save yet" };
}

export function Saved({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const lastSaved = [...store.saved.value.values()].map((label) => label.saved_at ?? "").sort().at(-1) ?? null;
  const words = saveWords(store.save.value, lastSaved || null);
  const hold = store.save.value.hold?.kind;
  const act = hold === "login" ? "login" : [...store.save.value.parked.values()].some((one) => one.kind === "conflict") ? "conflict" : null;
  // A screen reader hears what needs somebody, and that it is over; not each of many saves.
  const region = useRef<HTMLSpanElement>(null);
  const worth = words.kind === "bad" || words.kind === "warn" ? words.text : words.kind === "good" ? "All saved" : null;
  const silent = useRef(true);
  useEffect(() => {
    if (worth === null) return;
    if (!silent.current && region.current) region.current.textContent = worth;
    silent.current = false;
  }, [worth]);
  return (
    <>
      <span class={`saved ${words.kind}`} data-save-state={words.kind}>
        <Icon name={words.icon} />
        {act ? (
          <button type="button" class="btn-text" onClick={() => (store.dialog.value = act)}>
            {words.text}
          </button>
        ) : (
          words.text
        )}
        {store.save.value.offline && (
          <button type="button" class="btn-text" onClick={() => workspace.queue.retryNow()}>
            Try now
          </button>
        )}
      </span>
      <span class="visually-hidden" role="status" ref={region} />
    </>
  );
}
