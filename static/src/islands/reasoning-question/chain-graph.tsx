// The facts of a chain, one column for each layer of steps, with arrows, support and the facts that conclude.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { fixed, plural } from "../../lib/words";
import { useWidth } from "../shared/use-width";
import { BOX_HEIGHT, layoutGraph } from "./graph-layout";
import type { Chain } from "./model";
import { Head, Meter } from "./parts";
import type { Store } from "./store";

/** More boxes than this are a wall: the Text view lists all facts. */
const MOST_DRAWN = 150;

interface Graph {
  steps: number[];
  edges: [number, number][];
  terminals: Set<number>;
  support: number[];
}

/** The graph as it was scored; else the one that the facts make. */
function graphOf(chain: Chain): Graph {
  const source = chain.score ?? chain.page;
  return {
    steps: chain.page.facts.slice(0, MOST_DRAWN).map((fact) => fact[1]),
    edges: (source.edges ?? []).filter(([from, to]) => from < MOST_DRAWN && to < MOST_DRAWN),
    terminals: new Set(source.terminals ?? []),
    support: chain.score?.support ?? [],
  };
}

export function ChainGraph({ store }: { store: Store }) {
  const chain = store.model.chains.get(store.selected.value);
  const { ref, width } = useWidth<HTMLDivElement>(520);
  const graph = useMemo(() => (chain ? graphOf(chain) : null), [chain]);
  const layout = useMemo(() => (graph ? layoutGraph(graph.steps, graph.edges, width - 6) : null), [graph, width]);
  const area = useRef<HTMLDivElement>(null);
  const chosen = store.fact.value;
  useEffect(() => {
    if (chosen !== null && area.current?.contains(document.activeElement)) {
      area.current.querySelector<HTMLElement>(`[data-fact="${chosen}"]`)?.focus();
    }
  }, [chosen]);
  if (!chain || !graph || !layout) return null;
  const facts = chain.page.facts;
  const { w_terminal, w_other } = store.page.study.parameters.consensus;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    store.fact.value = Math.min(graph.steps.length - 1, Math.max(0, (chosen ?? 0) + step));
  };
  return (
    <section class="rq-section">
      <Head title="Causal graph" more={`${plural(facts.length, "fact")}, ${graph.support.length ? "bar: support c(v), share of other chains" : "no support: not scored"}`}>
        <span class="rq-key" title={`In the consensus a terminal fact weighs ${w_terminal}, any other ${w_other}`}>
          <svg width="20" height="12" aria-hidden="true">
            <rect class="rq-terminal-key" x="1" y="1" width="18" height="10" rx="3" />
          </svg>
          terminal, weight {w_terminal}
        </span>
      </Head>
      {facts.length === 0 && <p class="muted">This chain has no facts{chain.excluded ? `: ${lower(chain.excluded)}` : "."}</p>}
      {facts.length > MOST_DRAWN && (
        <p class="muted small">
          The first {MOST_DRAWN} of {plural(facts.length, "fact")} are drawn; the Text view has all of them.
        </p>
      )}
      <div class="rq-graph-scroll" ref={ref}>
        <div
          class="rq-graph"
          role="group"
          aria-label={`Graph of ${plural(facts.length, "fact")}; arrow keys move from fact to fact`}
          ref={area}
          style={{ width: `${layout.width}px`, height: `${layout.height}px` }}
          onKeyDown={onKeyDown}
        >
          <svg width={layout.width} height={layout.height} aria-hidden="true">
            {layout.arrows.map((arrow) => (
              <g key={`${arrow.from}-${arrow.to}`} class={chosen !== null && (arrow.from === chosen || arrow.to === chosen) ? "on" : ""}>
                <path d={arrow.path} />
                <ArrowHead path={arrow.path} />
              </g>
            ))}
          </svg>
          {layout.labels.map((label) => (
            <span key={`step-${label.step}`} class="rq-step" style={{ left: `${label.x}px`, top: `${label.y}px` }}>
              Step {label.step}
            </span>
          ))}
          {layout.boxes.map(({ fact, x, y }) => (
            <button
              key={fact}
              type="button"
              data-fact={fact}
              class={`rq-fact${graph.terminals.has(fact) ? " terminal" : ""}`}
              style={{ left: `${x}px`, top: `${y}px`, width: `${layout.boxWidth}px`, height: `${BOX_HEIGHT}px` }}
              tabIndex={fact === (chosen ?? 0) ? 0 : -1}
              aria-pressed={fact === chosen}
              title={facts[fact]?.[0]}
              onClick={() => (store.fact.value = fact)}
              onFocus={() => (store.fact.value = fact)}
            >
              <span class="rq-fact-text">{facts[fact]?.[0]}</span>
              <span class="rq-fact-support num">
                <Meter parts={[graph.support[fact] ?? 0]} />
                <span class="visually-hidden">support </span>
                {fixed(graph.support[fact])}
              </span>
            </button>
          ))}
        </div>
      </div>
      {facts.length > 0 && <FactLine chain={chain} graph={graph} fact={chosen} />}
    </section>
  );
}

/** The end of a path: its last two numbers. */
function ArrowHead({ path }: { path: string }) {
  const numbers = path.match(/-?[\d.]+/g) ?? [];
  const [x, y] = [Number(numbers.at(-2) ?? 0), Number(numbers.at(-1) ?? 0)];
  return <path class="head" d={`M${x - 1} ${y - 3.5}v7l6 -3.5z`} />;
}

function FactLine({ chain, graph, fact }: { chain: Chain; graph: Graph; fact: number | null }) {
  const own = fact === null ? undefined : chain.page.facts[fact];
  if (fact === null || !own) {
    return <p class="rq-fact-line muted">Choose a fact to read it whole.</p>;
  }
  const [text, step, dependsOn] = own;
  return (
    <p class="rq-fact-line" aria-live="polite">
      <b>
        Fact {fact + 1}, step {step}
        {graph.terminals.has(fact) && ", terminal"}:
      </b>{" "}
      {text}{" "}
      <span class="muted num">
        {dependsOn.length ? `From ${dependsOn.length > 1 ? "steps" : "step"} ${dependsOn.join(", ")}.` : "From no other step."}
        {graph.support[fact] !== undefined && ` Support ${fixed(graph.support[fact])}.`}
      </span>
    </p>
  );
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
