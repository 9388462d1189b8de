// Lanes of a rationale: what its cues cite, what the reference's do, and each leaf of evidence where it is in the clip.
import { citedRows as cuesOf, playOrShow } from "../grounded-video/rows";
import type { LaneRow, LaneSpan } from "../grounded-video/lanes";
import type { Interval } from "../../lib/video/intervals";
import type { Film } from "../grounded-video/film";
import type { Rationale } from "./store";
import type { Leaf, LeafKind } from "./types";

const MOST_OBJECTS = 8;
const ROWS: [LeafKind, string, LaneSpan["kind"]][] = [
  ["sound", "Sounds", "sound"],
  ["speech", "Speech", "speech"],
];

export function rationaleRows(rationale: Rationale, film: Film): LaneRow[] {
  const { payload, side } = rationale;
  const own = film.payload.answers.length > 0;
  return [
    ...citedRows(rationale, film),
    ...(own && side ? cuesOf(film, side, "refined", "Reference") : []),
    ...objectRows(rationale),
    ...ROWS.flatMap(([kind, name, drawn]): LaneRow[] => {
      const here = payload.leaves.filter((leaf) => leaf.kind === kind);
      return here.length ? [{ key: kind, name, spans: here.flatMap((leaf) => leafSpans(rationale, leaf, drawn)) }] : [];
    }),
  ];
}

/** One lane a cue: its sentences share its times. */
function citedRows(rationale: Rationale, film: Film): LaneRow[] {
  const { steps } = rationale.payload;
  return (["visual", "audio"] as const).flatMap((cue): LaneRow[] => {
    const here = steps.filter((step) => step.field.startsWith(`${cue}.`));
    const [first] = here;
    if (!first) return [];
    const chosen = here.some((step) => step.index === rationale.selected.value);
    const pick = (span: Interval) => (): void => {
      if (!chosen) rationale.select(first.index);
      void playOrShow(film, span);
    };
    return [{
      key: `cited:${cue}`,
      name: cue === "visual" ? "Visual cue cites" : "Audio cue cites",
      spans: first.times_us.map((span, k): LaneSpan => ({ key: `cited:${cue}:${k}`, span, label: cue === "visual" ? "Visual cue" : "Audio cue", kind: "cited", lit: chosen, pick: pick(span) })),
    }];
  });
}

function objectRows(rationale: Rationale): LaneRow[] {
  const objects = rationale.payload.leaves.filter((leaf) => leaf.kind === "track");
  const rows = objects.slice(0, MOST_OBJECTS).map((leaf): LaneRow => ({ key: `leaf:${leaf.index}`, name: leaf.label, title: leaf.text, spans: leafSpans(rationale, leaf, "box") }));
  const others = objects.slice(MOST_OBJECTS);
  if (others.length) rows.push({ key: "others", name: `${others.length} other objects`, spans: others.flatMap((leaf) => leafSpans(rationale, leaf, "box")) });
  return rows;
}

function leafSpans(rationale: Rationale, leaf: Leaf, kind: LaneSpan["kind"]): LaneSpan[] {
  const { film, side } = rationale;
  const color = kind === "box" && film && side ? film.colorOf(side, leaf.id) : "";
  return leaf.spans_us.map((span, k): LaneSpan => ({ key: `leaf:${leaf.index}:${k}`, span, label: leaf.label, kind, ...(color ? { color } : {}), lit: rationale.lit.value.has(leaf.index), pick: () => void rationale.showLeaf(leaf.index) }));
}
