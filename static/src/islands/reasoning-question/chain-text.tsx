// The chain in words: steps with their facts and warnings; and two chains side by side.
import { useMemo } from "preact/hooks";
import { fixed, plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import { PairFacts } from "./heat-map";
import type { Chain, Nearest } from "./model";
import { answerWord, nearestFacts } from "./model";
import { ChainChip, Head } from "./parts";
import type { Store } from "./store";

const SOURCES: Record<string, string> = {
  sentences: "sentences stand for facts (rule-based, no decomposer)",
  stored: "facts that came with the samples",
  "": "not decomposed yet",
};
const sourceWords = (source: string): string => SOURCES[source] ?? `facts by ${source}`;

export function ChainText({ store }: { store: Store }) {
  const chain = store.model.chains.get(store.selected.value);
  if (!chain) return null;
  const { page } = chain;
  const known = new Set(page.steps.map(([index]) => index));
  const factsOf = (belongs: (step: number) => boolean): number[] => page.facts.flatMap(([, step], number) => (belongs(step) ? [number] : []));
  const strays = factsOf((step) => !known.has(step));
  return (
    <section class="rq-section">
      <Head title="Steps and facts" more={sourceWords(page.fact_source)} />
      <Warnings chain={chain} />
      {page.steps.length === 0 && <p class="muted">The reply has no steps.</p>}
      <ol class="rq-steps">
        {page.steps.map(([index, text, dependsOn], k) => (
          <li key={k}>
            <p>
              <b>Step {index}.</b> {text} <span class="muted small nowrap">{dependsOn.length ? `from ${dependsOn.join(", ")}` : "from no other step"}</span>
            </p>
            <Facts chain={chain} numbers={factsOf((step) => step === index)} />
          </li>
        ))}
        {strays.length > 0 && (
          <li>
            <p class="muted">Facts that name a step which the chain does not have</p>
            <Facts chain={chain} numbers={strays} />
          </li>
        )}
      </ol>
      <p>
        <b>Answer as written:</b> {page.answer ?? <span class="muted">none</span>}
      </p>
    </section>
  );
}

function Facts({ chain, numbers }: { chain: Chain; numbers: number[] }) {
  const terminals = new Set(chain.score?.terminals ?? chain.page.terminals ?? []);
  return (
    <ul>
      {numbers.map((number) => (
        <li key={number} class={terminals.has(number) ? "terminal" : ""}>
          <span class="muted num">{number + 1}</span> {chain.page.facts[number]?.[0]}
          {terminals.has(number) && <span class="muted"> (terminal)</span>}
          {chain.score && <span class="muted num nowrap"> support {fixed(chain.score.support[number])}</span>}
        </li>
      ))}
    </ul>
  );
}

function Warnings({ chain }: { chain: Chain }) {
  const all = [...chain.page.warnings, ...chain.page.fact_warnings];
  if (all.length === 0) return null;
  return (
    <details class="rq-warnings">
      <summary>
        <Icon name="exclamation-triangle" /> {plural(all.length, "warning")} of the parser
      </summary>
      <ul>
        {chain.page.warnings.map((words, k) => (
          <li key={`chain-${k}`}>Chain: {words}</li>
        ))}
        {chain.page.fact_warnings.map((words, k) => (
          <li key={`facts-${k}`}>Facts: {words}</li>
        ))}
      </ul>
    </details>
  );
}

export function CompareChains({ store }: { store: Store }) {
  const chain = store.model.chains.get(store.selected.value);
  const partner = store.partner.value === null ? undefined : store.model.chains.get(store.partner.value);
  const nearest = useMemo(
    () =>
      chain && partner
        ? { there: nearestFacts(chain.page.facts, partner.page.facts), back: nearestFacts(partner.page.facts, chain.page.facts) }
        : null,
    [chain, partner],
  );
  if (!chain) return null;
  if (!partner || !nearest) return <p class="muted">There is no other chain to set beside this one.</p>;
  const pair = store.pairs?.(chain.number, partner.number) ?? null;
  const marked = store.fact.value;
  const others = [...store.model.pool, ...store.model.excluded].filter((other) => other.number !== chain.number);
  return (
    <section class="rq-section">
      <Head title={`Chain ${chain.name} beside`}>
        <label class="visually-hidden" for="rq-partner">
          The other chain
        </label>
        <select
          id="rq-partner"
          class="form-select form-select-sm w-auto"
          value={String(partner.number)}
          onChange={(event) => store.compareWith(Number(event.currentTarget.value))}
        >
          {others.map((other) => (
            <option key={other.number} value={String(other.number)}>
              {other.name}: {answerWord(other.answer)}
            </option>
          ))}
        </select>
      </Head>
      {pair ? (
        <div class="rq-pair">
          <PairFacts pair={pair} />
        </div>
      ) : (
        <p class="muted small">One of the two is not in the pool, so there is no distance.</p>
      )}
      <p class="muted small">≈ names the fact of the other chain with most words in common. The distance compares meanings, not words.</p>
      <div class="rq-compare">
        <Column chain={chain} other={partner} nearest={nearest.there} marked={marked} mark={(fact) => (store.fact.value = fact)} />
        <Column chain={partner} other={chain} nearest={nearest.back} marked={marked === null ? null : (nearest.there[marked]?.fact ?? null)} />
      </div>
    </section>
  );
}

interface ColumnProps {
  chain: Chain;
  other: Chain;
  nearest: (Nearest | null)[];
  marked: number | null;
  /** Called with the fact under the pointer. */
  mark?: (fact: number) => void;
}

function Column({ chain, other, nearest, marked, mark }: ColumnProps) {
  return (
    <div>
      <h4 class="rq-group">
        Chain {chain.name} <ChainChip chain={chain} />
      </h4>
      <ol class="rq-facts">
        {chain.page.facts.map(([text, step], number) => {
          const found = nearest[number];
          return (
            <li key={number} class={number === marked ? "on" : ""} onPointerEnter={mark && (() => mark(number))}>
              <span class="muted small num">Step {step}</span> {text}
              <span class="muted small num rq-near">{found ? `≈ ${other.name}, fact ${found.fact + 1}: ${fixed(found.shared)}` : "no word in common"}</span>
            </li>
          );
        })}
        {chain.page.facts.length === 0 && <li class="muted">No facts.</li>}
      </ol>
    </div>
  );
}
