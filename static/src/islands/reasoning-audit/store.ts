// State of the audit page: the queue, where the person is, what was said of each chain, and which texts are here.
import { batch, computed, signal } from "@preact/signals";
import { errorText, getJson } from "../../lib/api";
import type { QueueState } from "../../lib/save-queue";
import type { AuditPayload, Judgement, SavedJudgement, Texts, Word } from "./types";
import { NOTHING, isComplete, judgementOf, sameJudgement } from "./types";

/** Typing is sent after this pause. */
export const TYPING_MS = 1500;
/** Texts are asked for when one of so many next chains has none. */
const AHEAD = 8;
const GONE = "This chain is not in the study any more. Go on with the arrow keys, or reload the page for a new list.";

/** What the store needs from outside: where changes go. */
export interface Outside {
  changed(chain: number, said: Judgement, delayMs: number): void;
  fetchTexts?(url: string): Promise<Texts>;
  /** Texts could not be had. */
  notLoaded?(error: unknown): void;
}

interface Change {
  chain: number;
  before: Judgement;
  after: Judgement;
  /** Typing in one note is one step. */
  typing: boolean;
}

const NOTHING_WAITS: QueueState = { pending: 0, sending: false, offline: false, hold: null, parked: new Map(), savedAt: null, durable: true };

export type Store = ReturnType<typeof createStore>;

export function createStore(page: AuditPayload, outside: Outside, startAt: number | null = null) {
  const fetchTexts = outside.fetchTexts ?? ((url: string) => getJson<Texts>(url));
  const said = signal<ReadonlyMap<number, Judgement>>(new Map(Object.entries(page.said).map(([chain, one]) => [Number(chain), judgementOf(one)])));
  const texts = signal<Texts>({ chains: page.chains, questions: page.questions });
  const past = signal<Change[]>([]);
  const future = signal<Change[]>([]);
  const save = signal<QueueState>(NOTHING_WAITS);
  const dialog = signal<"login" | null>(null);
  const says = signal("");
  const problem = signal("");
  const blocked = signal("");
  const criterion = signal(0);
  const focusOn = signal<"answer" | "note" | null>(null);
  const asked = new Set<number>();

  const of = (chain: number): Judgement => said.value.get(chain) ?? NOTHING;
  const complete = (chain: number): boolean => isComplete(of(chain), page.criteria);
  const firstOpen = (): number => {
    const at = page.queue.findIndex(([chain]) => !complete(chain));
    return at < 0 ? 0 : at;
  };
  const at = signal(startAt !== null && startAt >= 0 && startAt < page.queue.length ? startAt : firstOpen());

  const place = computed<[chain: number, question: number]>(() => page.queue[at.value] ?? [0, 0]);
  const chain = computed(() => texts.value.chains[place.value[0]] ?? null);
  const question = computed(() => texts.value.questions[place.value[1]] ?? null);
  const current = computed(() => of(place.value[0]));
  const done = computed(() => page.queue.filter(([one]) => complete(one)).length);
  const finished = computed(() => done.value === page.queue.length);
  /** Nothing can be said once the server takes no more; it is only read then. */
  const editable = computed(() => chain.value !== null && save.value.hold?.kind !== "not_editable" && save.value.hold?.kind !== "other_user");
  /** Places of the chains of the question that is shown, for its dots. */
  const siblings = computed(() => page.queue.flatMap(([one, of_question], k) => (of_question === place.value[1] ? [{ chain: one, at: k }] : [])));

  async function fetchAround(): Promise<void> {
    const here = at.peek();
    const missing = (from: number, to: number): number[] => page.queue.slice(Math.max(0, from), to).map(([one]) => one).filter((one) => !texts.peek().chains[one] && !asked.has(one));
    const most = page.limits.at_once;
    if (missing(here - 1, here + Math.min(AHEAD, most - 1)).length === 0) return;
    const wanted = missing(here - 1, here + most - 1);
    for (const one of wanted) asked.add(one);
    try {
      const got = await fetchTexts(`${page.urls.texts}&chains=${wanted.join(",")}`);
      batch(() => {
        texts.value = { chains: { ...texts.peek().chains, ...got.chains }, questions: { ...texts.peek().questions, ...got.questions } };
        if (wanted.includes(place.peek()[0])) problem.value = chain.peek() ? "" : GONE;
      });
    } catch (error) {
      // Without a network one reads on as far as the texts go.
      if (wanted.includes(place.peek()[0])) problem.value = `This chain could not be loaded. ${errorText(error)}`;
      outside.notLoaded?.(error);
    } finally {
      for (const one of wanted) asked.delete(one);
    }
  }

  function go(to: number, focus: "answer" | null = "answer"): void {
    if (to < 0 || to >= page.queue.length) return;
    batch(() => {
      at.value = to;
      criterion.value = firstMissing();
      blocked.value = "";
      problem.value = "";
      focusOn.value = focus;
    });
    void fetchAround();
  }

  const firstMissing = (): number => {
    const missing = page.criteria.findIndex(({ id }) => of(place.peek()[0]).answers[id] === undefined);
    return missing < 0 ? 0 : missing;
  };

  function put(chainId: number, next: Judgement, delayMs: number): void {
    batch(() => {
      said.value = new Map(said.peek()).set(chainId, next);
      blocked.value = "";
    });
    outside.changed(chainId, next, delayMs);
  }

  function edit(next: Judgement, typing: boolean): void {
    const chainId = place.peek()[0];
    const before = of(chainId);
    if (!editable.peek() || sameJudgement(before, next)) return;
    const last = past.peek().at(-1);
    const joins = typing && last?.typing && last.chain === chainId;
    batch(() => {
      past.value = joins && last ? [...past.peek().slice(0, -1), { ...last, after: next }] : [...past.peek(), { chain: chainId, before, after: next, typing }];
      future.value = [];
    });
    put(chainId, next, typing ? TYPING_MS : 0);
  }

  function unwind(from: typeof past, to: typeof past, which: "before" | "after"): void {
    const step = from.peek().at(-1);
    if (!step || !editable.peek()) {
      says.value = which === "before" ? "Nothing to undo." : "Nothing to do again.";
      return;
    }
    batch(() => {
      from.value = from.peek().slice(0, -1);
      to.value = [...to.peek(), step];
      // What happens out of sight would be taken for a loss: go there.
      const where = page.queue.findIndex(([one]) => one === step.chain);
      if (where !== at.peek()) go(where);
      put(step.chain, step[which], 0);
      criterion.value = firstMissing();
      says.value = `${which === "before" ? "Undone" : "Done again"}: what was said of chain ${where + 1}.`;
    });
  }

  return {
    page, said, texts, past, future, save, dialog, says, problem, blocked, criterion, focusOn, at, place, chain, question, current, done, finished, editable, siblings,
    of, complete, go, firstOpen, fetchAround,
    /** Answers a criterion; the next one without a word is the next to be answered. */
    answer(id: string, word: Word, moveOn = true): void {
      const now = current.peek();
      edit({ ...now, answers: { ...now.answers, [id]: word } }, false);
      if (moveOn) criterion.value = Math.min(page.criteria.findIndex((one) => one.id === id) + 1, page.criteria.length - 1);
    },
    /** The words of one chain taken away. */
    clear(): void {
      edit({ ...NOTHING, note: current.peek().note }, false);
      criterion.value = 0;
    },
    note: (text: string): void => edit({ ...current.peek(), note: text }, true),
    /** On to the next chain; one must have said all, or go by the arrows. */
    next(): void {
      const missing = page.criteria.filter(({ id }) => current.peek().answers[id] === undefined);
      if (missing.length) {
        blocked.value = page.criteria.length === 1 ? "Choose Sound, Not sound or Unsure first; the arrow keys go on without a word." : `Still open: ${missing.map(({ short }) => short).join(", ")}. The arrow keys go on without a word.`;
        says.value = blocked.peek();
        return;
      }
      const open = page.queue.findIndex(([one], k) => k > at.peek() && !complete(one));
      if (finished.peek()) {
        if (at.peek() + 1 < page.queue.length) go(at.peek() + 1);
        else says.value = "That was the last chain.";
      } else go(open < 0 ? firstOpen() : open);
    },
    move: (by: number): void => go(at.peek() + by),
    undo: (): void => unwind(past, future, "before"),
    redo: (): void => unwind(future, past, "after"),
    /** Takes in what waits in the browser from before a reload: it is newer than what the server has. */
    restore(waiting: (chain: number) => Judgement | null): void {
      const kept = page.queue.flatMap(([one]) => {
        const found = waiting(one);
        return found ? [[one, found] as const] : [];
      });
      if (kept.length) said.value = new Map([...said.peek(), ...kept]);
    },
    /** Another tab's word takes the place of mine. */
    take(chainId: number, current_: Partial<SavedJudgement>): void {
      said.value = new Map(said.peek()).set(chainId, judgementOf(current_));
    },
  };
}
