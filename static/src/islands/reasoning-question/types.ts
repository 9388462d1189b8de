// What the server sends for one question of a GraphEVAL study (selectors/reasoning_question.py).

export interface Links {
  study: string;
  /** Address of a trace's page with 0 in place of its id. */
  trace: string;
}

export interface ChainScore {
  chain: number;
  answer: string | null;
  correct: boolean | null;
  facts: number;
  steps: number[];
  edges: [number, number][];
  terminals: number[];
  support: number[];
  /** null where the graphs were too large to compare. */
  centrality: number | null;
  centrality_term: number | null;
  consensus: number | null;
  score: number | null;
  rank: number | null;
}

export interface Group {
  answer: string | null;
  chains: number[];
  mean_distance: number | null;
}

export interface QuestionDocument {
  n: number;
  excluded: { chain: number; reason: string }[];
  chains: ChainScore[];
  medoid: number | null;
  runner_up: number | null;
  lead: number | null;
  gsc: { answer: string | null; correct: boolean | null };
  order: number[];
  groups: Group[];
  flags: { code: string; message: string; count?: number }[];
}

export interface Matrix {
  chains: number[];
  /** Upper triangles without the diagonal, row by row. */
  d: number[];
  nged: number[];
  s_term: number[];
  s_struct: number[];
}

export interface Early {
  answers: (string | null)[];
  gold: number | null;
  own: number | null;
  settles: number | null;
}

export interface Counterfactual {
  /** Step, what it was changed into, normal form of the answer. */
  edits: [number, string, string | null][];
  value: number | null;
  changed: number;
  readable: number;
}

export type Step = [index: number, text: string, dependsOn: number[]];
export type Fact = [text: string, step: number, dependsOn: number[]];

export interface PageChain {
  chain: number;
  trace: number;
  answer: string | null;
  normal: string | null;
  /** Why it is not in the pool, "" where it is. */
  excluded: string;
  steps: Step[];
  facts: Fact[];
  fact_source: string;
  warnings: string[];
  fact_warnings: string[];
  early: Early | null;
  counterfactual: Counterfactual | null;
  /** Of chains that are not in the document. */
  edges?: [number, number][];
  terminals?: number[];
}

export interface AblationSummary {
  accuracy: number | null;
  medoid_accuracy: number | null;
  accuracy_change: number | null;
  faithfulness: number | null;
  medoid_faithfulness: number | null;
  faithfulness_change: number | null;
  distance: number | null;
  n: number;
  n_faithful: number;
}

export interface Ablation {
  forbidden: number;
  is_medoid: boolean;
  reference: "gold" | "own";
  gold: AblationSummary;
  own: AblationSummary;
  distances: number[];
  correct: number | null;
  readable: number;
}

export interface MetricRow {
  name: string;
  title: string;
  value: number | null;
  low: number | null;
  high: number | null;
  direction: string;
  definition: string;
  note: string;
  baseline: boolean;
  missing: string;
}

export interface Mean {
  mean: number | null;
  n: number;
}

export interface QuestionPage {
  schema: string;
  study: { parameters: { early_reference: string; consensus: { alpha: number; tau: number; w_terminal: number; w_other: number } } };
  question: { gold: string | null; gold_normal: string | null; previous: number | null; next: number | null };
  document: QuestionDocument | null;
  matrix: Matrix | null;
  chains: PageChain[];
  early: { chains: number; gold: Mean; own: Mean };
  ablation: Ablation | null;
  topology: { quadrant: string; divergence: number; entropy: number; origin: [number, number]; questions: number } | null;
  metrics: MetricRow[];
}
