import { describe, expect, it } from "vitest";
import { apply, emptyDocument } from "./document";
import type { VideoDocument } from "./document";
import type { Incoming } from "./incoming";
import { incomingChanges, partsOf } from "./incoming";
import type { Track } from "./tracks";

const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const trackOf = (n: number, x: number): Track => ({ id: id(n), label: "dog", color: null, attributes: {}, source: "import", run: null, external: {}, keyframes: { "3": { box: [x, 0, 5, 5], occluded: false, source: "import", run: null } }, visible: [[3, 9]] });
const eventOf = (n: number) => ({ id: id(n), label: "whistle", start_us: 0, end_us: 1000, note: "", source: "import" as const, run: null });
const fileOf = (change: Partial<Incoming> = {}): Incoming => ({ format: "native", report: { counts_in: {}, counts_out: {}, dropped: [], warnings: [] }, tracks: [], events: [], cot: null, ...change });
const ALL = { tracks: true, events: true, texts: true };
const next = (): string => id(77);
const take = (document: VideoDocument, file: Incoming, parts = ALL): VideoDocument => apply(document, { id: id(99), words: "Import", changes: incomingChanges(document, file, parts, next) });

describe("a file comes in", () => {
  const document: VideoDocument = { ...emptyDocument(), tracks: { [id(1)]: trackOf(1, 10) } };

  it("adds objects and sounds, and leaves out what is there already", () => {
    const after = take(document, fileOf({ tracks: [trackOf(1, 10), trackOf(2, 20)], events: [eventOf(3)] }));
    expect([Object.keys(after.tracks), Object.keys(after.events)]).toEqual([[id(1), id(2)], [id(3)]]);
  });

  it("gives another thing under a known id an id of its own", () => {
    const after = take(document, fileOf({ tracks: [trackOf(1, 500)] }));
    expect(after.tracks[id(1)]).toEqual(trackOf(1, 10));
    expect(after.tracks[id(77)]).toEqual({ ...trackOf(1, 500), id: id(77) });
  });

  it("brings links only with the texts and with what they point at", () => {
    const link = { id: id(5), step: "visual" as const, kind: "track" as const, target: id(1), frames: null, relation: "supports" as const };
    const file = fileOf({ tracks: [trackOf(1, 500)], links: [link] });
    expect(take(document, file).links).toEqual({ [id(5)]: { ...link, target: id(77) } });
    expect(incomingChanges(document, file, { ...ALL, texts: false }, next).map(({ path }) => path[0])).toEqual(["tracks"]);
    expect(incomingChanges(document, file, { ...ALL, tracks: false }, next)).toEqual([]);
  });

  it("replaces texts that the file has, and only these", () => {
    const written = emptyDocument();
    written.cot.visual.description = "Old.";
    written.cot.visual.analysis = "Kept.";
    const { cot } = emptyDocument();
    cot.visual.description = "New.";
    cot.audio.timeframe = { whole: false, intervals: [[0, 5]], raw: "" };
    const file = fileOf({ cot });
    const after = take(written, file);
    expect([after.cot.visual.description, after.cot.visual.analysis, after.cot.audio.timeframe.intervals]).toEqual(["New.", "Kept.", [[0, 5]]]);
    expect(incomingChanges(written, file, { ...ALL, texts: false }, next)).toEqual([]);
    expect(partsOf(file)).toEqual({ tracks: false, events: false, texts: true });
    expect(partsOf(fileOf({ cot: emptyDocument().cot }))).toEqual({ tracks: false, events: false, texts: false });
  });
});
