import { describe, expect, it, vi } from "vitest";
import { ClipPlayer } from "./clip-player";

/** A player without pictures: its time is moved by the test. */
class FakeVideo extends EventTarget {
  currentTime = 0;
  duration = 10;
  paused = true;
  play = vi.fn(async () => {
    this.paused = false;
  });
  focus(): void {}
  pause(): void {
    this.paused = true;
    this.dispatchEvent(new Event("pause"));
  }
  at(seconds: number): void {
    this.currentTime = seconds;
    this.dispatchEvent(new Event("timeupdate"));
  }
}
const make = () => {
  const video = new FakeVideo();
  const player = new ClipPlayer();
  player.attach(video as never);
  return { video, player };
};

describe("a cited stretch", () => {
  it("is played once from its start to its end", () => {
    const { video, player } = make();
    player.span(1_500_000, 3_000_000);
    expect([video.currentTime, video.paused]).toEqual([1.5, false]);
    video.at(2.9);
    expect(video.paused).toBe(false);
    video.at(3.1);
    expect(video.paused).toBe(true);
    player.toggle();
    video.at(3.2);
    expect(video.paused).toBe(false);
  });

  it("that is a moment is only shown, and one beyond the clip ends with it", () => {
    const { video, player } = make();
    player.span(2_000_000, 2_000_000);
    expect([video.currentTime, video.paused]).toEqual([2, true]);
    player.span(99_000_000, 99_000_000);
    expect(video.currentTime).toBe(10);
  });

  it("holds nobody who moves the playhead away", () => {
    const { video, player } = make();
    player.span(1_000_000, 2_000_000);
    video.at(7);
    expect(video.paused).toBe(false);
  });

  it("does no harm where playing is refused or no clip is there", async () => {
    const { video, player } = make();
    video.play.mockRejectedValueOnce(new Error("Not allowed."));
    player.span(1_000_000, 2_000_000);
    await Promise.resolve();
    await Promise.resolve();
    expect(video.currentTime).toBe(1);
    player.attach(null);
    player.span(0, 1);
    player.toggle();
    player.jump(1);
    expect(video.currentTime).toBe(1);
  });

  it("of an earlier clip does not stop the next one", () => {
    const { video, player } = make();
    player.span(1_000_000, 2_000_000);
    const next = new FakeVideo();
    player.attach(next as never);
    next.paused = false;
    next.at(2.1);
    expect(next.paused).toBe(false);
    video.at(2.1);
    expect(video.paused).toBe(false);
  });
});

describe("jumps", () => {
  it("do not go before the start", () => {
    const { video, player } = make();
    player.jump(-2);
    expect(video.currentTime).toBe(0);
    player.jump(2);
    expect(video.currentTime).toBe(2);
  });
});
