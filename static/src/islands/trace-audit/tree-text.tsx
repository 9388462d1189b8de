// The support tree as a nested list (role=tree), and the support that was removed. Same content as the drawing.
import { useState } from "preact/hooks";
import type { EdgeNode, SegmentNode } from "../../lib/tree";
import { edgeSentence, openTree, orphanReason, statusLine } from "../../lib/tree";
import { RANKS, RELATION_WORDS, edgeName, plural, reasonPhrase, segmentName } from "../../lib/words";
import { RelationSample } from "../shared/parts";
import type { Store } from "./store";

/** Sets of one segment listed before "n more": dense traces would give lists of thousands of lines. */
const FIRST = 3;
/** Below this level only the best set is listed at first. */
const DEEP = 3;

/** `focusable`: in the tab order; when the list is only there for screen readers it must not trap a sighted reader's Tab. */
export function TreeText({ store, focusable }: { store: Store; focusable: boolean }) {
  const model = store.model.value;
  const target = store.selected.value;
  const [whole, setWhole] = useState<ReadonlySet<number>>(new Set());
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState("");
  const count = (index: number, level: number): number => (whole.has(index) ? Infinity : level < DEEP ? FIRST : 1);
  const root = openTree(model, target, { support: count, against: count }, "depth");
  const active = at.startsWith(`${target}`) ? at : root.path;

  const toggle = (path: string, close: boolean): void => {
    const next = new Set(closed);
    if (close) next.add(path);
    else next.delete(path);
    setClosed(next);
  };
  const context: ItemContext = {
    focusable,
    active,
    closed,
    reason: (index) => orphanReason(model, index),
    isWholeCase: (node) => node.segment.context && store.payload.trace.context_segments === 1,
    toggle,
    showAll: (index) => setWhole(new Set(whole).add(index)),
  };
  return (
    <ul
      class="tree-list"
      role="tree"
      aria-label={`Support tree of ${segmentName(target)}`}
      onKeyDown={(event) => onTreeKey(event, toggle)}
      onFocusIn={(event) => setAt((event.target as HTMLElement).dataset.path ?? "")}
    >
      <NodeItem node={root} context={context} />
    </ul>
  );
}

interface ItemContext {
  focusable: boolean;
  active: string;
  closed: ReadonlySet<string>;
  reason(index: number): string;
  /** The only context segment: its text is the whole case, which the page shows beside. */
  isWholeCase(node: SegmentNode): boolean;
  toggle(path: string, close: boolean): void;
  showAll(index: number): void;
}

function itemProps(path: string, context: ItemContext, expanded: boolean | undefined) {
  return {
    role: "treeitem" as const,
    "data-path": path,
    tabIndex: context.focusable ? (path === context.active ? 0 : -1) : undefined,
    "aria-expanded": expanded,
  };
}

function NodeItem({ node, context }: { node: SegmentNode; context: ItemContext }) {
  const { index, text, grounds } = node.segment;
  const edges = [...node.alternatives, ...node.against];
  const more = node.reference ? 0 : node.more + node.moreAgainst;
  const expanded = edges.length ? !context.closed.has(node.path) : undefined;
  const leaf = edges.length === 0 && !node.reference && node.status !== "context" && !grounds;
  return (
    <li {...itemProps(node.path, context, expanded)}>
      <span class={`tree-line ${node.status}`} onClick={() => edges.length && context.toggle(node.path, expanded === true)}>
        <b>{segmentName(index)}</b> <span class="tree-word">{node.reference ? `see ${segmentName(index)} above` : statusLine(node)}</span>
        {!node.reference && !context.isWholeCase(node) && <span class="muted"> {text}</span>}
        {leaf && <span class="muted"> ({context.reason(index)})</span>}
      </span>
      {expanded && (
        <ul role="group">
          {edges.map((edge, k) => (
            <EdgeItem key={edge.path} edge={edge} or={k > 0 && edge.edge.label !== "contradiction"} context={context} />
          ))}
          {more > 0 && (
            <li {...itemProps(`${node.path}/more`, context, undefined)} data-more={index} onClick={() => context.showAll(index)}>
              <span class="tree-line tree-more-line">{plural(more, "more premise set")} (show)</span>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function EdgeItem({ edge, or, context }: { edge: EdgeNode; or: boolean; context: ItemContext }) {
  const expanded = !context.closed.has(edge.path);
  return (
    <li {...itemProps(edge.path, context, expanded)}>
      <span class={`tree-line edge ${edge.edge.label}`} onClick={() => context.toggle(edge.path, expanded)}>
        {or && <span class="muted">or </span>}
        {edgeSentence(edge)}
      </span>
      {expanded && (
        <ul role="group">
          {edge.premises.map((node) => (
            <NodeItem key={node.path} node={node} context={context} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Arrow keys of a tree: up and down move, right opens or goes in, left closes or goes out. */
function onTreeKey(event: KeyboardEvent, toggle: (path: string, close: boolean) => void): void {
  const item = (event.target as Element).closest<HTMLElement>('[role="treeitem"]');
  const tree = item?.closest('[role="tree"]');
  if (!item || !tree) return;
  const visible = [...tree.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const at = visible.indexOf(item);
  const path = item.dataset.path ?? "";
  const expanded = item.getAttribute("aria-expanded");
  let to: HTMLElement | null | undefined;
  if (event.key === "ArrowDown") to = visible[at + 1];
  else if (event.key === "ArrowUp") to = visible[at - 1];
  else if (event.key === "Home") to = visible[0];
  else if (event.key === "End") to = visible.at(-1);
  else if (event.key === "ArrowRight" && expanded === "false") toggle(path, false);
  else if (event.key === "ArrowRight" && expanded === "true") to = visible[at + 1];
  else if (event.key === "ArrowLeft" && expanded === "true") toggle(path, true);
  else if (event.key === "ArrowLeft") to = item.parentElement?.closest<HTMLElement>('[role="treeitem"]');
  else if ((event.key === "Enter" || event.key === " ") && item.dataset.more) item.click();
  else return;
  event.preventDefault();
  event.stopPropagation();
  to?.focus();
}

/** Relations that would be support by their label but were removed, and why: up to five, strongest first. */
export function RemovedSupport({ store }: { store: Store }) {
  const model = store.model.value;
  const removed = (model.relations.get(store.selected.value) ?? [])
    .filter((edge) => !edge.kept && edge.label !== null && RANKS[edge.label] >= RANKS.implied)
    .sort((a, b) => RANKS[b.label ?? "neutral"] - RANKS[a.label ?? "neutral"]);
  if (removed.length === 0) return null;
  return (
    <details class="removed">
      <summary>{plural(removed.length, "supporting relation")} removed</summary>
      <ul>
        {removed.slice(0, 5).map((edge) => (
          <li key={edge.key}>
            <RelationSample label={edge.label ?? "neutral"} /> {edgeName(edge.premises, edge.target)}, {RELATION_WORDS[edge.label ?? "neutral"]}.{" "}
            <span class="muted">{reasonPhrase(edge.reason ?? "")}.</span>
          </li>
        ))}
      </ul>
      {removed.length > 5 && <p class="muted small">The Table tab lists all of them.</p>}
    </details>
  );
}
