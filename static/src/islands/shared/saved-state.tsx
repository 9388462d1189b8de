// The state of saving in the page's head: in words, with what somebody can do about it, and told to a screen reader where it matters.
import { useEffect, useRef } from "preact/hooks";
import type { QueueState } from "../../lib/save-queue";
import { plural } from "../../lib/words";
import { Icon } from "./parts";

export interface SaveWords {
  kind: "good" | "busy" | "warn" | "bad";
  icon: string;
  text: string;
}

export const clock = (iso: string): string => {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
};

/**
 * One of saved, saving, offline, conflict, not saved, log in again, read only. `refused`: what the server did not take, in words;
 * `savedAt`: when the work was saved before this page.
 */
export function saveWords(state: QueueState, savedAt: string | null, refused: (state: QueueState) => string): SaveWords {
  const kept = `${plural(state.pending, "change")} kept here`;
  const conflicts = [...state.parked.values()].filter((one) => one.kind === "conflict").length;
  const at = clock(state.savedAt ?? savedAt ?? "");
  if (state.hold?.kind === "other_user") return { kind: "bad", icon: "exclamation-circle", text: `Another login, ${kept}` };
  if (state.hold?.kind === "not_editable") return { kind: "bad", icon: "lock", text: state.pending ? `Not saved, ${kept}` : "Closed" };
  if (state.hold?.kind === "login") return { kind: "bad", icon: "lock", text: `Log in again${state.pending ? `, ${kept}` : ""}` };
  if (state.hold?.kind === "other_tab") return { kind: "warn", icon: "eye", text: "Read only: open in another tab" };
  if (conflicts) return { kind: "bad", icon: "exclamation-triangle", text: conflicts === 1 ? "Conflict: changed in two places" : `${conflicts} conflicts` };
  if (state.parked.size) return { kind: "bad", icon: "exclamation-triangle", text: `Not saved: ${refused(state)}` };
  if (state.offline) return { kind: "warn", icon: "cloud-slash", text: `Offline, ${kept}` };
  if (state.pending || state.sending) return { kind: "busy", icon: "arrow-repeat", text: "Saving" };
  return { kind: "good", icon: "check-circle-fill", text: at ? `Saved ${at}` : "Nothing to save yet" };
}

interface SavedStateProps {
  state: QueueState;
  words: SaveWords;
  /** Opens what helps; null where nothing but waiting does. */
  act: (() => void) | null;
  retry: () => void;
}

export function SavedState({ state, words, act, retry }: SavedStateProps) {
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
          <button type="button" class="btn-text" onClick={act}>
            {words.text}
          </button>
        ) : (
          words.text
        )}
        {state.offline && (
          <button type="button" class="btn-text" onClick={retry}>
            Try now
          </button>
        )}
      </span>
      <span class="visually-hidden" role="status" ref={region} />
    </>
  );
}
