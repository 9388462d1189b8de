// What the page of the audit starts with, and what one says of a chain.

export type Word = "yes" | "no" | "unsure";
export const WORDS: readonly Word[] = ["yes", "no", "unsure"];

export interface Criterion {
  id: string;
  title: string;
  help: string;
  short: string;
}

export interface Step {
  index: number;
  text: string;
  depends_on: number[];
}

export interface Fact {
  text: string;
  step: number;
  depends_on: number[];
}

export interface ChainText {
  steps: Step[];
  answer: string | null;
  facts?: Fact[];
}

export interface QuestionText {
  title: string;
  sections: [heading: string, text: string][];
  question: string;
  options: [letter: string, text: string][];
  gold: string | null;
}

export interface Texts {
  chains: Record<string, ChainText>;
  questions: Record<string, QuestionText>;
}

export interface Judgement {
  answers: Partial<Record<string, Word>>;
  note: string;
}

export interface SavedJudgement extends Judgement {
  version: number;
  saved_at: string;
}

export interface AuditPayload extends Texts {
  study: { slug: string; name: string };
  kind: "soundness" | "decomposition";
  criteria: Criterion[];
  user: { id: number; username: string };
  /** Chain and question, in this person's order. */
  queue: [chain: number, question: number][];
  said: Record<string, SavedJudgement>;
  limits: { note: number; at_once: number };
  urls: { save: string; texts: string; relogin: string };
}

export const NOTHING: Judgement = { answers: {}, note: "" };

export const isComplete = (said: Judgement, criteria: readonly Criterion[]): boolean => criteria.every(({ id }) => said.answers[id] !== undefined);

const inOrder = (answers: Judgement["answers"]): string => JSON.stringify(Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1)));

export const sameJudgement = (a: Judgement, b: Judgement): boolean => a.note === b.note && inOrder(a.answers) === inOrder(b.answers);

export const judgementOf = (body: Partial<Judgement> | null | undefined): Judgement => ({ answers: { ...body?.answers }, note: body?.note ?? "" });
