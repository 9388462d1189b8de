// A question written by hand for the tests: chains 1 and 2 say true (gold), 3 says false, 4 is not in the pool.
import type { ChainScore, PageChain, QuestionPage } from "./types";

export function chainOf(chain: number, answer: string | null, more: Partial<PageChain> = {}): PageChain {
  return {
    chain,
    trace: 100 + chain,
    answer,
    normal: answer,
    excluded: "",
    steps: [
      [1, "Bears are fast.", []],
      [2, "So the bear wins.", [1]],
    ],
    facts: [
      ["Bears are fast", 1, []],
      ["The bear wins", 2, [1]],
    ],
    fact_source: "stored",
    warnings: [],
    fact_warnings: [],
    early: null,
    counterfactual: null,
    ...more,
  };
}

export function scoreOf(chain: number, answer: string | null, rank: number, score: number): ChainScore {
  return {
    chain,
    answer,
    correct: answer === "true",
    facts: 2,
    steps: [1, 2],
    edges: [[0, 1]],
    terminals: [1],
    support: [0.5, 0.25],
    centrality: score,
    centrality_term: score,
    consensus: 0.5,
    score,
    rank,
  };
}

export function questionOf(more: Partial<QuestionPage> = {}): QuestionPage {
  return {
    schema: "reasonaudit.grapheval-question-page/1",
    study: { parameters: { early_reference: "gold", consensus: { alpha: 0.8, tau: 0.9, w_terminal: 2, w_other: 1 } } },
    question: { gold: "yes", gold_normal: "true", previous: null, next: 8 },
    document: {
      n: 3,
      excluded: [{ chain: 4, reason: "no_facts" }],
      chains: [scoreOf(1, "true", 2, 0.8), scoreOf(2, "true", 1, 0.9), scoreOf(3, "false", 3, 0.3)],
      medoid: 2,
      runner_up: 1,
      lead: 0.1,
      gsc: { answer: "true", correct: true },
      order: [2, 1, 3],
      groups: [
        { answer: "true", chains: [2, 1], mean_distance: 0.25 },
        { answer: "false", chains: [3], mean_distance: null },
      ],
      flags: [],
    },
    // Pairs 1-2, 1-3, 2-3.
    matrix: { chains: [1, 2, 3], d: [0.25, 0.5, 0.75], nged: [0.1, 0.2, 0.3], s_term: [0.9, 0.8, 0.7], s_struct: [0.6, 0.5, 0.4] },
    chains: [
      chainOf(1, "true"),
      chainOf(2, "true", { early: { answers: ["false", "true"], gold: 0.5, own: 0.5, settles: 2 } }),
      chainOf(3, "false", { facts: [["Men are fast", 1, []]] }),
      chainOf(4, null, { excluded: "No facts", facts: [], edges: [], terminals: [] }),
    ],
    early: { chains: 1, gold: { mean: 0.5, n: 1 }, own: { mean: 0.5, n: 1 } },
    ablation: null,
    topology: null,
    metrics: [
      { name: "grcs", title: "GRCS", value: 0.6, low: 0.42, high: 1, direction: "High: the chains agree. More.", definition: "A definition.", note: "A coherence.", baseline: false, missing: "" },
      { name: "cota", title: "CoTA", value: null, low: 0, high: 1, direction: "High: no.", definition: "Other.", note: "", baseline: true, missing: "No labeller was asked." },
    ],
    ...more,
  };
}
