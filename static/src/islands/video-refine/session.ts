// One question's way to the server: the queue of operations, the tab's hold, merging, handing in, and what the page tells of itself.
import { batch, signal } from "@preact/signals";
import { ActiveTime } from "../../lib/active-time";
import { ApiError, errorText, getJson } from "../../lib/api";
import type { QueueStore } from "../../lib/queue-store";
import { whoAmI } from "../../lib/relogin";
import type { TabAnswer } from "../../lib/tab-lock";
import { TabLock } from "../../lib/tab-lock";
import { plural } from "../../lib/words";
import { canonical, equal, keepMine, merge } from "../../lib/video/document";
import type { Merged, Operation, VideoDocument } from "../../lib/video/document";
import { Refusal } from "../../lib/save-answers";
import { LANE, OperationQueue, postJsonAs, sendBody } from "./saving";
import type { Store } from "./store";
import type { RefinePayload } from "./types";

export type Session = ReturnType<typeof createSession>;

/** A page left alone for longer does not renew its hold of the question. */
const PRESENT_MS = 120_000;
/** No longer than this a question that is on the screen waits for what the server says of it now. */
const NEWER_MS = 4000;

export function createSession(first: RefinePayload, store: Store, kept: QueueStore, tabId: string) {
  const { player } = store;
  const pendingMerge = signal<{ merged: Merged; theirs: VideoDocument; version: number } | null>(null);
  // One clock a question: nothing is told apart.
  const time = new ActiveTime(() => performance.now());
  time.start(0, first.active_ms ?? 0);
  const off = new AbortController();
  /** Ends what is listened to while the question is on the screen; null: another one is. */
  let away: AbortController | null = null;
  let lastInput = Date.now();

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
      else if (away && !asked && !player.playing.peek() && store.dialog.peek() === null && Date.now() - lastInput > 1500) {
        asked = true;
        store.dialog.value = "login";
      }
      const parked = state.parked.get(LANE);
      if (parked?.kind === "conflict" && !pendingMerge.peek()) takeIn(parked.current);
    },
    onSaved: (_, __, { version, savedAt, reply }) => {
      store.savedAt.value = savedAt;
      const present = store.payload.peek();
      const work = reply.assignment as { state?: string; version?: number } | undefined;
      store.payload.value = { ...present, version, state: work?.state ?? present.state, ...(work?.version === undefined ? {} : { assignment_version: work.version }) };
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
    ask: (tab, take) => {
      const { tab: url } = store.payload.peek().urls;
      // Where tabs hold nothing, operations that do not fit tell two windows apart.
      return url ? postJsonAs<TabAnswer>(store.payload.peek(), url, { tab, take }) : Promise.resolve({ held: true, since: "" });
    },
    active: () => document.visibilityState === "visible" && Date.now() - lastInput < PRESENT_MS && store.isDraftState.peek(),
    onHeld: () => void becomeWriter(),
    onLost: (since) => {
      store.tab.value = { since };
      queue.hold({ kind: "other_tab", since });
    },
  });

  const fetched = (): Promise<RefinePayload> => getJson<RefinePayload>(store.payload.peek().urls.detail);

  function takePayload(payload: RefinePayload): void {
    queue.setVersion(LANE, payload.version);
    store.load(payload, merge(payload.document, sender.waiting, store.limits).document);
  }

  /** What the server says now, unless a change of ours was on its way meanwhile and is in `store` already. */
  function takeNewer(payload: RefinePayload): void {
    const present = store.payload.peek();
    if (payload.version > present.version) takePayload(payload);
    else if (payload.version === present.version) store.payload.value = payload;
  }

  const reload = async (): Promise<void> => takePayload(await fetched());

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

  let submitKey: { of: string; key: string } | null = null;
  /** `more`: what else is handed in. */
  const submit = (more: Record<string, string> = {}, said = "Submitted."): Promise<void> =>
    act(async () => {
      store.dialog.value = null;
      player.pause();
      if (!(await queue.drained())) {
        store.problem.value = `Not submitted: ${plural(queue.state.pending, "change is", "changes are")} not on the server yet. They are kept here and sent as soon as it answers; then submit again.`;
        return;
      }
      const { assignment_version, version: operations, urls } = store.payload.peek();
      const body = { base_version: assignment_version ?? operations, ...(urls.tab ? { tab: tabId } : {}), ...more };
      // Sent again after a lost answer it is the same submission, not a second one.
      if (submitKey?.of !== canonical(body)) submitKey = { of: canonical(body), key: crypto.randomUUID() };
      try {
        await postJsonAs(store.payload.peek(), urls.submit, body, submitKey.key);
      } catch (error) {
        submitKey = error instanceof ApiError && error.status ? null : submitKey;
        const parts = error instanceof Refusal ? error.fields.parts : null;
        if (Array.isArray(parts) && parts.length) throw new ApiError(`${(error as Refusal).message} ${parts.join(" ")}`, (error as Refusal).remedy, (error as Refusal).status);
        throw error;
      }
      await reload();
      store.say(said);
    });

  const recall = (): Promise<void> =>
    act(async () => {
      const { recall: url } = store.payload.peek().urls;
      if (!url) return;
      await postJsonAs(store.payload.peek(), url, { tab: tabId });
      await reload();
      await lock.start();
      store.say("The question is yours to edit again.");
    });

  async function lookAgain(): Promise<void> {
    const { urls, user, editable } = store.payload.peek();
    if (queue.state.pending && (await whoAmI(urls.relogin, user.username)) === "somebody else") {
      queue.hold({ kind: "other_user", message: "Another person is logged in in this browser." });
      return;
    }
    if (editable) await lock.ask(false);
    if (!queue.state.hold) queue.retryNow();
  }

  /** Takes in what an earlier page left behind; nothing is sent before it is known that this tab may write. */
  async function open(): Promise<void> {
    const waiting = await sender.open();
    queue.setVersion(LANE, first.version);
    if (waiting.length) {
      const merged = merge(first.document, waiting, store.limits);
      // What does not fit is settled when the server says so: it may know some of these operations already.
      if (!equal(merged.document, first.document)) store.load(first, merged.document);
    }
    queue.hold({ kind: "asking" });
    const on = (type: string, run: () => void): void => window.addEventListener(type, run, { signal: off.signal });
    on("online", () => queue.retryNow());
    on("pagehide", () => queue.leave());
  }

  /** The question comes on the screen. `newer`: what the server says of it now, where `first` may be old. */
  async function enter(newer: Promise<RefinePayload> | null = null): Promise<void> {
    away?.abort();
    away = new AbortController();
    listen(away.signal);
    const mine = away;
    // Without an answer (offline) the saves say it: each operation names what it builds on.
    const payload = newer && (await Promise.race([newer.catch(() => null), new Promise<null>((resolve) => setTimeout(resolve, NEWER_MS, null))]));
    if (away !== mine) return;
    if (payload) takeNewer(payload);
    if (store.payload.peek().editable) await lock.start();
    else {
      store.tab.value = "held";
      if (queue.state.hold?.kind === "asking") queue.resume();
    }
  }

  /** Another question comes on the screen: what waits is sent, and goes on being sent until the server has it. */
  function leave(): void {
    away?.abort();
    away = null;
    time.select(null);
    lock.stop();
    queue.flush();
    // Left before it was known whether this tab may write.
    if (queue.state.hold?.kind === "asking" && queue.state.pending) void lock.ask(false);
  }

  function listen(until: AbortSignal): void {
    const on = (target: EventTarget, type: string, run: (event: Event) => void): void => target.addEventListener(type, run, { signal: until, passive: true });
    time.visible(document.visibilityState === "visible");
    time.focused(document.hasFocus());
    time.input();
    time.select(0);
    lastInput = Date.now();
    for (const type of ["keydown", "pointerdown", "input", "wheel"]) on(document, type, () => (time.input(), (lastInput = Date.now())));
    on(window, "focus", () => time.focused(true));
    on(window, "blur", () => (time.focused(false), queue.flush()));
    on(document, "visibilitychange", () => {
      time.visible(document.visibilityState === "visible");
      if (document.visibilityState !== "visible") queue.flush();
      else void lookAgain();
    });
  }

  return {
    queue, sender, pendingMerge, settle, submit, recall, open, enter, leave, fetched, act, renew: reload,
    reload: () => act(reload),
    takeOver: () => act(() => lock.ask(true)),
    loggedIn(): void {
      store.dialog.value = null;
      queue.resume();
      void lock.ask(false);
    },
    close(): void {
      leave();
      off.abort();
      queue.close();
    },
  };
}
