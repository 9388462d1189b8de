// A problem with the question, for the lead of the study. It can be changed and taken back, and the work goes on.
import { useSignal } from "@preact/signals";
import { errorText } from "../../lib/api";
import { countCodePoints } from "../../lib/text-spans";
import { Dialog } from "../shared/dialog";
import { Icon } from "../shared/parts";
import { postJsonAs } from "./saving";
import type { Store } from "./store";
import type { Flag } from "./types";

export const LONGEST_NOTE = 2000;
const OTHER = "other";

/** What is reported, in words; "" where nothing is. */
export const flagWords = (flag: Flag | undefined): string => flag?.kinds.find(([kind]) => kind === flag.kind)?.[1] ?? "";

/** Sends a report, or takes it back with an empty kind; throws where the server does not take it. */
export async function sendFlag(store: Store, kind: string, note: string): Promise<void> {
  const { flag, urls } = store.payload.peek();
  if (!flag || !urls.flag) return;
  const stored = await postJsonAs<Omit<Flag, "kinds">>(store.payload.peek(), urls.flag, { kind, note }, crypto.randomUUID(), "PUT");
  store.payload.value = { ...store.payload.peek(), flag: { ...stored, kinds: flag.kinds } };
}

export function FlagDialog({ store, close }: { store: Store; close: () => void }) {
  const { flag } = store.payload.value;
  const kind = useSignal(flag?.kind ?? "");
  const note = useSignal(flag?.note ?? "");
  const problem = useSignal("");
  const busy = useSignal(false);
  if (!flag) return null;
  const over = countCodePoints(note.value) - LONGEST_NOTE;
  const lacks = !kind.value || over > 0 || (kind.value === OTHER && !note.value.trim());
  const send = (what: string, text: string, said: string) => async (): Promise<void> => {
    if (busy.peek()) return;
    [busy.value, problem.value] = [true, ""];
    try {
      await sendFlag(store, what, text);
      close();
      store.say(said);
    } catch (error) {
      problem.value = errorText(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title="Report a problem" close={close}>
      <p>The lead of the study reads it. You can go on with the question, hand it in, or leave it.</p>
      <fieldset disabled={!flag.editable}>
        <legend class="form-label">What is wrong?</legend>
        {flag.kinds.map(([name, words]) => (
          <label class="filter" key={name}>
            <input type="radio" name="flag-kind" value={name} checked={kind.value === name} onChange={() => (kind.value = name)} />
            {words}
          </label>
        ))}
      </fieldset>
      <div class="form-row">
        <label class="form-label" for="flag-note">
          Note {kind.value !== OTHER && <span class="muted small">(optional)</span>}
        </label>
        <textarea id="flag-note" class="form-control" rows={4} readOnly={!flag.editable} value={note.value} onInput={(event) => (note.value = event.currentTarget.value)} />
        {over > 0 && <p class="field-over">{over.toLocaleString("en")} characters too many.</p>}
      </div>
      {problem.value && (
        <p class="card-blocked" role="alert">
          <Icon name="exclamation-circle" />
          <span>Not sent: {problem.value}</span>
        </p>
      )}
      <div class="form-actions">
        {flag.editable && (
          <button type="button" class="btn btn-primary" id="flag-send" disabled={busy.value || lacks} onClick={() => void send(kind.peek(), note.peek(), "Reported to the lead of the study.")()}>
            {flag.kind ? "Change the report" : "Report"}
          </button>
        )}
        {flag.editable && flag.kind && (
          <button type="button" class="btn btn-quiet" id="flag-take-back" disabled={busy.value} onClick={() => void send("", "", "The report was taken back.")()}>
            Take it back
          </button>
        )}
        <button type="button" class="btn btn-quiet" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
