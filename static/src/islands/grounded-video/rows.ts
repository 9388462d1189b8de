// The lanes of a film: times that reference and answers cite, then what the reference holds of picture, sound and speech.
import type { Interval } from "../../lib/video/intervals";
import type { Film, Side } from "./film";
import { seenUs } from "./film";
import type { LaneRow, LaneSpan } from "./lanes";

const CUES = [["visual", "Visual cue"], ["audio", "Audio cue"]] as const;
/** A lane for each object up to so many; others share one. */
const MOST_LANES = 6;

/** A lane for each cue that cites a time: their times often lie on each other. */
export function citedRows(film: Film, side: Side, kind: "cited" | "refined", name = side.name): LaneRow[] {
  return CUES.flatMap(([cue, label]): LaneRow[] => {
    const spans = side.times[cue].map((span, k): LaneSpan => ({ key: `${side.id}:${cue}:${k}`, span, label, kind, pick: () => void playOrShow(film, span) }));
    return spans.length ? [{ key: `times:${side.id}:${cue}`, name: `${name}, ${cue}`, title: `${label} of ${side.name}`, spans }] : [];
  });
}

/** A point has nothing to play. */
export const playOrShow = (film: Film, span: Interval): Promise<void> => (span[1] > span[0] ? film.playSpan(span) : film.showUs(span[0]));

export function boxRows(film: Film, side: Side, suffix = ""): LaneRow[] {
  const ids = Object.keys(side.tracks).sort();
  const spansOf = (id: string): LaneSpan[] => {
    const track = side.tracks[id];
    if (!track) return [];
    return seenUs(track, film.index).map((span, k) => ({
      key: `${side.id}:${id}:${k}`,
      span,
      label: track.label || "object",
      kind: "box",
      color: film.colorOf(side, id),
      lit: film.lit.value === `${side.id}:${id}`,
      pick: () => void film.showTrack(side, id, [span]),
    }));
  };
  const rows = ids.slice(0, MOST_LANES).map((id): LaneRow => ({ key: `box:${side.id}:${id}`, name: `${side.tracks[id]?.label || "object"}${suffix}`, spans: spansOf(id) }));
  const others = ids.slice(MOST_LANES);
  if (others.length) rows.push({ key: `box:${side.id}:others`, name: `${others.length} other objects${suffix}`, spans: others.flatMap(spansOf) });
  return rows;
}

export function soundRow(film: Film, side: Side): LaneRow[] {
  const events = Object.values(side.events);
  if (!events.length) return [];
  return [{ key: `sounds:${side.id}`, name: "Sounds", spans: events.map((event): LaneSpan => ({ key: `sound:${event.id}`, span: [event.start_us, event.end_us], label: event.label || "sound", kind: "sound", pick: () => void film.playSpan([event.start_us, event.end_us]) })) }];
}

export function speechRow(film: Film): LaneRow[] {
  const { speech } = film.payload;
  if (!speech.length) return [];
  return [{ key: "speech", name: "Speech", spans: speech.map(([start, end, text], k): LaneSpan => ({ key: `speech:${k}`, span: [start, end], label: text, kind: "speech", pick: () => void film.playSpan([start, Math.max(end, start + 1)]) })) }];
}

export function rowsOf(film: Film): LaneRow[] {
  const { reference, answers } = film.payload;
  return [
    ...(reference ? citedRows(film, reference, "refined") : []),
    ...answers.filter((side) => film.shown.value.has(side.id)).flatMap((side) => citedRows(film, side, "cited")),
    ...(reference ? [...boxRows(film, reference), ...soundRow(film, reference)] : []),
    ...answers.filter((side) => film.shown.value.has(side.id)).flatMap((side) => boxRows(film, side, ` (${side.name})`)),
    ...speechRow(film),
  ];
}
