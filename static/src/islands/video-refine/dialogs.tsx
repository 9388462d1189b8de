// Questions that stop the work for a moment: submit, log in again, two versions, whose boxes count. None of them loses work.
import type { Path } from "../../lib/video/document";
import { formatTimeframe } from "../../lib/video/cot";
import type { Timeframe, VideoDocument } from "../../lib/video/document";
import { plural } from "../../lib/words";
import { Dialog } from "../shared/dialog";
import { nameOf } from "./actions";
import { DecideDialog, GiveBackDialog, ReopenDialog } from "./adjudication-dialogs";
import { ContactSheet } from "./contact-sheet";
import { VersionsDialog } from "./drafts-dialog";
import { ExportDialog, ImportDialog } from "./files";
import { FindingsNotice } from "./findings-notice";
import { FlagDialog } from "./flag-dialog";
import { LoginDialog } from "../shared/login-dialog";
import { NotesDialog } from "./notes-dialog";
import type { Workspace } from "./workspace";

export function Dialogs({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const close = (): void => void (store.dialog.value = null);
  const { adjudication } = workspace;
  if (workspace.actions.overlap.value) return <OverlapDialog workspace={workspace} />;
  switch (store.dialog.value) {
    case "submit":
      return adjudication ? <DecideDialog workspace={workspace} adjudication={adjudication} close={close} /> : <SubmitDialog workspace={workspace} close={close} />;
    case "give-back":
      return adjudication && <GiveBackDialog workspace={workspace} adjudication={adjudication} close={close} />;
    case "reopen":
      return adjudication && <ReopenDialog workspace={workspace} adjudication={adjudication} close={close} />;
    case "login":
      return <LoginDialog url={store.payload.value.urls.relogin} username={store.payload.value.user.username} pending={store.save.value.pending} done={workspace.loggedIn} close={close} />;
    case "conflict":
      return <ConflictDialog workspace={workspace} close={close} />;
    case "sheet":
      return <ContactSheet workspace={workspace} close={close} />;
    case "export":
      return <ExportDialog workspace={workspace} close={close} />;
    case "import":
      return <ImportDialog workspace={workspace} close={close} />;
    case "notes":
      return <NotesDialog workspace={workspace} close={close} />;
    case "flag":
      return <FlagDialog store={store} close={close} />;
    case "changes":
      return <VersionsDialog workspace={workspace} close={close} />;
    case "guideline":
      return (
        <Dialog title="Guideline" wide close={close}>
          {/* Cleaned by the server, as in the other workspaces. */}
          <div class="guideline" dangerouslySetInnerHTML={{ __html: store.payload.value.guideline?.html ?? "" }} />
        </Dialog>
      );
    default:
      return null;
  }
}

function SubmitDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store } = workspace;
  const { tracks, events, cot, links } = store.doc.value;
  const { number } = store.payload.value.question;
  return (
    <Dialog title={`Finish question ${number}?`} close={close}>
      <dl class="facts num">
        <Fact name="Objects">{Object.keys(tracks).length}</Fact>
        <Fact name="Sounds">{Object.keys(events).length}</Fact>
        <Fact name="Links to evidence">{Object.keys(links).length}</Fact>
        <Fact name="Final answer">{cot.final_answer || "–"}</Fact>
      </dl>
      <FindingsNotice findings={workspace.findings.value} />
      <p class="muted mt-2">After this nothing can be changed, unless you take the question back before it is used.</p>
      <div class="form-actions">
        <button type="button" class="btn btn-primary" id="submit-now" onClick={() => void workspace.submit()}>
          Finish Q{number}
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Not yet
        </button>
      </div>
    </Dialog>
  );
}

const Fact = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function OverlapDialog({ workspace }: { workspace: Workspace }) {
  const { store, actions } = workspace;
  const close = (): void => void (actions.overlap.value = null);
  const a = store.doc.value.tracks[store.mergeWith.value ?? ""];
  const b = store.selectedTrack.value;
  const frames = (actions.overlap.value ?? []).reduce((sum, [start, end]) => sum + end - start, 0);
  if (!a || !b) return null;
  const take = (prefer: "a" | "b") => (): void => {
    close();
    actions.commitMerge(prefer);
  };
  return (
    <Dialog title="Whose boxes count?" close={close}>
      <p>
        Both objects are shown on {plural(frames, "frame")}. On these frames one of the two boxes is dropped.
      </p>
      <div class="form-actions">
        <button type="button" class="btn btn-primary" onClick={take("a")}>
          Those of {nameOf(a)} (first)
        </button>
        <button type="button" class="btn btn-quiet" onClick={take("b")}>
          Those of {nameOf(b)} (second)
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Do not join
        </button>
      </div>
    </Dialog>
  );
}

/** What a path means to a person. */
function placeWords(document: VideoDocument, path: Path): string {
  const [root, id = "", field, frame] = path;
  if (root === "target_label") return "Target label";
  if (root === "cot") return id === "final_answer" ? "Final answer" : `${id === "visual" ? "Visual" : "Audio"} cue, ${field}`;
  if (root === "events") return `Sound ${document.events[id]?.label ?? ""}`;
  if (root === "links") return "A link to evidence";
  const name = document.tracks[id] ? nameOf(document.tracks[id]) : "an object";
  return frame !== undefined ? `Box of ${name} on frame ${frame}` : field === "visible" ? `When ${name} is seen` : field ? `${name}, ${field}` : `All of ${name}`;
}

function valueWords(value: unknown): string {
  if (value === null || value === undefined) return "removed";
  if (typeof value === "string") return value || "empty";
  const part = value as { box?: number[]; intervals?: unknown; label?: string };
  if (part.box) return `at ${part.box.map((one) => Math.round(one)).join(", ")}`;
  if (part.intervals) return formatTimeframe(value as Timeframe) || "no time";
  if (Array.isArray(value)) return value.map((one) => (Array.isArray(one) ? `${one[0]} to ${Number(one[1]) - 1}` : String(one))).join("; ");
  return part.label ?? "changed";
}

function ConflictDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const open = workspace.pendingMerge.value;
  if (!open) return null;
  const { conflicts, refused } = open.merged;
  return (
    <Dialog title="Changed in two places" wide close={close}>
      <p>What fits was put together. In these places both changed the same thing:</p>
      <table class="data">
        <thead>
          <tr>
            <th>What</th>
            <th>Yours</th>
            <th>The other</th>
          </tr>
        </thead>
        <tbody>
          {conflicts.flatMap(({ operation, at }) =>
            at.map((one) => (
              <tr key={operation.id + one.path.join()}>
                <td>{placeWords(open.theirs, one.path)}</td>
                <td>{valueWords(one.mine)}</td>
                <td>{valueWords(one.theirs)}</td>
              </tr>
            )),
          )}
          {refused.map(({ operation, error }) => (
            <tr key={operation.id}>
              <td>{operation.words}</td>
              <td colSpan={2}>{error.sentence} It cannot be kept.</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="form-actions">
        <button type="button" class="btn btn-primary" onClick={() => workspace.settle("mine")}>
          Keep mine there
        </button>
        <button type="button" class="btn btn-quiet" onClick={() => workspace.settle("theirs")}>
          Take the other there
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Later
        </button>
      </div>
    </Dialog>
  );
}
