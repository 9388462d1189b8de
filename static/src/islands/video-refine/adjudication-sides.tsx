// Both sides of the difference looked at, dashed and with their letters: as boxes on the picture, as spans on the axis of time.
import type { ReadonlySignal } from "@preact/signals";
import { effect } from "@preact/signals";
import type { Box } from "../../lib/video/geometry";
import { toPx } from "../../lib/video/timeline";
import { boxAt } from "../../lib/video/tracks";
import { Icon } from "../shared/parts";
import { Tag } from "./adjudication-panel";
import type { Workspace } from "./workspace";

const SVG = "http://www.w3.org/2000/svg";

/** Where the letter stands, so that those of boxes that nearly cover each other do not. */
const CORNERS: ((box: Box, size: number) => [x: number, y: number])[] = [
  ([x, y], size) => [x, y - size],
  ([x, y, w, h], size) => [x + w - size, y + h],
  ([x, y, , h]) => [x, y + h],
  ([x, y, w], size) => [x + w - size, y - size],
];

/** Draws the sides' boxes on the picture until it is ended. `scale`: pixels of the screen that one of the picture is, before zooming. */
export function sidesOnPicture({ store, player, adjudication }: Workspace, svg: SVGSVGElement, scale: ReadonlySignal<number>): () => void {
  if (!adjudication) return () => {};
  const layer = document.createElementNS(SVG, "g");
  layer.setAttribute("class", "side-boxes");
  svg.append(layer);
  const stop = effect(() => {
    const frame = player.frame.value;
    const unit = 1 / (scale.value * store.zoom.value.scale);
    layer.replaceChildren(
      ...adjudication.shown.value.flatMap(({ letter, place, track }) => {
        const box = track ? boxAt(track, frame) : null;
        return box ? [drawn(letter, place, box, unit)] : [];
      }),
    );
  });
  return () => {
    stop();
    layer.remove();
  };
}

function drawn(letter: string, place: number, box: Box, unit: number): SVGGElement {
  const make = (name: "g" | "rect" | "text", kind: string, attributes: Record<string, number> = {}): SVGElement => {
    const element = document.createElementNS(SVG, name);
    element.setAttribute("class", kind);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    return element;
  };
  const group = make("g", `side-box side-${place % 4}`) as SVGGElement;
  group.dataset.side = letter;
  const size = 17 * unit;
  const [x, y] = (CORNERS[place % 4] as (typeof CORNERS)[number])(box, size);
  const outline = { x: box[0], y: box[1], width: box[2], height: box[3] };
  const words = make("text", "side-letter", { x: x + size / 2, y: y + 13 * unit, "font-size": 12 * unit });
  words.textContent = letter;
  group.append(make("rect", "side-halo", outline), make("rect", "side-line", outline), make("rect", "side-plate", { x, y, width: size, height: size }), words);
  return group;
}

const ROW = 15;

/** One lane for the difference looked at: a row for each side that has a time there. */
export function SidesLane({ workspace }: { workspace: Workspace }) {
  const { store, adjudication } = workspace;
  const shown = adjudication?.shown.value ?? [];
  if (!adjudication || !shown.length) return null;
  const view = store.view.value;
  const title = adjudication.chosen.value?.title ?? "";
  return (
    <div class="tl-row is-sides" data-sides>
      <div class="tl-name" title={title}>
        <Icon name="people" />
        <span class="title clip">{title}</span>
        <span class="end">
          {shown.map(({ letter, place }) => (
            <Tag key={letter} place={place} letter={letter} />
          ))}
        </span>
      </div>
      <svg class="lane" width={view.width} height={shown.length * ROW + 6} role="img" aria-label={`Times of ${shown.map(({ letter }) => letter).join(" and ")}: ${title}`}>
        {shown.map(({ letter, place, spans }, row) => (
          <g key={letter} class={`side-spans side-${place % 4}`}>
            {spans.map(([start, end]) => {
              const [x0, x1] = [toPx(view, start), toPx(view, end)];
              if (x1 < 0 || x0 > view.width) return null;
              return (
                <g key={start}>
                  <rect class="side-span" x={x0} y={3 + row * ROW} width={Math.max(3, x1 - x0)} height={ROW - 3} rx={3} />
                  <text x={Math.max(0, x0) + 5} y={12.5 + row * ROW}>
                    {letter}
                  </text>
                </g>
              );
            })}
          </g>
        ))}
      </svg>
    </div>
  );
}
