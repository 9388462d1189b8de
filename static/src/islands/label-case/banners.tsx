// Lines over the panes: who else has the case, what cannot be saved any more, what the adjudicator sent back.
import type { Draft } from "../../lib/label-draft";
import { asPlainText } from "../../lib/label-draft";
import { plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import { Bar, KeepsNothing, OpenElsewhere, ProblemBar, Returned } from "../shared/work-notices";
import type { Workspace } from "./workspace";
import { NOTES } from "./workspace";

export function Banners({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { returned } = store.payload.value;
  const tab = store.tab.value;
  const { durable, pending } = store.save.value;
  const stopped = store.stopped.value;
  return (
    <>
      {typeof tab !== "string" && store.isDraftState.value && !stopped && (
        <OpenElsewhere what="case" done="wrote" since={tab.since} busy={store.busy.value} takeOver={() => void workspace.takeOver()} />
      )}
      {store.save.value.hold?.kind === "login" && (
        <Bar kind="bad" icon="lock">
          The login has run out. What you write is kept here and sent once you are logged in.{" "}
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => (store.dialog.value = "login")}>
            Log in again
          </button>
        </Bar>
      )}
      {(stopped || (!store.isDraftState.value && pending > 0 && !store.save.value.sending)) && <Unsent workspace={workspace} message={stopped?.message ?? "Some of your text came too late for this case."} />}
      {!durable && store.isDraftState.value && <KeepsNothing />}
      {returned && store.isDraftState.value && <Returned reason={returned.reason} />}
      {store.problem.value && store.isDraftState.value && <ProblemBar text={store.problem.value} close={() => (store.problem.value = "")} />}
    </>
  );
}

/** The server takes no more: what it does not have is shown, to be copied or kept as a file. */
function Unsent({ workspace, message }: { workspace: Workspace; message: string }) {
  const { store, queue } = workspace;
  // What waits is no signal of its own: it changes with the state of the queue.
  const lanes = store.save.value.pending ? queue.lanes() : [];
  const words = (code: string): string =>
    Object.values(store.payload.value.guideline.reasons)
      .flat()
      .find((one) => one.code === code)?.words ?? code;
  const labels = asPlainText(
    store.payload.value.case.title,
    lanes.filter((lane) => lane !== NOTES).map((lane): [number, Draft] => [Number(lane.slice(1)), queue.latest(lane) as unknown as Draft]),
    words,
  );
  const notes = lanes.includes(NOTES) ? `\n\nMy notes:\n${String(queue.latest(NOTES)?.notes ?? "")}` : "";
  const text = labels + notes;
  const download = (): void => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    link.download = "unsent-labels.txt";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  return (
    <div class="notice notice-bar bad" role="alert">
      <Icon name="lock" />
      <div class="grow">
        <p>
          {message} {store.stopped.value?.kind === "other_user" ? `Nothing is sent under another login. Log in as ${store.payload.value.user.username} and reload this page.` : ""}
        </p>
        {lanes.length > 0 && (
          <>
            <p>{plural(lanes.length, "change")} of yours did not reach the server and can be kept here:</p>
            <textarea class="form-control unsent" readOnly rows={4} aria-label="Your text that is not on the server" value={text} />
            <p class="card-actions">
              <button type="button" class="btn btn-quiet btn-sm" onClick={() => void navigator.clipboard?.writeText(text).then(() => (store.says.value = "Copied."))}>
                <Icon name="clipboard" />
                Copy
              </button>
              <button type="button" class="btn btn-quiet btn-sm" onClick={download}>
                <Icon name="download" />
                Keep as a file
              </button>
              {store.stopped.value?.kind !== "other_user" && (
                <button
                  type="button"
                  class="btn btn-danger-quiet btn-sm"
                  onClick={() => {
                    if (window.confirm("Delete this text from this browser?")) for (const lane of lanes) queue.discard(lane);
                  }}
                >
                  <Icon name="trash" />
                  Delete it here
                </button>
              )}
            </p>
          </>
        )}
      </div>
    </div>
  );
}
