// Ties the store to the world: the queue of changes, who is logged in, and what the page tells.
import { ApiError, writeJson } from "../../lib/api";
import { LoginPrompt } from "../../lib/login-prompt";
import type { QueueStore, StoredChange } from "../../lib/queue-store";
import type { ErrorBody } from "../../lib/save-answers";
import { Refusal, readAnswer, sentence, whoseLogin } from "../../lib/save-answers";
import type { SendAnswer } from "../../lib/save-queue";
import { SaveQueue } from "../../lib/save-queue";
import { createStore } from "./store";
import type { AuditPayload, Judgement, SavedJudgement } from "./types";
import { judgementOf, sameJudgement } from "./types";

export type Workspace = ReturnType<typeof createWorkspace>;

const laneOf = (chain: number): string => `c${chain}`;
export const chainOf = (lane: string): number => Number(lane.slice(1));

export function createWorkspace(page: AuditPayload, kept: QueueStore, startAt: number | null) {
  const store = createStore(page, { changed, notLoaded }, startAt);
  let refreshed = 0;
  let lastInput = -Infinity;
  const login = new LoginPrompt(() => (store.dialog.value = "login"), () => performance.now() - lastInput);
  const queue = new SaveQueue({
    store: kept,
    user: page.user.id,
    assignment: `reasoning:${page.study.slug}:${page.kind}`,
    // Two tabs of one person are told apart by versions alone.
    tab: crypto.randomUUID(),
    send,
    same: (body, current) => sameJudgement(judgementOf(body as Partial<Judgement>), judgementOf(current as Partial<Judgement>)),
    onChange(state) {
      store.save.value = state;
      login.tell(state.hold?.kind === "login");
    },
    onSaved: () => undefined,
  });
  for (const [chain, said] of Object.entries(page.said)) queue.setVersion(laneOf(Number(chain)), said.version);

  function changed(chain: number, said: Judgement, delayMs: number): void {
    queue.put(laneOf(chain), { chain, kind: page.kind, answers: said.answers, note: said.note }, delayMs);
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
    const changed = await whoseLogin(page.urls.relogin, page.user.username);
    if (changed) return changed;
    // One chain that is gone says nothing of the others.
    if (code === "no_such_chain") return { kind: "refused", code, message };
    if (status === 404) return { kind: "not_editable", message: "This study is not there any more." };
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

  return {
    store,
    queue,
    async start(): Promise<void> {
      await queue.open();
      store.restore((chain) => {
        const waiting = queue.latest(laneOf(chain));
        return waiting ? judgementOf(waiting as Partial<Judgement>) : null;
      });
      if (startAt === null) store.go(store.firstOpen(), null);
      listen();
      queue.retryNow();
      const texts = store.fetchAround();
      // The page is ready once there is a chain to read, or it is said why there is none.
      if (!store.chain.peek()) await texts;
    },
    loggedIn(): void {
      store.dialog.value = null;
      queue.resume();
      void store.fetchAround();
    },
    /** Ends a conflict of one chain: mine stays, or what was said in the other tab. */
    settle(lane: string, keep: "mine" | "theirs"): void {
      const parked = queue.state.parked.get(lane);
      if (parked?.kind !== "conflict") return;
      const current = parked.current as Partial<SavedJudgement>;
      const version = Number(current.version ?? 0);
      const mine = queue.latest(lane);
      if (keep === "theirs" || !mine) {
        queue.discard(lane, version);
        store.take(chainOf(lane), current);
      } else queue.settle(lane, mine, version);
    },
    discard: (lane: string): void => queue.discard(lane),
    stop(): void {
      off.abort();
      login.stop();
      queue.close();
    },
  };
}
