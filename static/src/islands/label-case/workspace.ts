// Ties the store to the world: the queue of changes, the tab's hold, the clock of active time, and what the page tells.
import { batch } from "@preact/signals";
import { ApiError, errorText, getJson } from "../../lib/api";
import { ActiveTime } from "../../lib/active-time";
import type { AssignmentPayload, Draft, LabelPayload, RevisionPayload } from "../../lib/label-draft";
import { draftOf, isJudged, sameDraft } from "../../lib/label-draft";
import { LoginPrompt } from "../../lib/login-prompt";
import type { AuditPayload } from "../../lib/payload";
import type { QueueStore } from "../../lib/queue-store";
import type { Refusal } from "../../lib/save-answers";
import { SaveQueue } from "../../lib/save-queue";
import type { TabAnswer } from "../../lib/tab-lock";
import { TabLock } from "../../lib/tab-lock";
import { plural } from "../../lib/words";
import { Server } from "./server";
import type { FeedbackPayload, OthersPayload } from "./store";
import { TYPING_MS, createStore } from "./store";

/** The lane of the notes in the queue. */
export const NOTES = "n0";

/** A page left alone for longer does not renew its hold of the assignment: that would keep the login alive too. */
const PRESENT_MS = 120_000;

export type Workspace = ReturnType<typeof createWorkspace>;

export function createWorkspace(first: AssignmentPayload, kept: QueueStore, tabId: string, startAt: number | null) {
  const time = new ActiveTime(() => performance.now());
  const sentMs = new Map<number, number>();
  const store = createStore(first, { changed, noted, selected, now: Date.now }, startAt);
  const server = new Server(() => store.payload.peek());
  const login = new LoginPrompt(() => (store.dialog.value = "login"), () => time.idle());
  const queue = new SaveQueue({
    store: kept,
    user: first.user.id,
    assignment: first.id,
    tab: tabId,
    send: (change, leaving) => server.send(change, leaving),
    same: (body, current) => ("notes" in body ? body.notes === current.notes : sameDraft(draftOf(body), draftOf(current)) && (body.reason ?? "") === (current.reason ?? "")),
    onChange: (state) => {
      store.save.value = state;
      if (state.hold?.kind === "other_tab") lock.lost(state.hold.since);
      login.tell(state.hold?.kind === "login");
    },
    onSaved,
  });
  let submitKey: { version: number; key: string } | null = null;

  const lock = new TabLock(tabId, {
    user: first.user.id,
    assignment: first.id,
    ask: (tab, take) => server.post<TabAnswer>(store.payload.peek().urls.tab, { tab, take }),
    active: () => document.visibilityState === "visible" && time.idle() < PRESENT_MS && store.isDraftState.peek(),
    onHeld: () => void becomeWriter(),
    onLost: (since) => {
      store.tab.value = { since };
      queue.hold({ kind: "other_tab", since });
    },
  });

  const laneOf = (index: number): string => `s${index}`;
  const waiting = (index: number): Partial<Draft> | null => queue.latest(laneOf(index)) as Partial<Draft> | null;

  function load(payload: AssignmentPayload): void {
    for (const segment of payload.segments) {
      queue.setVersion(laneOf(segment.index), segment.label?.version ?? 0);
      queue.setVersion(`r${segment.index}`, segment.revision?.version ?? 0);
      time.start(segment.index, segment.label?.active_ms ?? 0);
      sentMs.set(segment.index, segment.label?.active_ms ?? 0);
    }
    queue.setVersion(NOTES, payload.notes.version);
    const unsent = queue.latest(NOTES);
    store.load(payload, waiting, unsent ? String(unsent.notes) : null);
  }

  async function becomeWriter(): Promise<void> {
    const wasElsewhere = typeof store.tab.peek() !== "string";
    if (wasElsewhere) {
      // The other tab wrote meanwhile, here on the server or in this browser's store.
      try {
        const payload = await server.detail();
        await queue.open();
        load(payload);
      } catch (error) {
        store.problem.value = errorText(error);
        return;
      }
    }
    store.tab.value = "held";
    if (queue.state.hold?.kind === "asking" || queue.state.hold?.kind === "other_tab") queue.resume();
  }

  function bodyOf(index: number): Record<string, unknown> {
    const ms = time.total(index);
    sentMs.set(index, ms);
    return { guideline: store.payload.peek().guideline.version, ...store.draft(index).peek(), active_ms: ms, client_at: new Date().toISOString() };
  }

  function changed(index: number, delayMs: number): void {
    queue.put(laneOf(index), bodyOf(index), delayMs);
  }

  /** Every key in the notes: the whole text, sent after a pause like a comment. */
  function noted(text: string): void {
    queue.put(NOTES, { notes: text }, TYPING_MS);
  }

  function selected(index: number, before: number | null): void {
    if (before !== null && store.editable.peek() && isJudged(store.draft(before).peek()) && time.total(before) - (sentMs.get(before) ?? 0) >= 1000) {
      queue.put(laneOf(before), bodyOf(before), 0);
    } else queue.flush();
    time.select(index);
  }

  function onSaved(lane: string, body: Record<string, unknown>, { version, savedAt, reply }: { version: number; savedAt: string; reply: Record<string, unknown> }): void {
    if (lane === NOTES) return;
    const index = Number(lane.slice(1));
    const said = { ...draftOf(body as Partial<Draft>), version, saved_at: savedAt };
    batch(() => {
      if (lane.startsWith("r")) {
        store.revisions.value = new Map(store.revisions.peek()).set(index, { ...said, reason: String(body.reason ?? "") } satisfies RevisionPayload);
        return;
      }
      const label: LabelPayload = { ...said, active_ms: Number(body.active_ms ?? 0), complete: reply.complete === true };
      store.saved.value = new Map(store.saved.peek()).set(index, label);
      const assignment = reply.assignment as { state?: string; version?: number } | undefined;
      if (assignment) store.payload.value = { ...store.payload.peek(), state: assignment.state ?? store.payload.peek().state, version: assignment.version ?? store.payload.peek().version };
    });
  }

  async function reload(): Promise<void> {
    const payload = await server.detail();
    load(payload);
    if (payload.editable) await lock.start();
    await fetchRest();
  }

  /** What may be seen only after submitting: feedback of training cases, the audit, what others said. */
  async function fetchRest(): Promise<void> {
    const { reveal, kind, urls, returned } = store.payload.peek();
    const jobs: Promise<unknown>[] = [];
    // A training case that came back has its feedback too, so that the second try is better than the first.
    if (kind === "training" && urls.feedback && (!store.isDraftState.peek() || returned)) jobs.push(getJson<FeedbackPayload>(urls.feedback).then((got) => (store.feedback.value = got)));
    if (reveal.done && !store.audit.peek()) {
      jobs.push(
        getJson<AuditPayload | { none: string }>(reveal.url).then((got) => {
          if ("none" in got) store.noAudit.value = got.none;
          else store.audit.value = got;
        }),
      );
    }
    if (reveal.done && reveal.others_url) jobs.push(getJson<OthersPayload>(reveal.others_url).then((got) => (store.others.value = got)));
    const failed = (await Promise.allSettled(jobs)).find((job) => job.status === "rejected");
    if (failed) store.problem.value = errorText(failed.reason);
  }

  /** Runs one action at a time; what goes wrong is said, and nothing is thrown away. */
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

  const submit = (): Promise<void> =>
    act(async () => {
      store.dialog.value = null;
      if (!(await queue.drained())) {
        store.problem.value = `Not submitted: ${plural(queue.state.pending, "change is", "changes are")} not on the server yet. They are kept here and sent as soon as it answers; then submit again.`;
        return;
      }
      const { version, urls } = store.payload.peek();
      // Sent again after a lost answer it is the same submission, not a second one.
      if (submitKey?.version !== version) submitKey = { version, key: crypto.randomUUID() };
      try {
        await server.post(urls.submit, { base_version: version, tab: tabId }, submitKey.key);
      } catch (error) {
        const refusal = error as Refusal;
        submitKey = refusal.status ? null : submitKey;
        const open = refusal.fields?.segments;
        if (Array.isArray(open) && typeof open[0] === "number") store.go(open[0]);
        if (refusal.code === "version_conflict" || refusal.code === "wrong_state" || refusal.code === "not_editable") await reload();
        throw error;
      }
      await reload();
      store.says.value = store.isDraftState.peek() ? "The case came back: it is to be done again." : "The case is submitted.";
    });

  const recall = (): Promise<void> =>
    act(async () => {
      await server.post(store.payload.peek().urls.recall, { tab: tabId });
      await reload();
      store.says.value = "The case is yours to edit again.";
    });

  const reveal = (): Promise<void> =>
    act(async () => {
      store.dialog.value = null;
      await server.post(store.payload.peek().urls.reveal, { tab: tabId });
      store.comparing.value = true;
      await reload();
    });

  /** A round-2 label goes through the same queue: kept first, sent with a key, merged on a conflict. */
  function revise(index: number, draft: Draft, reason: string): void {
    queue.put(`r${index}`, { guideline: store.payload.peek().guideline.version, ...draft, reason, active_ms: time.total(index), client_at: new Date().toISOString() }, 0);
  }

  function settle(lane: string, text: Draft | "theirs", extra: Record<string, unknown> = {}): void {
    const parked = queue.state.parked.get(lane);
    if (parked?.kind !== "conflict") return;
    const index = Number(lane.slice(1));
    const version = Number(parked.current.version ?? 0);
    const next = text === "theirs" ? draftOf(parked.current as Partial<Draft>) : text;
    if (text === "theirs") queue.discard(lane, version);
    else queue.settle(lane, lane.startsWith("r") ? { ...queue.latest(lane), ...next, ...extra } : { ...bodyOf(index), ...next }, version);
    if (lane.startsWith("s")) store.replace(index, next, "the text chosen");
    else if (text === "theirs") store.revisions.value = new Map(store.revisions.peek()).set(index, parked.current as unknown as RevisionPayload);
  }

  /** Ends a conflict of the notes: `text` is what stays, null takes what the server has. */
  function settleNotes(text: string | null): void {
    const parked = queue.state.parked.get(NOTES);
    if (parked?.kind !== "conflict") return;
    const version = Number(parked.current.version ?? 0);
    const kept = text ?? String(parked.current.notes ?? "");
    if (text === null) queue.discard(NOTES, version);
    else queue.settle(NOTES, { notes: kept }, version);
    store.notes.value = kept;
  }

  async function start(): Promise<void> {
    await queue.open();
    // Nothing is sent before it is known that this tab may write: another one may be at work on the same store.
    queue.hold({ kind: "asking" });
    load(store.payload.peek());
    // What waits here may have opened more than the server knows of.
    store.go(startAt !== null && store.opened(startAt) ? startAt : store.firstOpen(), null);
    time.select(store.current.peek());
    listen();
    if (store.payload.peek().editable) await lock.start();
    else {
      store.tab.value = "held";
      queue.resume();
    }
    await fetchRest();
  }

  const off = new AbortController();
  function listen(): void {
    const on = (target: EventTarget, type: string, run: (event: Event) => void): void => target.addEventListener(type, run, { signal: off.signal, passive: true });
    for (const type of ["keydown", "pointerdown", "input", "wheel"]) on(document, type, () => time.input());
    on(window, "focus", () => time.focused(true));
    on(window, "blur", () => (time.focused(false), queue.flush()));
    on(window, "online", () => queue.retryNow());
    on(window, "pagehide", () => queue.leave());
    on(document, "visibilitychange", () => {
      const visible = document.visibilityState === "visible";
      time.visible(visible);
      if (!visible) queue.flush();
      else void lookAgain();
    });
  }

  /** Back after a while: another tab may have taken over, or somebody else may have logged in. */
  async function lookAgain(): Promise<void> {
    if (queue.state.pending && (await server.who()) === "somebody else") {
      queue.hold({ kind: "other_user", message: "Another person is logged in in this browser." });
      return;
    }
    if (store.payload.peek().editable) await lock.ask(false);
    if (!queue.state.hold) queue.retryNow();
  }

  return {
    store,
    server,
    queue,
    time,
    submit,
    recall,
    reveal,
    revise,
    settle,
    settleNotes,
    reload: () => act(reload),
    leftField(): void {
      queue.flush();
      // The focus is between two places now: where it goes next decides whether somebody types on.
      setTimeout(() => login.look(), 0);
    },
    takeOver: () => act(() => lock.ask(true)),
    loggedIn(): void {
      store.dialog.value = null;
      queue.resume();
      void lock.ask(false);
    },
    start,
    stop(): void {
      off.abort();
      login.stop();
      lock.stop();
      queue.close();
    },
  };
}
