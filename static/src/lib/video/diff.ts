// What changed between two texts, word by word. Pure.

export interface Part {
  kind: "same" | "gone" | "new";
  text: string;
}

const words = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}_'’]+|[^\s\p{L}\p{N}_]/gu) ?? [];

/** Beyond this a comparison word by word would take longer than anybody waits. */
const MOST_CELLS = 4_000_000;

/** The shortest list of parts by the longest common run of words. Long texts that differ much are shown as a whole. */
export function diff(before: string, after: string): Part[] {
  const [a, b] = [words(before), words(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const parts: Part[] = [];
  const add = (kind: Part["kind"], text: string): void => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text) parts.push({ kind, text });
  };
  add("same", a.slice(0, start).join(""));
  if (x.length * y.length > MOST_CELLS) {
    add("gone", x.join(""));
    add("new", y.join(""));
  } else {
    const width = y.length + 1;
    const lengths = new Uint32Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) lengths[i * width + j] = x[i] === y[j] ? (lengths[(i + 1) * width + j + 1] as number) + 1 : Math.max(lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number);
    let [i, j] = [0, 0];
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) {
        add("same", x[i] as string);
        i++;
        j++;
      } else if (i < x.length && (j === y.length || (lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number))) add("gone", x[i++] as string);
      else add("new", y[j++] as string);
    }
  }
  add("same", end ? a.slice(-end).join("") : "");
  return parts;
}
