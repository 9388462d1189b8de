// Live checks on cases made by hand: 25 pictures a second, four seconds.
import { describe, expect, it } from "vitest";
import type { ClipFacts } from "./checks";
import { check } from "./checks";
import type { AudioEvent, Link, VideoDocument } from "./document";
import { apply, emptyDocument } from "./document";
import { PictureIndex } from "./index";
import type { Interval } from "./intervals";

const DOG = "00000000-0000-4000-8000-000000000001";
const BARK = "00000000-0000-4000-8000-000000000011";
const facts: ClipFacts = { index: PictureIndex.of(Array.from({ length: 100 }, (_, k) => k), 100, 1, 25), has_audio: true, loud: null, audio_offset_us: 0, duration_us: 4_000_000, speech: [], vocabulary: [] };

const timeframe = (...intervals: Interval[]): VideoDocument["cot"]["visual"]["timeframe"] => ({ whole: false, intervals, raw: "said" });
const link = (step: "visual" | "audio", frames: Interval | null = null): Link => ({ id: "00000000-0000-4000-8000-000000000021", step, kind: step === "visual" ? "track" : "event", target: step === "visual" ? DOG : BARK, frames, relation: "supports" });

/** A dog seen on frames 25 to 49 (1 to 2 s), a bark from 2 to 2.5 s. */
function made(change: (document: VideoDocument) => void): VideoDocument {
  const document = emptyDocument();
  document.tracks[DOG] = { id: DOG, label: "brown dog", color: null, attributes: {}, source: "human", run: null, external: {}, visible: [[25, 50]], keyframes: { "25": { box: [0, 0, 9, 9], occluded: false, source: "human", run: null } } };
  document.events[BARK] = { id: BARK, label: "bark", start_us: 2_000_000, end_us: 2_500_000, note: "", source: "human", run: null } satisfies AudioEvent;
  change(document);
  return document;
}
const codes = (document: VideoDocument, more: Partial<ClipFacts> = {}): string[] => check(document, { ...facts, ...more }).map(({ code }) => code);

describe("checks", () => {
  it("says nothing of an empty document", () => {
    expect(codes(emptyDocument())).toEqual([]);
  });

  it("offers the only object at the stated time as evidence", () => {
    const document = made((one) => (one.cot.visual = { timeframe: timeframe([1_200_000, 1_800_000]), description: "A dog.", analysis: "" }));
    const [finding] = check(document, facts);
    expect(finding?.code).toBe("cue_without_evidence");
    expect(finding?.remedy?.words).toBe('Link "brown dog"');
    const after = apply(document, { id: "00000000-0000-4000-8000-0000000000aa", words: finding?.remedy?.words ?? "", changes: finding?.remedy?.changes ?? [] });
    expect(codes(after)).toEqual([]);
  });

  it("cuts a time that the linked object is not seen in, and says when it is never seen", () => {
    const document = made((one) => {
      one.cot.visual.timeframe = timeframe([1_500_000, 3_000_000]);
      one.links["00000000-0000-4000-8000-000000000021"] = link("visual");
    });
    const [finding] = check(document, facts);
    expect(finding).toMatchObject({ code: "timeframe_outside_visible", sentence: expect.stringContaining("nothing is boxed at 00:02.0 - 00:03.0") });
    expect(finding?.remedy?.changes[0]?.after).toEqual({ whole: false, intervals: [[1_500_000, 2_000_000]], raw: "00:01.500 - 00:02.000" });
    document.cot.visual.timeframe = timeframe([3_000_000, 3_500_000]);
    expect(codes(document)).toEqual(["object_never_in_timeframe"]);
  });

  it("extends the time of the audio cue over a linked sound that it cuts off", () => {
    const document = made((one) => {
      one.cot.audio.timeframe = timeframe([1_900_000, 2_200_000]);
      one.links["00000000-0000-4000-8000-000000000021"] = link("audio");
    });
    const found = check(document, facts).find(({ code }) => code === "event_outside_timeframe");
    expect(found?.remedy?.words).toBe("Extend to 00:02.5");
    expect(found?.remedy?.changes[0]?.after).toMatchObject({ intervals: [[1_900_000, 2_500_000]] });
  });

  it("finds silence only where the sound is known", () => {
    const document = made((one) => (one.cot.audio.timeframe = timeframe([0, 1_000_000])));
    const asked: [number, number][] = [];
    const loud = (count: number | null) => (from: number, to: number): number | null => {
      asked.push([from, to]);
      return count;
    };
    expect(codes(document, { loud: loud(null) })).not.toContain("audio_cue_on_silence");
    expect(codes(document, { loud: loud(1) })).toContain("audio_cue_on_silence"); // one loud point of a hundred
    expect(codes(document, { loud: loud(2) })).not.toContain("audio_cue_on_silence");
    expect(asked[0]).toEqual([0, 100]);
    asked.length = 0;
    codes(document, { loud: loud(9), audio_offset_us: 200_000 });
    expect(asked[0]).toEqual([0, 80]);
  });

  it("finds named objects that nobody boxed, whatever case or number", () => {
    const document = made((one) => {
      one.cot.visual.description = "Two CATS and a dog.";
      one.links["00000000-0000-4000-8000-000000000021"] = link("visual");
    });
    expect(codes(document, { vocabulary: ["cat", "dog", "bird"] })).toEqual(["object_not_boxed"]);
  });

  it("finds times beyond the clip, times that are none, and cues on a silent film", () => {
    const document = made((one) => {
      one.cot.visual = { timeframe: { whole: false, intervals: [], raw: "soon" }, description: "", analysis: "" };
      one.cot.audio = { timeframe: timeframe([3_500_000, 9_000_000]), description: "Rain.", analysis: "" };
    });
    expect(codes(document, { has_audio: false })).toEqual(["timeframe_unparsable", "cue_without_evidence", "timeframe_beyond_clip", "cue_without_evidence", "audio_cue_without_sound"]);
  });

  it("finds links to frames on which the object is not seen", () => {
    const document = made((one) => (one.links["00000000-0000-4000-8000-000000000021"] = link("visual", [40, 60])));
    const [finding] = check(document, facts);
    expect(finding).toMatchObject({ code: "link_outside_visible", sentence: expect.stringContaining("on 10 of them") });
    expect(finding?.remedy?.changes[0]?.after).toMatchObject({ frames: [40, 50] });
  });
});
