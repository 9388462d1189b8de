// A made-up audit for the harness: relations are given, labels follow from a plain forward pass written here. `?n=100` makes a long
// trace with many relations instead of the small kitchen one.
import type { AuditPayload, AuditWord, RelationWord, SegmentPayload } from "../src/lib/payload";

type Row = [number[], number, RelationWord | null, boolean, string | null, string, number | null];

const TEXTS = [
  "The loaf came out flat and dense. The dough was mixed at noon, left on the counter for two hours in a cool kitchen, then baked at 230 °C for 35 minutes. The starter had not been fed for nine days.",
  "The kitchen was cool, so fermentation in the dough ran slowly.",
  "Two hours on the counter is short for a dough in a cool room.",
  "The dough was very likely still under-fermented when it went into the oven, which explains the dense crumb.",
  "The oven temperature is in the usual range for this kind of bread, so the oven is not the cause.",
  "The flour may have had too little protein to hold the gas.",
  "Because the flour is weak, a longer knead would not have helped either.",
  "Changing the flour and keeping the schedule as it was is enough for the next loaf.",
  "The neglected starter does not matter for how the dough rises.",
  "No other change to the method is needed.",
];

const KEPT: [number[], number, RelationWord, number][] = [
  [[1], 2, "entailment", 0.94],
  [[1], 3, "implied", 0.81],
  [[2], 3, "implied", 0.77],
  [[1], 4, "entailment", 0.9],
  [[2, 3], 4, "implied", 0.72],
  [[4, 5], 8, "implied", 0.66],
  [[5, 6], 10, "implied", 0.58],
  [[7, 8], 10, "implied", 0.63],
  [[8, 9], 10, "implied", 0.7],
];
const REMOVED: Record<string, [RelationWord | null, string, string]> = {
  "2>5": ["implied", "gap", "valid"],
  "1>6": ["implied", "gap", "valid"],
  "3,4>5": [null, "missing", "invalid:no_json"],
  "4>6": ["contradiction", "contradiction", "valid"],
  "1>9": ["contradiction", "contradiction", "valid"],
  "1,2>4": ["entailment", "redundant", "valid"],
};

export function kitchen(edits: { premises: number[]; target: number; label: RelationWord | null }[] = []): AuditPayload {
  const edited = new Map(edits.map((edit) => [`${edit.premises}>${edit.target}`, edit.label]));
  const rows: Row[] = [];
  for (let target = 2; target <= 10; target++) {
    const singles = Array.from({ length: target - 1 }, (_, k) => [k + 1]);
    const pairs = singles.flatMap(([a = 0]) => singles.slice(a).map(([b = 0]) => [a, b]));
    for (const premises of [...singles, ...pairs]) {
      const key = `${premises}>${target}`;
      const kept = KEPT.find(([set, to]) => `${set}>${to}` === key);
      const removed = REMOVED[key];
      if (edited.has(key)) {
        const label = edited.get(key) ?? null;
        const keeps = label === "entailment" || label === "implied";
        rows.push([premises, target, label, keeps, keeps ? null : (label ?? "missing"), "valid", 1]);
      } else if (kept) rows.push([premises, target, kept[2], true, null, "valid", kept[3]]);
      else if (removed) rows.push([premises, target, removed[0], false, removed[1], removed[2], removed[0] ? 0.61 : null]);
      else rows.push([premises, target, "neutral", false, "neutral", "valid", 0.5 + ((premises[0] ?? 0) * 7 + target * 13) % 45 / 100]);
    }
  }
  return audit(TEXTS, rows, "Why did the sourdough turn out dense?");
}

export function long(n: number): AuditPayload {
  const rows: Row[] = [];
  let state = 7;
  const random = (): number => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let target = 2; target <= n; target++) {
    for (let k = 0; k < 20; k++) {
      const a = random() < 0.1 ? 1 : Math.max(1, target - 1 - Math.floor(random() ** 2 * target));
      const b = Math.max(1, target - 1 - Math.floor(random() * 12));
      const premises = random() < 0.5 || a === b ? [a] : [Math.min(a, b), Math.max(a, b)];
      if (rows.some(([set, to]) => to === target && `${set}` === `${premises}`)) continue;
      const label: RelationWord = random() < 0.35 ? "entailment" : random() < 0.85 ? "implied" : "contradiction";
      const kept = label !== "contradiction";
      rows.push([premises, target, label, kept, kept ? null : "contradiction", "valid", 0.6]);
    }
  }
  return audit(Array.from({ length: n }, (_, k) => `Made-up segment number ${k + 1} of a long trace.`), rows, `Long trace, ${n} segments`);
}

function audit(texts: string[], rows: Row[], title: string): AuditPayload {
  const grounds = new Set([1]);
  const labels = new Map<number, AuditWord>();
  const segments: SegmentPayload[] = texts.map((text, k) => {
    const index = k + 1;
    if (index === 1) return { index, text, context: true, label: null };
    const kept = rows.filter((row) => row[1] === index && row[3]);
    const contradicting = rows.filter((row) => row[1] === index && row[2] === "contradiction").map((row) => row[0]);
    const good = kept.filter((row) => row[0].every((premise) => grounds.has(premise)));
    const search: AuditWord = good.length ? "supported" : kept.length ? "unsupported" : "orphan";
    if (good.length) grounds.add(index);
    const label: AuditWord = contradicting.length ? "contradicted" : search;
    labels.set(index, label);
    const breaks = kept.flatMap((row) => row[0].filter((premise) => !grounds.has(premise)))[0];
    const explanation = {
      supported: `Supported: ${good.length} premise sets reach the context.`,
      unsupported: `Unsupported: the best premise set {${kept[0]?.[0].map((p) => `S${p}`).join(", ")}} fails because S${breaks} does not ground.`,
      orphan: "Orphan: no relation into this segment was kept.",
      contradicted: `Contradicted by S${contradicting[0]?.join(", S")}.`,
    }[label];
    return {
      index,
      text,
      context: false,
      gold: index < 6 ? "correct" : index < 8 ? "uncertain" : "incorrect",
      label,
      search_label: search,
      contradicted: contradicting.length > 0,
      contradicting,
      min_depth: good.length ? 1 : null,
      n_trees_total: good.length,
      explanation,
    };
  });
  const columns = ["premises", "target", "label", "kept", "reason", "status", "p"];
  const missing = rows.filter((row) => row[2] === null).length;
  return {
    schema: "reasonaudit.audit/1",
    id: 1,
    trace: { id: 1, title, domain: "general", context_segments: 1, n: texts.length },
    run: {
      id: 1,
      state: "done",
      parameters: { early_accept: 1, contradicted_blocks: false },
      coverage: { labelled: rows.length - missing, total: rows.length, invalid: missing, missing },
    },
    segments,
    edges: { columns, rows },
  };
}
