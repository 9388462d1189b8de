// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { failureModes } from "./figures";
import { mount } from "./index";

const group = {
  title: "Clinical",
  cases: 2,
  segments: 8,
  bars: [{ model: "m", n: 8, counts: { supported: 4, unsupported: 1, orphan: 3, contradicted: 0 }, percent: {}, ratio: 3, cells: { orphan: "m|clinical|orphan" } }],
};

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
  });
  document.body.innerHTML = `
    <script type="application/json" id="data"></script>
    <div data-figure="failure_modes" data-payload="data" data-first="table"><div data-table><table></table></div></div>`;
  document.getElementById("data")!.textContent = JSON.stringify({ failure_modes: { groups: [group] } });
});

describe("chart beside its table", () => {
  it("keeps the server's table and shows one of the two", async () => {
    const host = document.querySelector<HTMLElement>("[data-figure]")!;
    mount(host);
    const [chart, table] = [...host.querySelectorAll("button")];
    const [place, twin] = [host.querySelector<HTMLElement>(".chart")!, host.querySelector<HTMLElement>("[data-table]")!];
    expect([twin.hidden, place.hidden]).toEqual([false, true]);
    expect(table!.getAttribute("aria-pressed")).toBe("true");
    Object.defineProperty(place, "clientWidth", { value: 600 });
    chart!.click();
    expect([twin.hidden, place.hidden]).toEqual([true, false]);
    await vi.waitFor(() => expect(place.querySelector("svg")).not.toBeNull());
    table!.click();
    expect([twin.hidden, place.hidden]).toEqual([false, true]);
    expect(twin.querySelector("table")).not.toBeNull();
  });

  it("draws bars that link to their segments, without a style sheet that the policy would refuse", () => {
    const drawn = failureModes(group, 600);
    expect(drawn.querySelector("style")).toBeNull();
    expect(drawn.querySelectorAll(".bar-orphan rect")).toHaveLength(1);
    expect(drawn.querySelectorAll(".bar-contradicted rect")).toHaveLength(0);
    const link = drawn.querySelector(".bar-orphan a")!;
    expect(link.getAttributeNS("http://www.w3.org/1999/xlink", "href") ?? link.getAttribute("href")).toBe("?cell=m%7Cclinical%7Corphan#segments");
    expect(drawn.textContent).toContain("3.0 ×");
    for (const part of drawn.querySelectorAll("g")) expect(part.hasAttribute("aria-label")).toBe(false);
  });
});
