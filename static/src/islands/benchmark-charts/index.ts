// Charts of ratings beside their tables: the table comes from the server and stays, two buttons show one or the other.
import { chartTabs, words } from "../shared/chart-tabs";
import type { Charts } from "./types";
import { FACETS } from "./types";

type Figures = typeof import("./figures");

export function mount(host: HTMLElement): void {
  const table = host.querySelector<HTMLElement>("[data-table]");
  const payload = document.getElementById(host.dataset.payload ?? "");
  if (!table || !payload) return;
  const charts = JSON.parse(payload.textContent ?? "{}") as Charts;
  const place = document.createElement("div");
  place.className = "chart";
  table.after(place);
  let drawnAt = 0;

  async function redraw(): Promise<void> {
    try {
      // Plot is large and only charts need it.
      const figures = await import("./figures");
      const width = Math.floor(place.clientWidth);
      if (place.hidden || width < 1 || width === drawnAt) return;
      drawnAt = width;
      place.replaceChildren(...render(figures, host.dataset.figure ?? "", host.dataset.facet ?? "", charts, width));
    } catch (error) {
      console.error(error);
      place.replaceChildren(words("The chart could not be drawn. Its values are in the table; reload the page to try again."));
    }
    host.dataset.ready = "true";
  }

  const show = chartTabs(host, table, place, () => void redraw());
  new ResizeObserver(() => void redraw()).observe(place);
  show(host.dataset.first === "chart" ? "chart" : "table");
}

export function render(figures: Figures, figure: string, facet: string, charts: Charts, width: number): Node[] {
  if (figure === "means") {
    const found = charts.means ?? [];
    return found.some((one) => one.value !== null) ? [figures.means(found, width)] : [words("No model has a score yet.")];
  }
  if (figure === "matrix") {
    const found = charts.matrices?.[facet];
    if (!found?.matrix.some((row) => row.some((kappa) => kappa !== null))) return [words("Kappa is undefined for every pair. The table says why.")];
    return [figures.matrix(found, width), words("The darker, the higher kappa. A pair without a cell has none; the table says why.")];
  }
  const grid = document.createElement("div");
  grid.className = "chart-grid calibrations";
  const columns = Math.max(1, Math.min(4, Math.floor((width + 20) / 270)));
  const each = Math.floor((width - 20 * (columns - 1)) / columns);
  for (const [name, found] of Object.entries(charts.calibrations ?? {})) {
    const box = document.createElement("div");
    const head = document.createElement("h3");
    head.textContent = FACETS[name] ?? name;
    box.append(head, found.points.length ? figures.calibration(name, found, each) : words("No answer has scores of both."));
    grid.append(box);
  }
  return [grid, words("Pale dots: answers. Blue dots: people’s mean where the panel rounds to one rating, with its 95 % interval. Dashed: both equal.")];
}
