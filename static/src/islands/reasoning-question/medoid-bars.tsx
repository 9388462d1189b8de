// Middle pane, below: the score of every chain, as in the paper's figure.
import { fixed } from "../../lib/words";
import { useWidth } from "../shared/use-width";
import type { Chain } from "./model";
import { Head, OUTCOME_WORDS, Patterns } from "./parts";
import type { Store } from "./store";

const LEFT = 30;
const TOP = 6;
const HEIGHT = 118;
const LABEL_ROOM = 20;
/** Scores are compared to 9 decimals (core/grapheval/consensus.py). */
const TIE = 5e-10;

export function MedoidBars({ store }: { store: Store }) {
  const { ref, width } = useWidth<HTMLDivElement>(500);
  const { model, page } = store;
  const document = page.document;
  const chains = model.pool.filter((chain) => chain.score && chain.score.score !== null);
  if (!document || chains.length === 0) return null;
  const medoid = document.medoid === null ? undefined : model.chains.get(document.medoid);
  const runnerUp = document.runner_up === null ? undefined : model.chains.get(document.runner_up);
  const room = (width - LEFT - 4) / chains.length;
  const bar = Math.min(40, room > 8 ? room - 5 : room * 0.8);
  const every = Math.max(1, Math.ceil(LABEL_ROOM / room));
  const alpha = page.study.parameters.consensus.alpha;
  const y = (value: number): number => TOP + HEIGHT * (1 - Math.max(0, Math.min(1, value)));
  const tied = document.lead !== null && document.lead < TIE;
  const lead = tied ? `${medoid?.name}, ${runnerUp?.name} tie: first sampled wins` : `${medoid?.name} leads ${runnerUp?.name} by ${fixed(document.lead, 3)}`;
  return (
    <div class="rq-bars">
      <Head title="Medoid choice" more={medoid && runnerUp ? lead : undefined}>
        <Keys />
      </Head>
      <div ref={ref}>
        <svg
          width={width}
          height={TOP + HEIGHT + 32}
          role="img"
          aria-label={`Score of every chain, best first. ${medoid ? `Chain ${medoid.name} has ${fixed(medoid.score?.score, 3)}.` : ""} The list of chains has every value.`}
        >
          <Patterns id="rq-bar" />
          {[0, 0.25, 0.5, 0.75, 1].map((value) => (
            <g key={value} class={value ? "rq-grid" : "rq-grid base"}>
              <line x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
              <text x={LEFT - 5} y={y(value) + 4} text-anchor="end">
                {value}
              </text>
            </g>
          ))}
          {chains.map((chain, k) => {
            const x = LEFT + 2 + k * room + (room - bar) / 2;
            const isMedoid = chain.number === document.medoid;
            const isSelected = chain.number === store.selected.value;
            const top = y(chain.score?.score ?? 0);
            const shown = isMedoid || isSelected || k % every === 0;
            return (
              <g key={chain.number} class="rq-bar" onClick={() => store.select(chain.number)}>
                <title>{`Chain ${chain.name}: ${fixed(chain.score?.score, 3)}, ${OUTCOME_WORDS[chain.outcome]}`}</title>
                <rect class="rq-hit" x={LEFT + 2 + k * room} y={TOP} width={room} height={HEIGHT + 18} />
                <rect class={`rq-fill ${isMedoid ? "medoid" : ""} ${chain.outcome}`} x={x} y={top} width={bar} height={y(0) - top} fill={fill(chain, isMedoid)} />
                {room > 8 && <line class="rq-split" x1={x + 1} x2={x + bar - 1} y1={y(alpha * (chain.score?.centrality_term ?? 0))} y2={y(alpha * (chain.score?.centrality_term ?? 0))} />}
                {shown && (
                  <text class={isSelected ? "strong" : ""} x={x + bar / 2} y={y(0) + 14} text-anchor="middle">
                    {chain.name}
                  </text>
                )}
                {isMedoid && (
                  <text class="rq-star" x={x + bar / 2} y={y(0) + 27} text-anchor="middle">
                    ★
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </div>
    </div>
  );
}

function fill(chain: Chain, isMedoid: boolean): string | undefined {
  if (isMedoid) return `url(#rq-bar-medoid-${chain.outcome})`;
  return chain.outcome === "incorrect" ? "url(#rq-bar-incorrect)" : undefined;
}

function Keys() {
  return (
    <span class="rq-keys" aria-hidden="true">
      <span class="rq-key">
        <svg width="14" height="10">
          <rect class="rq-fill correct" x="0.5" y="0.5" width="13" height="9" />
        </svg>
        correct
      </span>
      <span class="rq-key">
        <svg width="14" height="10">
          <rect class="rq-fill incorrect" x="0.5" y="0.5" width="13" height="9" fill="url(#rq-bar-incorrect)" />
        </svg>
        incorrect
      </span>
      <span class="rq-key">
        <svg width="14" height="10">
          <rect class="rq-fill medoid" x="1" y="1" width="12" height="8" fill="url(#rq-bar-medoid-unjudged)" />
        </svg>
        medoid
      </span>
    </span>
  );
}
