// Which stored picture is shown when: decoded from the server's index. A frame is an ordinal, never a time multiplied by a rate.

const MAGIC = "RAPI";
const HEADER_BYTES = 40;

/**
 * Presentation times of all stored pictures, as integer ticks counted from the first one; clip time in seconds is
 * `ticks * num / den`. The quotient of two exact integers is rounded once, so that equal ticks give equal doubles everywhere.
 */
export class PictureIndex {
  readonly n: number;
  readonly num: number;
  readonly den: number;
  /** Tick of the first picture in the source: source time = clip time + this. */
  readonly firstTick: bigint;
  /** n + 1 values: the start of each picture and the end of the last one. */
  readonly #ticks: Float64Array;

  constructor(ticks: Float64Array, num: number, den: number, firstTick = 0n) {
    const n = ticks.length - 1;
    if (n < 1) throw new RangeError("The index holds no picture.");
    if (!Number.isInteger(num) || !Number.isInteger(den) || num < 1 || den < 1) throw new RangeError(`The time base ${num}/${den} is not a positive fraction of whole numbers.`);
    for (let i = 0; i < n; i++) if (!((ticks[i + 1] as number) > (ticks[i] as number))) throw new RangeError(`The pictures of the index do not follow each other in time: picture ${i + 1} does not come after picture ${i}.`);
    // Beyond it a product of ticks is not exact any more; at 90,000 ticks a second that is after 3,000 years.
    if ((ticks[n] as number) * num * 2 > Number.MAX_SAFE_INTEGER) throw new RangeError("The times of the index are too large to be told apart.");
    this.n = n;
    this.num = num;
    this.den = den;
    this.firstTick = firstTick;
    this.#ticks = ticks;
  }

  /** From absolute ticks, as a test or a small file has them. */
  static of(ticks: readonly number[], endTick: number, num: number, den: number): PictureIndex {
    const first = ticks[0] ?? 0;
    return new PictureIndex(Float64Array.from([...ticks, endTick], (tick) => tick - first), num, den, BigInt(first));
  }

  /** From the server's bytes: 40 bytes of header, then n - 1 differences of ticks; all little-endian. */
  static decode(buffer: ArrayBuffer): PictureIndex {
    const view = new DataView(buffer);
    const magic = buffer.byteLength >= 4 ? String.fromCharCode(view.getUint8(0), view.getUint8(1), view.getUint8(2), view.getUint8(3)) : "";
    if (buffer.byteLength < HEADER_BYTES || magic !== MAGIC) throw new RangeError("This is no index of pictures.");
    const version = view.getUint32(4, true);
    if (version !== 1) throw new RangeError(`The index of pictures has version ${version}; this page reads version 1. Reload the page.`);
    const n = Number(view.getBigUint64(8, true));
    if (buffer.byteLength !== HEADER_BYTES + 4 * (n - 1)) throw new RangeError(`The index of pictures is cut: it should hold ${n} pictures in ${HEADER_BYTES + 4 * (n - 1)} bytes and has ${buffer.byteLength}.`);
    const ticks = new Float64Array(n + 1);
    for (let i = 1; i < n; i++) ticks[i] = (ticks[i - 1] as number) + view.getUint32(HEADER_BYTES + 4 * (i - 1), true);
    ticks[n] = (ticks[n - 1] as number) + Number(view.getBigUint64(32, true));
    return new PictureIndex(ticks, view.getUint32(16, true), view.getUint32(20, true), view.getBigInt64(24, true));
  }

  clamp(frame: number): number {
    return Math.min(this.n - 1, Math.max(0, Math.round(frame)));
  }

  /** Start of a picture in seconds of clip time; `n` gives the end of the last one. */
  seconds(frame: number): number {
    return ((this.#ticks[Math.min(this.n, Math.max(0, frame))] as number) * this.num) / this.den;
  }

  /** The only time that names a picture safely: players cut times to microseconds, and a start then falls into the picture before. */
  middle(frame: number): number {
    const at = this.clamp(frame);
    return (((this.#ticks[at] as number) + (this.#ticks[at + 1] as number)) * this.num) / (2 * this.den);
  }

  /** Start of a picture in whole microseconds, rounded down; `n` gives the end. */
  clipUs(frame: number): number {
    const tick = this.#ticks[Math.min(this.n, Math.max(0, frame))] as number;
    const top = tick * this.num * 1e6;
    return top <= Number.MAX_SAFE_INTEGER ? Math.floor(top / this.den) : Number((BigInt(tick) * BigInt(this.num) * 1_000_000n) / BigInt(this.den));
  }

  get durationUs(): number {
    return this.clipUs(this.n);
  }

  get duration(): number {
    return this.seconds(this.n);
  }

  /**
   * The picture shown at a time: the one whose half-open interval holds it; before the first and after the last the nearest.
   * Times are compared as doubles, so that `at(seconds(i))` is `i`.
   */
  at(seconds: number): number {
    return this.#last((frame) => this.seconds(frame) <= seconds);
  }

  /** The picture shown in a whole microsecond, counted from the rounded-down starts: `atUs(clipUs(i))` is `i`. */
  atUs(us: number): number {
    // floor(start) <= us is the same as start < us + 1.
    const below = BigInt(Math.floor(us) + 1) * BigInt(this.den);
    const unit = BigInt(this.num) * 1_000_000n;
    const tick = below <= 0n ? -1 : Number((below + unit - 1n) / unit) - 1;
    return this.#last((frame) => (this.#ticks[frame] as number) <= tick);
  }

  /** The picture that starts nearest to a time: what a player's own report of a picture's time means. */
  nearest(seconds: number): number {
    const before = this.at(seconds);
    if (before + 1 >= this.n) return before;
    return this.seconds(before + 1) - seconds < seconds - this.seconds(before) ? before + 1 : before;
  }

  /** Shortest picture in seconds. */
  get shortest(): number {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.n; i++) least = Math.min(least, (this.#ticks[i + 1] as number) - (this.#ticks[i] as number));
    return (least * this.num) / this.den;
  }

  #last(holds: (frame: number) => boolean): number {
    let low = 0;
    let high = this.n - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (holds(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
