// State of the page. Everything that is shown follows from these signals.
import { batch, computed, signal } from "@preact/signals";
import { addressOf } from "../../lib/words";
import type { SortKey } from "./model";
import { buildModel, pairReader, partnerOf, sortChains } from "./model";
import { scaleEnd } from "./heat";
import type { Links, QuestionPage } from "./types";

export type View = "graph" | "text" | "compare";
export type MatrixView = "cluster" | "score" | "table";
export type Store = ReturnType<typeof createStore>;

export function createStore(page: QuestionPage, links: Links, startAt: number | null) {
  const model = buildModel(page);
  const first = startAt !== null && model.chains.has(startAt) ? startAt : (model.medoid ?? model.pool[0]?.number ?? page.chains[0]?.chain ?? 0);
  const selected = signal(first);
  const chosenPartner = signal<number | null>(null);
  const view = signal<View>("graph");
  const matrixView = signal<MatrixView>("cluster");
  const sort = signal<{ key: SortKey; descending: boolean }>({ key: "score", descending: true });
  const pointed = signal<[number, number] | null>(null);
  const fact = signal<number | null>(null);

  const partner = computed(() => {
    const chosen = chosenPartner.value;
    return chosen !== null && chosen !== selected.value ? chosen : partnerOf(model, selected.value);
  });
  const rows = computed(() => sortChains(model.pool, sort.value.key, sort.value.descending));
  const order = computed(() =>
    matrixView.value === "score" ? model.pool.filter((chain) => chain.score).map((chain) => chain.number) : (page.document?.order ?? []),
  );

  function select(number: number, beside: number | null = chosenPartner.peek()): void {
    if (!model.chains.has(number)) return;
    batch(() => {
      selected.value = number;
      chosenPartner.value = beside;
      fact.value = null;
    });
  }

  return {
    page,
    links,
    model,
    pairs: page.matrix ? pairReader(page.matrix) : null,
    far: scaleEnd(page.matrix?.d ?? []),
    selected,
    partner,
    view,
    matrixView,
    sort,
    rows,
    order,
    pointed,
    fact,
    select,
    /** Sets a chain beside the selected one, and shows both. */
    compareWith(number: number): void {
      batch(() => {
        chosenPartner.value = number;
        view.value = "compare";
      });
    },
    /** Moves the selection in the order of the list, chains that are not in the pool last; stops at the ends. */
    move(step: number): void {
      const all = [...rows.peek(), ...model.excluded];
      const at = all.findIndex((chain) => chain.number === selected.peek());
      const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
      if (next) select(next.number);
    },
    sortBy(key: SortKey): void {
      const now = sort.peek();
      const descending = now.key === key ? !now.descending : key !== "chain" && key !== "answer";
      sort.value = { key, descending };
    },
    traceLink: (trace: number): string => addressOf(links.trace, trace),
  };
}
