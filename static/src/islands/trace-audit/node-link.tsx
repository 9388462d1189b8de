// Node-link tab. The layout library is loaded when the tab is opened for the first time.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Link } from "../../lib/node-link";
import { JOINT, NODE_HEIGHT, NODE_WIDTH, layoutNodeLink, linkPath, linkedEdges } from "../../lib/node-link";
import { edgeName, plural, segmentName } from "../../lib/words";
import { DASH, RelationLegend } from "../shared/parts";
import type { Store } from "./store";

const MOST = 30;
type Dagre = typeof import("@dagrejs/dagre");

export function NodeLink({ store }: { store: Store }) {
  const model = store.model.value;
  const [dagre, setDagre] = useState<Dagre | null>(null);
  const [failed, setFailed] = useState(false);
  const fits = model.n <= MOST;
  useEffect(() => {
    if (!fits || dagre) return;
    import("@dagrejs/dagre").then((module) => setDagre(module)).catch(() => setFailed(true));
  }, [fits]);
  const linked = useMemo(() => linkedEdges(model), [model]);
  const layout = useMemo(() => (fits && dagre ? layoutNodeLink(model, linked.edges, dagre) : null), [model, dagre]);
  const scroller = useRef<HTMLDivElement>(null);
  const at = layout?.nodes.find((node) => node.index === store.selected.value);
  useEffect(() => {
    const element = scroller.current;
    if (element && at) element.scrollLeft = at.x - element.clientWidth / 2;
  }, [at]);
  if (!fits) {
    return (
      <p class="muted">
        A node-link picture of {plural(model.n, "segment")} would be a tangle; it is drawn for up to {MOST}. The Hypergraph and Table tabs show the
        same relations.
      </p>
    );
  }
  if (failed) return <p class="muted">The picture could not be loaded. Reload the page.</p>;
  if (!layout) return <p class="muted">Drawing…</p>;
  const selected = store.selected.value;
  const related = new Set<number>([selected]);
  for (const { edge } of layout.links) if (edge.target === selected) for (const premise of edge.premises) related.add(premise);
  return (
    <>
      <RelationLegend />
      {linked.edges.length < linked.all && (
        <p class="muted small mt-2">
          The best premise set of each segment and its first contradiction, {linked.edges.length} of {plural(linked.all, "relation")}: all of them would
          be a tangle.
        </p>
      )}
      <div class="node-link-scroll" ref={scroller} tabIndex={0} role="group" aria-label="Node-link picture; it may be scrolled">
        <svg
          class="node-link"
          width={layout.width}
          height={layout.height}
          role="img"
          aria-label={`Node-link picture of ${plural(layout.nodes.length, "segment")}; the relations of ${segmentName(selected)} are strong. The Table tab lists every relation.`}
        >
          {layout.links.map((link) => (
            <LinkLine key={`${link.edge.key}${link.head}${link.points[0]?.x}`} link={link} strong={link.edge.target === selected} />
          ))}
          {layout.joints.map(({ edge, x, y }) => (
            <circle key={edge.key} class={`joint rel-line ${edge.label}${edge.target === selected ? " strong" : ""}`} cx={x} cy={y} r={JOINT / 2}>
              <title>{edgeName(edge.premises, edge.target)}</title>
            </circle>
          ))}
          {layout.nodes.map(({ index, x, y }) => {
            const segment = model.segments.get(index);
            const kind = segment?.context ? "context" : (segment?.label ?? "context");
            const state = index === selected ? " selected" : related.has(index) ? " related" : "";
            return (
              <g key={index} class={`link-node ${kind}${state}`} transform={`translate(${x} ${y})`} onClick={() => store.select(index)}>
                <title>
                  {segmentName(index)} {segment?.text}
                </title>
                <rect x={-NODE_WIDTH / 2} y={-NODE_HEIGHT / 2} width={NODE_WIDTH} height={NODE_HEIGHT} rx="5" />
                <text text-anchor="middle" dominant-baseline="central">
                  {segmentName(index)}
                </text>
              </g>
            );
          })}
        </svg>
      </div>
      <p class="muted small">A small circle joins the premises of one set. Border: solid supported, dashed unsupported, dotted orphan, double contradicted.</p>
    </>
  );
}

function LinkLine({ link, strong }: { link: Link; strong: boolean }) {
  const end = link.points.at(-1);
  const before = link.points.at(-2);
  const angle = end && before ? (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI : 0;
  return (
    <g class={`rel-line ${link.label}${strong ? " strong" : ""}`}>
      <path d={linkPath(link.points)} stroke-dasharray={DASH[link.label]} />
      {link.head && end && (
        <g transform={`translate(${end.x} ${end.y}) rotate(${angle})`}>
          {link.label === "contradiction" ? <path d="M-7 -4l7 8m0-8l-7 8" /> : <path class="head" d="M-8 -4.5v9l8.5-4.5z" />}
        </g>
      )}
    </g>
  );
}
