// Middle pane, above: the distances of all pairs, as a heat map or, chain by chain, as a table.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { fixed, plural } from "../../lib/words";
import { useSize } from "../shared/use-width";
import { cellAt, heatColour, heatSize, isNamed, movedCell } from "./heat";
import type { HeatSize } from "./heat";
import type { Pair } from "./model";
import { answerBreaks, answerWord, chainName } from "./model";
import { ChainChip, Glyph, GlyphSample, Toggle } from "./parts";
import type { MatrixView, Store } from "./store";

const VIEWS = [
  ["cluster", "Cluster"],
  ["score", "Score"],
  ["table", "Table"],
] as const satisfies readonly (readonly [MatrixView, string])[];
const MOST_GROUPS = 6;

export function Distances({ store }: { store: Store }) {
  const view = store.matrixView.value;
  const known = store.pairs !== null && store.order.value.length > 1;
  return (
    <>
      <div class="pane-head">
        <h2>Distance between chains</h2>
        <span class="muted small">SS-GED</span>
        <span class="grow" />
        <Toggle label="Order of the distances" options={VIEWS} value={view} change={(next) => (store.matrixView.value = next)} />
      </div>
      {!known && (
        <div class="pane-body muted">
          {store.page.document
            ? noDistance(store)
            : "Not scored yet: the distances appear after “Compare and score”."}
          {!store.page.document && (
            <>
              {" "}
              <a href={store.links.study}>Open the study</a>
            </>
          )}
        </div>
      )}
      {known && view !== "table" && (
        <div class="rq-heat-row">
          <HeatMap store={store} />
          <Aside store={store} />
        </div>
      )}
      {known && view === "table" && <DistanceTable store={store} />}
    </>
  );
}

function noDistance(store: Store): string {
  const large = store.page.document?.flags.find((flag) => flag.code === "large_graph");
  return large?.message ?? "Fewer than two chains are in the pool, so there is no distance.";
}

function HeatMap({ store }: { store: Store }) {
  const { ref, width, height } = useSize<HTMLDivElement>({ width: 380, height: 380 });
  const canvas = useRef<HTMLCanvasElement>(null);
  const order = store.order.value;
  const n = order.length;
  const size = useMemo(() => heatSize(n, width, height), [n, width, height]);
  const [said, setSaid] = useState("");
  const breaks = useMemo(() => (store.matrixView.value === "cluster" ? answerBreaks(order, store.model) : []), [order]);
  useEffect(() => paint(canvas.current, store, order, size, breaks), [order, size]);

  const point = (cell: [number, number] | null): void => {
    const [row, column] = cell ? [order[cell[0]], order[cell[1]]] : [undefined, undefined];
    store.pointed.value = row === undefined || column === undefined ? null : [row, column];
  };
  const under = (event: PointerEvent | MouseEvent): [number, number] | null => {
    const place = (event.currentTarget as Element).getBoundingClientRect();
    return cellAt(size, n, event.clientX - place.left, event.clientY - place.top);
  };
  const open = (cell: [number, number] | null): void => {
    const [row, column] = cell ? [order[cell[0]], order[cell[1]]] : [undefined, undefined];
    if (row !== undefined) store.select(row, column !== undefined && column !== row ? column : null);
  };
  const here = (): [number, number] => {
    const [row, column] = store.pointed.peek() ?? [store.selected.peek(), store.partner.peek()];
    return [Math.max(0, order.indexOf(row)), Math.max(0, order.indexOf(column ?? -1))];
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(here());
      return;
    }
    const next = event.ctrlKey || event.metaKey || event.altKey ? null : movedCell(event.key, here(), n);
    if (!next) return;
    event.preventDefault();
    point(next);
    const [a, b] = [order[next[0]] ?? 0, order[next[1]] ?? 0];
    const pair = store.pairs?.(a, b);
    setSaid(`${chainName(a)} and ${chainName(b)}: ${pair ? `distance ${fixed(pair.d, 3)}` : "the same chain"}`);
  };
  return (
    <div class="rq-heat" ref={ref}>
      <div
        class="rq-heat-map"
        role="application"
        aria-roledescription="matrix"
        aria-label={`Distances of ${plural(n, "chain")}. Arrow keys move from pair to pair, Enter opens one. The Table view says the same in words.`}
        tabIndex={0}
        style={{ width: `${size.left + size.side + 16}px`, height: `${size.top + size.side + 3}px` }}
        onPointerMove={(event) => point(under(event))}
        onPointerLeave={() => point(null)}
        onBlur={() => point(null)}
        onClick={(event) => open(under(event))}
        onKeyDown={onKeyDown}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <Overlay store={store} order={order} size={size} />
      </div>
      <div class="visually-hidden" aria-live="polite">
        {said}
      </div>
    </div>
  );
}

/** All cells in one canvas: ten thousand elements would make the page slow. */
function paint(canvas: HTMLCanvasElement | null, store: Store, order: readonly number[], size: HeatSize, breaks: readonly number[]): void {
  const pairs = store.pairs;
  if (!canvas || !pairs) return;
  const scale = Math.max(1, Math.min(3, window.devicePixelRatio || 1));
  const edge = size.side + 1;
  canvas.width = Math.round(edge * scale);
  canvas.height = Math.round(edge * scale);
  Object.assign(canvas.style, { left: `${size.left}px`, top: `${size.top}px`, width: `${edge}px`, height: `${edge}px` });
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(scale, scale);
  context.clearRect(0, 0, edge, edge);
  const { cell } = size;
  const gutter = cell >= 8 ? 0.6 : 0;
  order.forEach((row, i) => {
    order.forEach((column, j) => {
      const pair = pairs(row, column);
      if (!pair) return;
      context.fillStyle = heatColour(pair.d, store.far);
      const [x, y] = [Math.round(j * cell), Math.round(i * cell)];
      context.fillRect(x, y, Math.round((j + 1) * cell) - x - gutter, Math.round((i + 1) * cell) - y - gutter);
    });
  });
  context.fillStyle = "#fff";
  const gap = cell >= 8 ? 3 : 2;
  for (const at of breaks) {
    context.fillRect(at * cell - gap / 2 - 0.3, 0, gap, edge);
    context.fillRect(0, at * cell - gap / 2 - 0.3, edge, gap);
  }
}

/** Numbers, answers, the selected chain's row and the pair that is pointed at. */
function Overlay({ store, order, size }: { store: Store; order: readonly number[]; size: HeatSize }) {
  const { cell, left, top, side, everyRow, everyColumn } = size;
  const selected = order.indexOf(store.selected.value);
  const medoid = store.model.medoid === null ? -1 : order.indexOf(store.model.medoid);
  const [a, b] = store.pointed.value ?? [-1, -1];
  const [row, column] = [order.indexOf(a), order.indexOf(b)];
  const font = Math.max(11, Math.min(12, cell - 2));
  return (
    <svg width={left + side + 16} height={top + side + 3} aria-hidden="true">
      {order.map((number, k) => {
        const chain = store.model.chains.get(number);
        const middle = (k + 0.5) * cell;
        const strong = k === selected;
        return (
          <g key={number} class={strong ? "strong" : ""}>
            {isNamed(k, everyRow, selected) && (
              <text x={left - 16} y={top + middle + font * 0.36} font-size={font} text-anchor="end">
                {chainName(number)}
              </text>
            )}
            {isNamed(k, everyColumn, selected) && (
              <text x={left + middle} y={top - 6} font-size={font} text-anchor="middle">
                {chainName(number)}
              </text>
            )}
            {chain && <Glyph outcome={chain.outcome} x={left - 8} y={top + middle} size={Math.min(3.4, Math.max(1, cell * 0.4))} />}
          </g>
        );
      })}
      {selected >= 0 && <rect class="rq-row" x={left - 1} y={top + selected * cell - 1} width={side + 1} height={cell + 1} />}
      {medoid >= 0 && (
        <text class="rq-star" x={left + side + 3} y={top + (medoid + 0.5) * cell + 4} font-size="12">
          ★
        </text>
      )}
      {row >= 0 && column >= 0 && <rect class="rq-cell" x={left + column * cell - 1} y={top + row * cell - 1} width={cell + 1} height={cell + 1} />}
    </svg>
  );
}

function Aside({ store }: { store: Store }) {
  const groups = store.page.document?.groups ?? [];
  const pointed = store.pointed.value;
  const partner = store.partner.value;
  const pair: [number, number] | null = pointed ?? (partner === null ? null : [store.selected.value, partner]);
  return (
    <div class="rq-aside" tabIndex={0} role="group" aria-label="Scale, pair and groups of answers">
      <div>
        <h3>Distance d</h3>
        <Ramp far={store.far} />
      </div>
      {pair && <ReadOut store={store} pair={pair} at={pointed ? "at pointer" : "selected"} />}
      {groups.slice(0, MOST_GROUPS).map((group, k) => {
        const chain = store.model.chains.get(group.chains[0] ?? -1);
        return (
          <div key={k}>
            <h3 class="rq-group">
              <GlyphSample outcome={chain?.outcome ?? "none"} />
              <span class="clip" title={answerWord(group.answer)}>
                {answerWord(group.answer)}
              </span>
              <span class="nowrap">· {plural(group.chains.length, "chain")}</span>
            </h3>
            <p class="num">
              {group.mean_distance === null ? "One chain: no distance inside." : `Mean distance inside ${fixed(group.mean_distance)}.`}
              {group.answer === null && " In the matrix, without a vote."}
            </p>
          </div>
        );
      })}
      {groups.length > MOST_GROUPS && <p>and {plural(groups.length - MOST_GROUPS, "more answer")}</p>}
    </div>
  );
}

function ReadOut({ store, pair: [a, b], at }: { store: Store; pair: [number, number]; at: string }) {
  const pair = store.pairs?.(a, b) ?? null;
  return (
    <div class="rq-readout">
      <b class="num">
        {chainName(a)} × {chainName(b)}
      </b>{" "}
      <span class="muted">{at}</span>
      {a === b && <p>The same chain: distance 0.</p>}
      {pair && <PairFacts pair={pair} />}
      {a !== b && !pair && <p>Not in the matrix.</p>}
    </div>
  );
}

export function PairFacts({ pair }: { pair: Pair }) {
  return (
    <dl class="num">
      <div>
        <dt>distance d</dt>
        <dd>{fixed(pair.d, 3)}</dd>
      </div>
      <div title="S_term: cosine of the mean conclusions">
        <dt>conclusions</dt>
        <dd>{fixed(pair.s_term)}</dd>
      </div>
      <div title="S_struct: exp(-gamma × edit cost²)">
        <dt>structure</dt>
        <dd>{fixed(pair.s_struct)}</dd>
      </div>
      <div title="nGED: cost of the cheapest matching over the mean number of facts">
        <dt>edit cost</dt>
        <dd>{fixed(pair.nged)}</dd>
      </div>
    </dl>
  );
}

function Ramp({ far }: { far: number }) {
  const steps = 40;
  return (
    <svg class="rq-ramp" viewBox="0 0 140 28" role="img" aria-label={`Colours from 0, the same, dark, to ${far}, far, light`}>
      {Array.from({ length: steps }, (_, k) => (
        <rect key={k} x={(k * 138) / steps} width={138 / steps + 0.3} height="10" fill={heatColour((k / steps) * far, far)} />
      ))}
      <rect class="rq-ramp-edge" x="0.5" y="0.5" width="138" height="10" />
      <text x="0" y="24">
        0 same
      </text>
      <text x="139" y="24" text-anchor="end">
        {fixed(far, 1)} far
      </text>
    </svg>
  );
}

/** The selected chain against every other one, nearest first: the matrix for those who do not see it. */
function DistanceTable({ store }: { store: Store }) {
  const selected = store.selected.value;
  const rows = store.model.pool
    .flatMap((chain) => {
      const pair = store.pairs?.(selected, chain.number);
      return pair ? [{ chain, pair }] : [];
    })
    .sort((a, b) => a.pair.d - b.pair.d);
  return (
    <div class="rq-table-scroll" tabIndex={0} role="group" aria-label={`Distances of chain ${chainName(selected)}`}>
      <table class="data num">
        <caption>
          Chain {chainName(selected)} against the others, nearest first. Choose another chain on the left.
        </caption>
        <thead>
          <tr>
            <th scope="col">Chain</th>
            <th scope="col">Answer</th>
            <th scope="col" class="r">
              Distance d
            </th>
            <th scope="col" class="r">
              Conclusions
            </th>
            <th scope="col" class="r">
              Structure
            </th>
            <th scope="col" class="r">
              Edit cost
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ chain, pair }) => (
            <tr key={chain.number}>
              <th scope="row">
                <button type="button" class="btn-text" onClick={() => store.compareWith(chain.number)} aria-label={`${chain.name}, compare`} title="Set beside the selected chain">
                  {chain.name}
                </button>
              </th>
              <td>
                <ChainChip chain={chain} />
              </td>
              <td class="r">{fixed(pair.d, 3)}</td>
              <td class="r">{fixed(pair.s_term, 3)}</td>
              <td class="r">{fixed(pair.s_struct, 3)}</td>
              <td class="r">{fixed(pair.nged, 3)}</td>
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={6}>Chain {chainName(selected)} is not in the pool, so it has no distances.</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
