// Deciding on a question that several people refined: which difference is looked at, what is taken from whom, and the requests.
// Taking a side is an ordinary operation; all of the rest of the workspace stays as it is.
import { batch, computed, signal } from "@preact/signals";
import { keep, readKept } from "../../lib/kept";
import type { Difference } from "../../lib/video/comparison";
import { Comparison, firstApart, isPart, lettersOf, worstFrame } from "../../lib/video/comparison";
import type { AudioEvent, Timeframe } from "../../lib/video/document";
import type { Interval } from "../../lib/video/intervals";
import type { Track } from "../../lib/video/tracks";
import { hasWord } from "../../lib/label-draft";
import { LONGEST_WORDS } from "../../lib/video/values";
import { postJsonAs } from "./saving";
import type { Session } from "./session";
import type { Store } from "./store";
import type { AdjudicationPart } from "./types";

export type Adjudication = ReturnType<typeof createAdjudication>;

/** One side of the difference looked at, on the axis of time. */
export interface ShownSide {
  letter: string;
  /** Place of the letter among all, for its colour. */
  place: number;
  spans: Interval[];
  track: Track | null;
}

export function createAdjudication(store: Store, session: Session, load: (url: string) => void) {
  const { index, payload, doc } = store;
  const noteKey = `reasonaudit-video-note:${payload.peek().user.id}:${payload.peek().id}`;
  const part = computed(() => payload.value.adjudication as AdjudicationPart);
  const comparison = computed(() => new Comparison(part.value.sides, part.value.differences));
  const standings = computed(() => comparison.value.standings(doc.value));
  const matched = computed(() => [...standings.value.values()].filter(({ kind }) => kind === "side").length);
  /** Differences at which the document follows nobody. */
  const alone = computed(() => part.value.differences.filter(({ id }) => standings.value.get(id)?.kind !== "side"));
  /** Objects and sounds that somebody has and the decision has not: nobody may drop one without seeing it said. */
  const leftOut = computed(() => part.value.differences.filter((one) => isPart(one) && comparison.value.present(doc.value, one).length === 0));
  const chosenId = signal<string | null>(null);
  const chosen = computed(() => part.value.differences.find(({ id }) => id === chosenId.value) ?? null);
  const note = signal(readKept(noteKey) ?? part.peek().note);

  const shown = computed((): ShownSide[] => {
    const difference = chosen.value;
    if (!difference) return [];
    return lettersOf(difference).flatMap((letter): ShownSide[] => {
      const place = part.value.letters.indexOf(letter);
      const there = comparison.value.partOf(difference, letter);
      if (difference.kind === "track" && there) {
        const track = there as Track;
        return [{ letter, place, track, spans: track.visible.map(([start, end]): Interval => [index.clipUs(start), index.clipUs(end)]) }];
      }
      if (difference.kind === "event" && there) return [{ letter, place, track: null, spans: [[(there as AudioEvent).start_us, (there as AudioEvent).end_us]] }];
      const timeframe = difference.kind === "timeframe" ? (difference.sides[letter] as Timeframe | null) : null;
      const spans: Interval[] = timeframe?.whole ? [[0, index.durationUs]] : (timeframe?.intervals ?? []);
      return spans.length ? [{ letter, place, track: null, spans }] : [];
    });
  });

  function selectThere(difference: Difference): void {
    const [present] = comparison.peek().present(doc.peek(), difference);
    if (present && isPart(difference)) store.select({ kind: difference.kind, id: present.id });
  }

  /** Looks at a difference: its card is in sight, the clip is where the sides are furthest apart. */
  function choose(id: string): void {
    chosenId.value = id;
    const difference = chosen.peek();
    if (!difference) return;
    batch(() => {
      if (difference.step) store.step.value = difference.step;
      selectThere(difference);
    });
    const sides = shown.peek();
    const tracks = sides.flatMap(({ track }) => (track ? [track] : []));
    if (tracks.length) store.goTo(worstFrame(tracks));
    else {
      // Somebody who has nothing there counts as covering nothing.
      const spans = lettersOf(difference).map((letter) => sides.find((one) => one.letter === letter)?.spans ?? []);
      const apart = firstApart(spans);
      if (apart !== null) store.goTo(index.atUs(Math.min(apart, Math.max(0, index.durationUs - 1))));
    }
    store.says.value = `${difference.title}, ${part.peek().differences.indexOf(difference) + 1} of ${part.peek().differences.length}`;
    [...document.querySelectorAll<HTMLElement>("[data-difference]")].find((one) => one.dataset.difference === id)?.scrollIntoView({ block: "nearest" });
  }

  /** The sides go from picture and timelines. */
  const leave = (): void => void (chosenId.value = null);

  function move(by: 1 | -1): void {
    const all = part.peek().differences;
    if (!all.length) return store.say("The answers differ nowhere.");
    const at = all.findIndex(({ id }) => id === chosenId.peek());
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length];
    if (next) choose(next.id);
  }

  const words = (text: string): string => [...text].slice(0, LONGEST_WORDS).join("");

  function take(difference: Difference, letter: string): void {
    chosenId.value = difference.id;
    const changes = comparison.peek().take(doc.peek(), difference, letter);
    if (!changes.length) return store.say(`${letter} has nothing there, and the decision has nothing either.`);
    if (store.edit(words(`Take ${letter}: ${difference.title}`), changes)) selectThere(difference);
  }

  function takeNth(place: number): void {
    const difference = chosen.peek();
    const letter = part.peek().letters[place];
    if (!difference) return store.say("Choose a difference first.");
    if (letter !== undefined && letter in difference.sides) take(difference, letter);
  }

  function drop(difference: Difference): void {
    chosenId.value = difference.id;
    store.edit(words(`Leave out: ${difference.title}`), comparison.peek().leaveOut(doc.peek(), difference));
  }

  function write(text: string): void {
    note.value = text;
    keep(noteKey, text);
  }

  async function decide(): Promise<void> {
    await session.submit({ note: note.peek() }, "Decided.");
    if (store.payload.peek().state !== "draft") keep(noteKey, null);
  }

  const send = (url: string | null | undefined, body: Record<string, string>, after: () => Promise<void> | void): Promise<void> =>
    session.act(async () => {
      if (!url) return;
      store.dialog.value = null;
      await postJsonAs(payload.peek(), url, body);
      await after();
    });

  const reopen = (reason: string): Promise<void> =>
    send(payload.peek().urls.reopen, { reason }, async () => {
      await session.renew();
      store.say("The question is open again; the decision before is kept.");
    });

  const giveBack = (letter: string, reason: string): Promise<void> => send(payload.peek().urls.give_back, { letter, reason }, () => load(payload.peek().urls.work));

  return { part, comparison, standings, matched, alone, leftOut, chosen, shown, note, choose, leave, move, take, takeNth, drop, write, decide, reopen, giveBack, noteIsNeeded: () => alone.value.length > 0 && !hasWord(note.value) };
}
