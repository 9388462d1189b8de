// Drawing of the support tree of the selected segment, its text form, and the small matrix of all relations below it.
import type { Edge } from "../../lib/model";
import type { SegmentNode } from "../../lib/tree";
import { moreLabel, statusLine } from "../../lib/tree";
import type { Box, Line, TreeLayout } from "../../lib/tree-layout";
import { BOX_HEIGHT, fitTree, layoutTree } from "../../lib/tree-layout";
import { RELATION_WORDS, edgeName, joinSegments, plural, segmentName } from "../../lib/words";
import { DASH, Icon, RelationLegend } from "../shared/parts";
import { useWidth } from "../shared/use-width";
import { Matrix, OVERVIEW_ABOVE } from "./hypergraph";
import type { Store } from "./store";
import { RemovedSupport, TreeText } from "./tree-text";

const ICONS = { context: "file-medical", grounded: "check-circle", unsupported: "bezier2", orphan: "slash-circle", contradicted: "x-circle" };
/** Sets that one press on "more" opens. */
const MORE = 3;

export function SupportTree({ store }: { store: Store }) {
  const model = store.model.value;
  const { ref, width } = useWidth<HTMLDivElement>(468);
  const segment = model.segments.get(store.selected.value);
  if (!segment) return null;
  return (
    <div ref={ref}>
      {segment.context ? <ContextUse store={store} index={segment.index} /> : <Tree store={store} width={width} />}
      <div class="section-head">
        <h2>All relations</h2>
        <span class="muted small">each column is one premise set → target</span>
      </div>
      {model.n > OVERVIEW_ABOVE ? (
        <p class="muted small">
          {plural(model.n, "segment")}: see the <button type="button" class="btn btn-link btn-sm" onClick={() => (store.tab.value = "hypergraph")}>Hypergraph</button> tab.
        </p>
      ) : (
        <Matrix store={store} width={width} />
      )}
    </div>
  );
}

function ContextUse({ store, index }: { store: Store; index: number }) {
  const used = [...store.model.value.support.values()].flat().filter((edge) => edge.premises.includes(index));
  const targets = [...new Set(used.map((edge) => edge.target))].sort((a, b) => a - b);
  return <p class="muted">{targets.length ? `Premise of ${joinSegments(targets)}.` : "No kept relation starts here."}</p>;
}

export function Tree({ store, width }: { store: Store; width: number }) {
  const model = store.model.value;
  const root = fitTree(model, store.selected.value, width, store.opened.value);
  const text = store.asText.value;
  return (
    <>
      {!text && <Drawing store={store} layout={layoutTree(root, model, width)} sink={store.selected.value} />}
      <div class={text ? "" : "visually-hidden"}>
        <TreeText store={store} focusable={text} />
      </div>
      <div class="tree-foot">
        {!text && <RelationLegend premise />}
        <span class="grow" />
        {!text && store.opened.value.size > 0 && (
          <button type="button" class="btn btn-link btn-sm" onClick={() => (store.opened.value = new Map())}>
            Close what I opened
          </button>
        )}
      </div>
      <RemovedSupport store={store} />
    </>
  );
}

function Drawing({ store, layout, sink }: { store: Store; layout: TreeLayout; sink: number }) {
  return (
    <div class="tree-scroll">
      <div class="tree" role="group" aria-label={`Drawing of the support tree of ${segmentName(sink)}`} style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
        <svg width={layout.width} height={layout.height} aria-hidden="true">
          {layout.lines.map((line, k) => (
            <TreeLine key={k} line={line} />
          ))}
        </svg>
        {layout.boxes.map((box) => (
          <TreeBox key={box.nodes.map((node) => node.path).join("+")} store={store} box={box} />
        ))}
        {layout.pills.map((pill, k) => (
          <span key={k} class="tree-and" style={{ left: `${pill.x}px`, top: `${pill.y}px` }}>
            AND
          </span>
        ))}
        {layout.ors.map((or, k) => (
          <span key={k} class="tree-or" style={{ left: `${or.x}px`, top: `${or.y}px` }}>
            or
          </span>
        ))}
        {layout.labels.map((label) => (
          <EdgeWord key={label.edge.key} store={store} edge={label.edge} x={label.x} y={label.y} />
        ))}
        {layout.reasons.map((reason, k) => (
          <span key={k} class="tree-reason" style={{ left: `${reason.x - reason.width / 2}px`, top: `${reason.y}px`, width: `${reason.width}px` }}>
            {reason.text.split(/ (?=\()/).map((line) => (
              <div key={line}>{line}</div>
            ))}
          </span>
        ))}
      </div>
    </div>
  );
}

function TreeLine({ line }: { line: Line }) {
  const { head, kind } = line;
  const dash = kind === "bracket" ? undefined : kind === "none" ? "2 3" : DASH[kind];
  return (
    <g class={`rel-line ${kind}`}>
      <path d={line.path} stroke-dasharray={dash} />
      {head && kind === "contradiction" && <path d={`M${head.x - 4} ${head.y + 3}l8 8m0-8l-8 8`} />}
      {head && kind !== "contradiction" && <path class="head" d={`M${head.x - 5} ${head.y + 10}h10l-5-9z`} />}
    </g>
  );
}

/** The word on an edge; in what-if mode a button that changes it. */
function EdgeWord({ store, edge, x, y }: { store: Store; edge: Edge; x: number; y: number }) {
  const label = edge.label ?? "neutral";
  const changed = store.whatIfOn.value && store.stored.byKey.get(edge.key)?.label !== edge.label;
  const place = { left: `${x}px`, top: `${y}px` };
  const word = RELATION_WORDS[label];
  if (!store.whatIfOn.value) {
    return (
      <span class={`tree-rel ${label}`} style={place}>
        {word}
      </span>
    );
  }
  return (
    <button
      type="button"
      class={`tree-rel tree-rel-edit ${label}${changed ? " changed" : ""}`}
      style={place}
      aria-haspopup="menu"
      aria-label={`${word}${changed ? " (what-if)" : ""}. Change ${edgeName(edge.premises, edge.target)}`}
      onClick={(event) => store.openMenu(edge, event.currentTarget)}
    >
      {word}
    </button>
  );
}

function TreeBox({ store, box }: { store: Store; box: Box }) {
  const [node] = box.nodes;
  if (!node) return null;
  const place = { left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${BOX_HEIGHT}px` };
  const closed = box.nodes.filter((item) => !item.reference && item.more + item.moreAgainst > 0);
  const grounded = box.nodes.every((item) => item.segment.grounds);
  const status = box.nodes.length > 1 && grounded ? "grounded" : node.status;
  return (
    <div class={`tree-box ${node.reference ? "reference " : ""}${status}`} style={place}>
      <div class="tree-name">
        {box.nodes.map((item, k) => (
          <>
            {k > 0 && ", "}
            <NodeName key={item.path} store={store} node={item} withText={box.nodes.length === 1} />
          </>
        ))}
        {box.nodes.length > 1 && <span class="tree-text"> {node.segment.text}</span>}
      </div>
      <div class="tree-status">
        <Icon name={ICONS[status]} />
        {node.reference && box.nodes.length === 1 ? (
          <span title={statusLine(node)}>see above</span>
        ) : (
          <span class="clip">{box.nodes.length > 1 && grounded ? "Grounded" : statusLine(node)}</span>
        )}
        {closed.length > 0 && <MoreButton store={store} nodes={closed} wide={node.level === 0} />}
      </div>
    </div>
  );
}

function NodeName({ store, node, withText }: { store: Store; node: SegmentNode; withText: boolean }) {
  const { index, text } = node.segment;
  if (node.level === 0) {
    return (
      <span title={text}>
        <b>{segmentName(index)}</b> {text}
      </span>
    );
  }
  return (
    <button type="button" class={withText ? "tree-go whole" : "tree-go"} title={text} onClick={() => store.select(index)}>
      <b>{segmentName(index)}</b>
      {withText && ` ${contextName(store, node) ?? text}`}
    </button>
  );
}

/** One context segment is the whole case or question, far too long for a box: its kind says enough. */
function contextName(store: Store, node: SegmentNode): string | null {
  const { trace } = store.payload;
  if (!node.segment.context || trace.context_segments !== 1) return null;
  return trace.domain === "clinical" ? "Case" : "Question";
}

function MoreButton({ store, nodes, wide }: { store: Store; nodes: SegmentNode[]; wide: boolean }) {
  const count = nodes.reduce((sum, node) => sum + node.more + node.moreAgainst, 0);
  const open = (): void => {
    for (const node of nodes) {
      const { index } = node.segment;
      store.openMore(index, node.alternatives.length + Math.min(node.more, MORE), node.against.length + (node.more ? 0 : MORE));
    }
  };
  const label = nodes.map(moreLabel).join("; ");
  return (
    <button type="button" class="tree-more" aria-label={label} title={label} onClick={open}>
      +{count}
      {wide && ` more`}
    </button>
  );
}
