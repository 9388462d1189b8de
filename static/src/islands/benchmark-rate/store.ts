// State of the page: the queue, where the person is, what was given each answer, and which texts are here.
import { batch, computed, signal } from "@preact/signals";
import { errorText, getJson } from "../../lib/api";
import type { QueueState } from "../../lib/save-queue";
import type { RatePayload, Rating, SavedRating, Texts } from "./types";
import { LEVELS, NOTHING, laneOf, ratingOf, sameRating } from "./types";

/** Typing is sent after this pause. */
export const TYPING_MS = 1500;
/** Texts are asked for when one of so many next answers has none. */
const AHEAD = 8;
const GONE = "This answer is not among those that are rated any more. Go on with the arrow keys, or reload the page for a new list.";

/** What the store needs from outside: where changes go, and where marks stay that are for this session only. */
export interface Outside {
  changed(answer: number, facet: string, given: Rating, shown: string, delayMs: number): void;
  fetchTexts?(url: string): Promise<Texts>;
  /** Texts could not be had. */
  notLoaded?(error: unknown): void;
  /** Answers that the person cannot judge: kept in the tab, told to nobody. */
  skipped?: { read(): number[]; write(answers: number[]): void };
}

interface Change {
  answer: number;
  facet: string;
  before: Rating;
  after: Rating;
  /** Typing in one note is one step. */
  typing: boolean;
}

const NOTHING_WAITS: QueueState = { pending: 0, sending: false, offline: false, hold: null, parked: new Map(), savedAt: null, durable: true };

export type Store = ReturnType<typeof createStore>;

export function createStore(page: RatePayload, outside: Outside, startAt: number | null = null) {
  const fetchTexts = outside.fetchTexts ?? ((url: string) => getJson<Texts>(url));
  const said = signal<ReadonlyMap<string, Rating>>(
    new Map(Object.entries(page.said).flatMap(([answer, given]) => Object.entries(given).map(([facet, one]) => [laneOf(Number(answer), facet), ratingOf(one)] as const))),
  );
  const skipped = signal<ReadonlySet<number>>(new Set(outside.skipped?.read() ?? []));
  const texts = signal<Texts>({ answers: page.answers, items: page.items });
  const past = signal<Change[]>([]);
  const future = signal<Change[]>([]);
  const save = signal<QueueState>(NOTHING_WAITS);
  const dialog = signal<"login" | null>(null);
  const says = signal("");
  const problem = signal("");
  const blocked = signal("");
  const facet = signal(0);
  const focusOn = signal<"facet" | "head" | "note" | null>(null);
  const asked = new Set<number>();

  const of = (answer: number, id: string): Rating => said.value.get(laneOf(answer, id)) ?? NOTHING;
  const missing = (answer: number) => page.facets.filter(({ id }) => of(answer, id).value === null);
  const complete = (answer: number): boolean => missing(answer).length === 0;
  /** Somebody who rated an answer after all can judge it. */
  const passed = (answer: number): boolean => skipped.value.has(answer) && !complete(answer);
  const open = (answer: number): boolean => !complete(answer) && !passed(answer);
  const firstOpen = (): number => Math.max(0, page.queue.findIndex(([answer]) => open(answer)));
  const at = signal(startAt !== null && startAt >= 0 && startAt < page.queue.length ? startAt : firstOpen());

  const place = computed<[answer: number, item: number]>(() => page.queue[at.value] ?? [0, 0]);
  const answer = computed(() => texts.value.answers[place.value[0]] ?? null);
  const item = computed(() => texts.value.items[place.value[1]] ?? null);
  const done = computed(() => page.queue.filter(([one]) => complete(one)).length);
  const passedOver = computed(() => page.queue.filter(([one]) => passed(one)).length);
  const finished = computed(() => page.queue.every(([one]) => !open(one)));
  /** Nothing can be given once the server takes no more; it is only read then. */
  const editable = computed(() => answer.value !== null && save.value.hold?.kind !== "not_editable" && save.value.hold?.kind !== "other_user");
  /** Places of the answers to the item that is shown. */
  const siblings = computed(() => page.queue.flatMap(([one, of_item], k) => (of_item === place.value[1] ? [{ answer: one, at: k }] : [])));

  async function fetchAround(again = false): Promise<void> {
    const here = at.peek();
    const without = (from: number, to: number): number[] => page.queue.slice(Math.max(0, from), to).map(([one]) => one).filter((one) => !texts.peek().answers[one] && !asked.has(one));
    const most = page.limits.at_once;
    if (!again && without(here - 1, here + Math.min(AHEAD, most - 1)).length === 0) return;
    const wanted = again ? [place.peek()[0]] : without(here - 1, here + most - 1);
    for (const one of wanted) asked.add(one);
    try {
      const got = await fetchTexts(`${page.urls.texts}?answers=${wanted.join(",")}`);
      batch(() => {
        texts.value = { answers: { ...texts.peek().answers, ...got.answers }, items: { ...texts.peek().items, ...got.items } };
        if (wanted.includes(place.peek()[0])) problem.value = answer.peek() ? "" : GONE;
      });
    } catch (error) {
      // Without a network one reads on as far as the texts go.
      if (wanted.includes(place.peek()[0])) problem.value = `This answer could not be loaded. ${errorText(error)}`;
      outside.notLoaded?.(error);
    } finally {
      for (const one of wanted) asked.delete(one);
    }
  }

  const firstMissing = (): number => {
    const found = page.facets.findIndex(({ id }) => of(place.peek()[0], id).value === null);
    return found < 0 ? 0 : found;
  };

  function go(to: number, focus: "head" | null = "head"): void {
    if (to < 0 || to >= page.queue.length) return;
    batch(() => {
      at.value = to;
      facet.value = firstMissing();
      blocked.value = "";
      problem.value = "";
      focusOn.value = focus;
    });
    void fetchAround();
  }

  function put(answerId: number, id: string, next: Rating, delayMs: number): void {
    batch(() => {
      said.value = new Map(said.peek()).set(laneOf(answerId, id), next);
      blocked.value = "";
    });
    outside.changed(answerId, id, next, texts.peek().answers[answerId]?.shown ?? "", delayMs);
  }

  function edit(id: string, next: Rating, typing: boolean): void {
    const answerId = place.peek()[0];
    const before = of(answerId, id);
    if (!editable.peek() || sameRating(before, next)) return;
    const last = past.peek().at(-1);
    const joins = typing && last?.typing && last.answer === answerId && last.facet === id;
    batch(() => {
      past.value = joins && last ? [...past.peek().slice(0, -1), { ...last, after: next }] : [...past.peek(), { answer: answerId, facet: id, before, after: next, typing }];
      future.value = [];
    });
    put(answerId, id, next, typing ? TYPING_MS : 0);
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
      const where = page.queue.findIndex(([one]) => one === step.answer);
      if (where !== at.peek()) go(where);
      put(step.answer, step.facet, step[which], 0);
      const found = page.facets.findIndex(({ id }) => id === step.facet);
      facet.value = Math.max(0, found);
      says.value = `${which === "before" ? "Undone" : "Done again"}: ${page.facets[found]?.short ?? "the rating"} of answer ${where + 1}.`;
    });
  }

  function onward(): void {
    const next = page.queue.findIndex(([one], k) => k > at.peek() && open(one));
    if (!finished.peek()) return go(next < 0 ? firstOpen() : next);
    if (at.peek() + 1 < page.queue.length) go(at.peek() + 1);
    else says.value = "That was the last answer.";
  }

  const idOf = (k: number): string => page.facets[k]?.id ?? "";

  return {
    page, said, skipped, texts, past, future, save, dialog, says, problem, blocked, facet, focusOn, at, place, answer, item, done, passedOver, finished, editable, siblings,
    of, complete, passed, open, go, firstOpen, fetchAround,
    /** Rates a facet; the next one without a rating is the next to be rated. */
    give(id: string, value: number, moveOn = true): void {
      if (!LEVELS.includes(value)) return;
      edit(id, { ...of(place.peek()[0], id), value }, false);
      if (!moveOn) return;
      const after = page.facets.findIndex((one, k) => k > facet.peek() && of(place.peek()[0], one.id).value === null);
      if (after >= 0) facet.value = after;
    },
    /** The rating of the facet where the person is, taken back with its note. */
    takeBack: (): void => edit(idOf(facet.peek()), NOTHING, false),
    note(id: string, text: string): void {
      const now = of(place.peek()[0], id);
      // A note belongs to a rating: without one there is nothing that it could be stored with.
      if (now.value !== null) edit(id, { ...now, note: text }, true);
    },
    /** To the facet before or after. */
    toFacet(by: number): void {
      const to = facet.peek() + by;
      if (to < 0 || to >= page.facets.length) return;
      batch(() => {
        facet.value = to;
        focusOn.value = "facet";
      });
    },
    /** On to the next answer; one must have rated it all, or skip it, or go by the arrows. */
    next(): void {
      const still = missing(place.peek()[0]);
      if (still.length && !passed(place.peek()[0])) {
        blocked.value = `Still open: ${still.map(({ short }) => short).join(", ")}. S sets the answer aside if you cannot judge it; the arrow keys go on without a rating.`;
        says.value = blocked.peek();
        return;
      }
      onward();
    },
    /** Sets the answer aside for this session, or takes it up again; what was given stays. */
    skip(): void {
      const here = place.peek()[0];
      if (complete(here)) {
        says.value = "This answer is rated: take a rating back first.";
        return;
      }
      const next = new Set(skipped.peek());
      const aside = !next.delete(here);
      if (aside) next.add(here);
      batch(() => {
        skipped.value = next;
        blocked.value = "";
        says.value = aside ? `Answer ${at.peek() + 1} is set aside.` : `Answer ${at.peek() + 1} is open again.`;
      });
      outside.skipped?.write([...next]);
      if (aside) onward();
    },
    move: (by: number): void => go(at.peek() + by),
    undo: (): void => unwind(past, future, "before"),
    redo: (): void => unwind(future, past, "after"),
    /** Takes in what waits in the browser from before a reload: it is newer than what the server has. */
    restore(waiting: (lane: string) => Rating | null): void {
      const kept = page.queue.flatMap(([one]) =>
        page.facets.flatMap(({ id }) => {
          const found = waiting(laneOf(one, id));
          return found ? [[laneOf(one, id), found] as const] : [];
        }),
      );
      if (kept.length) said.value = new Map([...said.peek(), ...kept]);
    },
    /** Another tab's rating takes the place of mine. */
    take(lane: string, current: Partial<SavedRating>): void {
      said.value = new Map(said.peek()).set(lane, ratingOf(current));
    },
  };
}
