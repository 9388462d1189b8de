// The tables that Python's videos/core runs too, and the vectors of the paper's formulas: both sides must say the same.
import { describe, expect, it } from "vitest";
import * as checking from "./checks";
import * as cot from "./cot";
import type { Operation, VideoDocument } from "./document";
import * as documents from "./document";
import { iou } from "./geometry";
import { PictureIndex } from "./index";
import * as intervals from "./intervals";
import type { Track } from "./tracks";
import * as tracking from "./tracks";

/** Tables hold whatever their function takes. */
type Any = any;
interface Case {
  name: string;
  input: Any;
  expected: Any;
}

const files = import.meta.glob<Any>(["../../../../fixtures/cases/video_*.json", "../../../../fixtures/vectors/anchor_{iou,interpolate,timeframe,cot_parse}.json"], { eager: true, import: "default" });
const table = (name: string): Case[] => files[`../../../../fixtures/cases/${name}.json`] ?? [];
const vectors = (name: string): { id: string; input: Any; expected: Any }[] => files[`../../../../fixtures/vectors/${name}.json`].cases;
const near = (got: readonly number[], want: readonly number[]): void => {
  expect(got.length).toBe(want.length);
  for (const [k, value] of want.entries()) expect(got[k]).toBeCloseTo(value, 9);
};

function indexOf(input: Any): PictureIndex {
  if (input.bytes_hex) return PictureIndex.decode(Uint8Array.from(input.bytes_hex.match(/../g), (pair: string) => Number.parseInt(pair, 16)).buffer);
  const { index } = input;
  const ticks = index.ticks ?? Array.from({ length: index.count }, (_, k) => index.first + k * index.step);
  return PictureIndex.of(ticks, index.end_tick, index.num, index.den);
}

describe("pictures and their times", () => {
  it.each(table("video_timebase").map((one) => [one.name, one] as const))("%s", (_, { input, expected }) => {
    if (expected.error) {
      expect(() => indexOf(input)).toThrow(RangeError);
      return;
    }
    const index = indexOf(input);
    expect(index.n).toBe(expected.n);
    expect(index.durationUs).toBe(expected.duration_us);
    for (const [frame, us] of expected.clip_us ?? []) expect([frame, index.clipUs(frame)]).toEqual([frame, us]);
    for (const [frame, [num, den]] of expected.middle ?? []) expect(index.middle(frame)).toBeCloseTo(num / den, 12);
    for (const [us, frame] of expected.at_us ?? []) expect([us, index.atUs(us)]).toEqual([us, frame]);
    for (const [[num, den], frame] of expected.at ?? []) expect([num, den, index.at(num / den)]).toEqual([num, den, frame]);
    for (const [seconds, frame] of expected.nearest ?? []) expect([seconds, index.nearest(seconds)]).toEqual([seconds, frame]);
    if (expected.bytes_hex) {
      const again = indexOf({ bytes_hex: expected.bytes_hex });
      expect([again.n, again.num, again.den, again.firstTick, again.durationUs]).toEqual([index.n, index.num, index.den, index.firstTick, index.durationUs]);
    }
  });
});

describe("intervals", () => {
  it.each(table("video_intervals").map((one) => [one.name, one] as const))("%s", (_, { input: { function: what, a, b }, expected }) => {
    if (what === "union") expect(intervals.union([...a, ...(b ?? [])])).toEqual(expected);
    else if (what === "holds") for (const [at, want] of expected) expect(intervals.holds(a, at)).toBe(want);
    else if (what === "length") expect(intervals.length(a)).toBe(expected);
    else if (what === "overlap_us") expect(intervals.overlap(a, b)).toBe(expected);
    else expect(intervals[what as "intersect"](a, b)).toEqual(expected);
  });
});

describe("tracks", () => {
  // Making tracks of dense boxes is the server's work: the page gets keyframes.
  const mine = table("video_tracks").filter(({ input }) => input.function !== "from_dense" && input.function !== "reduce_keyframes");
  it.each(mine.map((one) => [one.name, one] as const))("%s", (_, { input, expected }) => {
    const { track } = input as { track: Track };
    const is = (got: Track | null | undefined, want: Partial<Track>): void => expect(got).toMatchObject(want);
    const whole = (got: Track | null | undefined, want: Any): void => {
      is(got, want);
      expect(got?.keyframes).toEqual(want.keyframes);
    };
    switch (input.function) {
      case "box_at":
        for (const [frame, box] of expected.boxes) {
          const got = tracking.boxAt(track, frame);
          if (box === null) expect([frame, got]).toEqual([frame, null]);
          else near(got as readonly number[], box);
        }
        break;
      case "status_at":
        for (const [frame, kind, occluded] of expected.status) expect([frame, tracking.statusAt(track, frame), tracking.shownAt(track, frame)?.occluded ?? false]).toEqual([frame, kind, occluded]);
        break;
      case "dense":
        for (const [frame, box] of expected.boxes) near(tracking.boxAt(track, frame) as readonly number[], box);
        expect(intervals.length(track.visible)).toBe(expected.boxes.length);
        break;
      case "split": {
        // Without an id Python makes one that follows from the track; the page always gives one.
        const parts = tracking.split(track, input.frame, input.new_id ?? expected.second?.id ?? "");
        if (expected.error) expect(parts).toBeNull();
        else {
          whole(parts?.[0], expected.first);
          whole(parts?.[1], expected.second);
        }
        break;
      }
      case "merge":
        if (expected.error) {
          const failed = (() => {
            try {
              return tracking.merge(input.a, input.b, input.prefer);
            } catch (error) {
              return error;
            }
          })();
          expect(failed).toBeInstanceOf(tracking.OverlapError);
          expect((failed as tracking.OverlapError).frames).toEqual(expected.overlap);
        } else whole(tracking.merge(input.a, input.b, input.prefer), expected.track);
        break;
      case "hide_from":
        if (expected.error) expect(tracking.hideFrom(track, input.frame)).toBeNull();
        else whole(tracking.hideFrom(track, input.frame), expected.track);
        break;
      case "restrict":
        whole(tracking.restrict(track, input.keep), expected.track);
        break;
      case "pin":
        if (expected.error) expect(tracking.pin(track, input.frame)).toBeNull();
        else if (!input.source || input.source === "human") whole(tracking.pin(track, input.frame), expected.track);
        break;
      case "normalise":
        whole(tracking.normalise(track), expected.track);
        break;
      case "from_outside": {
        const made = tracking.fromOutside(input.keyframes, input.until ?? 0);
        expect(Object.keys(made.keyframes).map(Number)).toEqual(expected.keyframes);
        expect(made.visible).toEqual(expected.visible);
        break;
      }
      default:
        throw new Error(`The table has a function that is not tested here: ${input.function}.`);
    }
  });
});

const cases = (name: string): (readonly [string, Case])[] => table(name).map((one) => [one.name, one] as const);

/** "@long" stands for a text that the table does not want to write out. */
const spelled = (value: Any, long: number): Any => JSON.parse(JSON.stringify(value), (_, part) => (part === "@long" ? "x".repeat(long) : part));

const thrown = (run: () => unknown): Any => {
  try {
    return { value: run() };
  } catch (error) {
    if (error instanceof documents.Conflict) return { conflict: { path: error.path, mine: error.mine, theirs: error.theirs } };
    if (error instanceof documents.InvalidChange) return { invalid: error.path };
    throw error;
  }
};

describe("documents", () => {
  it.each(cases("video_document"))("%s", (_, { input, expected }) => {
    const limits = input.limits ?? {};
    const operations = spelled(input.operations ?? [], input.long ?? 0) as Operation[];
    const document = input.document as VideoDocument;
    switch (input.function) {
      case "apply": {
        const got = thrown(() => operations.reduce((at, operation) => documents.apply(at, operation, limits), document));
        if (expected.document) expect(documents.canonical(got.value)).toBe(documents.canonical(spelled(expected.document, input.long ?? 0)));
        else expect(got).toEqual(expected);
        break;
      }
      case "merge": {
        const got = documents.merge(document, operations, limits);
        expect(documents.canonical(got.document)).toBe(documents.canonical(expected.document));
        expect(got.applied.map(({ id }) => id)).toEqual(expected.applied);
        expect(got.already).toEqual(expected.already);
        expect(Object.fromEntries(got.conflicts.map(({ operation, at }) => [operation.id, at.map(({ path }) => path)]))).toEqual(expected.conflicts);
        expect(Object.fromEntries(got.refused.map(({ operation, error }) => [operation.id, error.path]))).toEqual(expected.refused);
        break;
      }
      case "keep_mine": {
        const got = thrown(() => documents.keepMine(document, operations[0] as Operation));
        expect(got).toEqual(expected.conflict ? expected : { value: expected.operation });
        break;
      }
      case "inverse":
        expect(documents.inverse(operations[0] as Operation)).toEqual(expected.operation);
        break;
      case "canonical":
        expect(documents.canonical(input.value)).toBe(expected.text);
        break;
      default:
        throw new Error(`The table has a function that is not tested here: ${input.function}.`);
    }
  });
});

describe("reasoning as text", () => {
  it.each(cases("video_cot"))("%s", (_, { input, expected }) => {
    const got: Record<string, () => unknown> = {
      parse_timeframe: () => cot.parseTimeframe(input.text),
      timeframe_json: () => cot.timeframeOf(input.text),
      format_clock: () => cot.formatClock(input.us, input.decimals),
      format_timeframe: () => cot.formatTimeframe(input.timeframe),
      parse: () => cot.parse(input.text),
      format_cot: () => cot.formatCot(input.cot),
    };
    expect(got[input.function]?.()).toEqual(expected);
  });

  it.each(vectors("anchor_timeframe").map((one) => [one.id, one] as const))("timeframe %s", (_, { input, expected }) => {
    expect(cot.parseTimeframe(input.text)).toEqual(expected);
  });

  it.each(vectors("anchor_cot_parse").map((one) => [one.id, one] as const))("chain of thought %s", (_, { input, expected }) => {
    expect(cot.parse(input.text)).toEqual(expected);
  });
});

describe("boxes", () => {
  it.each(vectors("anchor_iou").map((one) => [one.id, one] as const))("overlap %s", (_, { input, expected }) => {
    expect(iou(input.a, input.b)).toBeCloseTo(expected.iou, 9);
  });

  it.each(vectors("anchor_interpolate").map((one) => [one.id, one] as const))("interpolation %s", (_, { input, expected }) => {
    const made = tracking.fromOutside(input.keyframes);
    const track = { ...made, id: "", label: "", color: null, attributes: {}, source: "import", run: null, external: {} } as Track;
    const got = input.frames.flatMap((frame: number) => {
      const box = tracking.boxAt(track, frame);
      return box ? [[frame, box]] : [];
    });
    expect(got.map(([frame]: [number]) => frame)).toEqual(expected.boxes.map(([frame]: [number]) => frame));
    for (const [k, [, box]] of expected.boxes.entries()) near(got[k][1], box);
  });
});

describe("checks", () => {
  it.each(cases("video_checks"))("%s", (_, { input: { document, facts }, expected }) => {
    // Runs of equal points: how many, and how loud.
    const loudness: number[] | null = facts.loudness?.flatMap(([count, value]: [number, number]) => new Array<number>(count).fill(value)) ?? null;
    const index = indexOf(facts);
    const offset = facts.audio_offset_us ?? 0;
    const found = checking.check(document, {
      index,
      has_audio: facts.has_audio ?? true,
      loud: loudness && ((from, to) => loudness.slice(from, to).filter((point) => point > checking.QUIET).length),
      audio_offset_us: offset,
      duration_us: Math.max(index.durationUs, loudness ? offset + loudness.length * checking.POINT_US : 0),
      speech: facts.speech ?? [],
      vocabulary: facts.vocabulary ?? [],
    });
    expect(found).toEqual(expected);
  });
});
