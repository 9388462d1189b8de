// The bar below: what is left when the model may not use its medoid.
import { fixed, plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import { useWidth } from "../shared/use-width";
import { chainName } from "./model";
import type { Store } from "./store";
import type { Ablation, AblationSummary } from "./types";

export function AblationBar({ store }: { store: Store }) {
  const { ablation, document } = store.page;
  if (!ablation) {
    return (
      <section class="rq-ablation bare" aria-label="Medoid ablation">
        <div>
          <h2>If {document && document.medoid !== null ? `chain ${chainName(document.medoid)}` : "the medoid"} is forbidden</h2>
          <p>
            Not asked yet: run “Forbid the medoid” from the study. <a href={store.links.study}>Open the study</a>
          </p>
        </div>
      </section>
    );
  }
  const name = chainName(ablation.forbidden);
  const used = ablation[ablation.reference];
  const other = ablation[ablation.reference === "gold" ? "own" : "gold"];
  return (
    <section class="rq-ablation" aria-label="Medoid ablation">
      <div>
        <div class="rq-head-line">
          <h2>If chain {name} is forbidden</h2>
          <span class="grow" />
          <span class="rq-key">
            <Dot /> with {name}
          </span>
          <span class="rq-key">
            <Dot hollow /> without
          </span>
        </div>
        <p>
          {plural(used.n, "new chain")}, told not to reuse its steps or its conclusion.
          {!ablation.is_medoid && ` Chain ${name} is no longer the medoid: it was when they were sampled.`}
        </p>
      </div>
      <div>
        <Line title="Accuracy" before={used.medoid_accuracy} after={used.accuracy} change={used.accuracy_change} />
        <p>{accuracyWords(ablation)}</p>
      </div>
      <div>
        <Line title="Faithfulness" before={used.medoid_faithfulness} after={used.faithfulness} change={used.faithfulness_change} />
        <p>{faithfulnessWords(ablation, used, other)}</p>
      </div>
      <div>
        <div class="rq-head-line">
          <h3>Distance from {name}</h3>
          <span class="grow" />
          <span class="rq-big num">{fixed(used.distance)}</span>
        </div>
        <Marks values={ablation.distances} mean={used.distance} />
        <p>Mean of 1 − text overlap; one mark for each new chain.</p>
      </div>
    </section>
  );
}

function accuracyWords({ correct, readable, gold }: Ablation): string {
  if (correct === null) return "No gold answer, so no accuracy is defined.";
  const unread = gold.n - readable;
  return `${correct} of ${gold.n} give the gold answer${unread ? `; ${unread} could not be read` : ""}.`;
}

function faithfulnessWords(ablation: Ablation, used: AblationSummary, other: AblationSummary): string {
  if (used.n_faithful === 0) return "Early answering was not asked of the new chains.";
  const names = ablation.reference === "gold" ? ["vs gold", "vs own"] : ["vs own", "vs gold"];
  return `${names[0]}, ${used.n_faithful} of ${used.n} with a value. ${names[1]}: ${fixed(other.medoid_faithfulness)} → ${fixed(other.faithfulness)}.`;
}

function Line({ title, before, after, change }: { title: string; before: number | null; after: number | null; change: number | null }) {
  return (
    <>
      <div class="rq-head-line">
        <h3>{title}</h3>
        <span class="grow" />
        <span class="rq-big num">
          {fixed(before)} → {fixed(after)}
        </span>
        {change !== null && (
          <span class="chip plain num">
            <Icon name={change < 0 ? "arrow-down" : change > 0 ? "arrow-up" : "dash"} />
            <span class="visually-hidden">{change < 0 ? "down by" : change > 0 ? "up by" : "unchanged"}</span>
            {fixed(Math.abs(change))}
          </span>
        )}
      </div>
      <Track label={`${title}: ${fixed(before)} with the chain, ${fixed(after)} without it`}>
        {(x) => (
          <>
            {before !== null && after !== null && <line class="span" x1={x(before)} x2={x(after)} y1="11" y2="11" />}
            {before !== null && <circle class="dot" cx={x(before)} cy="11" r="5" />}
            {after !== null && <circle class="dot hollow" cx={x(after)} cy="11" r="4.5" />}
          </>
        )}
      </Track>
    </>
  );
}

function Marks({ values, mean }: { values: number[]; mean: number | null }) {
  return (
    <Track label={`${plural(values.length, "distance")} from ${fixed(Math.min(...values))} to ${fixed(Math.max(...values))}`}>
      {(x) => (
        <>
          {values.map((value, k) => (
            <line key={k} class="mark" x1={x(value)} x2={x(value)} y1="4" y2="18" />
          ))}
          {mean !== null && <path class="mean" d={`M${x(mean) - 4} 0h8l-4 6z`} />}
        </>
      )}
    </Track>
  );
}

function Track({ label, children }: { label: string; children: (x: (value: number) => number) => preact.ComponentChildren }) {
  const { ref, width } = useWidth<HTMLDivElement>(300);
  const x = (value: number): number => 16 + Math.max(0, Math.min(1, value)) * (width - 32);
  return (
    <div ref={ref}>
      <svg class="rq-track" width={width} height="22" role="img" aria-label={label}>
        <text x="0" y="15">
          0
        </text>
        <text x={width} y="15" text-anchor="end">
          1
        </text>
        <line class="base" x1={x(0)} x2={x(1)} y1="11" y2="11" />
        {[0, 0.5, 1].map((value) => (
          <line key={value} class="tick" x1={x(value)} x2={x(value)} y1="7" y2="15" />
        ))}
        {children(x)}
      </svg>
    </div>
  );
}

function Dot({ hollow = false }: { hollow?: boolean }) {
  return (
    <svg class="rq-track" width="11" height="11" aria-hidden="true">
      <circle class={`dot${hollow ? " hollow" : ""}`} cx="5.5" cy="5.5" r="4.5" />
    </svg>
  );
}
