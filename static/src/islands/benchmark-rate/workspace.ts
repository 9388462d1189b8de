// Ties the store to the world: the queue of changes, who is logged in, the clip, and what the page tells.
import { ApiError, getJson, postJson, writeJson } from "../../lib/api";
import { LoginPrompt } from "../../lib/login-prompt";
import type { QueueStore, StoredChange } from "../../lib/queue-store";
import type { ErrorBody } from "../../lib/save-answers";
import { Refusal, readAnswer, sentence, whoseLogin } from "../../lib/save-answers";
import type { SendAnswer } from "../../lib/save-queue";
import { SaveQueue } from "../../lib/save-queue";
import { ClipPlayer } from "./clip-player";
import { createStore } from "./store";
import type { RatePayload, Rating, SavedRating } from "./types";
import { laneOf, ratingOf, sameRating } from "./types";

export type Workspace = ReturnType<typeof createWorkspace>;

/** How often the server is asked whether a clip is prepared. */
const LOOK_MS = 4000;
const PLAYABLE = new Set(["original", "ready"]);

/** Marks of one tab: they are gone with it. Without storage they hold until the page is left. */
function marks(name: string): { read(): number[]; write(answers: number[]): void } {
  return {
    read() {
      try {
        const kept: unknown = JSON.parse(sessionStorage.getItem(name) ?? "[]");
        return Array.isArray(kept) ? kept.filter((one): one is number => typeof one === "number") : [];
      } catch {
        return [];
      }
    },
    write(answers) {
      try {
        sessionStorage.setItem(name, JSON.stringify(answers));
      } catch {
        // Full or not allowed: nothing but the mark is lost.
      }
    },
  };
}

export function createWorkspace(page: RatePayload, kept: QueueStore, startAt: number | null) {
  const store = createStore(page, { changed, notLoaded, skipped: marks(`rate:${page.benchmark.slug}:${page.user.id}`) }, startAt);
  const player = new ClipPlayer();
  let refreshed = 0;
  let lastInput = -Infinity;
  const login = new LoginPrompt(() => (store.dialog.value = "login"), () => performance.now() - lastInput);
  const queue = new SaveQueue({
    store: kept,
    user: page.user.id,
    assignment: `rate:${page.benchmark.slug}`,
    // Two tabs of one person are told apart by versions alone.
    tab: crypto.randomUUID(),
    send,
    same: (body, current) => sameRating(ratingOf(body as Partial<Rating>), ratingOf(current as Partial<Rating>)),
    onChange(state) {
      store.save.value = state;
      login.tell(state.hold?.kind === "login");
    },
    onSaved: () => undefined,
  });
  for (const [answer, given] of Object.entries(page.said)) for (const [facet, one] of Object.entries(given)) queue.setVersion(laneOf(Number(answer), facet), one.version);

  function changed(answer: number, facet: string, given: Rating, shown: string, delayMs: number): void {
    queue.put(laneOf(answer, facet), { answer, facet, value: given.value, note: given.value === null ? "" : given.note, shown }, delayMs);
  }

  /** Without a login no text comes either, and there may be no change that would find out. */
  function notLoaded(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) queue.hold({ kind: "login", message: error.message });
  }

  async function send(change: StoredChange, leaving: boolean): Promise<SendAnswer> {
    let response: Response;
    try {
      response = await writeJson("PUT", page.urls.save, change.body, { user: page.user.id, key: change.key, leaving });
    } catch {
      return { kind: "retry" };
    }
    const body = (await response.json().catch(() => null)) as (ErrorBody & Record<string, unknown>) | null;
    const answer = readAnswer(response.status, body, response.headers.get("Retry-After"));
    if (answer?.kind === "saved") refreshed = 0;
    return answer ?? whose(response.status, body);
  }

  async function whose(status: number, body: ErrorBody | null): Promise<SendAnswer> {
    const { code } = new Refusal(status, body);
    const message = sentence(status, body);
    const other = await whoseLogin(page.urls.relogin, page.user.username);
    if (other) return other;
    // One answer that is gone says nothing of the others.
    if (code === "no_such_answer") return { kind: "refused", code, message };
    if (status === 404) return { kind: "not_editable", message: "You are not among the raters of this benchmark any more, or it was deleted." };
    return ++refreshed <= 2 ? { kind: "retry", afterMs: 0 } : { kind: "login", message };
  }

  const off = new AbortController();
  function listen(): void {
    const on = (target: EventTarget, type: string, run: () => void): void => target.addEventListener(type, run, { signal: off.signal, passive: true });
    for (const type of ["keydown", "pointerdown"]) on(document, type, () => void (lastInput = performance.now()));
    // The focus is between two places then: where it goes next decides whether somebody types on.
    on(document, "focusout", () => void setTimeout(() => login.look(), 0));
    on(window, "blur", () => queue.flush());
    on(window, "online", () => {
      queue.retryNow();
      void store.fetchAround();
    });
    on(window, "pagehide", () => queue.leave());
    on(document, "visibilitychange", () => {
      if (document.visibilityState === "hidden") queue.flush();
      else if (!queue.state.hold) queue.retryNow();
    });
  }

  /** Has a clip prepared that the browser cannot play as it is, and shows it once it is there. */
  async function prepare(): Promise<void> {
    const clip = store.item.peek()?.clip;
    if (!clip?.preparing) return;
    let state = (await postJson<{ state: string }>(clip.playback, {}).catch(() => null))?.state ?? "";
    while (!PLAYABLE.has(state) && state !== "failed") {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      if (off.signal.aborted || store.item.peek()?.clip.playback !== clip.playback) return;
      state = (await getJson<{ state: string }>(clip.playback).catch(() => null))?.state ?? "";
    }
    if (PLAYABLE.has(state)) await store.fetchAround(true);
  }

  return {
    store,
    queue,
    player,
    prepare,
    async start(): Promise<void> {
      await queue.open();
      store.restore((lane) => {
        const waiting = queue.latest(lane);
        return waiting ? ratingOf(waiting as Partial<Rating>) : null;
      });
      if (startAt === null) store.go(store.firstOpen(), null);
      listen();
      queue.retryNow();
      const texts = store.fetchAround();
      // The page is ready once there is an answer to read, or it is said why there is none.
      if (!store.answer.peek()) await texts;
    },
    loggedIn(): void {
      store.dialog.value = null;
      queue.resume();
      void store.fetchAround();
    },
    /** Ends a conflict of one rating: mine stays, or what was given in the other tab. */
    settle(lane: string, keep: "mine" | "theirs"): void {
      const parked = queue.state.parked.get(lane);
      if (parked?.kind !== "conflict") return;
      const current = parked.current as Partial<SavedRating>;
      const version = Number(current.version ?? 0);
      const mine = queue.latest(lane);
      if (keep === "theirs" || !mine) {
        queue.discard(lane, version);
        store.take(lane, current);
      } else queue.settle(lane, mine, version);
    },
    discard: (lane: string): void => queue.discard(lane),
    stop(): void {
      off.abort();
      login.stop();
      queue.close();
      player.attach(null);
    },
  };
}
