// Charts of a GraphEVAL study beside their tables: the table comes from the server and stays, two buttons show one or the other.
import { chartTabs, words } from "../shared/chart-tabs";
import type { CompareCharts, Pair, StudyCharts } from "./points";
import { firstPair, fitWords, points } from "./points";

type Figures = typeof import("./figures");

export function mount(host: HTMLElement): void {
  const payload = document.getElementById(host.dataset.payload ?? "");
  const table = host.querySelector<HTMLElement>("[data-table]");
  if (!payload || !table) return;
  const charts = JSON.parse(payload.textContent ?? "{}") as StudyCharts & CompareCharts;
  const figure = host.dataset.figure ?? "";
  const place = document.createElement("div");
  place.className = "chart";
  let drawnAt = 0;

  async function redraw(force = false): Promise<void> {
    try {
      // Plot is large and only charts need it.
      const figures = await import("./figures");
      const width = Math.floor(place.clientWidth);
      if (place.hidden || width < 1 || (!force && width === drawnAt)) return;
      drawnAt = width;
      place.replaceChildren(...render(figures, figure, charts, width, host.dataset.address ?? "", chosen));
    } catch (error) {
      console.error(error);
      place.replaceChildren(words("The chart could not be drawn. Its values are in the table; reload the page to try again."));
    }
    host.dataset.ready = "true";
  }

  const chosen = figure === "scatter" ? pickers(host, table, charts, () => void redraw(true)) : null;
  if (figure === "scatter") {
    // What it says is for readers without scripts.
    table.hidden = true;
    host.append(place);
    void redraw();
  } else {
    table.after(place);
    chartTabs(host, table, place, () => void redraw())("chart");
  }
  new ResizeObserver(() => void redraw()).observe(place);
}

/** Two lists that say what is drawn against what; null where there is nothing to draw. */
function pickers(host: HTMLElement, before: HTMLElement, charts: StudyCharts, changed: () => void): Pair | null {
  const first = firstPair(charts);
  if (!first) return null;
  const pair = { ...first };
  const row = document.createElement("div");
  row.className = "results-choices mb-2";
  for (const [key, words, options] of [
    ["metric", "Metric", charts.metrics],
    ["faithfulness", "Faithfulness", charts.faithfulness],
  ] as const) {
    const label = document.createElement("label");
    const name = document.createElement("span");
    name.textContent = words;
    const list = document.createElement("select");
    list.className = "form-select form-select-sm";
    for (const one of options) list.append(new Option(one.title, one.name, false, one.name === pair[key]));
    list.addEventListener("change", () => {
      pair[key] = list.value;
      changed();
    });
    label.append(name, list);
    row.append(label);
  }
  host.insertBefore(row, before);
  return pair;
}

export function render(figures: Figures, figure: string, charts: StudyCharts & CompareCharts, width: number, address: string, pair: Pair | null): Node[] {
  if (figure === "compare") return [figures.compare(charts, width)];
  if (figure === "scatter") {
    if (!pair) return [words("No question has a metric and a faithfulness.")];
    const found = points(charts, pair.metric, pair.faithfulness);
    if (!found.length) return [words("No question has both values. Choose another pair.")];
    return [legend(figures, found.map((point) => point.cell)), figures.scatter(charts, pair.metric, pair.faithfulness, { width, address }), words(fitWords(charts.fits[`${pair.metric}|${pair.faithfulness}`], found.length))];
  }
  if (figure === "topology") {
    if (!charts.topology) return [words("No question has a divergence and an entropy.")];
    const found = points(charts, "divergence", "entropy");
    return [legend(figures, found.map((point) => point.cell)), figures.topology(charts, { width, address }), words("Lines: density of the points, at a tenth, a quarter, a half and three quarters of its peak. For display only.")];
  }
  const found = points(charts, "accuracy_change", "faithfulness_change");
  if (!found.length) return [words("No question has both changes.")];
  return [legend(figures, found.map((point) => point.cell)), figures.ablation(charts, { width, address }), words(fitWords(charts.ablation, found.length))];
}

function legend(figures: Figures, cells: string[]): HTMLElement {
  const row = document.createElement("div");
  row.className = "chart-legend";
  for (const one of figures.cellLegend(cells)) {
    const item = document.createElement("span");
    item.className = "cell-mark";
    one.mark.setAttribute("aria-hidden", "true");
    one.mark.removeAttribute("role");
    item.append(one.mark, one.words);
    row.append(item);
  }
  return row;
}
