// The rail beside the picture: what the hand does, and what happens to the selected object.
import { Icon } from "../shared/parts";
import { nameOf } from "./actions";
import type { Workspace } from "./workspace";

export function Tools({ workspace }: { workspace: Workspace }) {
  const { store, actions } = workspace;
  const track = store.selectedTrack.value;
  const may = store.editable.value;
  const off = !track || !may;
  const key = (action: string): string => workspace.keyHint(action);
  const button = (icon: string, words: string, action: string, run: () => void, disabled: boolean, pressed?: boolean) => (
    <button type="button" aria-label={words} title={`${words}${key(action)}`} disabled={disabled} aria-pressed={pressed} onClick={run}>
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="tools" role="toolbar" aria-label="Box tools" aria-orientation="vertical">
      {button("cursor", "Select and adjust", "escape", () => (store.tool.value = "select"), false, store.tool.value === "select")}
      {button("bounding-box", "Draw box", "newBox", () => (store.tool.value = store.tool.peek() === "draw" ? "select" : "draw"), !may, store.tool.value === "draw")}
      {workspace.proposals.available.value && button("magic", "Propose boxes", "propose", () => workspace.proposals.toggle(), false, workspace.proposals.open.value)}
      <hr />
      {button("diamond", "Keep this box as keyframe, or take the keyframe away", "pin", actions.togglePin, off)}
      {button("fast-forward", "Copy this box over the next frames", "propagate", () => actions.propagate(workspace.propagateFrames.peek()), off)}
      {button("layers-half", "Occluded, or seen again", "occluded", actions.toggleOccluded, off)}
      {button("eye-slash", "Hide from here", "hide", actions.hide, off)}
      {button("scissors", "Split here", "split", actions.splitHere, off)}
      {button("union", track && store.mergeWith.value && store.mergeWith.value !== track.id ? `Join ${nameOf(track)} to the first object` : "Join with another object", "merge", () => (store.mergeWith.peek() && store.mergeWith.peek() !== track?.id ? actions.commitMerge() : actions.startMerge()), off, store.mergeWith.value !== null)}
      <hr />
      {button("grid-3x3", "Crops along the object", "sheet", () => (store.dialog.value = "sheet"), !track)}
      {button("trash", "Remove from here on", "remove", actions.remove, !may || store.selection.value === null)}
    </div>
  );
}
