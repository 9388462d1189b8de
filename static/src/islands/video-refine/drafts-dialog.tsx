// The versions of a question in one place: what was imported and what a model drafted, each against the present answer; and the
// model's offer of a target label.
import { useEffect, useRef } from "preact/hooks";
import type { PartChange, TextChange } from "../../lib/video/changes";
import { isNone } from "../../lib/video/changes";
import { diff } from "../../lib/video/diff";
import { isActive } from "../../lib/video/proposals";
import { plural } from "../../lib/words";
import { Dialog } from "../shared/dialog";
import { Icon, Notice } from "../shared/parts";
import type { DraftKind, DraftRun, Version } from "./drafts";
import { IMPORTED, KIND_WORDS, against, canTake } from "./drafts";
import type { Workspace } from "./workspace";

const PART_KINDS = { added: "new", removed: "removed", changed: "changed" } as const;

const when = (iso: string): string => new Date(iso).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export function VersionsDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store, drafts } = workspace;
  const { generated } = store.payload.value;
  const version = drafts.version.value;
  const changes = against(version, generated, store.doc.value);
  const { links, texts } = changes;
  const linkWords = [links.added && `${plural(links.added, "link")} more`, links.removed && `${plural(links.removed, "link")} fewer`, links.changed && `${plural(links.changed, "link")} changed`].filter(Boolean).join(", ");
  const name = version ? `version ${version.number}` : "what was imported";
  const some = texts.some(canTake);
  return (
    <Dialog title="Versions" wide close={close}>
      <VersionList workspace={workspace} />
      <p class="muted">
        {!version && !generated ? "Nothing was generated for this question: all of it is yours." : `Your answer against ${name}.`}
        {texts.length > 0 && (version || generated) && " Struck out is only there, marked is only yours."}
      </p>
      {version && version.warnings.length > 0 && (
        <Notice kind="warn" icon="exclamation-triangle">
          <ul class="finding-list">
            {version.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Notice>
      )}
      {isNone(changes) && <p>{version ? "Yours is the same there." : "Nothing is changed."}</p>}
      {texts.map((text) => (
        <TextDiff key={text.name} workspace={workspace} text={text} version={version} />
      ))}
      <PartList title="Objects" parts={changes.tracks} go={(id) => (close(), store.select({ kind: "track", id }))} />
      <PartList title="Sounds" parts={changes.sounds} go={(id) => (close(), store.select({ kind: "event", id }))} />
      {linkWords && (
        <section class="change">
          <h3>Links to evidence</h3>
          <p>{linkWords}</p>
        </section>
      )}
      <div class="form-actions">
        {(version || generated) && some && (
          <button type="button" class="btn btn-primary" id="take-version" disabled={!store.editable.value} onClick={() => drafts.take(texts, version)}>
            Take over all texts
          </button>
        )}
        <button type="button" class="btn btn-quiet" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
    </Dialog>
  );
}

function VersionList({ workspace }: { workspace: Workspace }) {
  const { store, drafts } = workspace;
  const { generated, urls } = store.payload.value;
  if (!urls.drafts) return null;
  const choose = (id: string) => (): void => void (drafts.chosen.value = id);
  const run = drafts.newest("reasoning");
  const models = drafts.connections.value;
  return (
    <section class="change" aria-label="All versions">
      <div class="draft-versions" role="radiogroup" aria-label="Compare with">
        {drafts.versions.value.map((one) => (
          <label key={one.id} class="draft-version">
            <input type="radio" name="version" checked={drafts.chosen.value === one.id} onChange={choose(one.id)} />
            <span>
              Version {one.number}, {KIND_WORDS[one.kind]}
            </span>
            <span class="small muted">
              {one.model}, {one.prompt}, {when(one.created_at)}
            </span>
          </label>
        ))}
        <label class="draft-version">
          <input type="radio" name="version" checked={drafts.version.value === null} onChange={choose(IMPORTED)} />
          <span>Version 0, imported</span>
          <span class="small muted">{generated ? "what the question came with" : "empty"}</span>
        </label>
      </div>
      {drafts.available.value ? (
        <div class="ask-row draft-ask">
          {models.length > 1 && (
            <label>
              <span class="visually-hidden">Model</span>
              <select class="form-select form-select-sm" value={drafts.connection.value} onChange={(event) => (drafts.connection.value = event.currentTarget.value)}>
                {models.map((one, k) => (
                  <option key={one.name} value={k ? one.name : ""}>
                    {one.name}
                    {one.pictures ? `, with ${one.pictures} pictures` : ", text only"}
                  </option>
                ))}
              </select>
            </label>
          )}
          <button type="button" class="btn btn-quiet btn-sm" id="draft-anew" disabled={!store.editable.value || drafts.asking.value || Boolean(run && isActive(run))} onClick={() => void drafts.ask("reasoning")}>
            <Icon name="magic" /> {drafts.versions.value.some(({ kind }) => kind === "reasoning") ? "Draft anew" : "Draft the reasoning"}
          </button>
        </div>
      ) : (
        drafts.whyNot.value && <p class="small muted">{drafts.whyNot.value}</p>
      )}
      {run && <RunLine workspace={workspace} run={run} />}
      {drafts.problem.value && <p class="field-over" role="alert">{drafts.problem.value}</p>}
    </section>
  );
}

/** How far a run is, or why it came to nothing; nothing of one that is done. */
function RunLine({ workspace, run }: { workspace: Workspace; run: DraftRun }) {
  const { drafts } = workspace;
  if (run.state === "done") return null;
  if (!isActive(run)) {
    return (
      <p class={run.state === "cancelled" ? "small muted" : "field-over"} role="status">
        {run.state === "cancelled" ? "Cancelled." : run.message}
      </p>
    );
  }
  return (
    <div class="ask-row draft-ask">
      <progress class="progress-line" aria-label={`${run.model} writes`} />
      <span class="small muted" role="status">
        {run.state === "queued" ? "Waits for its turn" : `${run.model} writes`}
      </span>
      <button type="button" class="btn btn-quiet btn-sm" onClick={() => void drafts.cancel(run)}>
        Cancel
      </button>
    </div>
  );
}

function TextDiff({ workspace, text, version }: { workspace: Workspace; text: TextChange; version: Version | null }) {
  const { store, drafts } = workspace;
  const there = version !== null || store.payload.value.generated !== null;
  return (
    <section class="change">
      <h3>
        {text.name}{" "}
        {there && canTake(text) && (
          <button type="button" class="btn-text" aria-label={`Take over ${text.name.toLowerCase()}`} disabled={!store.editable.value} onClick={() => drafts.take([text], version)}>
            Take over
          </button>
        )}
      </h3>
      <p class="text-diff">
        {diff(text.before, text.after).map(({ kind, text: part }, k) => (kind === "gone" ? <del key={k}>{part}</del> : kind === "new" ? <ins key={k}>{part}</ins> : <span key={k}>{part}</span>))}
      </p>
    </section>
  );
}

function PartList({ title, parts, go }: { title: string; parts: PartChange[]; go: (id: string) => void }) {
  if (!parts.length) return null;
  return (
    <section class="change">
      <h3>{title}</h3>
      <ul class="change-list">
        {parts.map(({ id, label, kind, words }) => (
          <li key={id}>
            {kind === "removed" ? (
              <b>{label || "object"}</b>
            ) : (
              <button type="button" class="btn-text" onClick={() => go(id)}>
                {label || "object"}
              </button>
            )}{" "}
            <span class={`chip ${kind === "added" ? "correct" : kind === "removed" ? "incorrect" : "accent"}`}>{PART_KINDS[kind]}</span> {words.join("; ")}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Asks a model for the target label and offers it; the field is changed only when somebody takes it over. */
export function SuggestLabel({ workspace }: { workspace: Workspace }) {
  const { store, drafts } = workspace;
  const kind: DraftKind = "target_label";
  const run = drafts.known.value ? drafts.newest(kind) : null;
  const offer = drafts.offered.value;
  const label = offer?.document.target_label ?? "";
  const take = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // Whoever pressed the button goes on with the keyboard where it was; nobody is torn away from another field.
    if (offer && (document.activeElement === document.body || document.activeElement?.closest("[data-suggest]"))) take.current?.focus();
  }, [offer?.id]);
  if (!drafts.available.value) return null;
  if (offer) {
    const same = label === store.doc.value.target_label;
    return (
      <span class="suggested" data-suggest role="status">
        {label ? <b>{label}</b> : <span class="muted">Nothing to box, says {offer.model}.</span>}
        {label && !same && (
          <button type="button" class="btn btn-quiet btn-sm" ref={take} aria-label={`Take over the suggested label ${label}`} disabled={!store.editable.value} onClick={drafts.takeLabel}>
            Take over
          </button>
        )}
        <button type="button" class="btn btn-quiet btn-sm" ref={!label || same ? take : null} onClick={drafts.dismiss}>
          {same ? "Same as yours" : "Dismiss"}
        </button>
      </span>
    );
  }
  if (run && isActive(run)) {
    return (
      <span class="suggested" data-suggest>
        <span class="small muted" role="status">
          {run.state === "queued" ? "Waits" : `${run.model} reads`}
        </span>
        <button type="button" class="btn btn-quiet btn-sm" onClick={() => void drafts.cancel(run)}>
          Cancel
        </button>
      </span>
    );
  }
  const why = drafts.labelProblem.value || (run && run.state !== "done" && run.state !== "cancelled" ? run.message : "");
  return (
    <span class="suggested" data-suggest>
      <button type="button" class="btn btn-quiet btn-sm" id="suggest-label" disabled={!store.editable.value || drafts.asking.value} onClick={() => void drafts.ask(kind)}>
        <Icon name="magic" /> Suggest
      </button>
      {why && (
        <span class="field-over" role="alert">
          {why}
        </span>
      )}
    </span>
  );
}
