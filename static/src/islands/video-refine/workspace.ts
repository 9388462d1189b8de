// Ties the store to the world: the video, the sound's outline, the queue of operations, the tab's hold, and what the page tells.
import { batch, effect, signal } from "@preact/signals";
import { ActiveTime } from "../../lib/active-time";
import { ApiError, errorText, getJson } from "../../lib/api";
import type { QueueStore } from "../../lib/queue-store";
import { whoAmI } from "../../lib/relogin";
import type { TabAnswer } from "../../lib/tab-lock";
import { TabLock } from "../../lib/tab-lock";
import { plural } from "../../lib/words";
import type { Step } from "../../lib/video/document";
import { equal, keepMine, merge } from "../../lib/video/document";
import type { Merged, Operation, VideoDocument } from "../../lib/video/document";
import type { PictureIndex } from "../../lib/video/index";
import { PeakTiles } from "../../lib/video/peaks";
import { createActions } from "./actions";
import { Refusal } from "../label-case/server";
import type { Profile } from "./keys";
import { PROFILES, startKeyWatch } from "./keys";
import { liveChecks } from "./live-checks";
import { createNotes } from "./notes";
import { Player } from "./player";
import { createProposals, requestsOf } from "./proposals";
import { LANE, OperationQueue, postJsonAs, sendBody } from "./saving";
import type { StepName } from "./store";
import { createStore } from "./store";
import type { RefinePayload } from "./types";

export type Workspace = ReturnType<typeof createWorkspace>;

const PROFILE_KEY = "reasonaudit-video-keys";
/** A page left alone for longer does not renew its hold of the question. */
const PRESENT_MS = 120_000;

function storedProfile(): Profile {
  try {
    const kept = localStorage.getItem(PROFILE_KEY) ?? "";
    return kept in PROFILES ? (kept as Profile) : "default";
  } catch {
    return "default";
  }
}

export function makeVideo(payload: RefinePayload): HTMLVideoElement {
  const video = document.createElement("video");
  video.src = payload.video.urls.media;
  video.preload = "auto";
  video.playsInline = true;
  video.disablePictureInPicture = true;
  video.setAttribute("aria-label", payload.video.title);
  video.tabIndex = -1;
  return video;
}

export function createWorkspace(first: RefinePayload, index: PictureIndex, video: HTMLVideoElement, kept: QueueStore, tabId: string) {
  const player = new Player(video, index);
  const store = createStore(first, index, player, { changed: (operation, delayMs, joins) => sender.send(operation, delayMs, joins), now: () => performance.now(), uuid: () => crypto.randomUUID() });
  const actions = createActions(store);
  const proposals = createProposals(store, requestsOf((url, body) => postJsonAs(store.payload.peek(), url, body)));
  const notes = createNotes(store, tabId);
  const dragging = signal<{ key: string; start: number; end: number } | null>(null);
  const muted = signal(video.muted);
  const propagateFrames = signal(30);
  const profile = signal<Profile>(storedProfile());
  const peaksVersion = signal(0);
  const pendingMerge = signal<{ merged: Merged; theirs: VideoDocument; version: number } | null>(null);
  const held = { k: false, onStage: false };
  // One question a page, so one clock: nothing is told apart.
  const time = new ActiveTime(() => performance.now());
  time.start(0, first.active_ms ?? 0);
  time.select(0);
  const off = new AbortController();
  let lastInput = Date.now();

  const { peaks: peakFacts, has_audio, urls: media } = first.video;
  const peaks =
    has_audio && peakFacts
      ? new PeakTiles(peakFacts, async (level, start, count) => {
          const response = await fetch(`${media.peaks}?level=${level}&start=${start}&count=${count}`, { credentials: "same-origin" });
          if (!response.ok) throw new Error(`The outline of the sound answered with status ${response.status}.`);
          return new Int8Array(await response.arrayBuffer());
        }, () => peaksVersion.value++)
      : null;

  const { findings, suggestions } = liveChecks(first, store, peaks, peaksVersion);

  // ---- saving ------------------------------------------------------------------------------------------------------------

  let asked = false;
  const sender = new OperationQueue({
    store: kept,
    user: first.user.id,
    assignment: first.id,
    tab: tabId,
    send: (change, leaving) => sendBody(store.payload.peek(), change, leaving),
    onChange: (state) => {
      store.save.value = state;
      if (state.hold?.kind === "other_tab") lock.lost(state.hold.since);
      if (state.hold?.kind !== "login") asked = false;
      // Never in the way of who is playing or typing: the banner says it meanwhile.
      else if (!asked && !player.playing.peek() && store.dialog.peek() === null && Date.now() - lastInput > 1500) {
        asked = true;
        store.dialog.value = "login";
      }
      const parked = state.parked.get(LANE);
      if (parked?.kind === "conflict" && !pendingMerge.peek()) takeIn(parked.current);
    },
    onSaved: (_, __, { version, savedAt, reply }) => {
      store.savedAt.value = savedAt;
      const { state, assignment_version } = store.payload.peek();
      const work = reply.assignment as { state?: string; version?: number } | undefined;
      store.payload.value = { ...store.payload.peek(), version, state: work?.state ?? state, ...(work?.version === undefined ? (assignment_version === undefined ? {} : { assignment_version }) : { assignment_version: work.version }) };
    },
  }, () => time.total(0));
  const { queue } = sender;

  /** Somebody else's version is there: what fits goes on top of it by itself, the rest is asked. */
  function takeIn(current: Record<string, unknown>): void {
    const theirs = current.document as VideoDocument | undefined;
    const version = Number(current.version ?? 0);
    if (!theirs) return;
    const merged = merge(theirs, sender.waiting, store.limits);
    if (merged.conflicts.length || merged.refused.length) {
      pendingMerge.value = { merged, theirs, version };
      return;
    }
    finishMerge(merged.document, merged.applied, version);
    store.say("Changes made elsewhere were taken in; yours lie on top of them.");
  }

  function finishMerge(document: VideoDocument, operations: Operation[], version: number): void {
    batch(() => {
      pendingMerge.value = null;
      store.dialog.value = store.dialog.peek() === "conflict" ? null : store.dialog.peek();
      store.load({ ...store.payload.peek(), version }, document);
    });
    // Not inside the queue's own call: it is about to park the lane.
    queueMicrotask(() => sender.settle(operations, version));
  }

  /** Ends a conflict: mine wins where both changed a thing, or theirs does. */
  function settle(whose: "mine" | "theirs"): void {
    const open = pendingMerge.peek();
    if (!open) return;
    let { document } = open.merged;
    const kept: Operation[] = [...open.merged.applied];
    let lost = 0;
    if (whose === "mine") {
      for (const { operation } of open.merged.conflicts) {
        try {
          const again = merge(document, [keepMine(document, { ...operation, id: crypto.randomUUID() })], store.limits);
          if (again.applied.length) {
            document = again.document;
            kept.push(...again.applied);
          } else lost++;
        } catch {
          lost++;
        }
      }
    }
    finishMerge(document, kept, open.version);
    if (lost) store.say(`${plural(lost, "change")} could not be kept: the object is gone.`, { bad: true });
  }

  const lock = new TabLock(tabId, {
    user: first.user.id,
    assignment: first.id,
    ask: (tab, take) => postJsonAs<TabAnswer>(store.payload.peek(), store.payload.peek().urls.tab, { tab, take }),
    active: () => document.visibilityState === "visible" && Date.now() - lastInput < PRESENT_MS && store.isDraftState.peek(),
    onHeld: () => void becomeWriter(),
    onLost: (since) => {
      store.tab.value = { since };
      queue.hold({ kind: "other_tab", since });
    },
  });

  async function reload(): Promise<void> {
    const payload = await getJson<RefinePayload>(store.payload.peek().urls.detail);
    queue.setVersion(LANE, payload.version);
    store.load(payload, merge(payload.document, sender.waiting, store.limits).document);
  }

  async function becomeWriter(): Promise<void> {
    if (typeof store.tab.peek() !== "string") {
      // The other tab wrote meanwhile, here on the server or in this browser's store.
      try {
        await sender.open();
        await reload();
      } catch (error) {
        store.problem.value = errorText(error);
        return;
      }
    }
    store.tab.value = "held";
    if (queue.state.hold?.kind === "asking" || queue.state.hold?.kind === "other_tab") queue.resume();
  }

  async function act(what: () => Promise<void>): Promise<void> {
    if (store.busy.peek()) return;
    batch(() => ((store.busy.value = true), (store.problem.value = "")));
    try {
      await what();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) queue.hold({ kind: "login", message: error.message });
      else store.problem.value = errorText(error);
    } finally {
      store.busy.value = false;
    }
  }

  let submitKey: { version: number; key: string } | null = null;
  const submit = (): Promise<void> =>
    act(async () => {
      store.dialog.value = null;
      player.pause();
      if (!(await queue.drained())) {
        store.problem.value = `Not submitted: ${plural(queue.state.pending, "change is", "changes are")} not on the server yet. They are kept here and sent as soon as it answers; then submit again.`;
        return;
      }
      const { assignment_version, version: operations, urls } = store.payload.peek();
      const version = assignment_version ?? operations;
      // Sent again after a lost answer it is the same submission, not a second one.
      if (submitKey?.version !== version) submitKey = { version, key: crypto.randomUUID() };
      try {
        await postJsonAs(store.payload.peek(), urls.submit, { base_version: version, tab: tabId }, submitKey.key);
      } catch (error) {
        submitKey = error instanceof ApiError && error.status ? null : submitKey;
        const parts = error instanceof Refusal ? error.fields.parts : null;
        if (Array.isArray(parts) && parts.length) throw new ApiError(`${(error as Refusal).message} ${parts.join(" ")}`, (error as Refusal).remedy, (error as Refusal).status);
        throw error;
      }
      await reload();
      store.say("Submitted.");
    });

  const recall = (): Promise<void> =>
    act(async () => {
      await postJsonAs(store.payload.peek(), store.payload.peek().urls.recall, { tab: tabId });
      await reload();
      await lock.start();
      store.say("The question is yours to edit again.");
    });

  // ---- moving about ------------------------------------------------------------------------------------------------------

  const STEPS: StepName[] = ["visual", "audio", "final"];
  function moveStep(by: 1 | -1): void {
    const next = STEPS[STEPS.indexOf(store.step.peek()) + by];
    if (!next) return;
    store.step.value = next;
    document.querySelector(`[data-step="${next}"]`)?.scrollIntoView({ block: "nearest" });
    const span = store.stepSpan(next);
    if (span) store.fit(span);
  }

  function editStep(): void {
    const step = store.step.peek();
    document.querySelector<HTMLElement>(step === "final" ? "#final-answer" : `#${step}-description`)?.focus();
  }

  let atFinding = -1;
  function toFinding(by: 1 | -1): void {
    const all = findings.peek();
    if (!all.length) return store.say("No warning is left.");
    atFinding = (atFinding + by + all.length) % all.length;
    const found = all[atFinding];
    if (!found) return;
    store.step.value = found.step ?? "final";
    const line = [...document.querySelectorAll<HTMLElement>("[data-finding]")].find((one) => one.textContent?.includes(found.sentence));
    line?.scrollIntoView({ block: "nearest" });
    const span = found.step ? store.stepSpan(found.step) : null;
    if (span) store.fit(span);
    store.says.value = found.sentence;
  }

  function playSelection(loop: boolean): void {
    const span = store.selectedSpan();
    if (!span) return store.say("There is nothing selected to play: drag on the timelines, or select an object, a sound or a step.");
    void player.playRange({ start: index.atUs(span[0]), end: index.atUs(Math.max(span[0], span[1] - 1)) + 1, loop });
  }

  function escape(): void {
    if (workspace.cancelDrag()) return;
    if (store.tool.peek() !== "select") store.tool.value = "select";
    else if (store.mergeWith.peek()) store.mergeWith.value = null;
    else if (store.span.peek() || store.mark.peek() !== null) {
      store.span.value = null;
      store.mark.value = null;
    } else if (player.range.peek()) player.leaveRange();
    else if (document.activeElement instanceof SVGElement) document.activeElement.blur();
    else store.select(null);
  }

  function setProfile(next: Profile): void {
    profile.value = next;
    try {
      localStorage.setItem(PROFILE_KEY, next);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    store.say(`Keys of ${PROFILES[next]} from now on. Press ? to see them.`);
  }

  async function start(): Promise<void> {
    const waiting = await sender.open();
    queue.setVersion(LANE, first.version);
    if (waiting.length) {
      const merged = merge(first.document, waiting, store.limits);
      // What does not fit is settled when the server says so: it may know some of these operations already.
      if (!equal(merged.document, first.document)) store.load(first, merged.document);
    }
    // Nothing is sent before it is known that this tab may write.
    queue.hold({ kind: "asking" });
    listen();
    void player.seek(0);
    void proposals.begin();
    if (first.editable) await lock.start();
    else {
      store.tab.value = "held";
      queue.resume();
    }
  }

  function listen(): void {
    const on = (target: EventTarget, type: string, run: (event: Event) => void): void => target.addEventListener(type, run, { signal: off.signal, passive: true });
    for (const type of ["keydown", "pointerdown", "input", "wheel"]) on(document, type, () => (time.input(), (lastInput = Date.now())));
    on(window, "focus", () => time.focused(true));
    on(window, "blur", () => (time.focused(false), queue.flush()));
    on(window, "online", () => queue.retryNow());
    on(window, "pagehide", () => queue.leave());
    on(document, "visibilitychange", () => {
      time.visible(document.visibilityState === "visible");
      if (document.visibilityState !== "visible") queue.flush();
      else void lookAgain();
    });
    startKeyWatch(held, off.signal);
  }

  async function lookAgain(): Promise<void> {
    const { urls, user, editable } = store.payload.peek();
    if (queue.state.pending && (await whoAmI(urls.relogin, user.username)) === "somebody else") {
      queue.hold({ kind: "other_user", message: "Another person is logged in in this browser." });
      return;
    }
    if (editable) await lock.ask(false);
    if (!queue.state.hold) queue.retryNow();
  }

  const stopToast = effect(() => {
    const shown = store.toast.value;
    if (!shown) return;
    const timer = setTimeout(() => {
      if (store.toast.peek()?.number === shown.number) store.toast.value = null;
    }, shown.kind === "bad" ? 9000 : 6000);
    return () => clearTimeout(timer);
  });

  const workspace = {
    store, actions, proposals, player, video, index, peaks, peaksVersion, dragging, muted, propagateFrames, profile, findings, suggestions, pendingMerge, held,
    queue, sender, submit, recall, notes, settle, moveStep, editStep, toFinding, playSelection, escape, setProfile, start,
    /** Set by the stage. */
    focusBox: (_id: string): void => {},
    cancelDrag: (): boolean => false,
    /** Set by the keys: " (N)", the first key of an action in the profile in use. */
    keyHint: (_action: string): string => "",
    reload: () => act(reload),
    takeOver: () => act(() => lock.ask(true)),
    loop(): void {
      if (player.range.peek()?.loop) player.leaveRange();
      else playSelection(true);
    },
    flush: (): void => queue.flush(),
    saveNow(): void {
      queue.retryNow();
      store.say(queue.state.pending ? "Saving now." : "Everything is saved.");
    },
    /** In a text field: everything is text but these. */
    fieldKey(event: KeyboardEvent): void {
      if (event.isComposing) return;
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        (event.currentTarget as HTMLElement).blur();
      } else if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
        event.preventDefault();
        queue.flush();
        store.dialog.value = "submit";
      } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
        event.preventDefault();
        queue.retryNow();
      } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
        // One history for all: the field's own would undo what the document does not know of.
        event.preventDefault();
        if (event.shiftKey) store.redo();
        else store.undo();
      }
    },
    stepName: (step: Step): string => (step === "visual" ? "Visual cue" : "Audio cue"),
    loggedIn(): void {
      store.dialog.value = null;
      queue.resume();
      void lock.ask(false);
    },
    stop(): void {
      off.abort();
      proposals.stop();
      stopToast();
      lock.stop();
      queue.close();
      player.dispose();
      video.removeAttribute("src");
      video.load();
    },
  };
  return workspace;
}
