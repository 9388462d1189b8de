// Keys of the workspace in three profiles. An action is written once; a profile says which keys it has. No profile gives one key twice:
// the registry refuses it, and a test reads all three.
import type { Shortcut } from "../../lib/shortcuts";
import { nudge } from "../../lib/video/hit";
import { faster, shuttle, slower } from "../../lib/video/shuttle";
import type { Workspace } from "./workspace";

export type Profile = "default" | "vidat" | "cvat";

export const PROFILES: Record<Profile, string> = { default: "Editor", vidat: "VidAT", cvat: "CVAT" };

export type Action =
  | "play" | "shuttleBack" | "shuttleStop" | "shuttleOn" | "back" | "forward" | "back10" | "forward10" | "backSecond" | "forwardSecond" | "first" | "last"
  | "keyBack" | "keyForward" | "findingBack" | "findingForward" | "slower" | "faster" | "loop" | "playOnce" | "fitPicture" | "fit" | "fitClip"
  | "newBox" | "pin" | "occluded" | "hide" | "remove" | "removeAll" | "copy" | "paste" | "duplicate" | "nextObject" | "previousObject" | "split" | "merge"
  | "mergeCommit" | "record" | "propagate" | "propose" | "sheet" | "up" | "down" | "spanIn" | "spanOut" | "create" | "extend" | "edit" | "link" | "stepUp" | "stepDown" | "undo" | "redo"
  | "save" | "submit" | "guideline" | "flag" | "escape" | "differenceBack" | "differenceForward" | "takeFirst" | "takeSecond" | "takeThird";

const COMMON: Record<Action, string[]> = {
  play: [" "],
  shuttleBack: ["j"],
  shuttleStop: ["k"],
  shuttleOn: ["l"],
  back: ["ArrowLeft", "d", ","],
  forward: ["ArrowRight", "f", "."],
  back10: ["Shift+ArrowLeft"],
  forward10: ["Shift+ArrowRight"],
  backSecond: ["Ctrl+ArrowLeft"],
  forwardSecond: ["Ctrl+ArrowRight"],
  first: ["Home"],
  last: ["End"],
  keyBack: ["<"],
  keyForward: [">"],
  findingBack: ["A"],
  findingForward: ["D"],
  slower: ["-"],
  faster: ["="],
  loop: ["r"],
  playOnce: ["Shift+ "],
  fitPicture: ["0"],
  fit: ["i"],
  fitClip: ["I"],
  newBox: ["n"],
  pin: [],
  occluded: ["o"],
  hide: ["h"],
  remove: ["Delete"],
  removeAll: ["Shift+Delete"],
  copy: ["Ctrl+c"],
  paste: ["Ctrl+v"],
  duplicate: ["Ctrl+d"],
  nextObject: ["Tab"],
  previousObject: ["Shift+Tab"],
  split: ["s"],
  merge: ["m"],
  mergeCommit: ["M"],
  propagate: ["p"],
  propose: ["w"],
  sheet: ["c"],
  up: ["ArrowUp", "Shift+ArrowUp"],
  down: ["ArrowDown", "Shift+ArrowDown"],
  spanIn: ["["],
  spanOut: ["]"],
  create: ["Enter"],
  extend: ["E"],
  record: ["b"],
  edit: ["e"],
  link: ["Ctrl+k"],
  stepUp: ["Alt+ArrowUp"],
  stepDown: ["Alt+ArrowDown"],
  undo: ["Ctrl+z"],
  redo: ["Ctrl+Shift+z", "Ctrl+y"],
  save: ["Ctrl+s"],
  submit: ["Ctrl+Enter"],
  guideline: ["g"],
  flag: ["F"],
  escape: ["Escape"],
  differenceBack: ["Alt+k"],
  differenceForward: ["Alt+j"],
  takeFirst: ["Alt+1"],
  takeSecond: ["Alt+2"],
  takeThird: ["Alt+3"],
};

/** What a profile has otherwise than the default. */
const OTHER: Record<Profile, Partial<Record<Action, string[]>>> = {
  default: {},
  // VidAT: A and D step, P plays, comma and full stop go to keyframes.
  vidat: { play: [" ", "p"], back: ["ArrowLeft", "a"], forward: ["ArrowRight", "d"], keyBack: [",", "<"], keyForward: [".", ">"], propagate: ["P"] },
  // CVAT and DIVE: D and F step, C and V ten of them, K is the keyframe, Q occluded, so J, K and L are no shuttle.
  cvat: { back: ["d", "ArrowLeft"], forward: ["f", "ArrowRight"], back10: ["c", "Shift+ArrowLeft"], forward10: ["v", "Shift+ArrowRight"], pin: ["k"], shuttleBack: [], shuttleStop: [], shuttleOn: [], occluded: ["q"], hide: ["o"], sheet: ["x"], propagate: ["Ctrl+b"], link: ["l"], loop: ["r"] },
};

export const keysOf = (profile: Profile, action: Action): string[] => OTHER[profile][action] ?? COMMON[action];

const inField = (): Element | null => document.activeElement;
/** Where Tab and the arrows belong to the picture: nothing else has the focus, or a box has. */
const onBox = (): boolean => Boolean(inField()?.closest("[data-stage]"));
const nowhere = (): boolean => !inField() || inField() === document.body || onBox();
/** Space and Enter keep their meaning on what somebody reached with the keyboard. */
const pressFree = (): boolean => {
  const at = inField()?.closest("button, a, summary, select, [role='button'], [role='slider']");
  return !at || onBox() || !at.matches(":focus-visible");
};

/** Watches what keys alone cannot say: whether K is held, and whether somebody works on the picture. */
export function startKeyWatch(state: { k: boolean; onStage: boolean }, off: AbortSignal): void {
  document.addEventListener("pointerdown", (event) => (state.onStage = (event.target as Element).closest("[data-stage]") !== null), { signal: off, capture: true });
  document.addEventListener("focusin", (event) => (state.onStage = (event.target as Element).closest("[data-stage]") !== null), { signal: off });
  const set = (down: boolean) => (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() === "k") state.k = down;
  };
  document.addEventListener("keydown", set(true), { signal: off, capture: true });
  document.addEventListener("keyup", set(false), { signal: off });
  window.addEventListener("blur", () => (state.k = false), { signal: off });
}

export function keyShortcuts(workspace: Workspace, profile: Profile): Shortcut[] {
  const { store, actions, player, held } = workspace;
  const free = (): boolean => store.dialog.peek() === null;
  const speed = (): number => (player.playing.peek() ? player.rate.peek() : 0);
  const shuttling = (key: "j" | "k" | "l") => (event: KeyboardEvent): void => {
    if (event.repeat && key === "k") return;
    const what = shuttle(speed(), key, held.k && key !== "k");
    if (what.kind === "step") void player.step(what.frames);
    else player.shuttle(what.speed);
  };
  const stepping = (key: string, by: number) => (event: KeyboardEvent): void => {
    // On a box that has the focus the arrows move the box.
    if (onBox() && event.key === key && actions.nudgeBox(event.key, event.shiftKey)) return;
    void player.step(by);
  };
  const nudging = (event: KeyboardEvent): void => {
    if (nudge(event.key, event.shiftKey)) actions.nudgeBox(event.key, event.shiftKey);
  };
  /** Tab goes from object to object while somebody works on the picture; past the last one it leaves, as it does everywhere. */
  const tabIsOurs = (way: 1 | -1) => (): boolean => {
    const here = actions.onFrame();
    if (!here.length || !held.onStage) return false;
    if (!onBox()) return nowhere();
    const at = here.findIndex((track) => track.id === store.selection.peek()?.id);
    return here[at + way] !== undefined;
  };
  const cycle = (way: 1 | -1) => (): void => {
    actions.cycle(way);
    const chosen = store.selection.peek();
    if (chosen) workspace.focusBox(chosen.id);
  };
  type Row = [Action, string, string, (event: KeyboardEvent) => void, (() => boolean)?];
  const { adjudication } = workspace;
  const decisions: Row[] = adjudication
    ? [
        ["differenceBack", "Previous difference", "Decision", () => adjudication.move(-1)],
        ["differenceForward", "Next difference", "Decision", () => adjudication.move(1)],
        ["takeFirst", "Take the first side", "Decision", () => adjudication.takeNth(0)],
        ["takeSecond", "Take the second side", "Decision", () => adjudication.takeNth(1)],
        ["takeThird", "Take the third side", "Decision", () => adjudication.takeNth(2)],
      ]
    : [];
  const all: Row[] = [
    // The registry does not tell Shift and Space from Space.
    ["play", "Play or pause", "Play", (event) => (event.shiftKey ? workspace.playSelection(false) : player.toggle()), pressFree],
    ["shuttleBack", "Backwards, faster each time (K J: one frame)", "Play", shuttling("j")],
    ["shuttleStop", "Stop", "Play", shuttling("k")],
    ["shuttleOn", "Forwards, faster each time (K L: one frame)", "Play", shuttling("l")],
    ["playOnce", "Play the selection once", "Play", () => workspace.playSelection(false), pressFree],
    ["loop", "Play the selection again and again", "Play", () => workspace.loop()],
    ["slower", "Slower", "Play", () => player.setRate(slower(Math.abs(player.rate.peek())))],
    ["faster", "Faster", "Play", () => player.setRate(faster(Math.abs(player.rate.peek())))],
    ["back", "One frame back", "Go", stepping("ArrowLeft", -1)],
    ["forward", "One frame forward", "Go", stepping("ArrowRight", 1)],
    ["back10", "Ten frames back", "Go", stepping("ArrowLeft", -10)],
    ["forward10", "Ten frames forward", "Go", stepping("ArrowRight", 10)],
    ["backSecond", "One second back", "Go", () => void player.jump(-1)],
    ["forwardSecond", "One second forward", "Go", () => void player.jump(1)],
    ["first", "First frame", "Go", () => store.goTo(0)],
    ["last", "Last frame", "Go", () => store.goTo(store.index.n - 1)],
    ["keyBack", "Previous keyframe of the selection", "Go", () => actions.nextKeyframe(-1)],
    ["keyForward", "Next keyframe of the selection", "Go", () => actions.nextKeyframe(1)],
    ["findingBack", "Previous warning", "Go", () => workspace.toFinding(-1)],
    ["findingForward", "Next warning", "Go", () => workspace.toFinding(1)],
    ["fitPicture", "Fit the picture", "View", () => (store.zoom.value = { scale: 1, x: 0, y: 0 })],
    ["fit", "Timelines: fit the selection or step", "View", () => workspace.fit()],
    ["fitClip", "Timelines: the whole clip", "View", store.fitClip],
    ["newBox", "New box", "Boxes", () => (store.tool.value = "draw"), () => store.editable.peek()],
    ["create", "Keep the box as keyframe or take it away; with a chosen stretch: new sound", "Boxes", () => (store.span.peek() ? actions.addEvent() : actions.togglePin()), pressFree],
    ["pin", "Keep the box as keyframe, or take it away", "Boxes", actions.togglePin],
    ["occluded", "Occluded, or seen again", "Boxes", actions.toggleOccluded],
    ["hide", "Hide from here", "Boxes", actions.hide],
    ["remove", "Remove from here on, or the sound", "Boxes", actions.remove],
    ["removeAll", "Remove the whole object", "Boxes", actions.removeAll],
    ["copy", "Copy the box", "Boxes", actions.copy, () => !window.getSelection()?.toString()],
    ["paste", "Paste the box at the same place", "Boxes", () => actions.paste()],
    ["duplicate", "Duplicate as a new object", "Boxes", actions.duplicate],
    ["nextObject", "Next object on this frame", "Boxes", cycle(1), tabIsOurs(1)],
    ["previousObject", "Previous object on this frame", "Boxes", cycle(-1), tabIsOurs(-1)],
    ["up", "Move the box up (Shift: 10 pixels)", "Boxes", nudging, () => nowhere() && store.selectedTrack.peek() !== null],
    ["down", "Move the box down (Shift: 10 pixels)", "Boxes", nudging, () => nowhere() && store.selectedTrack.peek() !== null],
    ["split", "Split here", "Boxes", actions.splitHere],
    ["merge", "Join: choose the first object", "Boxes", actions.startMerge],
    ["mergeCommit", "Join: the second object, now", "Boxes", () => actions.commitMerge()],
    ["propagate", "Copy the box over the next frames", "Boxes", () => actions.propagate(workspace.propagateFrames.peek())],
    ["propose", "Proposals: have a tracker or a model find the boxes", "Boxes", () => workspace.proposals.toggle()],
    ["sheet", "Crops along the object", "Boxes", () => (store.dialog.value = "sheet"), () => store.selectedTrack.peek() !== null],
    ["spanIn", "Start of a stretch", "Sounds and reasoning", actions.setMark],
    ["spanOut", "End of the stretch", "Sounds and reasoning", actions.closeSpan],
    ["extend", "New sound from the end of the one before to here", "Sounds and reasoning", actions.extendFromPrevious],
    ["record", "Record a sound while the clip plays: hold, or press where it begins and ends", "Sounds and reasoning", (event) => event.repeat || workspace.recorder.down()],
    ["edit", "Edit the text of the step", "Sounds and reasoning", () => workspace.editStep()],
    ["link", "Link the selection to the step", "Sounds and reasoning", actions.linkSelected],
    ["stepUp", "Step before", "Sounds and reasoning", () => workspace.moveStep(-1)],
    ["stepDown", "Step after", "Sounds and reasoning", () => workspace.moveStep(1)],
    ["undo", "Undo", "Work", store.undo],
    ["redo", "Do again", "Work", store.redo],
    ["save", "Save now", "Work", () => workspace.saveNow()],
    ["submit", "Submit", "Work", () => (store.dialog.value = "submit"), () => store.editable.peek()],
    ["guideline", "Guideline", "Work", () => (store.dialog.value = "guideline"), () => store.payload.peek().guideline !== null],
    ["flag", "Report a problem with the question", "Work", () => (store.dialog.value = "flag"), () => store.payload.peek().flag !== undefined],
    ["escape", "Leave field, tool, selection", "Work", () => workspace.escape()],
    ...decisions,
  ];
  return all.flatMap(([action, does, group, run, when]): Shortcut[] => {
    const keys = keysOf(profile, action);
    return keys.length ? [{ keys, does, group, run, when: () => free() && (when?.() ?? true) }] : [];
  });
}
