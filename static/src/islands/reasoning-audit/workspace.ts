// Ties the store to the world: the queue of changes, who is logged in, and what the page tells.
import { writeJson } from "../../lib/api";
import type { QueueStore, StoredChange } from "../../lib/queue-store";
import { whoAmI } from "../../lib/relogin";
import type { SendAnswer } from "../../lib/save-queue";
import { SaveQueue } from "../../lib/save-queue";
import { isTyping } from "../../lib/shortcuts";
import { Refusal, readAnswer } from "../label-case/server";
import { createStore } from "./store";
import type { AuditPayload, Judgement, SavedJudgement } from "./types";
import { judgementOf, sameJudgement } from "./types";

export type Workspace = ReturnType<typeof createWorkspace>;

const laneOf = (chain: number): string => `c${chain}`;
export const chainOf = (lane: string): number => Number(lane.slice(1));

export function createWorkspace(page: AuditPayload, kept: QueueStore, startAt: number | null) {
  const store = createStore(page, { changed }, startAt);
  let refreshed = 0;
  let asked = false;
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
      if (state.hold?.kind !== "login") asked = false;
      else if (!asked && !isTyping(document.activeElement)) {
        asked = true;
        store.dialog.value = "login";
      }
    },
    onSaved: () => undefined,
  });
  for (const [chain, said] of Object.entries(page.said)) queue.setVersion(laneOf(Number(chain)), said.version);

  function changed(chain: number, said: Judgement, delayMs: number): void {
    queue.put(laneOf(chain), { chain, kind: page.kind, answers: said.answers, note: said.note }, delayMs);
  }

  async function send(change: StoredChange, leaving: boolean): Promise<SendAnswer> {
    let response: Response;
    try {
      response = await writeJson("PUT", page.urls.save, change.body, { user: page.user.id, key: change.key, leaving });
    } catch {
      return { kind: "retry" };
    }
    const body = (await response.json().catch(() => null)) as Parameters<typeof readAnswer>[1] | null;
    const answer = readAnswer(response.status, body ?? {}, response.headers.get("Retry-After"));
    if (answer?.kind === "saved") refreshed = 0;
    return answer ?? whose(response.status, body);
  }

  /** 401, 403 and 404 say little by themselves: somebody may have logged in again, or as somebody else. */
  async function whose(status: number, body: Parameters<typeof readAnswer>[1] | null): Promise<SendAnswer> {
    const refusal = new Refusal(status, body);
    const message = [refusal.message, refusal.remedy].filter(Boolean).join(" ");
    const who = await whoAmI(page.urls.relogin, page.user.username);
    if (who === "somebody else") return { kind: "other_user", message: "Another person is logged in in this browser." };
    if (who === "unknown") return { kind: "retry" };
    if (who === "nobody") return { kind: "login", message: "The login has run out." };
    // One chain that is gone says nothing of the others.
    if (refusal.code === "no_such_chain") return { kind: "refused", code: refusal.code, message };
    if (status === 404) return { kind: "not_editable", message: "This study is not there any more." };
    return ++refreshed <= 2 ? { kind: "retry", afterMs: 0 } : { kind: "login", message };
  }

  const off = new AbortController();
  function listen(): void {
    const on = (target: EventTarget, type: string, run: () => void): void => target.addEventListener(type, run, { signal: off.signal, passive: true });
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
      queue.close();
    },
  };
}
