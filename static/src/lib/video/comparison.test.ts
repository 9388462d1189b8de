// Two or three people's documents of one question: whom a document follows, and taking a side. Values by hand.
import { describe, expect, it } from "vitest";
import type { Difference, Side } from "./comparison";
import { Comparison, firstApart, trackOverlap, worstFrame } from "./comparison";
import type { AudioEvent, Change, Link, VideoDocument } from "./document";
import { apply, emptyDocument, inverse } from "./document";
import { operation } from "./edits";
import type { Box } from "./geometry";
import type { Track } from "./tracks";

interface Case {
  name: string;
  input: { sides: Record<string, VideoDocument>; differences: Omit<Difference, "title" | "agreement">[]; document: VideoDocument };
  expected: Record<string, string>;
}
const [table = []] = Object.values(import.meta.glob<Case[]>("../../../../fixtures/cases/video_matches.json", { eager: true, import: "default" }));

const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const [X, Y, Z, E, L, M] = [id(1), id(2), id(3), id(4), id(5), id(6)] as [string, string, string, string, string, string];

const track = (of: string, label: string, box: Box, visible: [number, number] = [0, 10]): Track => ({
  id: of, label, color: null, attributes: {}, source: "model", run: "r", external: {}, visible: [visible],
  keyframes: { [String(visible[0])]: { box, occluded: false, source: "model", run: "r" } },
});
const event = (of: string, label: string, start_us: number, end_us: number): AudioEvent => ({ id: of, label, start_us, end_us, note: "", source: "human", run: null });
const link = (of: string, target: string, step: "visual" | "audio" = "visual"): Link => ({ id: of, step, kind: "track", target, frames: null, relation: "supports" });
const byId = <T extends { id: string }>(...parts: T[]): Record<string, T> => Object.fromEntries(parts.map((part) => [part.id, part]));
const document = (parts: Partial<VideoDocument> = {}): VideoDocument => ({ ...emptyDocument(), ...parts });
const sidesOf = (...documents: VideoDocument[]): Side[] => documents.map((one, k) => ({ letter: "ABC".charAt(k), document: one }));
const about = (kind: Difference["kind"], sides: Record<string, unknown>, more: Partial<Difference> = {}): Difference => ({ id: kind, kind, step: null, field: null, title: kind, agreement: 0, sides, ...more });
const after = (before: VideoDocument, changes: Change[]): VideoDocument => {
  const made = operation("Take", changes, id(99));
  return made ? apply(before, made) : before;
};

describe("whom a document follows, from the table that Python reads too", () => {
  it.each(table.map((one) => [one.name, one] as const))("%s", (_, { input, expected }) => {
    const sides = Object.entries(input.sides).map(([letter, document]) => ({ letter, document }));
    const compared = new Comparison(sides, input.differences.map((one) => ({ ...one, title: "", agreement: null })));
    const got = [...compared.standings(input.document)].map(([of, { letters }]) => [of, letters.join("")]);
    expect(Object.fromEntries(got)).toEqual(expected);
  });
});

describe("agreement of tracks and times", () => {
  it("is the mean IoU over the frames on which either is seen", () => {
    // Shifted by a tenth: 36 x 40 of 44 x 40 in common, on 5 of 15 frames.
    expect(trackOverlap(track(X, "dog", [0, 0, 40, 40]), track(Y, "dog", [4, 0, 40, 40], [5, 15]))).toBeCloseTo((5 * (36 / 44)) / 15, 9);
    expect(trackOverlap(track(X, "dog", [0, 0, 40, 40]), track(Y, "dog", [40, 0, 40, 40]))).toBe(0);
    expect(trackOverlap(track(X, "dog", [0, 0, 40, 40]), track(Y, "dog", [0, 0, 40, 40], [10, 20]))).toBe(0);
  });

  it("finds the first frame that is worst", () => {
    const still = track(X, "dog", [0, 0, 40, 40]);
    const moving: Track = { ...still, keyframes: { 0: { box: [0, 0, 40, 40], occluded: false, source: "human", run: null }, 6: { box: [24, 0, 40, 40], occluded: false, source: "human", run: null } } };
    expect(worstFrame([still, moving])).toBe(6);
    expect(worstFrame([still, track(Y, "dog", [0, 0, 40, 40], [3, 10])])).toBe(0);
    expect(worstFrame([still])).toBe(0);
    // Boxes that keep their distance are as far apart on every frame.
    const walking = (x: number): Track => ({ ...still, keyframes: { 0: { box: [x + 0.1, 0.3, 40, 40], occluded: false, source: "human", run: null }, 9: { box: [x + 31.7, 12.9, 40, 40], occluded: false, source: "human", run: null } } });
    expect(worstFrame([walking(0), walking(10)])).toBe(0);
  });

  it("finds where the first of several spans stands alone", () => {
    expect(firstApart([[[100, 200]], [[100, 250]]])).toBe(200);
    expect(firstApart([[[100, 200]], []])).toBe(100);
    expect(firstApart([[[100, 200]], [[100, 200]]])).toBe(100);
    expect(firstApart([[], []])).toBeNull();
  });
});

describe("texts and times", () => {
  const a = document({ target_label: "dog", cot: { ...emptyDocument().cot, final_answer: "It hears her." } });
  const b = document({ target_label: "puppy" });
  const text = about("text", { A: "It hears her.", B: "" }, { id: "final", step: "final", field: "final_answer" });
  const label = about("target_label", { A: "dog", B: "puppy" });
  const described = about("text", { A: "A dog runs.", B: "The dog sits." }, { id: "seen", step: "visual", field: "description" });
  const time = about("timeframe", { A: { whole: false, intervals: [[0, 1000]], raw: "" }, B: { whole: true, intervals: [], raw: "throughout" } }, { id: "when", step: "audio", field: "timeframe" });
  const both = new Comparison(sidesOf(a, b), [label, described, text, time]);
  const standing = (of: VideoDocument, what: Difference) => both.standings(of).get(what.id);

  it("are open, somebody's, or the adjudicator's own", () => {
    expect(standing(document(), label)).toEqual({ letters: [], kind: "open" });
    expect(standing(document({ target_label: " puppy " }), label)).toEqual({ letters: ["B"], kind: "side" });
    expect(standing(document({ target_label: "cat" }), label)).toEqual({ letters: [], kind: "own" });
    // Nothing is what B wrote.
    expect(standing(document(), text)).toEqual({ letters: ["B"], kind: "side" });
    expect(standing(document(), time)).toEqual({ letters: [], kind: "open" });
  });

  it("are taken as one change each", () => {
    let now = after(document(), both.take(document(), described, "B"));
    expect(now.cot.visual.description).toBe("The dog sits.");
    now = after(now, both.take(now, text, "A"));
    expect(now.cot.final_answer).toBe("It hears her.");
    now = after(now, both.take(now, time, "B"));
    expect(now.cot.audio.timeframe).toEqual({ whole: true, intervals: [], raw: "throughout" });
    expect(standing(now, time)?.letters).toEqual(["B"]);
    expect(both.take(now, label, "A")).toEqual([{ path: ["target_label"], before: "", after: "dog" }]);
  });

  it("a time follows a person up to nine tenths", () => {
    const heard = (end: number): VideoDocument => ({ ...document(), cot: { ...emptyDocument().cot, audio: { timeframe: { whole: false, intervals: [[0, end]], raw: "" }, description: "", analysis: "" } } });
    expect(standing(heard(900), time)?.letters).toEqual(["A"]);
    expect(standing(heard(890), time)).toEqual({ letters: [], kind: "own" });
  });
});

describe("tracks and sounds", () => {
  const mine = document({ tracks: byId(track(X, "dog", [0, 0, 40, 40])), links: byId(link(L, X)) });
  const theirs = document({ tracks: byId(track(Y, "dog", [10, 0, 40, 40])), links: byId(link(M, Y, "audio")) });
  const dog = about("track", { A: X, B: Y });
  const both = new Comparison(sidesOf(mine, theirs), [dog]);

  it("comes with its id and its links, and the other side takes its place; undo gives everything back", () => {
    const a = after(document(), both.take(document(), dog, "A"));
    expect(a.tracks).toEqual(mine.tracks);
    expect(a.links).toEqual(mine.links);
    expect(both.standings(a).get("track")).toEqual({ letters: ["A"], kind: "side" });
    const change = operation("Take", both.take(a, dog, "B"), id(98));
    if (!change) throw new Error("nothing to do");
    const b = apply(a, change);
    expect(b.tracks).toEqual(theirs.tracks);
    expect(b.links).toEqual(theirs.links);
    expect(both.standings(b).get("track")).toEqual({ letters: ["B"], kind: "side" });
    expect(apply(b, inverse(change, id(97)))).toEqual(a);
  });

  it("keeps what the adjudicator linked, but not twice for one cue", () => {
    const a = after(document(), both.take(document(), dog, "A"));
    const linked = (step: "visual" | "audio"): VideoDocument => ({ ...a, links: { ...a.links, [Z]: link(Z, X, step) } });
    expect(Object.values(after(linked("visual"), both.take(linked("visual"), dog, "B")).links)).toEqual([link(Z, Y), link(M, Y, "audio")]);
    expect(Object.values(after(linked("audio"), both.take(linked("audio"), dog, "B")).links)).toEqual([link(M, Y, "audio")]);
  });

  it("is still somebody's with a small correction, and the adjudicator's own with a large one", () => {
    // 38 x 40 of 42 x 40 is 0.905; 37 of 43 is 0.860.
    expect(both.standings(document({ tracks: byId(track(X, "dog", [-2, 0, 40, 40])) })).get("track")?.letters).toEqual(["A"]);
    expect(both.standings(document({ tracks: byId(track(X, "dog", [-3, 0, 40, 40])) })).get("track")).toEqual({ letters: [], kind: "own" });
    expect(both.standings(document({ tracks: byId(track(X, "cat", [0, 0, 40, 40])) })).get("track")).toEqual({ letters: [], kind: "own" });
  });

  it("replaces a box drawn by hand at its place, and no other", () => {
    const drawn = document({ tracks: byId(track(Z, "dog", [5, 5, 40, 40]), track(E, "cat", [200, 200, 40, 40])) });
    expect(both.standings(drawn).get("track")).toEqual({ letters: [], kind: "own" });
    expect(Object.keys(after(drawn, both.take(drawn, dog, "A")).tracks).sort()).toEqual([X, E]);
    expect(Object.keys(after(drawn, both.leaveOut(drawn, dog)).tracks)).toEqual([E]);
  });

  it("whom it lacks is followed by having nothing there", () => {
    const only = about("track", { A: X, B: null });
    const one = new Comparison(sidesOf(mine, document()), [only]);
    expect(one.standings(document()).get("track")).toEqual({ letters: ["B"], kind: "side" });
    const a = after(document(), one.take(document(), only, "A"));
    expect(one.standings(a).get("track")).toEqual({ letters: ["A"], kind: "side" });
    const b = after(a, one.take(a, only, "B"));
    expect(b).toEqual(document());
  });

  it("gets another id where two places would have the same one", () => {
    // Both began with X; A made the dog of it and B the cat.
    const a = document({ tracks: byId(track(X, "dog", [0, 0, 40, 40]), track(Y, "cat", [100, 0, 40, 40])) });
    const b = document({ tracks: byId(track(X, "cat", [110, 0, 40, 40]), track(Z, "dog", [10, 0, 40, 40])) });
    const dogs = about("track", { A: X, B: Z }, { id: "dogs" });
    const cats = about("track", { A: Y, B: X }, { id: "cats" });
    const crossed = new Comparison(sidesOf(a, b), [dogs, cats]);
    let now = after(document(), crossed.take(document(), dogs, "A"));
    now = after(now, crossed.take(now, cats, "B"));
    expect(Object.values(now.tracks).map(({ label }) => label).sort()).toEqual(["cat", "dog"]);
    expect(now.tracks[X]?.label).toBe("dog");
    expect([...crossed.standings(now)].map(([of, { letters }]) => [of, letters])).toEqual([["dogs", ["A"]], ["cats", ["B"]]]);
    now = after(now, crossed.take(now, cats, "A"));
    expect(Object.keys(now.tracks).sort()).toEqual([X, Y]);
  });

  it("leaves alone what all agree on, though an id of it comes again", () => {
    const a = document({ tracks: byId(track(X, "dog", [0, 0, 40, 40])) });
    const b = document({ tracks: byId(track(Y, "dog", [0, 0, 40, 40]), track(X, "cat", [100, 0, 40, 40])) });
    const cat = about("track", { A: null, B: X });
    const agreed = new Comparison(sidesOf(a, b), [cat]);
    const now = after(a, agreed.take(a, cat, "B"));
    expect(now.tracks[X]?.label).toBe("dog");
    expect(Object.keys(now.tracks)).toHaveLength(2);
    expect(after(now, agreed.leaveOut(now, cat))).toEqual(a);
  });

  it("takes sounds the same way, of three people", () => {
    const heard = [event(E, "bark", 0, 1000), event(E, "bark", 0, 1000), event(E, "howl", 0, 1000)];
    const bark = about("event", { A: E, B: E, C: E });
    const three = new Comparison(sidesOf(...heard.map((one) => document({ events: byId(one) }))), [bark]);
    const now = after(document(), three.take(document(), bark, "B"));
    expect(three.standings(now).get("event")).toEqual({ letters: ["A", "B"], kind: "side" });
    expect(after(now, three.take(now, bark, "C")).events[E]?.label).toBe("howl");
  });
});
