// Places in texts: where a search finds something, and where a cursor stands. Pure.

/** `[start, end)` in UTF-16 units of every match, case ignored, white space in the query matching any white space. */
export function findMatches(text: string, query: string): [number, number][] {
  const words = query.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  const pattern = new RegExp(escaped.join("\\s+"), "giu");
  return [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);
}

/** The server counts code points, a text field UTF-16 units: "😀" is one of the first and two of the second. */
export const codePoints = (text: string, units: number): number => [...text.slice(0, units)].length;

/** What stands around a place, for a preview: the last and the first words of both parts; null where a part is empty. */
export function aroundPlace(text: string, units: number, words = 5): { before: string; after: string } | null {
  const before = text.slice(0, units).trim().split(/\s+/).slice(-words).join(" ");
  const after = text.slice(units).trim().split(/\s+/).slice(0, words).join(" ");
  return before && after ? { before, after } : null;
}
