// What the charts of a study's results are drawn from: rows made of the document that the page carries. No drawing here.

export type Estimate = { value: number | null; low: number | null; high: number | null; n: number };
export type Role = "judge" | "labeller";

export type Charts = {
  comparison: { rows: { model: string; roles: { role: Role; rates: Record<string, Estimate & { cell?: string }> }[] }[] };
  across: { here: string; there: string; rows: { role: Role; model: string; here: Side | null; there: Side | null }[] };
  failure_modes: { groups: FailureGroup[] };
  agreement: { columns?: { key: string; title: string }[]; rows: { words: string; measures: Record<string, Estimate> }[] };
  pace: { people: Person[] };
};
type Side = Record<"tpr" | "tnr" | "balanced_f1", Estimate>;
export type FailureGroup = {
  title: string;
  cases: number;
  segments: number;
  bars: { model: string; n: number; counts: Record<string, number>; percent: Record<string, number | null>; ratio: number | null; cells: Record<string, string> }[];
};
export type ChartPoint = { session: string; value: number | null; low: number | null; high: number | null; n: number; outside: boolean };
export type ControlChart = { key: string; title: string; centre: number | null; points: ChartPoint[]; drifting: boolean; undefined_because: string };
export type Person = { person: string; charts: ControlChart[] };

export const AUDIT_LABELS = ["supported", "unsupported", "orphan", "contradicted"] as const;
export type AuditLabel = (typeof AUDIT_LABELS)[number];

/** One dot of a model in a role: TNR across, TPR up, with both intervals. Models without both rates have none. */
export type Dot = { model: string; role: Role; tnr: number; tpr: number; tnrLow: number; tnrHigh: number; tprLow: number; tprHigh: number; title: string };

export function dots(charts: Charts): Dot[] {
  const found: Dot[] = [];
  for (const row of charts.comparison.rows) {
    for (const role of row.roles) {
      const { tnr, tpr } = role.rates as { tnr: Estimate; tpr: Estimate };
      if (tnr.value === null || tpr.value === null) continue;
      found.push({
        model: row.model,
        role: role.role,
        tnr: tnr.value,
        tpr: tpr.value,
        tnrLow: tnr.low ?? tnr.value,
        tnrHigh: tnr.high ?? tnr.value,
        tprLow: tpr.low ?? tpr.value,
        tprHigh: tpr.high ?? tpr.value,
        title: `${row.model}, ${ROLE_WORDS[role.role]}: TPR ${tpr.value.toFixed(3)}, TNR ${tnr.value.toFixed(3)}`,
      });
    }
  }
  return found;
}

export const ROLE_WORDS: Record<Role, string> = { judge: "direct judge", labeller: "relation labeller" };

/** Lines between the two roles of a model. */
export function links(found: Dot[]): { model: string; from: Dot; to: Dot }[] {
  const judges = new Map(found.filter((dot) => dot.role === "judge").map((dot) => [dot.model, dot]));
  return found.flatMap((to) => {
    const from = to.role === "labeller" ? judges.get(to.model) : undefined;
    return from ? [{ model: to.model, from, to }] : [];
  });
}

/** Points of equal balanced F1 (harmonic mean of both rates), as TNR and TPR, within the unit square. */
export function equalF1(value: number, steps = 60): { tnr: number; tpr: number }[] {
  const least = value / (2 - value);
  return Array.from({ length: steps + 1 }, (_, step) => {
    const tnr = least + ((1 - least) * step) / steps;
    return { tnr, tpr: (value * tnr) / (2 * tnr - value) };
  });
}

export type Bar = { group: string; model: string; label: AuditLabel; from: number; to: number; share: number; title: string; cell: string };

/** Parts of the stacked bars, in per cent of a labeller's segments. Empty parts have none. */
export function stacks(group: FailureGroup): Bar[] {
  return group.bars.flatMap((bar) => {
    let at = 0;
    return AUDIT_LABELS.flatMap((label) => {
      const count = bar.counts[label] ?? 0;
      if (!count || !bar.n) return [];
      const share = (100 * count) / bar.n;
      at += share;
      const word = label[0]!.toUpperCase() + label.slice(1);
      return [{ group: group.title, model: bar.model, label, from: at - share, to: at, share, title: `${bar.model}: ${word} ${count} of ${bar.n}`, cell: bar.cells[label] ?? "" }];
    });
  });
}

export type Interval = { row: string; column: string; value: number; low: number; high: number; title: string };

/** Coefficients that have a value, one a row and column of the table. */
export function coefficients(charts: Charts): Interval[] {
  return charts.agreement.rows.flatMap((row) =>
    (charts.agreement.columns ?? []).flatMap(({ key, title }) => {
      const found = row.measures[key];
      if (!found || found.value === null) return [];
      return [{ row: row.words, column: title, value: found.value, low: found.low ?? found.value, high: found.high ?? found.value, title: `${row.words}, ${title}: ${found.value.toFixed(2)}` }];
    }),
  );
}

export type Change = { model: string; role: Role; set: string; value: number; low: number; high: number };

/** Balanced F1 of every evaluator on each set where it is defined. */
export function changes(charts: Charts): Change[] {
  const { here, there, rows } = charts.across;
  return rows.flatMap((row) =>
    ([[here, row.here], [there, row.there]] as const).flatMap(([set, side]) => {
      const found = side?.balanced_f1;
      return found && found.value !== null ? [{ model: row.model, role: row.role, set, value: found.value, low: found.low ?? found.value, high: found.high ?? found.value }] : [];
    }),
  );
}

/** The address of the segments behind a number, keeping the choices of the page. */
export function cellAddress(search: string, cell: string): string {
  const query = new URLSearchParams(search);
  for (const name of ["page", "q"]) query.delete(name);
  query.set("cell", cell);
  return `?${query.toString()}#segments`;
}
