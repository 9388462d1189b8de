// The player against a video element in memory that behaves as measured: late pictures, cut times, silent repeats.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PictureIndex } from "../../lib/video/index";
import type { PlayerVideo } from "./player";
import { Player } from "./player";

/** Phone-like: uneven pictures in 90,000 ticks a second. */
const TICKS = [0, 3003, 6006, 9009, 9900, 15000, 18003, 21006, 24009, 27012];
const index = PictureIndex.of(TICKS, 30015, 1, 90000);

class FakeVideo extends EventTarget {
  readyState = 4;
  videoWidth = 640;
  playbackRate = 1;
  paused = true;
  error: { code: number } | null = null;
  seeks: number[] = [];
  seekMs = 20;
  reportMs = 10;
  /** Shows the picture of a time that is this much off: files without an edit list. */
  offset = 0;
  muteReports = false;
  /** Pictures before a keyframe that no seek reaches: the one before them is shown. */
  unreachable = new Set<number>();
  #time = 0;
  #callbacks: ((now: number, metadata: { mediaTime: number }) => void)[] = [];
  #shown = -1;
  #pending: ReturnType<typeof setTimeout> | undefined;

  get currentTime(): number {
    return this.#time;
  }
  set currentTime(value: number) {
    this.#time = Math.floor(value * 1e6) / 1e6;
    this.seeks.push(value);
    clearTimeout(this.#pending);
    this.#pending = setTimeout(() => {
      this.dispatchEvent(new Event("seeked"));
      const frame = index.at(this.#time + this.offset);
      setTimeout(() => this.present(this.unreachable.has(frame) ? frame - 1 : frame), this.reportMs);
    }, this.seekMs);
  }
  requestVideoFrameCallback(callback: (now: number, metadata: { mediaTime: number }) => void): number {
    this.#callbacks.push(callback);
    return 1;
  }
  cancelVideoFrameCallback(): void {
    this.#callbacks = [];
  }
  /** The browser says nothing when the picture stays the same. */
  present(frame: number): void {
    if (frame === this.#shown || this.muteReports) return;
    this.#shown = frame;
    const mediaTime = Math.floor(index.seconds(frame) * 1e6) / 1e6;
    for (const callback of this.#callbacks.splice(0)) callback(0, { mediaTime });
  }
  async play(): Promise<void> {
    this.paused = false;
    this.dispatchEvent(new Event("play"));
  }
  pause(): void {
    this.paused = true;
    this.dispatchEvent(new Event("pause"));
  }
}

class FakePage extends EventTarget {
  visibilityState: DocumentVisibilityState = "visible";
}

let video: FakeVideo;
let page: FakePage;
const open = (change: Partial<FakeVideo> = {}): Player => {
  video = Object.assign(new FakeVideo(), change);
  page = new FakePage();
  return new Player(video as unknown as PlayerVideo, index, page as unknown as Document);
};
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("seeking", () => {
  it("asks for the middle of a picture and believes only the report", async () => {
    const player = open();
    void player.seek(4);
    expect([player.exact.value, player.wanted.value, player.frame.value]).toEqual([false, 4, 0]);
    await pass(25);
    expect(player.exact.value).toBe(false); // "seeked", but no picture yet
    await pass(10);
    expect([player.frame.value, player.exact.value, player.wanted.value]).toEqual([4, true, null]);
    expect(video.seeks).toEqual([(9900 + 15000) / 2 / 90000]);
  });

  it("reaches every picture, forwards and backwards", async () => {
    const player = open();
    for (const frame of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 3, 0]) {
      void player.seek(frame);
      await pass(200);
      expect([player.frame.value, player.exact.value]).toEqual([frame, true]);
    }
  });

  it("has one seek under way and then goes to the newest wish only", async () => {
    const player = open();
    for (const frame of [1, 2, 3, 7]) void player.seek(frame);
    expect(video.seeks.length).toBe(0); // waits for a microtask, so that wishes of one moment are one
    await pass(400);
    expect(video.seeks).toEqual([index.middle(7)]);
    void player.seek(2);
    await pass(1);
    for (const frame of [3, 4, 5]) void player.seek(frame);
    await pass(400);
    expect(video.seeks.slice(1)).toEqual([index.middle(2), index.middle(5)]);
    expect([player.frame.value, player.exact.value]).toEqual([5, true]);
  });

  it("is exact when the picture is there already and no report comes", async () => {
    const player = open();
    void player.seek(3);
    await pass(200);
    void player.seek(3);
    await pass(25);
    expect(player.exact.value).toBe(false);
    await pass(160);
    expect([player.frame.value, player.exact.value]).toEqual([3, true]);
  });

  it("corrects a file that shows the picture before, and says so when it cannot", async () => {
    const player = open({ offset: -0.02 });
    void player.seek(2);
    await pass(600);
    expect([player.frame.value, player.exact.value]).toEqual([2, true]);
    expect(video.seeks.length).toBe(2);
    video.offset = 0;
    video.unreachable.add(7);
    void player.seek(7);
    await pass(2000);
    expect(video.seeks.length).toBe(2 + 3);
    expect([player.frame.value, player.exact.value]).toEqual([6, false]);
  });

  it("is not exact when nothing was ever reported", async () => {
    const player = open({ muteReports: true });
    void player.seek(2);
    await pass(1000);
    expect([player.exact.value, player.wanted.value]).toEqual([false, null]);
  });

  it("steps from the picture that was asked for, not from the one still shown", async () => {
    const player = open();
    void player.step(1);
    void player.step(1);
    void player.step(1);
    await pass(400);
    expect(player.frame.value).toBe(3);
    void player.jump(-1);
    await pass(400);
    expect(player.frame.value).toBe(0);
    // 3 ms are less than a picture lasts: the next one all the same
    void player.jump(0.003);
    await pass(400);
    expect(player.frame.value).toBe(1);
  });

  it("stays inside the clip", async () => {
    const player = open();
    void player.seek(400);
    await pass(400);
    expect(player.frame.value).toBe(9);
    void player.step(5);
    await pass(400);
    expect([player.frame.value, player.exact.value]).toEqual([9, true]);
  });
});

describe("playing", () => {
  it("publishes each picture that is reported, and settles on the last after a pause", async () => {
    const player = open();
    void player.seek(0);
    await pass(200);
    void player.play();
    await pass(1);
    expect(player.playing.value).toBe(true);
    for (const frame of [1, 2, 3]) {
      video.present(frame);
      expect(player.frame.value).toBe(frame);
    }
    player.pause();
    expect(player.exact.value).toBe(false);
    video.present(4); // one more comes after "pause"
    await pass(400);
    expect([player.frame.value, player.exact.value, player.playing.value]).toEqual([4, true, false]);
  });

  it("plays a range once and stays on its last picture", async () => {
    const player = open();
    void player.playRange({ start: 2, end: 5, loop: false });
    await pass(200);
    expect(player.playing.value).toBe(true);
    for (const frame of [3, 4, 5]) video.present(frame);
    await pass(300);
    expect([player.frame.value, player.playing.value, player.range.value]).toEqual([4, false, null]);
  });

  it("goes back to the start of a loop without stopping", async () => {
    const player = open();
    void player.playRange({ start: 2, end: 5, loop: true });
    await pass(200);
    for (const frame of [3, 4, 5]) video.present(frame);
    await pass(100);
    expect(video.seeks.at(-1)).toBe(index.middle(2));
    expect([player.frame.value, player.playing.value]).toEqual([2, true]);
    player.leaveRange();
    for (const frame of [3, 4, 5, 6]) video.present(frame);
    expect([player.frame.value, player.playing.value]).toEqual([6, true]);
  });

  it("starts again from the beginning at the end of the clip", async () => {
    const player = open();
    void player.seek(9);
    await pass(200);
    void player.play();
    await pass(200);
    expect(player.frame.value).toBe(0);
  });

  it("pauses when the tab is hidden", async () => {
    const player = open();
    void player.play();
    await pass(50);
    page.visibilityState = "hidden";
    page.dispatchEvent(new Event("visibilitychange"));
    expect(video.paused).toBe(true);
  });

  it("plays backwards by showing earlier pictures, and stops at the first", async () => {
    const player = open({ seekMs: 2, reportMs: 2 });
    void player.seek(9);
    await pass(200);
    player.shuttle(-1);
    await pass(100);
    expect(player.playing.value).toBe(true);
    expect(player.frame.value).toBeLessThan(8);
    expect(player.frame.value).toBeGreaterThan(3);
    await pass(600);
    expect([player.frame.value, player.playing.value, player.rate.value]).toEqual([0, false, 1]);
    player.shuttle(2);
    await pass(50);
    expect([video.playbackRate, player.playing.value]).toEqual([2, true]);
    player.shuttle(0);
    expect(video.paused).toBe(true);
  });
});

describe("what goes wrong", () => {
  it("says so where the browser reports no pictures", () => {
    video = new FakeVideo();
    Object.defineProperty(video, "requestVideoFrameCallback", { value: undefined });
    const player = new Player(video as unknown as PlayerVideo, index, new FakePage() as unknown as Document);
    expect(player.problem.value?.kind).toBe("no_callback");
  });

  it("says so when there is sound but no picture", () => {
    const player = open({ videoWidth: 0 });
    expect(player.problem.value?.kind).toBe("no_picture");
  });

  it("says so on a media error, and asks for nothing more", async () => {
    const player = open();
    video.error = { code: 4 };
    video.dispatchEvent(new Event("error"));
    expect(player.problem.value).toMatchObject({ kind: "media" });
    const before = video.seeks.length;
    void player.seek(3);
    await pass(200);
    expect(video.seeks.length).toBe(before);
  });

  it("says that it waits for the network, and lets a newer wish go first", async () => {
    const player = open({ seekMs: 60_000 });
    void player.seek(3);
    await pass(1300);
    expect(player.stalled.value).toBe(true);
    video.seekMs = 20;
    void player.seek(5);
    await pass(1000);
    expect([player.frame.value, player.exact.value, player.stalled.value]).toEqual([5, true, false]);
  });
});
