// The sound's outline: least and greatest sample of each stretch, in levels that are each four times coarser. Pure but for the loader.
// Level 0 has `rate` points a second; a point is two signed bytes, least and greatest, of full scale 127.

export const LEVEL_FACTOR = 4;
/** Points of one tile: what is asked for at once. */
export const TILE_POINTS = 16_384;

export interface PeakFacts {
  /** Points a second of level 0. */
  rate: number;
  levels: number;
}

/** The coarsest level that still has a point for each pixel. */
export function levelFor({ rate, levels }: PeakFacts, usPerPx: number): number {
  const perPx = (rate * usPerPx) / 1e6;
  let level = 0;
  while (level + 1 < levels && perPx >= LEVEL_FACTOR ** (level + 1)) level++;
  return level;
}

export const rateOf = ({ rate }: PeakFacts, level: number): number => rate / LEVEL_FACTOR ** level;

/** Points of a level that lie in [startUs, endUs) of clip time. `offsetUs` is the clip time of the first sample. */
export function pointsIn(facts: PeakFacts, level: number, offsetUs: number, startUs: number, endUs: number): [first: number, end: number] {
  const rate = rateOf(facts, level);
  return [Math.max(0, Math.floor(((startUs - offsetUs) / 1e6) * rate)), Math.max(0, Math.ceil(((endUs - offsetUs) / 1e6) * rate) + 1)];
}

/** Greatest distance from silence in a stretch, 0 to 1; null where nothing is loaded or the sound has ended. */
export function loudest(points: Int8Array, from: number, to: number): number | null {
  let most: number | null = null;
  for (let k = Math.max(0, from); k < to && 2 * k + 1 < points.length; k++) most = Math.max(most ?? 0, -(points[2 * k] as number), points[2 * k + 1] as number);
  return most === null ? null : Math.min(1, most / 127);
}

/** Least and greatest of each pixel, from points that begin at `first`; pixels without points are left at 0, 0. */
export function columns(tile: (point: number) => readonly [number, number] | null, facts: PeakFacts, level: number, offsetUs: number, startUs: number, usPerPx: number, width: number): Int8Array {
  const rate = rateOf(facts, level);
  const out = new Int8Array(2 * width);
  for (let px = 0; px < width; px++) {
    const from = ((startUs + px * usPerPx - offsetUs) / 1e6) * rate;
    const first = Math.floor(from);
    const last = Math.max(first, Math.ceil(from + (usPerPx / 1e6) * rate) - 1);
    let low = 127;
    let high = -128;
    for (let point = first; point <= last; point++) {
      const pair = tile(point);
      if (!pair) continue;
      low = Math.min(low, pair[0]);
      high = Math.max(high, pair[1]);
    }
    if (high >= low) {
      out[2 * px] = low;
      out[2 * px + 1] = high;
    }
  }
  return out;
}

export type LoadPeaks = (level: number, start: number, count: number) => Promise<Int8Array>;

/** Tiles of all levels, loaded when somebody looks; the least recently seen ones go. */
export class PeakTiles {
  readonly facts: PeakFacts;
  readonly #load: LoadPeaks;
  readonly #changed: () => void;
  readonly #most: number;
  readonly #tiles = new Map<string, Int8Array | "loading" | "failed">();
  #failed = false;

  constructor(facts: PeakFacts, load: LoadPeaks, changed: () => void, most = 64) {
    this.facts = facts;
    this.#load = load;
    this.#changed = changed;
    this.#most = most;
  }

  /** Whether some of the sound could not be loaded. */
  get failed(): boolean {
    return this.#failed;
  }

  point(level: number, point: number): readonly [number, number] | null {
    if (point < 0) return null;
    const tile = this.#tile(level, Math.floor(point / TILE_POINTS));
    const at = 2 * (point % TILE_POINTS);
    return tile && at + 1 < tile.length ? [tile[at] as number, tile[at + 1] as number] : null;
  }

  retry(): void {
    this.#failed = false;
    for (const [key, tile] of this.#tiles) if (tile === "failed") this.#tiles.delete(key);
    this.#changed();
  }

  #tile(level: number, number: number): Int8Array | null {
    const key = `${level}/${number}`;
    const kept = this.#tiles.get(key);
    if (kept) {
      if (typeof kept === "string") return null;
      return kept;
    }
    this.#tiles.set(key, "loading");
    this.#load(level, number * TILE_POINTS, TILE_POINTS).then(
      (points) => {
        this.#tiles.delete(key);
        this.#tiles.set(key, points);
        for (const old of this.#tiles.keys()) {
          if (this.#tiles.size <= this.#most) break;
          if (this.#tiles.get(old) !== "loading") this.#tiles.delete(old);
        }
        this.#changed();
      },
      () => {
        this.#tiles.set(key, "failed");
        this.#failed = true;
        this.#changed();
      },
    );
    return null;
  }
}
