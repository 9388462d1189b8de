// The one clock of the workspace: which stored picture is on the screen. Only the browser's report of a presented picture
// (requestVideoFrameCallback) counts as truth; `currentTime` is cut to microseconds and names the wrong picture too often.
import { batch, signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type { PictureIndex } from "../../lib/video/index";

export type Problem = { kind: "no_callback" | "no_picture" | "media"; sentence: string };

/** What of a video element the player uses. */
export type PlayerVideo = Pick<
  HTMLVideoElement,
  "currentTime" | "playbackRate" | "paused" | "videoWidth" | "readyState" | "error" | "play" | "pause" | "addEventListener" | "removeEventListener"
> & {
  requestVideoFrameCallback?(callback: (now: number, metadata: { mediaTime: number }) => void): number;
  cancelVideoFrameCallback?(handle: number): void;
};

export interface Range {
  /** Frames, half-open. */
  start: number;
  end: number;
  loop: boolean;
}

/** No report comes when the picture asked for is on the screen already; after this the last report holds. */
const REPORT_MS = 150;
/** After "pause" one more picture may still come. */
const PAUSE_MS = 60;
/** Corrected seeks after the first; more never helped in measurements. */
const CORRECTIONS = 2;
/** From then on a seek counts as waiting for the network. */
const STALL_MS = 1200;
const HAVE_METADATA = 1;
const HAVE_FUTURE_DATA = 3;
const BACKWARDS_MS = 15;

export class Player {
  /** The picture on the screen, as last reported. */
  readonly frame: Signal<number>;
  /** Whether that is the picture that was asked for and nothing is under way. Boxes may be changed only then. */
  readonly exact: Signal<boolean> = signal(false);
  readonly playing: Signal<boolean> = signal(false);
  /** Speed: 1 is normal, below 0 backwards. */
  readonly rate: Signal<number> = signal(1);
  /** The picture asked for while it is not there yet; playheads follow it, boxes do not. */
  readonly wanted: Signal<number | null> = signal(null);
  readonly range: Signal<Range | null> = signal(null);
  readonly stalled: Signal<boolean> = signal(false);
  readonly problem: Signal<Problem | null> = signal(null);

  readonly index: PictureIndex;
  readonly #video: PlayerVideo;
  readonly #off = new AbortController();
  /** Time of the picture last reported, and how many reports there were. */
  #media: number | null = null;
  #reports = 0;
  #onReport = new Set<() => void>();
  #callback = 0;
  #seeking: Promise<void> | null = null;
  #target: number | null = null;
  #jumping = false;
  /** The run of playing backwards that is under way. */
  #backwards: object | null = null;
  #stallTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(video: PlayerVideo, index: PictureIndex, page: Pick<Document, "addEventListener" | "visibilityState"> = document) {
    this.#video = video;
    this.index = index;
    this.frame = signal(0);
    if (typeof video.requestVideoFrameCallback !== "function") {
      this.problem.value = { kind: "no_callback", sentence: "This browser does not say which picture it shows, so boxes could land on the wrong one. Use Chromium, Chrome or Edge, version 83 or newer." };
      return;
    }
    this.#listen(page);
    this.#ask();
  }

  /** Shows a picture. While a seek is under way the newest wish wins, and only one is under way at a time. */
  seek(frame: number): Promise<void> {
    if (this.problem.peek()) return Promise.resolve();
    this.#target = this.index.clamp(frame);
    batch(() => {
      this.wanted.value = this.#target;
      this.exact.value = false;
    });
    this.#seeking ??= this.#follow().finally(() => (this.#seeking = null));
    // Nobody waits any more for a picture that is not wanted any more.
    for (const look of [...this.#onReport]) look();
    return this.#seeking;
  }

  /** Frames on or back from the one shown or asked for. */
  step(by: number): Promise<void> {
    this.#halt();
    return this.seek((this.wanted.peek() ?? this.frame.peek()) + by);
  }

  /** To the picture shown `seconds` later (earlier, when negative). */
  jump(seconds: number): Promise<void> {
    this.#halt();
    const from = this.wanted.peek() ?? this.frame.peek();
    const to = this.index.nearest(this.index.seconds(from) + seconds);
    // Pictures may last longer than the jump.
    return this.seek(to === from ? from + Math.sign(seconds) : to);
  }

  async play(): Promise<void> {
    if (this.problem.peek()) return;
    this.#stopBackwards();
    await this.#seeking;
    const { range } = this;
    const at = this.frame.peek();
    const within = range.peek();
    if (within && (at < within.start || at >= within.end - 1)) await this.seek(within.start);
    else if (!within && at >= this.index.n - 1) await this.seek(0);
    this.#video.playbackRate = Math.abs(this.rate.peek()) || 1;
    try {
      await this.#video.play();
    } catch {
      // Refused or stopped meanwhile: the element's own events say what there is to say.
      this.playing.value = !this.#video.paused;
    }
  }

  pause(): void {
    this.#stopBackwards();
    this.#halt();
  }

  toggle(): void {
    if (this.playing.peek()) {
      this.pause();
      this.range.value = this.range.peek()?.loop ? this.range.peek() : null;
    } else void this.play();
  }

  /** Plays frames [start, end) once, or again and again. */
  async playRange(range: Range): Promise<void> {
    this.pause();
    this.range.value = { ...range, start: this.index.clamp(range.start), end: Math.min(this.index.n, Math.max(range.start + 1, range.end)) };
    await this.seek(range.start);
    await this.play();
  }

  /** Stops repeating; what plays plays on. */
  leaveRange(): void {
    this.range.value = null;
  }

  setRate(rate: number): void {
    this.rate.value = rate;
    if (rate > 0) this.#video.playbackRate = rate;
  }

  /** Plays at a speed, backwards below 0, stops at 0. */
  shuttle(speed: number): void {
    if (speed === 0) {
      this.pause();
      return;
    }
    if (speed > 0) {
      this.#stopBackwards();
      this.setRate(speed);
      void this.play();
      return;
    }
    this.#halt();
    this.#stopBackwards();
    batch(() => {
      this.rate.value = speed;
      this.playing.value = true;
      this.range.value = null;
    });
    const turn = {};
    this.#backwards = turn;
    void this.#rewind(this.index.seconds(this.wanted.peek() ?? this.frame.peek()), performance.now(), speed, turn);
  }

  dispose(): void {
    this.#off.abort();
    this.#stopBackwards();
    clearTimeout(this.#stallTimer);
    this.#video.cancelVideoFrameCallback?.(this.#callback);
    this.#onReport.clear();
  }

  // A video element cannot play backwards: pictures are shown one by one, as many as the machine manages.
  async #rewind(from: number, since: number, speed: number, turn: object): Promise<void> {
    while (this.#backwards === turn && !this.#off.signal.aborted) {
      const to = this.index.at(Math.max(0, from + ((performance.now() - since) / 1000) * speed));
      if (to !== this.frame.peek()) await this.seek(to);
      if (this.#backwards !== turn) return;
      if (to === 0) this.#stopBackwards();
      else await new Promise((resolve) => setTimeout(resolve, BACKWARDS_MS));
    }
  }

  #stopBackwards(): void {
    if (!this.#backwards) return;
    this.#backwards = null;
    batch(() => {
      this.playing.value = !this.#video.paused;
      this.rate.value = 1;
    });
  }

  #halt(): void {
    if (this.#video.paused) return;
    // The element tells of its pause later, and one more picture may come: until then nobody knows which one stays.
    this.exact.value = false;
    this.#video.pause();
  }

  async #follow(): Promise<void> {
    await this.#metadata();
    while (this.#target !== null && !this.#off.signal.aborted && !this.problem.peek()) {
      const want: number = this.#target;
      const got = await this.#reach(want);
      if (this.#target !== want) continue;
      this.#target = null;
      batch(() => {
        if (got !== null) this.frame.value = got;
        this.exact.value = got === want;
        this.wanted.value = null;
      });
    }
  }

  /** Seeks to a picture and returns the one that is shown; null when a newer wish came or nothing was ever reported. */
  async #reach(want: number): Promise<number | null> {
    let time = this.index.middle(want);
    for (let tries = 0; ; tries++) {
      const reports = this.#reports;
      if (!(await this.#seekTo(time, want))) return null;
      if (this.#shown() !== want || this.#reports === reports) await this.#report(REPORT_MS, () => this.#target !== want || (this.#shown() === want && this.#reports > reports));
      const got = this.#shown();
      if (got === want || got === null || tries === CORRECTIONS || this.#target !== want) return got;
      // Some files answer every seek with the picture before: ask for as much more as is missing.
      time = Math.max(0, time + this.index.seconds(want) - (this.#media as number));
    }
  }

  /** Sets the time and waits until the element is there; false when a newer wish may go first. */
  #seekTo(time: number, want: number): Promise<boolean> {
    return new Promise((resolve) => {
      const video = this.#video;
      const done = (there: boolean): void => {
        clearTimeout(this.#stallTimer);
        video.removeEventListener("seeked", seeked);
        video.removeEventListener("error", failed);
        this.stalled.value = false;
        resolve(there);
      };
      const seeked = (): void => done(true);
      const failed = (): void => done(false);
      const late = (): void => {
        if (this.#off.signal.aborted || this.#target !== want) return done(false);
        this.stalled.value = true;
        this.#stallTimer = setTimeout(late, STALL_MS / 4);
      };
      video.addEventListener("seeked", seeked);
      video.addEventListener("error", failed);
      this.#stallTimer = setTimeout(late, STALL_MS);
      video.currentTime = time;
    });
  }

  /** Waits for a report of a picture that is the right one, at most so long. */
  #report(ms: number, enough: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#onReport.delete(look);
        resolve();
      };
      const look = (): void => {
        if (enough()) done();
      };
      const timer = setTimeout(done, ms);
      this.#onReport.add(look);
    });
  }

  #shown(): number | null {
    return this.#media === null ? null : this.index.nearest(this.#media);
  }

  #metadata(): Promise<void> {
    if (this.#video.readyState >= HAVE_METADATA) return Promise.resolve();
    return new Promise((resolve) => {
      for (const type of ["loadedmetadata", "error"]) this.#video.addEventListener(type, () => resolve(), { once: true, signal: this.#off.signal });
      this.#off.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #ask(): void {
    this.#callback = this.#video.requestVideoFrameCallback?.((_, { mediaTime }) => this.#presented(mediaTime)) ?? 0;
  }

  #presented(mediaTime: number): void {
    if (this.#off.signal.aborted) return;
    this.#ask();
    this.#media = mediaTime;
    this.#reports++;
    for (const look of [...this.#onReport]) look();
    const frame = this.index.nearest(mediaTime);
    // While a seek is under way this is what is on the screen, but not what was asked for: its own end says when it is.
    if (this.#seeking || this.#jumping) {
      this.frame.value = frame;
      return;
    }
    batch(() => {
      this.frame.value = frame;
      this.exact.value = true;
    });
    const range = this.range.peek();
    if (range && !this.#video.paused && frame >= range.end) this.#endOfRange(range);
  }

  #endOfRange(range: Range): void {
    if (!range.loop) {
      this.range.value = null;
      this.#halt();
      void this.seek(range.end - 1);
      return;
    }
    // Without stopping: the sound of a short loop would be torn otherwise.
    this.#jumping = true;
    this.#video.addEventListener("seeked", () => (this.#jumping = false), { once: true, signal: this.#off.signal });
    this.#video.currentTime = this.index.middle(range.start);
  }

  #listen(page: Pick<Document, "addEventListener" | "visibilityState">): void {
    const { signal: off } = this.#off;
    const on = (type: string, run: () => void): void => this.#video.addEventListener(type, run, { signal: off });
    on("play", () => (this.playing.value = true));
    on("pause", () => void this.#paused());
    on("ended", () => {
      const range = this.range.peek();
      if (range?.loop) void this.play();
    });
    on("waiting", () => (this.stalled.value = this.#video.readyState < HAVE_FUTURE_DATA));
    for (const type of ["playing", "canplay", "seeked"]) on(type, () => (this.stalled.value = false));
    on("loadedmetadata", () => this.#look());
    on("error", () => this.#failed());
    if (this.#video.readyState >= HAVE_METADATA) this.#look();
    if (this.#video.error) this.#failed();
    // Hidden pages get no reports, so nobody would know where the picture is.
    page.addEventListener("visibilitychange", () => page.visibilityState === "hidden" && this.pause(), { signal: off });
  }

  /** The element plays the sound of what it cannot draw, without an error. */
  #look(): void {
    if (this.#video.videoWidth === 0) this.problem.value = { kind: "no_picture", sentence: "This browser cannot draw the pictures of this file, only play its sound. Ask for a playback copy of the video, or use another browser." };
  }

  #failed(): void {
    const code = this.#video.error?.code ?? 0;
    const sentence =
      code === 2
        ? "The video stopped loading: the connection to the server broke. Reload the page when it is back."
        : code === 3
          ? "The video file is damaged at this place and cannot be decoded."
          : code === 4
            ? "The video cannot be played: the file is missing, you may not see it, or the browser does not know its format."
            : "The video cannot be played.";
    batch(() => {
      this.problem.value = { kind: "media", sentence };
      this.playing.value = false;
      this.exact.value = false;
      this.wanted.value = null;
    });
    this.#target = null;
  }

  /** Settles on the picture that stayed on the screen. */
  async #paused(): Promise<void> {
    this.playing.value = this.#backwards !== null;
    if (this.#seeking || this.#target !== null) return;
    this.exact.value = false;
    await this.#report(PAUSE_MS, () => false);
    if (this.#seeking || this.#target !== null || !this.#video.paused || this.#off.signal.aborted) return;
    const shown = this.#shown();
    if (shown !== null) await this.seek(shown);
  }
}
