// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { short } from "./figures";
import { mount } from "./index";
import { cells, judgeName } from "./types";

const charts = {
  means: [
    { model: "m1", facet: "answer", value: 3.5, low: 3, high: 4 },
    { model: "<b>m2</b>", facet: "answer", value: 2, low: null, high: null },
    { model: "m1", facet: "divergence", value: null, low: null, high: null },
  ],
  matrices: {
    answer: { judges: ["openai:a", "openai:b", "openai:c"], matrix: [[null, 0.5, null], [0.5, null, -0.1], [null, -0.1, null]] },
    divergence: { judges: ["openai:a", "openai:b"], matrix: [[null, null], [null, null]] },
  },
  calibrations: {
    answer: {
      levels: [
        { level: 1, n: 0, panel_mean: null, people: { value: null, low: null, high: null } },
        { level: 2, n: 3, panel_mean: 2.1, people: { value: 4, low: 3.5, high: 4.5 } },
        { level: 3, n: 1, panel_mean: 3, people: { value: 5, low: null, high: null } },
      ],
      points: [[2, 4, 2], [2.3, 4, 1], [3, 5, 1]],
    },
    divergence: { levels: [], points: [] },
  },
};

function page(figure: string, facet = ""): HTMLElement {
  document.body.innerHTML = `<script type="application/json" id="data"></script>
    <div data-figure="${figure}" data-facet="${facet}" data-payload="data" data-first="chart"><div data-table><table></table></div></div>`;
  document.getElementById("data")!.textContent = JSON.stringify(charts);
  const host = document.querySelector<HTMLElement>("[data-figure]")!;
  mount(host);
  Object.defineProperty(host.querySelector(".chart"), "clientWidth", { value: 700 });
  return host;
}

const ready = (host: HTMLElement): Promise<void> => vi.waitFor(() => expect(host.dataset.ready).toBe("true"));
const titles = (host: HTMLElement): string[] => [...host.querySelectorAll(".chart title")].map((title) => title.textContent ?? "");

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
  });
});

describe("charts of ratings", () => {
  it("draws a dot for a mean that is there and a band where it has an interval", async () => {
    const host = page("means");
    await ready(host);
    expect(titles(host)).toEqual(["m1, Answer: 3.50, 3.00 to 4.00", "<b>m2</b>, Answer: 2.00"]);
    expect(host.querySelector(".chart b")).toBeNull();
    expect(host.querySelector("style")).toBeNull();
    expect(host.querySelector("svg")!.getAttribute("role")).toBe("img");
  });

  it("draws a cell for each kappa that is defined, and none for the others", async () => {
    const host = page("matrix", "answer");
    await ready(host);
    expect(titles(host).sort()).toEqual(["a and b: 0.500", "b and a: 0.500", "b and c: −0.100", "c and b: −0.100"]);
  });

  it("says where nothing is defined", async () => {
    const host = page("matrix", "divergence");
    await ready(host);
    expect(host.querySelector(".chart svg")).toBeNull();
    expect(host.querySelector(".chart")!.textContent).toBe("Kappa is undefined for every pair. The table says why.");
  });

  it("draws people's mean only where the panel gave that rating", async () => {
    const host = page("calibration");
    await ready(host);
    expect(titles(host)).toEqual([
      "Panel 2.00, people 4.00: 2",
      "Panel 2.30, people 4.00: 1",
      "Panel 3.00, people 5.00: 1",
      "Panel rounds to 2: people 4.00, n 3",
      "Panel rounds to 3: people 5.00, n 1",
    ]);
    expect(host.querySelector(".chart")!.textContent).toContain("No answer has scores of both.");
  });

  it("names judges apart where their specs end alike", () => {
    expect(judgeName("openai:qwen2.5:7b")).toBe("qwen2.5:7b");
    expect(judgeName("rule")).toBe("rule");
    expect(cells({ judges: ["openai:a", "other:a", "openai:b"], matrix: [[null, 1, 0], [1, null, null], [0, null, null]] }).names).toEqual(["openai:a", "other:a", "b"]);
  });

  it("cuts a long name to its column", () => {
    expect(short("claude-haiku", 64)).toBe("claude-ha…");
    expect(short("gpt", 10)).toBe("gpt");
  });
});
