// A person's own notes on the question. They are no part of the answer, so they have their own place and their own saving.
import { useSignal } from "@preact/signals";
import { errorText } from "../../lib/api";
import { countCodePoints } from "../../lib/text-spans";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/parts";
import type { Workspace } from "./workspace";

export function NotesDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store } = workspace;
  const { draft, save } = workspace.notes;
  const { notes, limits } = store.payload.value;
  const problem = useSignal("");
  const saving = useSignal(false);
  if (!notes) return null;
  const text = draft.value ?? notes.text;
  const over = limits.notes === undefined ? 0 : countCodePoints(text) - limits.notes;
  // Closing saves: what does not reach the server stays here, with a sentence.
  const leave = async (): Promise<void> => {
    if (saving.peek()) return;
    [saving.value, problem.value] = [true, ""];
    try {
      await save();
      close();
    } catch (error) {
      problem.value = errorText(error);
    } finally {
      saving.value = false;
    }
  };
  return (
    <Dialog title="My notes" close={() => void leave()}>
      <div class="form-row">
        <label class="form-label" for="own-notes">
          On this question, for yourself
        </label>
        <textarea id="own-notes" class="form-control" rows={7} readOnly={!notes.editable} value={text} onInput={(event) => (draft.value = event.currentTarget.value)} />
        {over > 0 && <p class="field-over">{over.toLocaleString("en")} characters too many.</p>}
      </div>
      {problem.value && (
        <p class="card-blocked" role="alert">
          <Icon name="exclamation-circle" />
          <span>Not saved: {problem.value} Your text is kept here while the page is open.</span>
        </p>
      )}
      <div class="form-actions">
        <button type="button" class="btn btn-primary" disabled={saving.value || over > 0} onClick={() => void leave()}>
          {notes.editable ? "Save and close" : "Close"}
        </button>
        {problem.value && (
          <button type="button" class="btn btn-quiet" onClick={close}>
            Close without saving
          </button>
        )}
      </div>
    </Dialog>
  );
}
