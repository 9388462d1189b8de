// Lines over the panes: what keeps answers from being saved, and what somebody can do about it.
import { Bar, KeepsNothing } from "../shared/work-notices";
import { SavedState, saveWords } from "../shared/saved-state";
import { plural } from "../../lib/words";
import { wordFor } from "./answer";
import type { Criterion, Judgement, SavedJudgement } from "./types";
import { judgementOf } from "./types";
import type { Workspace } from "./workspace";
import { chainOf } from "./workspace";

export function Saved({ workspace }: { workspace: Workspace }) {
  const { store, queue } = workspace;
  const state = store.save.value;
  const before = Object.values(store.page.said).map((one) => one.saved_at).sort().at(-1) ?? null;
  return (
    <SavedState
      state={state}
      words={saveWords(state, before, ({ parked }) => plural(parked.size, "chain"))}
      act={state.hold?.kind === "login" ? () => (store.dialog.value = "login") : null}
      retry={() => queue.retryNow()}
    />
  );
}

export function Notices({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { hold, parked, durable, pending } = store.save.value;
  const place = (lane: string): number => store.page.queue.findIndex(([chain]) => chain === chainOf(lane));
  return (
    <>
      {hold?.kind === "login" && (
        <Bar kind="bad" icon="lock">
          The login has run out. Your answers are kept here and sent once you are logged in.{" "}
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => (store.dialog.value = "login")}>
            Log in again
          </button>
        </Bar>
      )}
      {hold?.kind === "other_user" && (
        <Bar kind="bad" icon="exclamation-circle">
          {hold.message} Nothing is sent under another login: log in as {store.page.user.username} and reload this page. {pending > 0 && `${plural(pending, "answer is", "answers are")} kept in this browser.`}
        </Bar>
      )}
      {hold?.kind === "not_editable" && (
        <Bar kind="bad" icon="lock">
          {hold.message}
        </Bar>
      )}
      {[...parked].map(([lane, why]) => (
        <Bar kind="bad" icon="exclamation-triangle" key={lane}>
          {/* Kept here from a longer queue: the number of paths or chains was changed since. */}
          {place(lane) < 0 ? "A chain that is not in this queue" : `Chain ${place(lane) + 1}`}:{" "}
          {why.kind === "conflict" ? (
            <>
              you said {summary(store.page.criteria, judgementOf(why.current as Partial<SavedJudgement>))} in another tab, and {summary(store.page.criteria, store.of(chainOf(lane)))} here.{" "}
              <button type="button" class="btn btn-quiet btn-sm" onClick={() => workspace.settle(lane, "mine")}>
                Keep what I said here
              </button>{" "}
              <button type="button" class="btn btn-quiet btn-sm" onClick={() => workspace.settle(lane, "theirs")}>
                Keep the other
              </button>
            </>
          ) : (
            <>
              {why.message}{" "}
              {place(lane) >= 0 && (
                <button type="button" class="btn btn-quiet btn-sm" onClick={() => store.go(place(lane))}>
                  Go there
                </button>
              )}{" "}
              <button type="button" class="btn btn-danger-quiet btn-sm" onClick={() => workspace.discard(lane)}>
                Give it up
              </button>
            </>
          )}
        </Bar>
      ))}
      {!durable && <KeepsNothing />}
    </>
  );
}

export function summary(criteria: readonly Criterion[], said: Judgement): string {
  const words = criteria.flatMap(({ id, short }) => {
    const word = said.answers[id];
    return word ? [criteria.length === 1 ? `“${wordFor(id, word)}”` : `${short}: ${wordFor(id, word).toLowerCase()}`] : [];
  });
  return `${words.join(", ") || "nothing"}${said.note ? " with a note" : ""}`;
}
