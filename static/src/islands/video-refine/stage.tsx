// The picture with its boxes: everything that changes with each frame is written into the SVG by an effect.
import { effect, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Box } from "../../lib/video/geometry";
import type { Handle } from "../../lib/video/hit";
import { drawnBox, moveBox, resizeBox } from "../../lib/video/hit";
import type { Run } from "../../lib/video/proposals";
import type { Track } from "../../lib/video/tracks";
import { keyframeAt, previousKeyframe, shownAt } from "../../lib/video/tracks";
import { Icon } from "../shared/parts";
import { sidesOnPicture } from "./adjudication-sides";
import type { Drawn } from "./boxes";
import { BoxLayer } from "./boxes";
import type { Workspace } from "./workspace";

type Drag =
  | { kind: "box"; id: string; handle: Handle | null; from: Box; x: number; y: number; box: Box }
  | { kind: "draw"; x: number; y: number; box: Box | null }
  | { kind: "pan"; x: number; y: number; zoomX: number; zoomY: number };

const ZOOMS = [1, 1.5, 2, 3, 4, 6, 8];

export function Stage({ workspace }: { workspace: Workspace }) {
  const { store, video, player } = workspace;
  const { width, height, title } = store.payload.value.video;
  const room = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const overlay = useRef<SVGSVGElement>(null);

  useLayoutEffect(() => {
    const [around, picture, svg] = [room.current, holder.current, overlay.current];
    if (!around || !picture || !svg) return;
    picture.prepend(video);
    const layer = new BoxLayer(svg);
    workspace.focusBox = (id) => layer.focus(id);
    const scale = signal(1);
    const drag = signal<Drag | null>(null);

    const measure = (): void => {
      const fit = Math.min(around.clientWidth / width, around.clientHeight / height) || 1;
      picture.style.width = `${width * fit}px`;
      picture.style.height = `${height * fit}px`;
      scale.value = fit;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(around);
    measure();

    const stops = [
      effect(() => layer.order(store.tracks.value.map((track) => track.id))),
      effect(() => {
        const frame = player.frame.value;
        const chosen = store.selection.value?.id ?? null;
        const hidden = store.hidden.value;
        const locked = store.locked.value;
        const held = drag.value;
        const unit = 1 / (scale.value * store.zoom.value.scale);
        const drawn: Drawn[] = [];
        let ghost: Box | null = null;
        for (const track of store.tracks.value) {
          if (hidden.has(track.id)) continue;
          const shown = shownAt(track, frame);
          if (!shown) continue;
          const dragged = held?.kind === "box" && held.id === track.id ? held.box : null;
          const selected = track.id === chosen;
          drawn.push({ id: track.id, label: track.label, color: store.colorOf(track.id), box: dragged ?? shown.box, status: dragged && dragged !== shown.box ? "keyframe" : shown.status, occluded: shown.occluded, source: keyframeAt(track, shown.from)?.source ?? track.source, selected, locked: locked.has(track.id) });
          if (selected) {
            const before = previousKeyframe(track, frame);
            const key = before === null ? undefined : keyframeAt(track, before);
            if (key && before !== null) ghost = key.box;
          }
        }
        layer.draw(drawn, unit, ghost);
      }),
      effect(() => {
        const frame = player.frame.value;
        const unit = 1 / (scale.value * store.zoom.value.scale);
        const drawn = workspace.proposals.shown.value.flatMap(({ run, track }) => {
          const box = shownAt(track, frame)?.box;
          return box ? [{ label: track.label || run.prompt.label, flags: (run.flags[String(frame)] ?? []).map((flag) => ` · ${flag}`).join(""), color: proposalColor(workspace, run, track), box }] : [];
        });
        layer.drawProposals(drawn, unit);
      }),
      effect(() => {
        const held = drag.value;
        const sketch = svg.querySelector<SVGRectElement>(".box-sketch");
        if (!sketch) return;
        const box = held?.kind === "draw" ? held.box : null;
        sketch.setAttribute("display", box ? "inline" : "none");
        if (box) for (const [k, name] of ["x", "y", "width", "height"].entries()) sketch.setAttribute(name, String(box[k]));
      }),
      effect(() => {
        const { scale: by, x, y } = store.zoom.value;
        picture.style.transform = by === 1 ? "" : `translate(${x}px, ${y}px) scale(${by})`;
      }),
      sidesOnPicture(workspace, svg, scale),
    ];

    const point = (event: PointerEvent | WheelEvent): [number, number] => {
      const area = picture.getBoundingClientRect();
      return [((event.clientX - area.left) / area.width) * width, ((event.clientY - area.top) / area.height) * height];
    };
    const chosenBox = (id: string): Box | null => {
      const track = store.doc.peek().tracks[id];
      return track ? (shownAt(track, player.frame.peek())?.box ?? null) : null;
    };

    const down = (event: PointerEvent): void => {
      if (event.button !== 0 && event.button !== 1) return;
      const [x, y] = point(event);
      const target = event.target as Element;
      const handle = (target.closest<SVGElement>("[data-handle]")?.dataset.handle ?? null) as Handle | null;
      const id = handle ? (store.selection.peek()?.id ?? null) : (target.closest<SVGElement>("[data-track]")?.dataset.track ?? null);
      event.preventDefault();
      (document.activeElement as HTMLElement | null)?.blur?.();
      if (player.playing.peek()) player.pause();
      if (event.button === 1 || (store.zoom.peek().scale > 1 && !id && store.tool.peek() === "select")) drag.value = { kind: "pan", x: event.clientX, y: event.clientY, zoomX: store.zoom.peek().x, zoomY: store.zoom.peek().y };
      else if (store.tool.peek() === "draw") {
        if (!store.onPicture()) return;
        drag.value = { kind: "draw", x, y, box: null };
      } else if (id) {
        store.select({ kind: "track", id });
        const from = chosenBox(id);
        if (!from || store.locked.peek().has(id) || !store.editable.peek()) return;
        drag.value = { kind: "box", id, handle, from, x, y, box: from };
      } else {
        if (store.selection.peek()?.kind === "track") store.select(null);
        return;
      }
      around.setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent): void => {
      const held = drag.peek();
      if (!held) return;
      const [x, y] = point(event);
      if (held.kind === "pan") store.zoom.value = { ...store.zoom.peek(), x: held.zoomX + event.clientX - held.x, y: held.zoomY + event.clientY - held.y };
      else if (held.kind === "draw") drag.value = { ...held, box: drawnBox(held.x, held.y, x, y, width, height) };
      else {
        const [dx, dy] = [x - held.x, y - held.y];
        // A trembling hand is a click, not a move.
        const still = held.box === held.from && Math.hypot(dx, dy) * scale.peek() < 2;
        if (!still) drag.value = { ...held, box: held.handle ? resizeBox(held.from, held.handle, dx, dy, width, height) : moveBox(held.from, dx, dy, width, height) };
      }
    };
    const up = (): void => {
      const held = drag.peek();
      drag.value = null;
      if (held?.kind === "box" && held.box !== held.from) workspace.actions.setBox(held.id, held.box, held.handle ? "Resize" : "Move");
      if (held?.kind === "draw") {
        if (held.box) workspace.actions.drawn(held.box);
        else store.say("Drag from one corner of the object to the other.");
      }
    };
    const cancel = (): void => void (drag.value = null);
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const now = store.zoom.peek();
      const next = Math.min(8, Math.max(1, now.scale * (event.deltaY < 0 ? 1.15 : 1 / 1.15)));
      const area = picture.getBoundingClientRect();
      const [cx, cy] = [event.clientX - (area.left + area.width / 2), event.clientY - (area.top + area.height / 2)];
      const by = next / now.scale - 1;
      store.zoom.value = next < 1.02 ? { scale: 1, x: 0, y: 0 } : { scale: next, x: now.x - cx * by, y: now.y - cy * by };
    };
    const off = new AbortController();
    const on = { signal: off.signal };
    around.addEventListener("pointerdown", down, on);
    around.addEventListener("pointermove", move, on);
    around.addEventListener("pointerup", up, on);
    around.addEventListener("pointercancel", cancel, on);
    around.addEventListener("wheel", wheel, { ...on, passive: false });
    svg.addEventListener("focusin", (event) => {
      const id = (event.target as Element).closest<SVGElement>("[data-track]")?.dataset.track;
      if (id) store.select({ kind: "track", id });
    }, on);
    workspace.cancelDrag = (): boolean => {
      const was = drag.peek() !== null;
      cancel();
      return was;
    };
    return () => {
      off.abort();
      observer.disconnect();
      for (const stop of stops) stop();
    };
  }, []);

  return (
    <div class={`view${store.tool.value === "draw" ? " is-drawing" : ""}`} ref={room} data-stage>
      <div class="picture" ref={holder}>
        <svg class="overlay" ref={overlay} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="group" aria-label={`Boxes on ${title}`}>
          <defs>
            <pattern id="occluded" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="3" height="8" fill="#fff" opacity="0.28" />
            </pattern>
          </defs>
          <rect class="box-sketch" display="none" />
        </svg>
      </div>
      <StageState workspace={workspace} />
    </div>
  );
}

/** What keeps the picture from being shown, in words over the stage. */
function StageState({ workspace }: { workspace: Workspace }) {
  const { player } = workspace;
  const problem = player.problem.value;
  if (problem) {
    return (
      <div class="stage-state" role="alert">
        <Icon name="exclamation-circle" />
        <p>{problem.sentence}</p>
        {problem.kind === "media" && <a href="">Reload the page</a>}
      </div>
    );
  }
  if (!player.stalled.value) return null;
  return (
    <div class="stage-state is-small" role="status">
      <span class="spinner" />
      <p>Loading the picture</p>
    </div>
  );
}

/** A proposal has the colour of the object that it is for. */
export const proposalColor = ({ store }: Workspace, run: Run, track: Track): string => (run.prompt.track && store.doc.value.tracks[run.prompt.track] ? store.colorOf(run.prompt.track) : (track.color ?? "#e07b00"));

export const nextZoom = (scale: number): number => ZOOMS.find((one) => one > scale + 0.01) ?? 1;
