// One row for each object: its head (colour, name, source, eye, lock) and its stretch of time. Only rows in sight are drawn.
import { useComputed, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { diamonds, stretches } from "../../lib/video/rows";
import { endOf, nearestEdge, rowsInSight, toPx } from "../../lib/video/timeline";
import type { Run } from "../../lib/video/proposals";
import { flagSpans } from "../../lib/video/proposals";
import type { Track } from "../../lib/video/tracks";
import { keyframeAt, keyframeFrames } from "../../lib/video/tracks";
import { plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import { nameOf } from "./actions";
import type { Span } from "./span-lane";
import { SpanShape } from "./span-lane";
import { proposalColor } from "./stage";
import type { Workspace } from "./workspace";

export const ROW = 30;
const BAR_TOP = 10;
const BAR = 10;

const SOURCES = {
  human: { icon: "person", words: "Made by a person" },
  model: { icon: "cpu", words: "Proposed by a model" },
  import: { icon: "upload", words: "Imported" },
} as const;

export function TrackRows({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const box = useRef<HTMLDivElement>(null);
  const scroll = useSignal({ top: 0, height: 90 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = (): void => void (scroll.value = { top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);
  const listed = store.listed.value;
  const chosen = store.selection.value?.id ?? null;
  // The row of what was selected elsewhere comes into sight.
  useLayoutEffect(() => {
    const at = listed.findIndex((track) => track.id === chosen);
    const element = box.current;
    if (!element || at < 0) return;
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * ROW - element.clientHeight;
  }, [chosen]);
  // Objects that are only proposed have rows of their own, after those that count.
  const proposed = workspace.proposals.shown.value.filter((one) => workspace.proposals.targetOf(one) === null);
  const [first, end] = rowsInSight(listed.length, ROW, scroll.value.top, scroll.value.height);
  return (
    <div class="tl-tracks" ref={box} tabIndex={-1} data-tracks>
      {listed.length === 0 && proposed.length === 0 && (
        <div class="tl-row is-empty">
          <div class="tl-name" />
          <p class="lane-note">{store.tracks.value.length ? "No object matches the filter." : "No box yet. Press N and draw one on the picture."}</p>
        </div>
      )}
      <ul class="track-list" style={{ height: `${(listed.length + proposed.length) * ROW}px` }} aria-label="Objects">
        {listed.slice(first, end).map((track, k) => (
          <Row key={track.id} workspace={workspace} track={track} top={(first + k) * ROW} />
        ))}
        {proposed.map(({ run, track }, k) => (
          <li key={`${run.id}:${track.id}`} class="tl-row track-row is-proposed" style={{ top: `${(listed.length + k) * ROW}px` }} data-proposed={track.id}>
            <div class="tl-name">
              <button type="button" class="track-name" title="Only proposed: accept or reject it in the proposals" onClick={() => workspace.proposals.show(run)}>
                <Icon name="magic" />
                <span class="title clip">{track.label || run.prompt.label || "object"}</span>
                <span class="end">proposed</span>
              </button>
            </div>
            <svg class="lane track-lane" width={store.view.value.width} height={ROW} role="group" aria-label={`Proposed time of ${track.label || run.prompt.label || "object"}`}>
              <ProposalBar workspace={workspace} run={run} track={track} top={BAR_TOP} height={BAR} />
            </svg>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Row({ workspace, track, top }: { workspace: Workspace; track: Track; top: number }) {
  const { store, actions } = workspace;
  const naming = useSignal(false);
  const selected = store.selection.value?.id === track.id;
  const hidden = store.hidden.value.has(track.id);
  const locked = store.locked.value.has(track.id);
  const color = store.colorOf(track.id);
  const name = nameOf(track);
  const source = SOURCES[track.source];
  const linked = Object.values(store.doc.value.links).some((link) => link.target === track.id && link.step === store.step.value);
  const rename = (label: string): void => {
    naming.value = false;
    if (label.trim() && label.trim() !== track.label) actions.rename(track, label);
  };
  return (
    <li class={`tl-row track-row${selected ? " is-selected" : ""}${linked ? " is-linked" : ""}${hidden ? " is-hidden" : ""}`} style={{ top: `${top}px` }} data-row={track.id}>
      <div class="tl-name">
        {naming.value ? (
          <input
            class="form-control form-control-sm"
            aria-label="Name of the object"
            defaultValue={track.label}
            maxLength={200}
            ref={(element) => element?.focus()}
            onBlur={(event) => rename(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") event.currentTarget.blur();
              if (event.key === "Escape") naming.value = false;
            }}
          />
        ) : (
          <button
            type="button"
            class="track-name"
            aria-pressed={selected}
            title={`${name}: ${plural(keyframeFrames(track).length, "keyframe")}. ${source.words}. Double click to rename.`}
            onClick={() => store.select({ kind: "track", id: track.id })}
            onDblClick={() => store.editable.peek() && (naming.value = true)}
          >
            <svg class="swatch" width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill={color} />
            </svg>
            <span class="title clip">{name}</span>
            <span class="end num">{keyframeFrames(track).length}</span>
          </button>
        )}
        <span class="track-source" title={source.words} role="img" aria-label={source.words}>
          <Icon name={source.icon} />
        </span>
        <button type="button" class="row-toggle" aria-pressed={hidden} aria-label={`Hide ${name} on the picture`} title={hidden ? "Show" : "Hide"} onClick={() => store.toggleHidden(track.id)}>
          <Icon name={hidden ? "eye-slash" : "eye"} />
        </button>
        <button type="button" class="row-toggle" aria-pressed={locked} aria-label={`Lock ${name}`} title={locked ? "Unlock" : "Lock"} onClick={() => store.toggleLocked(track.id)}>
          <Icon name={locked ? "lock" : "unlock"} />
        </button>
      </div>
      <Bars workspace={workspace} track={track} color={color} selected={selected} locked={locked} />
    </li>
  );
}

function Bars({ workspace, track, color, selected, locked }: { workspace: Workspace; track: Track; color: string; selected: boolean; locked: boolean }) {
  const { store, actions, player } = workspace;
  const { index } = store;
  const view = store.view.value;
  const from = index.atUs(Math.max(0, Math.floor(view.start)));
  const to = index.atUs(Math.ceil(endOf(view))) + 1;
  const px = (frame: number): number => toPx(view, index.clipUs(frame));
  const gap = Math.max(1, Math.ceil((7 * view.scale) / store.bounds.picture));
  const shown = diamonds(track, from, to, gap);
  // Drawn again when the playhead comes to a keyframe or leaves one, not with each frame.
  const onKey = useComputed(() => (keyframeAt(store.doc.value.tracks[track.id] ?? track, player.frame.value) ? player.frame.value : -1));
  const current = selected ? onKey.value : -1;
  const fullness = { exact: 0.95, interpolated: 0.42, held: 0 };
  return (
    <svg class="lane track-lane" width={view.width} height={ROW} role="group" aria-label={`Time of ${nameOf(track)}`}>
      {stretches(track, from, to).map(({ start, end, kind, occluded }) => {
        const [x, width] = [px(start), Math.max(1, px(end) - px(start))];
        return (
          <g key={start}>
            <rect class={`stretch is-${kind} from-${track.source}`} x={x} y={BAR_TOP} width={width} height={BAR} fill={kind === "held" ? "#fff" : color} fill-opacity={kind === "held" ? 1 : fullness[kind]} stroke={color} />
            {occluded && <rect x={x} y={BAR_TOP} width={width} height={BAR} fill="url(#tl-occluded)" />}
          </g>
        );
      })}
      {workspace.proposals.shown.value
        .filter((one) => workspace.proposals.targetOf(one) === track.id)
        .map((one) => (
          <ProposalBar key={one.run.id} workspace={workspace} run={one.run} track={one.track} top={BAR_TOP + BAR + 3} height={5} />
        ))}
      {selected &&
        track.visible.map(([start, end], which) => {
          if (end <= from || start >= to) return null;
          const span: Span = { key: `track:${track.id}:${which}`, name: `visible time of ${nameOf(track)}`, start: index.clipUs(start), end: index.clipUs(end), top: BAR_TOP - 4, height: BAR + 8, kind: "is-visible", selected: true, fixed: locked };
          return (
            <SpanShape
              key={which}
              workspace={workspace}
              span={span}
              others={() => []}
              actions={{
                select: () => {},
                change: (_, next) => void actions.setInterval(track, which, [nearestEdge(index, next[0]), nearestEdge(index, next[1])]),
              }}
            />
          );
        })}
      {shown.map((frame) => (
        <Diamond key={frame} workspace={workspace} track={track} frame={frame} color={color} current={frame === current} movable={selected && !locked} />
      ))}
    </svg>
  );
}

/** The stretches of a proposal, dashed, with a tick where its flags are. */
function ProposalBar({ workspace, run, track, top, height }: { workspace: Workspace; run: Run; track: Track; top: number; height: number }) {
  const { store } = workspace;
  const view = store.view.value;
  const px = (frame: number): number => toPx(view, store.index.clipUs(frame));
  const color = proposalColor(workspace, run, track);
  const within = (start: number, end: number): boolean => px(end) > 0 && px(start) < view.width;
  return (
    <g class="proposal-bar" aria-hidden="true">
      {track.visible.filter(([start, end]) => within(start, end)).map(([start, end]) => (
        <rect key={start} x={px(start)} y={top} width={Math.max(2, px(end) - px(start))} height={height} fill={color} stroke={color} />
      ))}
      {flagSpans(run.flags).filter(({ start, end }) => within(start, end)).map(({ flag, start, end }) => (
        <rect key={`${flag}:${start}`} class="proposal-flag" x={px(start)} y={top} width={Math.max(3, px(end) - px(start))} height={height} />
      ))}
    </g>
  );
}

function Diamond({ workspace, track, frame, color, current, movable }: { workspace: Workspace; track: Track; frame: number; color: string; current: boolean; movable: boolean }) {
  const { store, actions } = workspace;
  const held = useRef<{ x: number; moved: boolean } | null>(null);
  const by = useSignal(0);
  const view = store.view.value;
  // At the middle of its picture: at its start it would seem to belong to both.
  const x = toPx(view, (store.index.clipUs(frame) + store.index.clipUs(frame + 1)) / 2) + by.value;
  return (
    <rect
      class={`diamond${current ? " is-current" : ""}`}
      x={x - 4.5}
      y={BAR_TOP + 0.5}
      width={9}
      height={9}
      transform={`rotate(45 ${x} ${BAR_TOP + 5})`}
      fill={current ? "#fff" : color}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.stopPropagation();
        held.current = { x: event.clientX, moved: false };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const now = held.current;
        if (!now || !movable || (!now.moved && Math.abs(event.clientX - now.x) < 3)) return;
        now.moved = true;
        by.value = event.clientX - now.x;
      }}
      onPointerUp={() => {
        const now = held.current;
        held.current = null;
        const px = by.peek();
        by.value = 0;
        if (now?.moved) actions.moveKeyframe(track, frame, store.index.atUs(Math.max(0, (store.index.clipUs(frame) + store.index.clipUs(frame + 1)) / 2 + px * store.view.peek().scale)));
        else {
          store.select({ kind: "track", id: track.id });
          store.goTo(frame);
        }
      }}
      onPointerCancel={() => {
        held.current = null;
        by.value = 0;
      }}
    />
  );
}
