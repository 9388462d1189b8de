// Right pane: the selected chain as graph, as text or beside another one; its early answers; the question's scores.
import type { ComponentType } from "preact";
import { Icon } from "../shared/parts";
import { ChainGraph } from "./chain-graph";
import { ChainText, CompareChains } from "./chain-text";
import { EarlyAnswers } from "./early";
import { ChainChip, Toggle } from "./parts";
import { Scores } from "./scores";
import type { Store, View } from "./store";

const VIEWS: { id: View; words: string; panel: ComponentType<{ store: Store }> }[] = [
  { id: "graph", words: "Graph", panel: ChainGraph },
  { id: "text", words: "Text", panel: ChainText },
  { id: "compare", words: "Compare", panel: CompareChains },
];

export function ChainPane({ store }: { store: Store }) {
  const chain = store.model.chains.get(store.selected.value);
  const Panel = VIEWS.find((view) => view.id === store.view.value)?.panel ?? ChainGraph;
  return (
    <section class="pane rq-pane" aria-label="Selected chain">
      <div class="pane-head">
        <h2>{chain ? `Chain ${chain.name}` : "No chain"}</h2>
        {chain && chain.number === store.model.medoid && (
          <span class="chip rq-medoid">
            <Icon name="star-fill" />
            medoid
          </span>
        )}
        {chain && <ChainChip chain={chain} />}
        {chain && (
          <a class="small nowrap" href={store.traceLink(chain.page.trace)} title="Audit this chain's own support: every step against the ones before it">
            Audit this chain
          </a>
        )}
        <span class="grow" />
        <Toggle
          label="Show the chain as"
          options={VIEWS.map((view) => [view.id, view.words] as const)}
          value={store.view.value}
          change={(view) => (store.view.value = view)}
        />
      </div>
      <div class="rq-chain">
        {chain && <Panel store={store} />}
        {chain && <EarlyAnswers store={store} chain={chain} />}
        <Scores store={store} />
      </div>
    </section>
  );
}
