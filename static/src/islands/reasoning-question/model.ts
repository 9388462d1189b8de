// What follows from the page's document without drawing anything: chains with their scores, pairs, words.
import type { ChainScore, Fact, Matrix, PageChain, QuestionPage } from "./types";

/** correct and incorrect against the gold answer; none: no answer that could be read; unjudged: no gold answer. */
export type Outcome = "correct" | "incorrect" | "none" | "unjudged";

export interface Chain {
  number: number;
  name: string;
  answer: string | null;
  outcome: Outcome;
  page: PageChain;
  score: ChainScore | null;
  /** Why it is not in the pool, "" where it is or where nothing was scored yet. */
  excluded: string;
}

export interface Model {
  chains: Map<number, Chain>;
  /** Best first; before the first score by number. */
  pool: Chain[];
  excluded: Chain[];
  medoid: number | null;
}

export const chainName = (number: number): string => String(number).padStart(2, "0");
export const answerWord = (answer: string | null): string => answer ?? "no answer";

export function buildModel(page: QuestionPage): Model {
  const scores = new Map((page.document?.chains ?? []).map((entry) => [entry.chain, entry]));
  const gold = page.question.gold_normal;
  const chains = new Map<number, Chain>();
  for (const own of page.chains) {
    const score = scores.get(own.chain) ?? null;
    const answer = score ? score.answer : own.normal;
    const correct = score ? score.correct : gold === null ? null : answer === gold;
    chains.set(own.chain, {
      number: own.chain,
      name: chainName(own.chain),
      answer,
      outcome: answer === null ? "none" : correct === null ? "unjudged" : correct ? "correct" : "incorrect",
      page: own,
      score,
      excluded: own.excluded,
    });
  }
  const all = [...chains.values()];
  const pool = all.filter((chain) => !chain.excluded).sort((a, b) => (a.score?.rank ?? a.number) - (b.score?.rank ?? b.number));
  return { chains, pool, excluded: all.filter((chain) => chain.excluded), medoid: page.document?.medoid ?? null };
}

/** The chain to set beside another one: the medoid, or beside the medoid the best chain with another answer. */
export function partnerOf(model: Model, number: number): number | null {
  if (model.medoid !== null && number !== model.medoid) return model.medoid;
  const own = model.chains.get(number);
  const others = model.pool.filter((chain) => chain.number !== number);
  return (others.find((chain) => chain.answer !== null && chain.answer !== own?.answer) ?? others[0])?.number ?? null;
}

export interface Pair {
  d: number;
  nged: number;
  s_term: number;
  s_struct: number;
}

/** Place of the pair (i, j), i < j, in an upper triangle of n rows without its diagonal. */
export const pairIndex = (i: number, j: number, n: number): number => (i * (2 * n - i - 1)) / 2 + (j - i - 1);

/** Reads pairs by the numbers of two different chains; null where one of them is not in the matrix. */
export function pairReader(matrix: Matrix): (a: number, b: number) => Pair | null {
  const place = new Map(matrix.chains.map((number, index) => [number, index]));
  const n = matrix.chains.length;
  return (a, b) => {
    const [i, j] = [place.get(a), place.get(b)];
    if (i === undefined || j === undefined || i === j) return null;
    const at = pairIndex(Math.min(i, j), Math.max(i, j), n);
    const [d, nged, s_term, s_struct] = [matrix.d[at], matrix.nged[at], matrix.s_term[at], matrix.s_struct[at]];
    return d === undefined || nged === undefined || s_term === undefined || s_struct === undefined ? null : { d, nged, s_term, s_struct };
  };
}

/** Positions in an order of chains where another answer begins. */
export function answerBreaks(order: readonly number[], model: Model): number[] {
  const breaks: number[] = [];
  order.forEach((number, k) => {
    const before = order[k - 1];
    if (before !== undefined && model.chains.get(before)?.answer !== model.chains.get(number)?.answer) breaks.push(k);
  });
  return breaks;
}

export type SortKey = "chain" | "answer" | "facts" | "centrality" | "consensus" | "score";

/** Chains of the pool by a column; equal ones stay in the order of their score. */
export function sortChains(pool: readonly Chain[], key: SortKey, descending: boolean): Chain[] {
  const value = (chain: Chain): number | string => {
    if (key === "chain") return chain.number;
    if (key === "answer") return chain.answer ?? "￿";
    if (key === "facts") return chain.page.facts.length;
    if (key === "centrality") return chain.score?.centrality_term ?? -Infinity;
    return chain.score?.[key] ?? -Infinity;
  };
  const sign = descending ? -1 : 1;
  return [...pool].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    return x === y ? 0 : sign * (x < y ? -1 : 1);
  });
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Share of common words of two texts, 0 to 1: twice the common ones over all. */
export function sharedWords(first: readonly string[], second: readonly string[]): number {
  const counts = new Map<string, number>();
  if (first.length + second.length === 0) return 0;
  for (const word of first) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of second) {
    const left = counts.get(word) ?? 0;
    if (left > 0) {
      common += 1;
      counts.set(word, left - 1);
    }
  }
  return (2 * common) / (first.length + second.length);
}

export interface Nearest {
  fact: number;
  shared: number;
}

/** For every fact the one of the other chain with most words in common; null where none has one in common. */
export function nearestFacts(facts: readonly Fact[], others: readonly Fact[]): (Nearest | null)[] {
  // Each text is taken apart once: there may be a thousand on either side.
  const there = others.map(([text]) => wordsOf(text));
  return facts.map(([text]) => {
    const own = wordsOf(text);
    let best: Nearest | null = null;
    there.forEach((other, fact) => {
      const shared = sharedWords(own, other);
      if (shared > (best?.shared ?? 0)) best = { fact, shared };
    });
    return best;
  });
}
