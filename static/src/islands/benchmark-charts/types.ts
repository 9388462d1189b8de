// What the pages about ratings hand to their charts.

export interface Mean {
  model: string;
  facet: string;
  value: number | null;
  low: number | null;
  high: number | null;
}

export interface Matrix {
  judges: string[];
  /** Kappa; null on the diagonal and where it is undefined. */
  matrix: (number | null)[][];
}

export interface Level {
  level: number;
  n: number;
  panel_mean: number | null;
  people: { value: number | null; low: number | null; high: number | null };
}

export interface Calibration {
  levels: Level[];
  /** Panel's score, people's score, answers. */
  points: [number, number, number][];
}

export interface Charts {
  means?: Mean[];
  matrices?: Record<string, Matrix>;
  calibrations?: Record<string, Calibration>;
}

export const FACETS: Record<string, string> = { pooled: "All facets", answer: "Answer", hallucination: "Hallucination", divergence: "Divergence" };

/** A judge's spec without the kind of server: "openai:judge" is "judge". */
export function judgeName(spec: string): string {
  const place = spec.indexOf(":");
  return place < 0 ? spec : spec.slice(place + 1) || spec.slice(0, place);
}

export interface Cell {
  row: string;
  column: string;
  kappa: number;
}

/** The cells of a matrix that are defined, by names that differ even where two specs end alike. */
export function cells({ judges, matrix }: Matrix): { names: string[]; found: Cell[] } {
  const short = judges.map(judgeName);
  const names = short.map((name, place) => (short.indexOf(name) === short.lastIndexOf(name) ? name : judges[place]!));
  const found = matrix.flatMap((row, i) => row.flatMap((kappa, j) => (kappa === null ? [] : [{ row: names[i]!, column: names[j]!, kappa }])));
  return { names, found };
}
