// Lines over the panes: what keeps ratings from being saved, and what somebody can do about it.
import { plural } from "../../lib/words";
import { SavedState, saveWords } from "../shared/saved-state";
import { Bar, KeepsNothing } from "../shared/work-notices";
import type { Rating, SavedRating } from "./types";
import { partsOf, ratingOf } from "./types";
import type { Workspace } from "./workspace";

export function Saved({ workspace }: { workspace: Workspace }) {
  const { store, queue } = workspace;
  const state = store.save.value;
  const before = Object.values(store.page.said).flatMap((given) => Object.values(given).map((one) => one.saved_at)).sort().at(-1) ?? null;
  return (
    <SavedState
      state={state}
      words={saveWords(state, before, ({ parked }) => plural(parked.size, "rating"))}
      act={state.hold?.kind === "login" ? () => (store.dialog.value = "login") : null}
      retry={() => queue.retryNow()}
    />
  );
}

export function Notices({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { hold, parked, durable, pending } = store.save.value;
  const place = (lane: string): number => store.page.queue.findIndex(([answer]) => answer === partsOf(lane)[0]);
  const facet = (lane: string): string => store.page.facets.find(({ id }) => id === partsOf(lane)[1])?.short.toLowerCase() ?? "";
  return (
    <>
      {hold?.kind === "login" && (
        <Bar kind="bad" icon="lock">
          The login has run out. Your ratings are kept here and sent once you are logged in.{" "}
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => (store.dialog.value = "login")}>
            Log in again
          </button>
        </Bar>
      )}
      {hold?.kind === "other_user" && (
        <Bar kind="bad" icon="exclamation-circle">
          {hold.message} Nothing is sent under another login: log in as {store.page.user.username} and reload this page. {pending > 0 && `${plural(pending, "rating is", "ratings are")} kept in this browser.`}
        </Bar>
      )}
      {hold?.kind === "not_editable" && (
        <Bar kind="bad" icon="lock">
          {hold.message}
        </Bar>
      )}
      {[...parked].map(([lane, why]) => (
        <Bar kind="bad" icon="exclamation-triangle" key={lane}>
          {/* Kept here from a larger sample: it was made smaller since. */}
          {place(lane) < 0 ? "An answer that is not in this list" : `Answer ${place(lane) + 1}`}, {facet(lane)}:{" "}
          {why.kind === "conflict" ? (
            <>
              you gave {words(ratingOf(why.current as Partial<SavedRating>))} in another tab, and {words(store.of(...partsOf(lane)))} here.{" "}
              <button type="button" class="btn btn-quiet btn-sm" onClick={() => workspace.settle(lane, "mine")}>
                Keep what I gave here
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

const words = ({ value, note }: Rating): string => `${value ?? "nothing"}${note ? " with a note" : ""}`;
