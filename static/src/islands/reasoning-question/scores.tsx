// The scores of the question with range and direction; a button opens the definition.
import { useState } from "preact/hooks";
import { fixed, plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import { Head } from "./parts";
import type { Store } from "./store";
import type { MetricRow, QuestionPage } from "./types";

export function Scores({ store }: { store: Store }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(["grcs"]));
  const { page } = store;
  const n = page.matrix?.d.length ?? 0;
  const reasons = new Set(page.metrics.map((metric) => metric.missing));
  // One reason for all of them is said once.
  const nothing = page.metrics.every((metric) => metric.value === null) && reasons.size === 1 ? ([...reasons][0] ?? "") : null;
  const toggle = (name: string): void => {
    const next = new Set(open);
    if (!next.delete(name)) next.add(name);
    setOpen(next);
  };
  return (
    <section class="rq-section">
      <Head title="Scores of this question" more={plural(n, "distance")}>
        {page.topology && <TopologyMark topology={page.topology} />}
      </Head>
      {nothing !== null ? (
        <p class="muted small">{nothing}</p>
      ) : (
        <table class="rq-scores num">
          <thead>
            <tr>
              <th scope="col">Score</th>
              <th scope="col" class="r">
                Value
              </th>
              <th scope="col">Range</th>
              <th scope="col">High means</th>
            </tr>
          </thead>
          {[false, true].map((baseline) => (
            <tbody key={String(baseline)}>
              {baseline && (
                <tr class="rq-out">
                  <th scope="rowgroup" colSpan={4}>
                    Baselines
                  </th>
                </tr>
              )}
              {page.metrics
                .filter((metric) => metric.baseline === baseline)
                .map((metric) => (
                  <Score key={metric.name} metric={metric} open={open.has(metric.name)} toggle={() => toggle(metric.name)} />
                ))}
            </tbody>
          ))}
        </table>
      )}
    </section>
  );
}

function Score({ metric, open, toggle }: { metric: MetricRow; open: boolean; toggle: () => void }) {
  return (
    <>
      <tr>
        <th scope="row">
          {metric.title}
          <button type="button" class="rq-tip" aria-label={`About ${metric.title}`} aria-expanded={open} onClick={toggle}>
            <Icon name="info-circle" />
          </button>
        </th>
        <td class="r strong">{fixed(metric.value)}</td>
        <td class="nowrap">{metric.value === null ? "" : <Range metric={metric} />}</td>
        <td class="muted">{metric.value === null ? metric.missing : metric.direction.replace(/^High: /, "").split(/\.\s/)[0]?.replace(/\.$/, "")}</td>
      </tr>
      {open && (
        <tr class="rq-about">
          <td colSpan={4}>
            {metric.note && <b>{metric.note} </b>}
            {metric.definition} {metric.note ? "" : metric.direction}
          </td>
        </tr>
      )}
    </>
  );
}

const bound = (value: number | null): string => (value === null ? "∞" : Number(value.toFixed(2)).toString());

/** Place of the value in its range; without an upper bound the track says so by its dashes. */
function Range({ metric }: { metric: MetricRow }) {
  const { value, low, high } = metric;
  if (value === null || low === null) return null;
  const share = high === null ? value / (value + 1) : high > low ? (value - low) / (high - low) : 0;
  const x = Math.max(0, Math.min(1, share)) * 76 + 2;
  return (
    <>
      <svg class="rq-range" width="80" height="12" aria-hidden="true">
        <line x1="1" x2="79" y1="6" y2="6" stroke-dasharray={high === null ? "4 3" : undefined} />
        <rect x={x - 1.5} y="1" width="3" height="10" rx="1" />
      </svg>{" "}
      <span class="muted">
        {bound(low)}–{bound(high)}
      </span>
    </>
  );
}

const QUADRANT_PLACES: Record<string, [number, number]> = { Confident: [0, 1], "Multi-Path": [0, 0], Noisy: [1, 1], Confused: [1, 0] };

function TopologyMark({ topology }: { topology: NonNullable<QuestionPage["topology"]> }) {
  const [column, row] = QUADRANT_PLACES[topology.quadrant] ?? [0, 0];
  const { divergence, entropy, origin, questions } = topology;
  const words =
    `Divergence ${fixed(divergence)} and entropy ${fixed(entropy)}; the means of ${plural(questions, "scored question")} of the study, ` +
    `${fixed(origin[0])} and ${fixed(origin[1])}, part low from high.`;
  return (
    <span class="rq-topology" title={words}>
      <span class="muted small">topology</span>
      <svg width="34" height="22" role="img" aria-label={`Topology map: ${topology.quadrant}. ${words}`}>
        <rect class="frame" x="0.5" y="0.5" width="33" height="21" />
        <rect class="here" x={column ? 17 : 1} y={row ? 11 : 1} width="16" height="10" />
        <path d="M17 0v22M0 11h34" />
        <circle cx={column ? 25 : 9} cy={row ? 16.5 : 5.5} r="2.6" />
      </svg>
      <span class="chip plain">{topology.quadrant}</span>
    </span>
  );
}
