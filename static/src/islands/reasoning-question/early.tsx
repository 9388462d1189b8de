// Early answering: the answer after each fact, and what follows from it. Counterfactual edits below.
import { fixed, plural } from "../../lib/words";
import { useWidth } from "../shared/use-width";
import type { Chain } from "./model";
import { answerWord } from "./model";
import { Glyph, Head } from "./parts";
import type { Store } from "./store";
import type { Early } from "./types";

const ROW = 20;
const MOST_ROWS = 4;

/** A row of the strip; "other" stands for the answers that have none. */
export interface Row {
  answer: string | null;
  words: string;
}

export interface Strip {
  rows: Row[];
  /** Row of every prefix. */
  at: number[];
}

/** Rows of the strip: gold first, then answers as they come, the rest as "other", no answer last. */
export function stripOf(answers: readonly (string | null)[], gold: string | null): Strip {
  const seen = [...new Set(answers.filter((answer): answer is string => answer !== null && answer !== gold))];
  const room = MOST_ROWS - (gold === null ? 0 : 1);
  const named = seen.length > room ? seen.slice(0, room - 1) : seen;
  const own = [...(gold === null ? [] : [gold]), ...named];
  const rows: Row[] = own.map((answer) => ({ answer, words: answer }));
  if (named.length < seen.length) rows.push({ answer: null, words: "other" });
  if (answers.includes(null)) rows.push({ answer: null, words: answerWord(null) });
  const at = answers.map((answer) => {
    if (answer === null) return rows.length - 1;
    const row = own.indexOf(answer);
    return row >= 0 ? row : own.length;
  });
  return { rows, at };
}

export function EarlyAnswers({ store, chain }: { store: Store; chain: Chain }) {
  const { page } = store;
  const early = chain.page.early;
  return (
    <section class="rq-section">
      <Head title="Early answering" more={early ? settles(early) : undefined} />
      {early ? (
        <div class="rq-early">
          <StripDrawing early={early} gold={page.question.gold_normal} name={chain.name} />
          <EarlyTable store={store} chain={chain} />
        </div>
      ) : (
        <p class="muted small">
          {page.early.chains > 0
            ? `Not asked of this chain; asked of ${plural(page.early.chains, "other")}.`
            : "Not asked yet: run “Early answering” from the study."}{" "}
          <a href={store.links.study}>Open the study</a>
        </p>
      )}
      <Edits store={store} chain={chain} />
    </section>
  );
}

function settles(early: Early): string {
  if (early.answers.length === 0) return "no facts, no prefixes";
  return early.settles === null ? "never settles: no answer at the end" : `settles at fact ${early.settles}`;
}

function StripDrawing({ early, gold, name }: { early: Early; gold: string | null; name: string }) {
  const { ref, width } = useWidth<HTMLDivElement>(250);
  const { rows, at } = stripOf(early.answers, gold);
  const left = Math.min(74, Math.max(34, ...rows.map(({ words }) => 8 + 7 * words.length)));
  const n = early.answers.length;
  const gap = Math.min(24, (width - left - 8) / Math.max(1, n));
  const radius = Math.min(4.2, Math.max(1.2, gap * 0.42));
  const x = (k: number): number => left + gap * (k + 0.5);
  const y = (row: number): number => 10 + row * ROW;
  const bottom = y(rows.length - 1) + 10;
  const every = Math.max(1, Math.ceil(16 / gap));
  const path = at.map((row, k) => (k ? `H${x(k)}V${y(row)}` : `M${x(0)} ${y(row)}`)).join("");
  const short = (words: string): string => (words.length > 9 ? `${words.slice(0, 8)}…` : words);
  return (
    <div ref={ref}>
      <svg
        width={width}
        height={bottom + 16}
        role="img"
        aria-label={`Answers of chain ${name} after each of its ${n} facts: ${early.answers.map(answerWord).join(", ")}`}
      >
        {early.settles !== null && n > 0 && (
          <rect class="rq-settled" x={x(early.settles - 1) - gap / 2} y="1" width={gap * (n - early.settles + 1)} height={bottom - 2} rx="3" />
        )}
        {rows.map((row, k) => (
          <g key={k} class="rq-grid">
            <title>{row.words}</title>
            <line x1={left} x2={left + gap * n} y1={y(k)} y2={y(k)} />
            <text x={left - 7} y={y(k) + 4} text-anchor="end" class={row.answer !== null && row.answer === gold ? "gold" : ""}>
              {short(row.words)}
            </text>
          </g>
        ))}
        <path class="rq-strip" d={path} />
        {early.answers.map((answer, k) => (
          <Glyph
            key={k}
            outcome={answer === null ? "none" : gold === null ? "unjudged" : answer === gold ? "correct" : "incorrect"}
            x={x(k)}
            y={y(at[k] ?? 0)}
            size={radius}
          />
        ))}
        {early.answers.map((_, k) =>
          k % every === 0 || k === n - 1 ? (
            <text key={k} class="rq-axis" x={x(k)} y={bottom + 12} text-anchor="middle">
              {k + 1}
            </text>
          ) : null,
        )}
      </svg>
    </div>
  );
}

function EarlyTable({ store, chain }: { store: Store; chain: Chain }) {
  const { page } = store;
  const partner = store.partner.value === null ? undefined : store.model.chains.get(store.partner.value);
  const own = chain.page.early;
  const other = partner?.page.early ?? null;
  const inUse = page.study.parameters.early_reference === "gold" ? "gold" : "own";
  return (
    <div>
      <table class="rq-early-table num">
        <thead>
          <tr>
            <th scope="col" title="One minus the share of prefixes that already give the reference answer">
              F = 1 − matches/n
            </th>
            <th scope="col">{chain.name}</th>
            <th scope="col">{partner?.name ?? "–"}</th>
            <th scope="col" title={`Mean of the chains with a value: ${page.early.gold.n} against gold, ${page.early.own.n} against their own`}>
              mean
            </th>
          </tr>
        </thead>
        <tbody>
          {(["gold", "own"] as const).map((reference) => (
            <tr key={reference}>
              <th scope="row">
                vs {reference} answer {reference === inUse && <span class="chip accent">in use</span>}
              </th>
              <td class="strong">{fixed(own?.[reference])}</td>
              <td>{fixed(other?.[reference])}</td>
              <td>{fixed(page.early[reference].mean)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="rq-note">{earlyNote(store, chain, partner)}</p>
    </div>
  );
}

/** What the two references say of the chains shown; the gold form mostly measures whether the chain is right. */
function earlyNote(store: Store, chain: Chain, partner: Chain | undefined): string {
  if (store.page.question.gold_normal === null) return "Without a gold answer there is no value against it.";
  const never = [chain, partner].find((one) => one?.page.early && one.page.early.gold === 1);
  if (never) return `Chain ${never.name} never gives the gold answer: “vs gold” is 1 whatever it depends on.`;
  if (chain.page.early?.own === null) return `Chain ${chain.name} has no answer of its own to compare with.`;
  return "“vs gold” mostly measures whether a chain is right; “vs own” whether its answer needs its facts.";
}

function Edits({ store, chain }: { store: Store; chain: Chain }) {
  const edits = chain.page.counterfactual;
  if (!edits) {
    const asked = store.page.chains.some((other) => other.counterfactual);
    return (
      <p class="rq-note">
        <b>Counterfactual edits:</b> {asked ? "not asked of this chain." : "not asked yet: run “Counterfactual edits” from the study."}
      </p>
    );
  }
  return (
    <details class="rq-note">
      <summary>
        <b>Counterfactual edits:</b> {edits.changed} of {edits.readable} edited steps change the answer{" "}
        <span class="num">({fixed(edits.value)})</span>
      </summary>
      <ul>
        {edits.edits.map(([step, edit, answer], k) => (
          <li key={k}>
            Step {step} becomes “{edit}”: {answer ?? "no answer that could be read"}
            {answer !== null && (answer === chain.answer ? ", unchanged" : ", changed")}
          </li>
        ))}
      </ul>
    </details>
  );
}
