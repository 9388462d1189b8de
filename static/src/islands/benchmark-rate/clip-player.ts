// Plays the stretch of the clip that a cue cites, in the browser's own player.

/** What of a video element is used. */
export type Playable = Pick<HTMLVideoElement, "currentTime" | "duration" | "paused" | "play" | "pause" | "addEventListener" | "removeEventListener" | "focus">;

/** Whoever moves the playhead further than this past the end wants to see something else. */
const SLACK_S = 0.75;

export class ClipPlayer {
  #video: Playable | null = null;
  /** Seconds at which to stop; null: play on. */
  #end: number | null = null;
  #off = new AbortController();

  attach(video: Playable | null): void {
    this.#off.abort();
    this.#off = new AbortController();
    this.#end = null;
    this.#video = video;
    if (!video) return;
    const { signal } = this.#off;
    video.addEventListener("timeupdate", () => this.#look(), { signal });
    video.addEventListener("pause", () => (this.#end = null), { signal });
  }

  /** Plays from start to end (microseconds) once; a point is only shown. */
  span(startUs: number, endUs: number): void {
    const video = this.#video;
    if (!video) return;
    const point = endUs <= startUs;
    if (!video.paused) video.pause();
    const last = Number.isFinite(video.duration) ? video.duration : Infinity;
    video.currentTime = Math.min(startUs / 1e6, last);
    if (point) return;
    this.#end = endUs / 1e6;
    // Refused (no sound before somebody touched the page): the playhead is in place, and the button is there.
    void Promise.resolve(video.play()).catch(() => (this.#end = null));
  }

  toggle(): void {
    const video = this.#video;
    if (!video) return;
    if (video.paused) {
      this.#end = null;
      void Promise.resolve(video.play()).catch(() => undefined);
    } else video.pause();
  }

  jump(seconds: number): void {
    const video = this.#video;
    if (video) video.currentTime = Math.max(0, video.currentTime + seconds);
  }

  #look(): void {
    const video = this.#video;
    if (!video || this.#end === null || video.currentTime < this.#end) return;
    if (video.currentTime > this.#end + SLACK_S) this.#end = null;
    else video.pause();
  }
}
