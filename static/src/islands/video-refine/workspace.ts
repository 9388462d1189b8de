// Ties together what one question's workspace is made of: the document, what can be done to it, its way to the server, the clip.
import { effect, signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { QueueStore } from "../../lib/queue-store";
import { keyName } from "../../lib/shortcuts";
import { createActions } from "./actions";
import { createAdjudication } from "./adjudication";
import type { Clip } from "./clip";
import type { Profile } from "./keys";
import { PROFILES, keysOf, startKeyWatch } from "./keys";
import { liveChecks } from "./live-checks";
import { createMoves } from "./moves";
import { createDrafts } from "./drafts";
import { createNotes } from "./notes";
import { createProposals, requestsOf } from "./proposals";
import { createRecorder } from "./recorder";
import { postJsonAs } from "./saving";
import { createSession } from "./session";
import { createStore } from "./store";
import type { RefinePayload } from "./types";

export type Workspace = ReturnType<typeof createWorkspace>;

export function createWorkspace(first: RefinePayload, clip: Clip, kept: QueueStore, tabId: string) {
  const { index, player, video, peaks, peaksVersion, muted, settings } = clip;
  const store = createStore(first, index, player, { changed: (operation, delayMs, joins) => session.sender.send(operation, delayMs, joins), now: () => performance.now(), uuid: () => crypto.randomUUID() });
  const session = createSession(first, store, kept, tabId);
  const actions = createActions(store);
  const requests = requestsOf((url, body) => postJsonAs(store.payload.peek(), url, body));
  const proposals = createProposals(store, requests);
  const drafts = createDrafts(store, requests);
  const notes = createNotes(store, tabId);
  /** null: the question is answered here, not decided on. */
  const adjudication = first.adjudication ? createAdjudication(store, session, (url) => location.assign(url)) : null;
  const { findings, suggestions } = liveChecks(first, store, peaks, peaksVersion);
  const recorder = createRecorder(store, actions, settings);
  const moves = createMoves(store, findings, () => workspace.cancelDrag() || recorder.cancel());
  const dragging = signal<{ key: string; start: number; end: number } | null>(null);
  const propagateFrames = signal(30);
  const { profile } = settings;
  const held = { k: false, onStage: false };
  /** Ends what is watched while the question is on the screen. */
  let watching = new AbortController();
  const { queue, sender, pendingMerge, settle, submit, recall, reload, takeOver } = session;

  function setProfile(next: Profile): void {
    settings.setProfile(next);
    store.say(`Keys of ${PROFILES[next]} from now on. Press ? to see them.`);
  }

  /** Brings the question on the screen. `newer`: see `Session.enter`. */
  async function enter(newer: Promise<RefinePayload> | null = null): Promise<void> {
    watching = new AbortController();
    startKeyWatch(held, watching.signal);
    const up = (event: KeyboardEvent): void => {
      if (keysOf(profile.peek(), "record").includes(keyName(event))) recorder.up();
    };
    document.addEventListener("keyup", up, { signal: watching.signal });
    void proposals.begin();
    void drafts.begin();
    await session.enter(newer);
  }

  /** Another question comes on the screen. What waits goes on being sent. */
  function leave(): void {
    watching.abort();
    recorder.cancel();
    proposals.stop();
    drafts.stop();
    store.toast.value = null;
    store.dialog.value = null;
    session.leave();
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
    store, actions, recorder, proposals, drafts, player, video, index, peaks, peaksVersion, dragging, muted, propagateFrames, profile, findings, suggestions, pendingMerge, held,
    queue, sender, submit, recall, notes, adjudication, settle, setProfile, settings, enter, leave, session, reload, takeOver, ...moves,
    /** Set by the stage. */
    focusBox: (_id: string): void => {},
    cancelDrag: (): boolean => false,
    /** Set by the keys: " (N)", the first key of an action in the profile in use. */
    keyHint: (_action: string): string => "",
    /** Set by the page: goes to another question of the clip without loading it anew; false where the address is another page. */
    openUrl: (_url: string): boolean => false,
    /** Set by the page: questions of the clip that have changes which the server lacks, the present one left out. */
    unsentElsewhere: signal([]) as ReadonlySignal<{ number: number; pending: number; url: string }[]>,
    loggedIn: (): void => session.loggedIn(),
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
    stop(): void {
      leave();
      stopToast();
      session.close();
    },
  };
  return workspace;
}
