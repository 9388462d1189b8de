// What a file holds, as changes of the document: added to what is there, never instead of it, except for texts. Pure.
import type { AudioEvent, Change, Cue, Link, VideoDocument } from "./document";
import { equal } from "./document";
import { answerChange, cueChange, eventChange, linkChange, trackChanges } from "./edits";
import type { Track } from "./tracks";

export interface Report {
  counts_in: Record<string, number>;
  counts_out: Record<string, number>;
  dropped: string[];
  warnings: string[];
}

export interface Incoming {
  format: string;
  title?: string;
  report: Report;
  tracks: Track[];
  events: AudioEvent[];
  /** Only of files that know of reasoning; targets are among the tracks and events here. */
  links?: Link[];
  cot: VideoDocument["cot"] | null;
}

export interface Parts {
  tracks: boolean;
  events: boolean;
  texts: boolean;
}

/** What is there of each part, for people to choose from. */
export const partsOf = ({ tracks, events, links = [], cot }: Incoming): Parts => ({ tracks: tracks.length > 0, events: events.length > 0, texts: links.length > 0 || (cot !== null && hasText(cot)) });

const cueHasText = (cue: Cue): boolean => Boolean(cue.description || cue.analysis || cue.timeframe.whole || cue.timeframe.intervals.length);
const hasText = (cot: VideoDocument["cot"]): boolean => cueHasText(cot.visual) || cueHasText(cot.audio) || Boolean(cot.final_answer);

/**
 * The changes that bring a file in. What is there already, under its id and the same in all else, is left out; another thing under
 * a known id gets an id of its own. Texts of the file take the place of present ones; empty ones do not.
 */
export function incomingChanges(document: VideoDocument, given: Incoming, parts: Parts, uuid: () => string): Change[] {
  const changes: Change[] = [];
  const taken = new Set([...Object.keys(document.tracks), ...Object.keys(document.events)]);
  const ids = new Map<string, string>();
  const fresh = <T extends { id: string }>(part: T, present: Record<string, T>): T | null => {
    if (present[part.id] && equal(present[part.id], part)) {
      ids.set(part.id, part.id);
      return null;
    }
    const id = taken.has(part.id) ? uuid() : part.id;
    taken.add(id);
    ids.set(part.id, id);
    return id === part.id ? part : { ...part, id };
  };
  if (parts.tracks) for (const track of given.tracks) {
    const added = fresh(track, document.tracks);
    if (added) changes.push(...trackChanges(null, added));
  }
  if (parts.events) for (const event of given.events) {
    const added = fresh(event, document.events);
    if (added) changes.push(eventChange(null, added));
  }
  if (parts.texts && given.cot) {
    for (const step of ["visual", "audio"] as const) {
      const cue = given.cot[step];
      if (cue.timeframe.whole || cue.timeframe.intervals.length) changes.push(cueChange(document, step, "timeframe", cue.timeframe));
      for (const field of ["description", "analysis"] as const) if (cue[field]) changes.push(cueChange(document, step, field, cue[field]));
    }
    if (given.cot.final_answer) changes.push(answerChange(document, given.cot.final_answer));
  }
  // Links are part of the reasoning, and need what they point at.
  if (parts.texts) for (const link of given.links ?? []) {
    const target = ids.get(link.target);
    if (target) changes.push(linkChange(null, { ...link, target, id: document.links[link.id] ? uuid() : link.id }));
  }
  return changes.filter(({ before, after }) => !equal(before, after));
}
