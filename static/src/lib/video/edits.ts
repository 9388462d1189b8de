// What a person does, as operations: each function compares two states of a part and lists what changes. Pure.
import type { AudioEvent, Change, Cue, Link, Operation, Step, VideoDocument } from "./document";
import { equal } from "./document";
import type { Keyframe, Track } from "./tracks";

export type Words = string;

/** The operation of these changes, without those that change nothing; null when none is left. */
export function operation(words: Words, changes: readonly Change[], id: string): Operation | null {
  const real = changes.filter((change) => !equal(change.before, change.after));
  return real.length ? { id, words, changes: real } : null;
}

const FIELDS = ["label", "color", "attributes", "visible", "source", "run", "external"] as const;

/** Changes that make one state of a track another one: keyframe by keyframe, so that two people may work on different frames. */
export function trackChanges(before: Track | null, after: Track | null): Change[] {
  const id = (after ?? before)?.id as string;
  if (!before || !after) return [{ path: ["tracks", id], before, after }];
  const changes: Change[] = FIELDS.filter((field) => !equal(before[field], after[field])).map((field) => ({ path: ["tracks", id, field], before: before[field], after: after[field] }));
  for (const frame of new Set([...Object.keys(before.keyframes), ...Object.keys(after.keyframes)])) {
    const [old, next]: [Keyframe | null, Keyframe | null] = [before.keyframes[frame] ?? null, after.keyframes[frame] ?? null];
    if (old !== next && !equal(old, next)) changes.push({ path: ["tracks", id, "keyframes", frame], before: old, after: next });
  }
  return changes;
}

/** Links at a track or event go with it. */
export const linkRemovals = (document: VideoDocument, target: string): Change[] =>
  Object.values(document.links)
    .filter((link) => link.target === target)
    .map((link) => ({ path: ["links", link.id], before: link, after: null }));

export const removeTrack = (document: VideoDocument, track: Track): Change[] => [...linkRemovals(document, track.id), { path: ["tracks", track.id], before: track, after: null }];

/** Links of a track that goes point at the one that takes its place. */
export const moveLinks = (document: VideoDocument, from: string, to: string): Change[] =>
  Object.values(document.links)
    .filter((link) => link.target === from)
    .map((link) => ({ path: ["links", link.id], before: link, after: { ...link, target: to } }));

export const eventChange = (before: AudioEvent | null, after: AudioEvent | null): Change => ({ path: ["events", (after ?? before)?.id as string], before, after });

export const removeEvent = (document: VideoDocument, event: AudioEvent): Change[] => [...linkRemovals(document, event.id), eventChange(event, null)];

export const linkChange = (before: Link | null, after: Link | null): Change => ({ path: ["links", (after ?? before)?.id as string], before, after });

export function cueChange<K extends keyof Cue>(document: VideoDocument, step: Step, field: K, after: Cue[K]): Change {
  return { path: ["cot", step, field], before: document.cot[step][field], after };
}

export const answerChange = (document: VideoDocument, after: string): Change => ({ path: ["cot", "final_answer"], before: document.cot.final_answer, after });

export const targetChange = (document: VideoDocument, after: string): Change => ({ path: ["target_label"], before: document.target_label, after });

function valueAt(document: VideoDocument, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], document);
}

/** The text or time at a path (target label, a field of a cue, final answer) as another document has it. */
export const textChange = (document: VideoDocument, path: readonly string[], source: VideoDocument): Change => ({ path: [...path], before: valueAt(document, path), after: valueAt(source, path) });
