// Boxes over the picture, drawn by hand into one SVG: a frame changes a few attributes and nothing else. Elements stay with their
// track, so that each box can have the focus and a screen reader can name it.
import type { Box } from "../../lib/video/geometry";
import { HANDLES, handleAt } from "../../lib/video/hit";
import type { Source } from "../../lib/video/tracks";

const SVG = "http://www.w3.org/2000/svg";

export interface Drawn {
  id: string;
  label: string;
  color: string;
  box: Box;
  status: "keyframe" | "interpolated" | "held";
  occluded: boolean;
  source: Source;
  selected: boolean;
  locked: boolean;
  /** The tag stands so many rows under the box (0: right under it), not over it, and the box lies under the others. */
  below?: number;
}

/** A proposed box: seen through, and nothing to take hold of. */
export interface DrawnProposal {
  label: string;
  /** What is wrong with it, in a word or two. */
  flags: string;
  color: string;
  box: Box;
}

const STATUS_WORDS = { keyframe: "keyframe", interpolated: "between", held: "held" } as const;

/** What a box says of itself. */
export const boxWords = ({ label, status, occluded }: Pick<Drawn, "label" | "status" | "occluded">): string => `${label || "object"} · ${STATUS_WORDS[status]}${occluded ? " · occluded" : ""}`;

interface Parts {
  group: SVGGElement;
  halo: SVGRectElement;
  line: SVGRectElement;
  tag: SVGRectElement;
  words: SVGTextElement;
  state: string;
}

const make = <K extends "g" | "rect" | "text">(name: K, kind: string): SVGElementTagNameMap[K] => {
  const element = document.createElementNS(SVG, name);
  if (kind) element.setAttribute("class", kind);
  return element;
};

const place = (rect: SVGRectElement, [x, y, w, h]: Box): void => {
  rect.setAttribute("x", String(x));
  rect.setAttribute("y", String(y));
  rect.setAttribute("width", String(Math.max(0, w)));
  rect.setAttribute("height", String(Math.max(0, h)));
};

const widths = new Map<string, number>();
let pen: CanvasRenderingContext2D | null | undefined;
/** Width of a tag's text at 12 pixels; a guess where there is no canvas. */
function textWidth(text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (pen === undefined) {
      pen = typeof CanvasRenderingContext2D === "undefined" ? null : document.createElement("canvas").getContext("2d");
      if (pen) pen.font = '600 12px "Inter Variable", Inter, sans-serif';
    }
    width = pen?.measureText(text).width ?? text.length * 6.6;
    widths.set(text, width);
  }
  return width;
}

export class BoxLayer {
  readonly #boxes: SVGGElement;
  /** Over all boxes: no line runs through a name. */
  readonly #tags: SVGGElement;
  readonly #handles: SVGGElement;
  readonly #ghost: SVGRectElement;
  readonly #grips: SVGRectElement[];
  readonly #parts = new Map<string, Parts>();
  readonly #proposals: SVGGElement;
  readonly #height: number;

  /** `height`: of the picture, in its pixels. A tag under a box stays inside it. */
  constructor(svg: SVGSVGElement, height = Infinity) {
    this.#height = height;
    this.#ghost = make("rect", "box-ghost");
    this.#proposals = make("g", "proposed-boxes");
    this.#boxes = make("g", "boxes");
    this.#tags = make("g", "box-tags");
    // Each box says its name itself.
    this.#tags.setAttribute("aria-hidden", "true");
    this.#handles = make("g", "box-handles");
    this.#grips = HANDLES.map((handle) => {
      const grip = make("rect", `box-grip grip-${handle}`);
      grip.dataset.handle = handle;
      grip.setAttribute("rx", "2");
      this.#handles.append(grip);
      return grip;
    });
    svg.append(this.#ghost, this.#proposals, this.#boxes, this.#tags, this.#handles);
  }

  /** `unit`: pixels of the picture that one pixel of the screen is. `ghost`: where the keyframe before was. */
  draw(drawn: readonly Drawn[], unit: number, ghost: Box | null): void {
    const here = new Set(drawn.map((one) => one.id));
    for (const [id, parts] of this.#parts) {
      if (here.has(id) || parts.state === "") continue;
      for (const element of [parts.group, parts.tag, parts.words]) element.setAttribute("display", "none");
      parts.state = "";
    }
    let selected: Drawn | null = null;
    for (const one of drawn) {
      this.#one(one, unit);
      if (one.selected) selected = one;
    }
    this.#handles.setAttribute("display", selected && !selected.locked ? "inline" : "none");
    if (selected && !selected.locked) {
      const size = 9 * unit;
      for (const [k, handle] of HANDLES.entries()) {
        const [x, y] = handleAt(selected.box, handle);
        place(this.#grips[k] as SVGRectElement, [x - size / 2, y - size / 2, size, size]);
      }
    }
    this.#ghost.setAttribute("display", ghost ? "inline" : "none");
    if (ghost) place(this.#ghost, ghost);
  }

  /** Proposals lie under the boxes that count. */
  drawProposals(drawn: readonly DrawnProposal[], unit: number): void {
    while (this.#proposals.childElementCount > drawn.length) this.#proposals.lastElementChild?.remove();
    for (const [k, { label, flags, color, box }] of drawn.entries()) {
      let group = this.#proposals.children[k];
      if (!group) {
        group = make("g", "box-proposal");
        group.append(make("rect", "box-halo"), make("rect", "box-line"), make("text", "box-words"));
        this.#proposals.append(group);
      }
      const [halo, line, words] = group.children as unknown as [SVGRectElement, SVGRectElement, SVGTextElement];
      place(halo, box);
      place(line, box);
      line.setAttribute("stroke", color);
      words.textContent = `${label || "object"} · proposed${flags}`;
      words.setAttribute("x", String(box[0] + 4 * unit));
      // Under the box: over it is the tag of the box that counts.
      words.setAttribute("y", String(box[1] + box[3] + 14 * unit));
      words.setAttribute("font-size", String(12 * unit));
    }
  }

  /** Elements of tracks that are no more are taken away; later ones lie above earlier ones. */
  order(ids: readonly string[]): void {
    const known = new Set(ids);
    for (const [id, { group, tag, words }] of this.#parts) {
      if (known.has(id)) continue;
      for (const element of [group, tag, words]) element.remove();
      this.#parts.delete(id);
    }
  }

  focus(id: string): void {
    this.#parts.get(id)?.group.focus({ preventScroll: true });
  }

  #one(one: Drawn, unit: number): void {
    const parts = this.#parts.get(one.id) ?? this.#add(one);
    const state = [...one.box, unit, one.status, one.occluded, one.selected, one.locked, one.color, one.label, one.source, one.below].join();
    if (state === parts.state) return;
    parts.state = state;
    const { group, halo, line, tag, words } = parts;
    for (const element of [group, tag, words]) element.removeAttribute("display");
    const kind = `box is-${one.status} from-${one.source}${one.selected ? " is-selected" : ""}${one.occluded ? " is-occluded" : ""}${one.locked ? " is-locked" : ""}`;
    if (group.getAttribute("class") !== kind) group.setAttribute("class", kind);
    place(halo, one.box);
    place(line, one.box);
    line.setAttribute("stroke", one.color);
    const text = one.selected ? boxWords(one) : one.label || "object";
    if (words.textContent !== text) {
      words.textContent = text;
      group.setAttribute("aria-label", `${boxWords(one)}, box at ${one.box.slice(0, 2).map(Math.round).join(", ")}`);
    }
    const [x, y, , h] = one.box;
    const height = 18 * unit;
    const above = y - height >= 0 ? y - height : y;
    // Over or under the box, or inside it where the picture ends.
    const top = one.below === undefined ? above : Math.min(y + h + one.below * height, this.#height - height);
    place(tag, [x, top, (textWidth(text) + 12) * unit, height]);
    tag.setAttribute("fill", one.color);
    words.setAttribute("x", String(x + 6 * unit));
    words.setAttribute("y", String(top + 13 * unit));
    words.setAttribute("font-size", String(12 * unit));
    group.setAttribute("aria-pressed", String(one.selected));
  }

  #add({ id, below }: Drawn): Parts {
    const group = make("g", "box");
    group.dataset.track = id;
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "0");
    const parts: Parts = { group, halo: make("rect", "box-halo"), line: make("rect", "box-line"), tag: make("rect", "box-tag"), words: make("text", "box-words"), state: "" };
    group.append(parts.halo, parts.line);
    this.#tags.append(parts.tag, parts.words);
    if (below === undefined) this.#boxes.append(group);
    else this.#boxes.prepend(group);
    this.#parts.set(id, parts);
    return parts;
  }
}
