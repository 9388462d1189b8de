// Lines over the panes of a workspace that saves as one goes: who else has it open, what this browser cannot do, what came back.
import type { ComponentChildren } from "preact";
import { Icon } from "./parts";
import { clock } from "./saved-state";

export function Bar({ kind, icon, role = "alert", children }: { kind: "warn" | "bad"; icon: string; role?: "alert" | "note" | "status"; children: ComponentChildren }) {
  return (
    <div class={`notice notice-bar ${kind}`} role={role}>
      <Icon name={icon} />
      <p>{children}</p>
    </div>
  );
}

const sinceWords = (iso: string): string => {
  const at = clock(iso);
  return at && ` since ${at}`;
};

/** Another tab writes. `what`: "case", "question"; `done`: what one did there, as in "What you wrote there is safe." */
export function OpenElsewhere({ what, done, since, busy, takeOver }: { what: string; done: string; since: string; busy: boolean; takeOver: () => void }) {
  return (
    <Bar kind="warn" icon="eye">
      Read only here: this {what} is open in another tab or window{sinceWords(since)}. What you {done} there is safe.{" "}
      <button type="button" class="btn btn-quiet btn-sm" disabled={busy} onClick={takeOver}>
        Take over here
      </button>
    </Bar>
  );
}

export const KeepsNothing = () => (
  <Bar kind="warn" icon="exclamation-triangle" role="note">
    This browser keeps nothing over a reload (a private window, or no room). Your work is saved to the server as you go; do not close the page while it says “offline”.
  </Bar>
);

export const Returned = ({ reason }: { reason: string }) => (
  <Bar kind="warn" icon="arrow-counterclockwise" role="note">
    <b>Returned to you.</b> {reason}
  </Bar>
);

export const ProblemBar = ({ text, close }: { text: string; close: () => void }) => (
  <Bar kind="bad" icon="exclamation-circle">
    {text}{" "}
    <button type="button" class="btn-text" onClick={close}>
      Close
    </button>
  </Bar>
);
