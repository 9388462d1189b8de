// Small payloads for the tests.
import type { GoldWord } from "../../lib/payload";
import type { GivenLabel, ItemPayload, JudgedSegment, PagePayload, QueueRow } from "./types";

export const given = (label: GoldWord | null, changes: Partial<GivenLabel> = {}): GivenLabel => ({ label, cannot_judge: label === null, reasons: [], comment: "", spans: [], flagged: false, ...changes });

export const judged = (index: number, labels: Record<string, GivenLabel>, changes: Partial<JudgedSegment> = {}): JudgedSegment => ({
  index,
  text: `Text of segment ${index}.`,
  context: false,
  labels,
  agrees: false,
  gap: 2,
  queued: true,
  sampled: false,
  open: true,
  clause_unclear: false,
  decision: { version: 0, draft: null, final: null, finals: 0 },
  ...changes,
});

export const row = (index: number, decided: GoldWord | null = null, changes: Partial<QueueRow> = {}): QueueRow => ({ item: "i", index, case: "Case 22", labels: ["correct", "incorrect"], gap: 2, sampled: false, decided, ...changes });

export const ITEM = "0b9a3c1e-1111-4222-8333-444455556666";

export const itemOf = (changes: Partial<ItemPayload> = {}): ItemPayload => ({
  item: ITEM,
  name: "Case 22",
  state: "open",
  letters: ["A", "B"],
  case: { title: "Acute retention", sections: [["Presentation", "A man of 71."]], question: "What is the plan?", reference: null },
  segments: [
    { index: 1, text: "The case.", context: true },
    judged(2, { A: given("correct"), B: given("correct") }, { agrees: true, queued: false, open: false, gap: 0 }),
    judged(3, { A: given("correct"), B: given("correct") }, { agrees: true, queued: false, open: false, gap: 0 }),
    judged(4, { A: given("correct", { comment: "Standard.", spans: [[0, 4]] }), B: given("incorrect", { comment: "Unsafe.", spans: [[8, 15]] }) }),
    judged(5, { A: given("correct"), B: given("uncertain") }, { gap: 1 }),
  ],
  labelled_under: [1],
  history: [{ what: "Blind label, one person", segment: null }],
  may_decide: true,
  ...changes,
});

export const pageOf = (changes: Partial<PagePayload> = {}): PagePayload => ({
  study: { slug: "batch-3", name: "Batch 3", blinding: "reveal" },
  user: { id: 7, username: "ada" },
  may_decide: true,
  why_not: "",
  guideline: {
    version: 2,
    html: "<h2>General</h2><p>Judge each segment.</p><h2>Mixed segments</h2><p>Label the main claim of a mixed segment.</p>",
    question: "Right?",
    reasons: { correct: [{ code: "fits", words: "Fits the case" }], uncertain: [{ code: "mixed", words: "Mixed segment" }], incorrect: [{ code: "unsafe", words: "Unsafe if followed" }] },
  },
  queue: { segments: 4, agreed: 2, to_decide: 2, decided: 0, queue: [row(4, null, { item: ITEM }), row(5, null, { item: ITEM, labels: ["correct", "uncertain"], gap: 1 })] },
  flagged: [],
  limits: { note: 600 },
  urls: {
    queue: "/q/",
    agreement: "/agreement/",
    relogin: "/relogin/",
    item: "/i/{item}/",
    segment: "/i/{item}/{index}/",
    reopen: "/i/{item}/{index}/reopen/",
    flag: "/i/{item}/{index}/flag/",
    return: "/i/{item}/return/",
    audit: "/i/{item}/{index}/audit/",
    back: "/back/",
  },
  ...changes,
});
