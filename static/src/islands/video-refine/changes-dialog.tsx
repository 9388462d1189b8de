// Everything that is different from what was generated, in one place.
import type { PartChange } from "../../lib/video/changes";
import { changesOf, isNone } from "../../lib/video/changes";
import { diff } from "../../lib/video/diff";
import { emptyDocument } from "../../lib/video/document";
import { plural } from "../../lib/words";
import { Dialog } from "../shared/dialog";
import type { Workspace } from "./workspace";

const KINDS = { added: "new", removed: "removed", changed: "changed" } as const;

export function ChangesDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store } = workspace;
  const { generated } = store.payload.value;
  const changes = changesOf(generated ?? emptyDocument(), store.doc.value);
  const { links } = changes;
  const linkWords = [links.added && `${plural(links.added, "link")} more`, links.removed && `${plural(links.removed, "link")} fewer`, links.changed && `${plural(links.changed, "link")} changed`].filter(Boolean).join(", ");
  return (
    <Dialog title="Changes" wide close={close}>
      <p class="muted">{generated ? "Your answer against what was generated." : "Nothing was generated for this question: all of it is yours."}</p>
      {isNone(changes) && <p>Nothing is changed.</p>}
      {changes.texts.map(({ name, before, after }) => (
        <section key={name} class="change">
          <h3>{name}</h3>
          <p class="text-diff">
            {diff(before, after).map(({ kind, text }, k) => (kind === "gone" ? <del key={k}>{text}</del> : kind === "new" ? <ins key={k}>{text}</ins> : <span key={k}>{text}</span>))}
          </p>
        </section>
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
        <button type="button" class="btn btn-quiet" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
    </Dialog>
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
            <span class={`chip ${kind === "added" ? "correct" : kind === "removed" ? "incorrect" : "accent"}`}>{KINDS[kind]}</span> {words.join("; ")}
          </li>
        ))}
      </ul>
    </section>
  );
}
