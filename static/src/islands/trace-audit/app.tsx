import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { AUDIT_WORDS, plural, segmentName } from "../../lib/words";
import { AuditChip, GoldChip, Icon, WithSegments } from "../shared/parts";
import { EdgeMenu } from "./edge-menu";
import { Flips } from "./flips";
import { Hypergraph } from "./hypergraph";
import { NodeLink } from "./node-link";
import { RelationTable } from "./relation-table";
import type { Store, Tab } from "./store";
import { SupportTree } from "./support-tree";
import { WhatIfBar } from "./what-if-bar";

/** Tabs in order; a later island part (judges, for one) adds its line here. */
const TABS: { id: Tab; title: string; panel: ComponentType<{ store: Store }>; heading: boolean }[] = [
  { id: "tree", title: "Support tree", panel: SupportTree, heading: true },
  { id: "hypergraph", title: "Hypergraph", panel: Hypergraph, heading: true },
  { id: "node-link", title: "Node-link", panel: NodeLink, heading: true },
  { id: "table", title: "Table", panel: RelationTable, heading: false },
];

export function App({ store }: { store: Store }) {
  const shown = TABS.find((tab) => tab.id === store.tab.value) ?? TABS[0];
  const Panel = shown?.panel;
  return (
    <div class={`audit${shown?.id === "table" ? " audit-table" : ""}`}>
      <Tabs store={store} />
      <WhatIfBar store={store} />
      <div class="audit-body" role="tabpanel" id="audit-panel" aria-labelledby={`audit-tab-${shown?.id}`}>
        {shown?.heading && <Heading store={store} />}
        {Panel && <Panel store={store} />}
      </div>
      <EdgeMenu store={store} />
      <Announcer store={store} />
    </div>
  );
}

function Tabs({ store }: { store: Store }) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = TABS.findIndex((tab) => tab.id === store.tab.value);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = event.key === "Home" ? 0 : event.key === "End" ? TABS.length - 1 : step ? (at + step + TABS.length) % TABS.length : -1;
    const tab = TABS[next];
    if (!tab) return;
    event.preventDefault();
    store.tab.value = tab.id;
    list.current?.querySelector<HTMLElement>(`#audit-tab-${tab.id}`)?.focus();
  };
  return (
    <div class="tabs audit-tabs">
      <div class="audit-tablist" role="tablist" aria-label="Views of the audit" ref={list} onKeyDown={onKeyDown}>
        {TABS.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`audit-tab-${id}`}
            aria-selected={store.tab.value === id}
            aria-controls="audit-panel"
            tabIndex={store.tab.value === id ? 0 : -1}
            onClick={() => (store.tab.value = id)}
          >
            {title}
          </button>
        ))}
      </div>
      <span class="grow" />
      {store.canSuppose && (
        <span class="audit-tab-tools">
          <button
            type="button"
            class="btn btn-quiet btn-sm"
            aria-pressed={store.whatIfOn.value}
            onClick={() => (store.whatIfOn.value = !store.whatIfOn.value)}
          >
            <Icon name="magic" />
            What-if
          </button>
        </span>
      )}
    </div>
  );
}

/** The selected segment: its label, the sentence that explains it, what is known about its trees. */
function Heading({ store }: { store: Store }) {
  const model = store.model.value;
  const segment = model.segments.get(store.selected.value);
  if (!segment) return null;
  const before = store.stored.segments.get(segment.index)?.label ?? null;
  const changed = before !== segment.label;
  const total = segment.n_trees_total ?? 0;
  return (
    <>
      <div class="outcome">
        <h2>{segmentName(segment.index)}</h2>
        {changed && (
          <>
            <AuditChip label={before} large />
            <span aria-label="becomes">→</span>
          </>
        )}
        <AuditChip label={segment.label} large />
        <span class="grow" />
        {segment.gold && (
          <>
            <span class="chip-source">Gold</span>
            <GoldChip label={segment.gold} />
          </>
        )}
      </div>
      <p class="why">{segment.context ? "Context of the case: given, not audited." : <WithSegments text={segment.explanation ?? ""} />}</p>
      {!segment.context && (
        <div class="outcome-facts">
          <span class="muted small num">
            {total > 0 && `${treeCount(total)}, min depth ${segment.min_depth ?? "unknown"}`}
            {total === 0 && segment.label !== "orphan" && "No complete tree"}
            {total === 0 && segment.label === "orphan" && "No tree"}
            {segment.unstable && <span title="A premise set is weaker than one of its parts.">, unstable</span>}
          </span>
          <span class="grow" />
          {store.tab.value === "tree" && <DrawingOrText store={store} />}
          {store.canSuppose && <Flips store={store} />}
        </div>
      )}
    </>
  );
}

function DrawingOrText({ store }: { store: Store }) {
  const text = store.asText.value;
  return (
    <span class="toggle" role="group" aria-label="Show the tree as">
      <button type="button" aria-pressed={!text} onClick={() => (store.asText.value = false)}>
        Drawing
      </button>
      <button type="button" aria-pressed={text} onClick={() => (store.asText.value = true)}>
        Text
      </button>
    </span>
  );
}

const treeCount = (total: number): string => (total >= 1e12 ? "10¹² trees or more" : plural(total, "tree"));

/** Says the selection and its label to a screen reader, politely and only after a change. */
function Announcer({ store }: { store: Store }) {
  const region = useRef<HTMLDivElement>(null);
  const silent = useRef(true);
  const segment = store.model.value.segments.get(store.selected.value);
  const label = segment?.label ? AUDIT_WORDS[segment.label].word : "Context";
  const text = segment ? `${segmentName(segment.index)}, ${label}. ${segment.explanation ?? ""}` : "";
  useEffect(() => {
    if (silent.current) silent.current = false;
    else if (region.current) region.current.textContent = text;
  }, [text]);
  return <div class="visually-hidden" aria-live="polite" ref={region} />;
}
