// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { mount } from "./index";

const charts = {
  questions: {
    case: [4, 7, 9],
    title: ["<b>A</b>", "B", "C"],
    cell: ["both", "neither", "gsc_only"],
    quadrant: ["Noisy", "Confident", "Confused"],
    grcs: [0.5, 0.7, 0.9],
    divergence: [1, 0.4, 0.1],
    entropy: [1, 2, 1.5],
    early_gold: [0.1, 0.4, 1],
    early_own: [null, null, null],
    accuracy_change: [null, null, null],
    faithfulness_change: [null, null, null],
  },
  metrics: [
    { name: "grcs", title: "GRCS" },
    { name: "divergence", title: "Divergence" },
  ],
  faithfulness: [
    { name: "early_gold", title: "Early answering against gold" },
    { name: "early_own", title: "Early answering against its own answer" },
  ],
  fits: { "grcs|early_gold": { slope: 2.25, intercept: -1.075, r: 0.98, p: 0.1, n: 3 } },
  topology: { origin: [0.5, 1.5], density: null },
  ablation: null,
};

function page(figure: string, payload: unknown = charts): HTMLElement {
  document.body.innerHTML = `<script type="application/json" id="data"></script>
    <div data-figure="${figure}" data-payload="data" data-address="/grapheval/s/questions/0/"><div data-table><table></table></div></div>`;
  document.getElementById("data")!.textContent = JSON.stringify(payload);
  const host = document.querySelector<HTMLElement>("[data-figure]")!;
  mount(host);
  Object.defineProperty(host.querySelector(".chart"), "clientWidth", { value: 600 });
  return host;
}

const ready = (host: HTMLElement): Promise<void> => vi.waitFor(() => expect(host.dataset.ready).toBe("true"));
const hrefs = (host: HTMLElement): (string | null)[] =>
  [...host.querySelectorAll(".chart svg a")].map((link) => link.getAttributeNS("http://www.w3.org/1999/xlink", "href") ?? link.getAttribute("href"));

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
  });
});

describe("charts of a study", () => {
  it("draws a point a question that leads to it, and says the fitted line in words", async () => {
    const host = page("scatter");
    await ready(host);
    expect(hrefs(host)).toEqual(["/grapheval/s/questions/4/", "/grapheval/s/questions/7/", "/grapheval/s/questions/9/"]);
    expect(host.textContent).toContain("3 questions, slope 2.25, r 0.98");
    expect(host.querySelector(".chart b")).toBeNull();
    expect(host.querySelector("style")).toBeNull();
    expect(host.querySelector(".chart-legend")!.textContent).toBe("both rightonly the medoid rightneither right");
  });

  it("draws another pair when one is chosen, and says when nothing has both values", async () => {
    const host = page("scatter");
    await ready(host);
    const [metric, faithfulness] = [...host.querySelectorAll("select")];
    metric!.value = "divergence";
    metric!.dispatchEvent(new Event("change"));
    await vi.waitFor(() => expect(host.textContent).toContain("3 questions, no line"));
    faithfulness!.value = "early_own";
    faithfulness!.dispatchEvent(new Event("change"));
    await vi.waitFor(() => expect(host.textContent).toContain("No question has both values"));
  });

  it("shows the map or its table, and names the quadrants", async () => {
    const host = page("topology");
    await ready(host);
    const table = host.querySelector<HTMLElement>("[data-table]")!;
    expect(table.hidden).toBe(true);
    for (const name of ["Confident", "Multi-Path", "Noisy", "Confused"]) expect(host.querySelector(".chart")!.textContent).toContain(name);
    const [chart, other] = [...host.querySelectorAll("button")];
    other!.click();
    expect([table.hidden, host.querySelector<HTMLElement>(".chart")!.hidden]).toEqual([false, true]);
    expect(chart!.getAttribute("aria-pressed")).toBe("false");
  });

  it("draws lines of equal density where there is one", async () => {
    const without = page("topology");
    await ready(without);
    const before = without.querySelectorAll(".chart svg path").length;
    const values = [0, 0, 0, 0, 1, 0, 0, 0, 0];
    const host = page("topology", { ...charts, topology: { origin: [0.5, 1.5], density: { x: [0, 1], y: [1, 2], width: 3, height: 3, values } } });
    await ready(host);
    expect(host.querySelectorAll(".chart svg path").length - before).toBe(4);
  });

  it("says so when the chart cannot be drawn, and leaves the table", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const host = page("topology", { ...charts, topology: { origin: null, density: null } });
    await ready(host);
    expect(host.querySelector(".chart")!.textContent).toContain("The chart could not be drawn.");
    host.querySelectorAll("button")[1]!.click();
    expect(host.querySelector<HTMLElement>("[data-table]")!.hidden).toBe(false);
  });

  it("gives two studies of one name a mark each", async () => {
    const study = { name: "Same", n: 1, counts: [], points: [] };
    const host = page("compare", { origin: [0.5, 1], quadrants: [], studies: [{ ...study, slug: "a", mean: [0.4, 0.9] }, { ...study, slug: "b", mean: [0.6, 1.1] }] });
    await ready(host);
    const colours = [...host.querySelectorAll('.chart svg [stroke="#fff"] path[fill]')].map((mark) => mark.getAttribute("fill"));
    expect(new Set(colours).size).toBe(2);
  });

  it("says that no question has both changes", async () => {
    const host = page("ablation");
    await ready(host);
    expect(host.textContent).toContain("No question has both changes");
  });

  it("marks the mean of every study that has one", async () => {
    const host = page("compare", {
      origin: [0.5, 1],
      quadrants: [],
      studies: [
        { slug: "a", name: "Llama", n: 2, mean: [0.5, 1], counts: [], points: [[0.4, 0.9], [0.6, 1.1]] },
        { slug: "b", name: "Empty", n: 0, mean: null, counts: [], points: [] },
      ],
    });
    await ready(host);
    expect(host.querySelector(".chart svg")!.textContent).toContain("Llama");
    expect(host.querySelector(".chart svg")!.textContent).not.toContain("Empty");
  });
});
