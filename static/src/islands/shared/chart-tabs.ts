// A chart beside its table: the table comes from the server and stays; two buttons show one or the other.

export type View = "chart" | "table";

/** Puts the buttons at the top of the host. `shown` runs when the chart comes into sight. Returns how to show one of the two. */
export function chartTabs(host: HTMLElement, table: HTMLElement, chart: HTMLElement, shown: () => void): (view: View) => void {
  const group = document.createElement("span");
  group.className = "toggle";
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "View");
  const buttons = (["chart", "table"] as const).map((view) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = view === "chart" ? "Chart" : "Table";
    button.addEventListener("click", () => show(view));
    group.append(button);
    return { view, button };
  });
  const show = (view: View): void => {
    for (const one of buttons) one.button.setAttribute("aria-pressed", String(one.view === view));
    table.hidden = view === "chart";
    chart.hidden = view === "table";
    if (view === "chart") shown();
  };
  const tabs = document.createElement("div");
  tabs.className = "chart-tabs";
  tabs.append(group);
  host.prepend(tabs);
  return show;
}

/** A line in place of a chart, or below it. */
export function words(text: string): HTMLElement {
  const line = document.createElement("p");
  line.className = "muted small mb-0";
  line.textContent = text;
  return line;
}
