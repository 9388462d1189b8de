// The ordered-hypergraph matrix, and for long traces a premise x target overview with the columns of the selected segment.
import { memo } from "../shared/memo";
import { useEffect, useRef, useState } from "preact/hooks";
import type { MatrixColumn, MatrixLayout } from "../../lib/matrix";
import { layoutMatrix, overviewCells, overviewPaths } from "../../lib/matrix";
import type { Edge, Model } from "../../lib/model";
import { AUDIT_WORDS, RELATION_WORDS, edgeName, plural, segmentName } from "../../lib/words";
import { DASH, RelationLegend } from "../shared/parts";
import { useWidth } from "../shared/use-width";
import type { Store } from "./store";

/** Above this many segments the full matrix is too wide to read. */
export const OVERVIEW_ABOVE = 30;
const LABELS_WIDTH = 112;

export function Hypergraph({ store }: { store: Store }) {
  const { ref, width } = useWidth<HTMLDivElement>(468);
  const model = store.model.value;
  const long = model.n > OVERVIEW_ABOVE;
  return (
    <div ref={ref}>
      <RelationLegend premise />
      {long && <Overview store={store} width={width} />}
      <div class="section-head">
        <h2>{long ? `Relations of ${segmentName(store.selected.value)}` : "All relations"}</h2>
        <span class="muted small">each column is one premise set → target</span>
      </div>
      <Matrix store={store} width={width} onlySelected={long} roomy />
    </div>
  );
}

interface MatrixProps {
  store: Store;
  width: number;
  onlySelected?: boolean;
  roomy?: boolean;
}

export function Matrix({ store, width, onlySelected = false, roomy = false }: MatrixProps) {
  const model = store.model.value;
  const selected = store.selected.value;
  const scroller = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const layout = layoutMatrix(model, {
    selected,
    available: Math.max(60, width - LABELS_WIDTH),
    rowHeight: roomy ? 22 : 19,
    onlySelected,
  });
  const { columns } = layout;
  const at = columns.findIndex((column) => column.edge.key === cursor);
  const current = at >= 0 ? columns[at] : undefined;

  useEffect(() => showColumns(scroller.current, layout), [selected, model, width]);

  const press = (edge: Edge, element: Element): void => {
    setCursor(edge.key);
    if (store.whatIfOn.peek()) store.openMenu(edge, element);
    else store.select(edge.target);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const own = columns.findIndex((column) => column.strong);
    const from = at >= 0 ? at : Math.max(0, own) - (event.key === "ArrowRight" ? 1 : -1);
    const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: columns.length - 1 }[event.key];
    if (to !== undefined) {
      const next = columns[Math.min(columns.length - 1, Math.max(0, to))];
      if (next) {
        setCursor(next.edge.key);
        keepInView(scroller.current, next.x, layout.columnWidth);
      }
    } else if (event.key === "Enter" && current) {
      press(current.edge, scroller.current?.querySelector(".matrix-column.current") ?? (event.currentTarget as Element));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  if (columns.length === 0 && onlySelected) return <p class="muted">No kept relation and no contradiction.</p>;
  const name = `${plural(columns.length, "relation")} among ${plural(layout.rows.length, "segment")}`;
  return (
    <>
      <div class="matrix">
        <svg class="matrix-labels" width={LABELS_WIDTH} height={layout.height} aria-hidden="true">
          {layout.rows.map((row) => (
            <g key={row.index} class={row.index === selected ? "row selected" : "row"} onClick={() => store.select(row.index)}>
              <rect y={row.y} width={LABELS_WIDTH} height={layout.rowHeight} class={row.index % 2 ? "odd" : "even"} />
              <text x="6" y={row.y + layout.rowHeight / 2} class="row-id">
                {segmentName(row.index)}
              </text>
              <text x="36" y={row.y + layout.rowHeight / 2} class="row-word">
                {rowWord(model, row.index)}
              </text>
            </g>
          ))}
        </svg>
        <div
          class="matrix-scroll"
          ref={scroller}
          tabIndex={0}
          role="listbox"
          aria-label={`${name}. Left and right arrows move, Enter ${store.whatIfOn.value ? "changes the relation" : "selects the target"}. The Table tab has the same relations.`}
          aria-activedescendant={current ? columnId(current.edge, roomy) : undefined}
          onKeyDown={onKeyDown}
        >
          <svg width={layout.width} height={layout.height} role="presentation">
            {layout.rows.map((row) => (
              <rect
                key={row.index}
                y={row.y}
                width={layout.width}
                height={layout.rowHeight}
                class={row.index === selected ? "row-band selected" : row.index % 2 ? "row-band odd" : "row-band even"}
              />
            ))}
            {columns.map((column) => (
              <Column
                key={column.edge.key}
                id={columnId(column.edge, roomy)}
                column={column}
                width={layout.columnWidth}
                height={layout.height}
                current={column === current}
                changed={store.whatIfOn.value && store.stored.byKey.get(column.edge.key)?.label !== column.edge.label}
                press={press}
              />
            ))}
          </svg>
        </div>
      </div>
      <p class="matrix-readout muted small" aria-hidden="true">
        {current ? columnSentence(current.edge) : columns.length > 0 ? `${name}.` : "No kept relation and no contradiction."}
      </p>
    </>
  );
}

const columnId = (edge: Edge, roomy: boolean): string => `${roomy ? "m" : "s"}-${edge.key.replace(/[,>]/g, "-")}`;

function columnSentence(edge: Edge): string {
  const p = edge.p === null ? "" : `, probability ${edge.p.toFixed(2)}`;
  return `${edgeName(edge.premises, edge.target)}: ${RELATION_WORDS[edge.label ?? "neutral"]}${p}`;
}

function rowWord(model: Model, index: number): string {
  const segment = model.segments.get(index);
  if (!segment || segment.context) return "Context";
  return segment.label ? AUDIT_WORDS[segment.label].word : "Not audited";
}

interface ColumnProps {
  id: string;
  column: MatrixColumn;
  width: number;
  height: number;
  current: boolean;
  changed: boolean;
  press(edge: Edge, element: Element): void;
}

/** One premise set and its target: circles on the premises' rows, a head (support) or × (contradiction) on the target's row. */
const Column = memo(
  function Column({ id, column, width, height, current, changed, press }: ColumnProps) {
    const { x, premises, target, edge, strong } = column;
    const label = edge.label ?? "neutral";
    const top = Math.min(...premises);
    const scale = Math.min(1, width / 15);
    const r = 4 * scale;
    const kind = `matrix-column rel-line ${label}${strong ? " strong" : ""}${current ? " current" : ""}${changed ? " changed" : ""}`;
    const sentence = columnSentence(edge);
    const end = label === "contradiction" ? target - 4 : target - 5;
    return (
      <g id={id} class={kind} role="option" aria-selected={current} aria-label={sentence} onClick={(event) => press(edge, event.currentTarget)}>
        <title>{sentence}</title>
        <rect class="hit" x={x - width / 2} width={width} height={height} />
        <path d={`M${x} ${top}V${end}`} stroke-dasharray={DASH[label]} />
        {premises.map((y) => (
          <circle key={y} cx={x} cy={y} r={r} />
        ))}
        {label === "contradiction" ? (
          <path d={`M${x - r} ${target - r}l${2 * r} ${2 * r}m0${-2 * r}l${-2 * r} ${2 * r}`} />
        ) : (
          <path class="head" d={`M${x - 5 * scale} ${target - 5}h${10 * scale}l${-5 * scale} 9z`} />
        )}
      </g>
    );
  },
  (a, b) =>
    a.column.edge === b.column.edge &&
    a.column.x === b.column.x &&
    a.column.target === b.column.target &&
    a.column.strong === b.column.strong &&
    a.width === b.width &&
    a.height === b.height &&
    a.current === b.current &&
    a.changed === b.changed,
);

/** Brings the columns of the selected segment into view. */
function showColumns(scroller: HTMLDivElement | null, layout: MatrixLayout): void {
  const own = layout.columns.filter((column) => column.strong);
  const first = own[0];
  const last = own.at(-1);
  if (!scroller || !first || !last) return;
  keepInView(scroller, last.x, layout.columnWidth);
  keepInView(scroller, first.x, layout.columnWidth);
}

function keepInView(scroller: HTMLDivElement | null, x: number, columnWidth: number): void {
  if (!scroller) return;
  if (x - columnWidth < scroller.scrollLeft) scroller.scrollLeft = x - columnWidth;
  else if (x + columnWidth > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = x + columnWidth - scroller.clientWidth;
}

const AXIS = 22;

function Overview({ store, width }: { store: Store; width: number }) {
  const model = store.model.value;
  const selected = store.selected.value;
  const [hover, setHover] = useState<{ premise: number; target: number } | null>(null);
  const cell = Math.min(12, (width - AXIS - 10) / model.n);
  const side = cell * model.n;
  const cellAt = (event: MouseEvent): { premise: number; target: number } => {
    const place = (event.currentTarget as Element).getBoundingClientRect();
    const index = (offset: number): number => Math.min(model.n, Math.max(1, Math.floor(offset / cell) + 1));
    return { premise: index(event.clientY - place.top - AXIS), target: index(event.clientX - place.left - AXIS) };
  };
  const ticks = Array.from({ length: Math.floor(model.n / 5) }, (_, k) => (k + 1) * 5).filter((tick) => cell > 5 || tick % 10 === 0);
  return (
    <>
      <div class="section-head">
        <h2>Overview</h2>
        <span class="muted small">premise (down) and target (across); filled = alone, hollow = in a set</span>
      </div>
      <svg
        class="overview"
        width={side + AXIS + 10}
        height={side + AXIS + 2}
        role="img"
        aria-label={`Overview of ${plural(model.n, "segment")}: premises down, targets across. The Table tab lists every relation.`}
        onClick={(event) => store.select(cellAt(event).target)}
        onMouseMove={(event) => setHover(cellAt(event))}
        onMouseLeave={() => setHover(null)}
      >
        <g transform={`translate(${AXIS} ${AXIS})`}>
          <path class="overview-ground" d={`M0 0H${side}V${side}z`} />
          <rect class="overview-band" x={(selected - 1) * cell} width={cell} height={side} />
          <rect class="overview-band" y={(selected - 1) * cell} width={side} height={cell} />
          <OverviewCells model={model} cell={cell} />
        </g>
        {ticks.map((tick) => (
          <g key={tick} class="overview-tick">
            <text x={AXIS + (tick - 0.5) * cell} y={AXIS - 6} text-anchor="middle">
              {tick}
            </text>
            <text x={AXIS - 5} y={AXIS + (tick - 0.5) * cell} text-anchor="end" dominant-baseline="central">
              {tick}
            </text>
          </g>
        ))}
      </svg>
      <p class="matrix-readout muted small" aria-hidden="true">
        {hover ? hoverSentence(model, hover.premise, hover.target) : "Point at a cell to read it; press to select its target."}
      </p>
    </>
  );
}

const OverviewCells = memo(
  function OverviewCells({ model, cell }: { model: Model; cell: number }) {
    return (
      <>
        {overviewPaths(overviewCells(model), cell).map(({ label, alone, path }) => (
          <path key={`${label}${alone}`} d={path} class={`overview-cell ${label}${alone ? " alone" : ""}`} />
        ))}
      </>
    );
  },
  (a, b) => a.model === b.model && a.cell === b.cell,
);

function hoverSentence(model: Model, premise: number, target: number): string {
  const with_ = (edges: Edge[] | undefined): Edge | undefined => edges?.find((edge) => edge.premises.includes(premise));
  const edge = with_(model.support.get(target)) ?? with_(model.against.get(target));
  return edge ? columnSentence(edge) : `${edgeName([premise], target)}: nothing kept`;
}
