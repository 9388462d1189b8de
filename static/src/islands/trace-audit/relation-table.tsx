// Every relation that was scored: kept or removed and why. A real table; only the rows in view are in the document.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Edge } from "../../lib/model";
import type { RelationFilter, Sort, SortColumn } from "../../lib/relation-rows";
import { NO_FILTER, filterRelations, rowWindow, sortRelations } from "../../lib/relation-rows";
import { RELATION_ORDER, RELATION_WORDS, edgeName, reasonPhrase, reasonShort, segmentName, statusPhrase } from "../../lib/words";
import { Icon, RelationSample } from "../shared/parts";
import type { Store } from "./store";

const ROW = 28;
const COLUMNS: { id: SortColumn; title: string; right?: boolean }[] = [
  { id: "premises", title: "Premises" },
  { id: "target", title: "Target" },
  { id: "label", title: "Label" },
  { id: "kept", title: "Kept or why not" },
  { id: "p", title: "Prob.", right: true },
  { id: "status", title: "Status" },
];

export function RelationTable({ store }: { store: Store }) {
  const model = store.model.value;
  const selected = store.selected.value;
  const [filter, setFilter] = useState<RelationFilter>(NO_FILTER);
  const [follow, setFollow] = useState(false);
  const [sort, setSort] = useState<Sort>({ column: "order", descending: false });
  const applied = follow ? { ...filter, target: selected } : filter;
  const rows = useMemo(
    () => sortRelations(filterRelations(model.edges, applied), sort),
    [model, applied.target, applied.label, applied.kept, applied.reason, sort],
  );
  const reasons = useMemo(() => [...new Set(model.edges.flatMap((edge) => edge.reason ?? []))].sort(), [model]);
  return (
    <>
      <Filters
        filter={filter}
        change={setFilter}
        follow={follow}
        setFollow={setFollow}
        selected={selected}
        targets={[...model.relations.keys()].sort((a, b) => a - b)}
        reasons={reasons}
      />
      <p class="relation-count muted small num" role="status">
        {rows.length.toLocaleString("en")} of {model.edges.length.toLocaleString("en")} relations
      </p>
      <Rows store={store} rows={rows} sort={sort} setSort={setSort} />
    </>
  );
}

interface FiltersProps {
  filter: RelationFilter;
  change(filter: RelationFilter): void;
  follow: boolean;
  setFollow(follow: boolean): void;
  selected: number;
  targets: number[];
  reasons: string[];
}

function Filters({ filter, change, follow, setFollow, selected, targets, reasons }: FiltersProps) {
  const onTarget = (value: string): void => {
    setFollow(value === "selected");
    change({ ...filter, target: value === "" || value === "selected" ? null : Number(value) });
  };
  return (
    <div class="relation-filters">
      <Select label="Target" value={follow ? "selected" : String(filter.target ?? "")} onChange={onTarget}>
        <option value="">All targets</option>
        <option value="selected">Selected ({segmentName(selected)})</option>
        {targets.map((target) => (
          <option key={target} value={target}>
            {segmentName(target)}
          </option>
        ))}
      </Select>
      <Select label="Label" value={filter.label} onChange={(label) => change({ ...filter, label })}>
        <option value="">All labels</option>
        {RELATION_ORDER.map((label) => (
          <option key={label} value={label}>
            {RELATION_WORDS[label]}
          </option>
        ))}
        <option value="missing">No label</option>
      </Select>
      <Select label="Kept" value={filter.kept} onChange={(kept) => change({ ...filter, kept: kept as RelationFilter["kept"] })}>
        <option value="">Kept or not</option>
        <option value="kept">Kept</option>
        <option value="removed">Removed</option>
      </Select>
      <Select label="Reason" value={filter.reason} onChange={(reason) => change({ ...filter, reason })}>
        <option value="">All reasons</option>
        {reasons.map((reason) => (
          <option key={reason} value={reason}>
            {reasonShort(reason)}
          </option>
        ))}
      </Select>
    </div>
  );
}

interface SelectProps {
  label: string;
  value: string;
  onChange(value: string): void;
  children: preact.ComponentChildren;
}

function Select({ label, value, onChange, children }: SelectProps) {
  return (
    <select class="form-select form-select-sm" aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {children}
    </select>
  );
}

function Rows({ store, rows, sort, setSort }: { store: Store; rows: Edge[]; sort: Sort; setSort(sort: Sort): void }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const read = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    // In the next frame: a change of state inside the observer's own call would make it fire again at once.
    const observer = new ResizeObserver(() => requestAnimationFrame(read));
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  useLayoutEffect(() => scroller.current?.scrollTo({ top: 0 }), [rows]);
  const { start, end } = rowWindow(rows.length, view.top, view.height, ROW);
  const editing = store.whatIfOn.value;
  const sortBy = (column: SortColumn): void => {
    if (sort.column !== column) setSort({ column, descending: column === "p" || column === "label" || column === "kept" });
    else if (sort.descending === (column === "p" || column === "label" || column === "kept")) setSort({ column, descending: !sort.descending });
    else setSort({ column: "order", descending: false });
  };
  return (
    <div class="relation-scroll" ref={scroller} tabIndex={0} role="region" aria-label="Relations, scrollable">
      <table class="data relations" aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map(({ id, title, right }) => (
              <th key={id} class={right ? "r" : ""} scope="col" aria-sort={sort.column === id ? (sort.descending ? "descending" : "ascending") : undefined}>
                <button type="button" onClick={() => sortBy(id)}>
                  {title}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={start} columns={COLUMNS.length} />
          {rows.slice(start, end).map((edge, k) => (
            <Row key={edge.key} store={store} edge={edge} at={start + k} editing={editing} />
          ))}
          <Spacer rows={rows.length - end} columns={COLUMNS.length} />
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">No relation passes these filters.</p>}
    </div>
  );
}

/** Stands for the rows that are not in the document, so that the scroll bar is right. */
function Spacer({ rows, columns }: { rows: number; columns: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="spacer" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${rows * ROW}px` }} />
    </tr>
  );
}

function Row({ store, edge, at, editing }: { store: Store; edge: Edge; at: number; editing: boolean }) {
  const name = edgeName(edge.premises, edge.target);
  const before = store.stored.byKey.get(edge.key)?.label ?? null;
  const changed = editing && before !== edge.label;
  const word = edge.label ? RELATION_WORDS[edge.label] : "None";
  return (
    <tr class={`${edge.kept ? "kept" : "removed-row"}${changed ? " changed" : ""}${edge.target === store.selected.value ? " is-selected" : ""}`} aria-rowindex={at + 2}>
      <td class="num">{edge.premises.map(segmentName).join(", ")}</td>
      <td class="num">
        <button type="button" class="btn btn-link" onClick={() => store.select(edge.target)}>
          {segmentName(edge.target)}
        </button>
      </td>
      <td>
        {editing ? (
          <button
            type="button"
            class="relation-edit"
            aria-haspopup="menu"
            aria-label={`${word}${changed ? " (what-if)" : ""}. Change ${name}`}
            onClick={(event) => store.openMenu(edge, event.currentTarget)}
          >
            {changed ? `${before ? RELATION_WORDS[before] : "None"} → ${word}` : <LabelWord label={edge.label} />}
          </button>
        ) : (
          <LabelWord label={edge.label} />
        )}
      </td>
      <td class="why-cell" title={edge.kept ? "" : reasonPhrase(edge.reason ?? "")}>
        {edge.kept ? (
          <>
            <Icon name="check-lg" /> kept
          </>
        ) : (
          reasonShort(edge.reason ?? "removed")
        )}
      </td>
      <td class="r">{edge.p === null ? <span class="muted">–</span> : edge.p.toFixed(2)}</td>
      <td class={edge.status === "valid" ? "muted" : "bad-status"} title={statusPhrase(edge.status)}>
        <div class="clip">{statusPhrase(edge.status)}</div>
      </td>
    </tr>
  );
}

function LabelWord({ label }: { label: Edge["label"] }) {
  if (!label) return <span class="muted">none</span>;
  return (
    <>
      <RelationSample label={label} /> {RELATION_WORDS[label]}
    </>
  );
}
