// Words of a transcript: joined to pieces that are read at once, and which of them is said at a time. Pure; `pieces` has a twin
// in Python (videos/core/speech.py) and a table that both run.

/** A word, or a cue of a file, in microseconds of clip time. */
export interface Said {
  start_us: number;
  end_us: number;
  text: string;
}

const PAUSE_US = 600_000;
const LONGEST = 80;
const ENDS = /[.?!…]["'”’)»]*$/;

/** Pieces end after a full stop, question or exclamation mark, before a pause of 0.6 s, and before 80 characters; a cue of several words stands alone. */
export function pieces(words: readonly Said[]): Said[] {
  const found: Said[] = [];
  let open = false;
  for (const { start_us, end_us, text } of words) {
    const alone = /\S\s+\S/.test(text);
    const last = found[found.length - 1];
    if (open && !alone && last) {
      const joined = `${last.text} ${text}`;
      if (start_us - last.end_us < PAUSE_US && [...joined].length <= LONGEST) {
        found[found.length - 1] = { start_us: last.start_us, end_us: Math.max(last.end_us, end_us), text: joined };
        open = !ENDS.test(text);
        continue;
      }
    }
    found.push({ start_us, end_us, text });
    open = !alone && !ENDS.test(text);
  }
  return found;
}

/** Place of the first that begins at or after a time; the length where none does. */
export function firstFrom(said: readonly Said[], us: number): number {
  let low = 0;
  let high = said.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((said[middle] as Said).start_us < us) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Place of what is said in [from, to), the latest of several; -1 in a pause. */
export function saidAt(said: readonly Said[], from: number, to: number): number {
  const place = firstFrom(said, to) - 1;
  const last = said[place];
  return last && last.end_us > from ? place : -1;
}

/** Mean microseconds of a letter while somebody speaks; 0 without words. Divided by the zoom it says whether single words can be read. */
export function letterUs(joined: readonly Said[]): number {
  const letters = joined.reduce((sum, { text }) => sum + text.length + 1, 0);
  return letters ? joined.reduce((sum, { start_us, end_us }) => sum + end_us - start_us, 0) / letters : 0;
}
