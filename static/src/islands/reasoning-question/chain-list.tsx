// Left pane: the chains of the pool with the parts of their score, and those that are not in it.
import { useEffect, useRef } from "preact/hooks";
import { fixed } from "../../lib/words";
import { Icon } from "../shared/parts";
import type { Chain, SortKey } from "./model";
import { ChainChip, Meter } from "./parts";
import type { Store } from "./store";

const COLUMNS: { key: SortKey; words: string; title: string; left?: boolean }[] = [
  { key: "chain", words: "chain", title: "Number of the chain" },
  { key: "answer", words: "answer", title: "Final answer in its normal form", left: true },
  { key: "facts", words: "facts", title: "Atomic facts" },
  { key: "centrality", words: "centr.", title: "Centrality: similarity to the other chains, over the largest one" },
  { key: "consensus", words: "cons.", title: "Consensus: weighted mean support of its facts, 0 to 1" },
  { key: "score", words: "score", title: "alpha × centrality + (1 − alpha) × consensus" },
];

export function ChainList({ store }: { store: Store }) {
  const { model, page } = store;
  const alpha = page.study.parameters.consensus.alpha;
  const { key, descending } = store.sort.value;
  const body = useRef<HTMLTableElement>(null);
  const selected = store.selected.value;
  useEffect(() => {
    const row = body.current?.querySelector<HTMLElement>('[aria-current="true"]')?.closest("tr");
    // Not on a narrow window, where the panes stand below each other: that would move the whole page.
    const pane = row?.closest<HTMLElement>(".rq-pane");
    if (row && pane && pane.scrollHeight > pane.clientHeight) row.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !(event.target as Element).closest("tbody")) return;
    event.preventDefault();
    store.move(step);
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>('button[aria-current="true"]')?.focus({ preventScroll: true }));
  };
  return (
    <section class="pane rq-pane" aria-label="Chains">
      <div class="pane-head">
        <h2>Chains</h2>
        <span class="muted small num">{model.pool.length}</span>
        <span class="grow" />
        <span class="rq-key" title="alpha × centrality + (1 − alpha) × consensus">
          <svg width="22" height="8" aria-hidden="true" class="rq-meter">
            <rect class="part-0" width="13" height="8" />
            <rect class="part-1" x="13" width="9" height="8" />
          </svg>
          {alpha} centrality + {Number((1 - alpha).toFixed(3))} consensus
        </span>
      </div>
      <table class="rq-chains num" ref={body} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={column.left ? "l" : ""}
                aria-sort={column.key === key ? (descending ? "descending" : "ascending") : "none"}
              >
                <button type="button" title={column.title} onClick={() => store.sortBy(column.key)}>
                  {column.words}
                  {column.key === key && <span aria-hidden="true">{descending ? " ↓" : " ↑"}</span>}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {store.rows.value.map((chain) => (
            <Row key={chain.number} store={store} chain={chain} alpha={alpha} />
          ))}
          {model.pool.length === 0 && (
            <tr>
              <td colSpan={COLUMNS.length} class="l muted">
                No chain yet. <a href={store.links.study}>Sample chains</a> or import some.
              </td>
            </tr>
          )}
        </tbody>
        {model.excluded.length > 0 && (
          <tbody>
            <tr class="rq-out">
              <th scope="rowgroup" colSpan={COLUMNS.length} class="l">
                Not in the pool ({model.excluded.length})
              </th>
            </tr>
            {model.excluded.map((chain) => (
              <tr key={chain.number} class={chain.number === selected ? "on" : ""} onClick={() => store.select(chain.number)}>
                <td>
                  <ChainButton store={store} chain={chain} />
                </td>
                <td class="l">
                  <ChainChip chain={chain} />
                </td>
                <td colSpan={4} class="l muted">
                  {chain.excluded}
                </td>
              </tr>
            ))}
          </tbody>
        )}
      </table>
    </section>
  );
}

function Row({ store, chain, alpha }: { store: Store; chain: Chain; alpha: number }) {
  const on = chain.number === store.selected.value;
  const score = chain.score;
  return (
    <tr class={on ? "on" : ""} onClick={() => store.select(chain.number)}>
      <td>
        <ChainButton store={store} chain={chain} />
      </td>
      <td class="l">
        <ChainChip chain={chain} />
      </td>
      <td>{chain.page.facts.length}</td>
      <td>{fixed(score?.centrality_term)}</td>
      <td>{fixed(score?.consensus)}</td>
      <td>
        {score && score.score !== null ? (
          <span class="rq-score">
            <Meter parts={[alpha * (score.centrality_term ?? 0), (1 - alpha) * (score.consensus ?? 0)]} />
            {fixed(score.score, 3)}
          </span>
        ) : (
          <span title="Not scored">–</span>
        )}
      </td>
    </tr>
  );
}

function ChainButton({ store, chain }: { store: Store; chain: Chain }) {
  const on = chain.number === store.selected.value;
  const medoid = chain.number === store.model.medoid;
  return (
    <button
      type="button"
      class="rq-chain-name"
      aria-current={on ? "true" : undefined}
      aria-label={`Chain ${chain.name}${medoid ? ", medoid" : ""}`}
      tabIndex={on ? 0 : -1}
    >
      {medoid && <Icon name="star-fill" />}
      {chain.name}
    </button>
  );
}
