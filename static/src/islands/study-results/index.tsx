// A chart beside its table: the table comes from the server and stays; two buttons show one or the other.
import type { Charts } from "../../lib/study-charts";
import { chartTabs } from "../shared/chart-tabs";

type Figures = typeof import("./figures");

const LEGEND = ["supported", "unsupported", "orphan", "contradicted"];

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
    // Plot is large and only charts need it.
    const figures = await import("./figures");
    const width = Math.floor(place.clientWidth);
    if (place.hidden || width < 1 || width === drawnAt) return;
    drawnAt = width;
    place.replaceChildren(...render(figures, host.dataset.figure ?? "", charts, width));
  }

  const show = chartTabs(host, table, place, () => void redraw());
  new ResizeObserver(() => void redraw()).observe(place);
  show(host.dataset.first === "chart" ? "chart" : "table");
}

export function render(figures: Figures, name: string, charts: Charts, width: number): Node[] {
  if (name === "comparison") return [roleLegend(), figures.comparison(charts, width)];
  if (name === "across") return [roleLegend(), figures.across(charts, width)];
  if (name === "agreement") return [figures.agreement(charts, width)];
  if (name === "failure_modes") {
    return [
      labelLegend(),
      ...charts.failure_modes.groups.flatMap((group) => [
        heading(`${group.title}, ${group.cases.toLocaleString("en")} cases, ${group.segments.toLocaleString("en")} segments`),
        figures.failureModes(group, width),
      ]),
    ];
  }
  return charts.pace.people.flatMap((person) => {
    const drawn = person.charts.filter((chart) => chart.points.some((point) => point.value !== null));
    const grid = document.createElement("div");
    grid.className = "chart-grid";
    const columns = Math.max(1, Math.floor((width + 20) / 290));
    const each = Math.floor((width - 20 * (columns - 1)) / columns);
    grid.append(
      ...drawn.map((chart) => {
        const box = document.createElement("div");
        const words = document.createElement("p");
        words.className = "muted tiny mb-0";
        words.textContent = chart.undefined_because ? `${chart.title}; no limits, because ${chart.undefined_because}` : chart.title;
        box.append(words, figures.controlChart(chart, each));
        return box;
      }),
    );
    return [heading(person.person), grid];
  });
}

function heading(words: string): HTMLElement {
  const head = document.createElement("h3");
  head.textContent = words;
  return head;
}

function roleLegend(): HTMLElement {
  const legend = document.createElement("div");
  legend.className = "chart-legend";
  for (const [role, words] of [["judge", "Direct judge"], ["labeller", "Relation labeller"]]) {
    const one = document.createElement("span");
    const dot = document.createElement("span");
    dot.className = `role-dot ${role}`;
    one.append(dot, words!);
    legend.append(one);
  }
  return legend;
}

/** The chips of the table's head, so that icon and word stand beside the colours. */
function labelLegend(): HTMLElement {
  const legend = document.createElement("div");
  legend.className = "chart-legend";
  for (const label of LEGEND) {
    const chip = document.querySelector(`#failure-modes thead .chip.${label}`);
    if (chip) legend.append(chip.cloneNode(true));
  }
  return legend;
}
