// Words that several people underlined in one text: the text cut so that each piece is underlined by the same people. Pure.
import type { Span } from "./text-spans";

export interface LayeredPiece {
  text: string;
  /** Who underlined the piece, in the order of the letters. */
  by: string[];
  /** Whose underline ends with the piece. */
  ends: string[];
}

/** Spans are in code points; they need not be in order. Joined again, the pieces are the text. */
export function layered(text: string, spans: Readonly<Record<string, readonly Span[]>>): LayeredPiece[] {
  const points = [...text];
  const letters = Object.keys(spans).sort();
  const edges = new Set([0, points.length]);
  for (const letter of letters) for (const [start, end] of spans[letter] ?? []) edges.add(start).add(end);
  const cuts = [...edges].filter((edge) => edge >= 0 && edge <= points.length).sort((a, b) => a - b);
  const covers = (letter: string, from: number, to: number): boolean => (spans[letter] ?? []).some(([start, end]) => start <= from && to <= end);
  const stops = (letter: string, at: number): boolean => (spans[letter] ?? []).some(([, end]) => end === at);
  return cuts.slice(1).map((to, k) => {
    const from = cuts[k] ?? 0;
    const by = letters.filter((letter) => covers(letter, from, to));
    return { text: points.slice(from, to).join(""), by, ends: by.filter((letter) => stops(letter, to)) };
  });
}
