import { describe, expect, it } from "vitest";
import { PictureIndex } from "../../lib/video/index";
import { FRAMES, INDEX, trackOf } from "../video-refine/testing";
import { createFilm, firstSeen } from "./film";
import { whyNot } from "./open";
import { rowsOf } from "./rows";
import { overlapWords } from "./screen";
import { CAT, DOG, MINE, answer, filmOf, filmPayload, reference } from "./testing";

describe("boxes of a frame", () => {
  it("are solid for the reference and dashed for an answer, and go with the objects", () => {
    const { film } = filmOf();
    const drawn = film.drawnAt(20).map(({ id, source, box }) => ({ id, source, box }));
    expect(drawn).toEqual([
      { id: `reference-1:${DOG}`, source: "human", box: [0, 0, 40, 40] },
      { id: `answer-7:${MINE}`, source: "model", box: [0, 20, 40, 40] },
    ]);
    expect(film.drawnAt(45).map((one) => one.id)).toEqual([`answer-7:${MINE}`]);
  });

  it("of an answer that is switched off are not drawn", () => {
    const { film } = filmOf();
    film.toggle("answer-7");
    expect(film.drawnAt(20).map((one) => one.id)).toEqual([`reference-1:${DOG}`]);
    expect(film.overlapsAt(20)).toEqual([]);
    film.toggle("answer-7");
    expect(film.drawnAt(20)).toHaveLength(2);
  });

  it("are set side by side: 40 x 20 shared of 40 x 60 is a third", () => {
    const { film } = filmOf();
    expect(film.overlapsAt(20)).toEqual([{ name: "model-a, all cues", iou: 1 / 3, pairs: [{ label: "dog", iou: 1 / 3 }] }]);
    expect(film.overlapsAt(45)).toEqual([]);
  });

  it("use each box once, and a box too many counts against the frame", () => {
    const side = answer();
    const { film } = filmOf(filmPayload({ answers: [{ ...side, tracks: { ...side.tracks, second: trackOf("second", "dog", { 0: [0, 20, 40, 40] }, [[0, 100]]) } }] }));
    const [found] = film.overlapsAt(20);
    expect(found?.pairs).toEqual([{ label: "dog", iou: 1 / 3 }]);
    expect(found?.iou).toBeCloseTo(1 / 6, 12);
  });

  it("are paired for the largest sum as the scores pair them, not the best pair first", () => {
    // Widths of 100 by 10. The left box meets one shifted by 25 (75 / 125 = 0.6) and one cut to half (0.5); the right box meets
    // only the first, shifted by 60 (40 / 160 = 0.25). The best pair first gives 0.6 + 0; the best sum is 0.5 + 0.25.
    const a = trackOf("a", "left", { 0: [0, 0, 100, 10] }, [[0, 100]]);
    const b = trackOf("b", "right", { 0: [85, 0, 100, 10] }, [[0, 100]]);
    const one = trackOf("c", "one", { 0: [25, 0, 100, 10] }, [[0, 100]]);
    const half = trackOf("d", "half", { 0: [0, 0, 50, 10] }, [[0, 100]]);
    const { film } = filmOf(filmPayload({ reference: { ...reference(), tracks: { a, b } }, answers: [{ ...answer(), tracks: { c: one, d: half } }] }));
    const [found] = film.overlapsAt(20);
    expect(found?.pairs).toEqual([{ label: "left", iou: 0.5 }, { label: "right", iou: 0.25 }]);
    expect(found?.iou).toBe(0.375);
    expect(found && overlapWords(found)).toBe("0.38 (left 0.50, right 0.25)");
  });

  it("of an answer have their tags under them, those of the reference over them", () => {
    const { film } = filmOf(filmPayload({ answers: [answer(), { ...answer(), id: "answer-8" }] }));
    expect(film.drawnAt(20).map((one) => one.below)).toEqual([undefined, 0, 1]);
  });

  it("have no pair without a reference", () => {
    const { film } = filmOf(filmPayload({ reference: null }));
    expect(film.overlapsAt(20)).toEqual([]);
    expect(film.drawnAt(20)).toHaveLength(1);
  });
});

describe("what is shown and played", () => {
  it("an object stops the clip where it is seen inside the cited times", async () => {
    const { film, player } = filmOf();
    // 3.3 s is frame 82: the cat is there from 80 on.
    await film.showTrack(reference(), CAT, [[3_280_000, 3_400_000]]);
    expect(player.frame.value).toBe(82);
    expect(film.lit.value).toBe(`reference-1:${CAT}`);
    expect(film.drawnAt(82).find((one) => one.selected)?.label).toBe("cat");
  });

  it("without such a time at its first frame", () => {
    const cat = reference().tracks[CAT];
    expect(cat && firstSeen(cat, INDEX, [])).toBe(50);
    expect(cat && firstSeen(cat, INDEX, [[0, 1_000_000]])).toBe(50);
  });

  it("a span is played once, from its first to its last frame", async () => {
    const { film, played } = filmOf();
    await film.playSpan([400_000, 800_000]);
    // 0.4 s begins frame 10; 0.8 s is the end of frame 19.
    expect(played).toEqual([{ start: 10, end: 20, loop: false }]);
  });
});

describe("lanes", () => {
  it("hold what is cited, objects, sounds and speech in that order", () => {
    const { film } = filmOf();
    expect(rowsOf(film).map((row) => [row.name, row.spans.length])).toEqual([
      ["human, visual", 1],
      ["human, audio", 1],
      ["model-a, all cues, visual", 1],
      ["dog", 1],
      ["cat", 2],
      ["Sounds", 1],
      ["dog (model-a, all cues)", 1],
      ["Speech", 1],
    ]);
  });

  it("show a cited point instead of playing nothing", () => {
    const { film, player, played } = filmOf();
    rowsOf(film)[1]?.spans[0]?.pick();
    expect(player.frame.value).toBe(10);
    expect(played).toEqual([]);
  });

  it("show a part of a long clip around the playhead when one looks closer", () => {
    // Two hours by 4, five times, are 7.03 s; once more would be less than 4 s.
    const { film, player } = filmOf(filmPayload({ video: { ...filmPayload().video, duration_us: 7_200_000_000 } }));
    expect(film.mostZoom).toBe(5);
    film.zoomBy(4);
    expect(film.span.value).toEqual([0, 28_125_000]);
    player.wanted.value = FRAMES - 1;
    film.zoomBy(9);
    expect(film.zoom.value).toBe(5);
    expect(film.span.value[1] - film.span.value[0]).toBe(7_031_250);
    film.zoomBy(-9);
    expect(film.span.value).toEqual([0, 7_200_000_000]);
  });

  it("turn the page with the playhead", () => {
    // A picture a second: 100 s, in four parts of 25 s once one looks closer.
    const index = PictureIndex.of(Array.from({ length: 100 }, (_, k) => k), 100, 1, 1);
    const { player } = filmOf();
    const film = createFilm(filmPayload({ video: { ...filmPayload().video, duration_us: 100_000_000 } }), index, player, { muted: false } as HTMLVideoElement);
    film.zoomBy(1);
    expect(film.span.value).toEqual([0, 25_000_000]);
    player.frame.value = 30;
    expect(film.span.value).toEqual([25_000_000, 50_000_000]);
    player.wanted.value = 99;
    expect(film.span.value).toEqual([75_000_000, 100_000_000]);
  });

  it("put many objects together", () => {
    const side = reference();
    const dog = side.tracks[DOG] as NonNullable<(typeof side.tracks)[string]>;
    const tracks = Object.fromEntries(Array.from({ length: 9 }, (_, k) => [`t${k}`, { ...dog, id: `t${k}` }]));
    const rows = rowsOf(filmOf(filmPayload({ reference: { ...side, tracks }, answers: [] })).film);
    expect(rows.find((row) => row.name === "3 other objects")?.spans).toHaveLength(3);
  });
});

describe("a clip that cannot be played", () => {
  const state = (playback: unknown) => whyNot(filmPayload({ video: { ...filmPayload().video, playback: playback as never } }));
  it("says why", () => {
    expect(whyNot(filmPayload())).toBe("");
    expect(state({ state: "ready" })).toBe("");
    expect(whyNot(filmPayload({ why_not: "Gone." }))).toBe("Gone.");
    expect(state({ state: "failed", message: "Too large." })).toContain("Too large.");
    expect(state({ state: "making" })).toContain("being prepared");
    expect(state({ state: "none" })).toContain("page of the video");
    expect(state({ state: "unavailable" })).toContain("is not there");
  });
});
