// @vitest-environment jsdom
// The island in a page without layout: state, text and keys. What it looks like is for the browser tests.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stripOf } from "./early";
import { questionOf } from "./testing";
import type { QuestionPage } from "./types";

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));
const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const press = async (key: string, target: EventTarget = document.body): Promise<void> => {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  await settle();
};
const click = async (selector: string): Promise<void> => {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element) throw new Error(`Nothing matches ${selector}.`);
  element.click();
  await settle();
};
const title = (): string => text('section[aria-label="Selected chain"] h2');

async function openPage(page: QuestionPage, hash = ""): Promise<void> {
  history.replaceState(null, "", `/grapheval/s/questions/7/${hash}`);
  document.body.innerHTML = `<a rel="next" href="#next">Next</a>
    <div data-island="reasoning-question" data-src="/api/" data-payload="question-page" data-trace="/traces/0/" data-study="/grapheval/s/">Server table</div>
    <script type="application/json" id="question-page">${JSON.stringify(page)}</script>`;
  const { mount } = await import("./index");
  await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await settle();
}

const listening: [EventTarget, string, EventListener][] = [];
beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
    disconnect(): void {}
  });
  Element.prototype.scrollIntoView = () => {};
  HTMLCanvasElement.prototype.getContext = (() => null) as typeof HTMLCanvasElement.prototype.getContext;
  for (const target of [document, window]) {
    const listen = target.addEventListener.bind(target);
    vi.spyOn(target, "addEventListener").mockImplementation((type: string, listener: unknown, options?: unknown) => {
      listening.push([target, type, listener as EventListener]);
      listen(type, listener as EventListener, options as AddEventListenerOptions);
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  for (const [target, type, listener] of listening.splice(0)) target.removeEventListener(type, listener);
});

describe("reasoning-question", () => {
  it("opens at the medoid with its graph, the pair beside it and its early answers", async () => {
    await openPage(questionOf());
    expect(title()).toBe("Chain 02");
    expect(text(".rq-medoid")).toBe("medoid");
    expect([...document.querySelectorAll(".rq-fact")].map((fact) => fact.classList.contains("terminal"))).toEqual([false, true]);
    expect(text(".rq-fact-support")).toContain("0.50");
    expect(text(".rq-readout")).toContain("02 × 03");
    expect(text(".rq-readout")).toContain("0.750");
    expect(text(".rq-early-table tbody tr")).toBe("vs gold answer in use0.50–0.50");
    expect(document.querySelector<HTMLAnchorElement>('a[href="/traces/102/"]')).not.toBeNull();
    expect(location.hash).toBe("");
  });

  it("moves through the chains by keys, also to those outside the pool, and keeps the place in the address", async () => {
    await openPage(questionOf());
    const seen = [title()];
    for (const key of ["j", "ArrowDown", "j", "j", "k", "m"]) {
      await press(key);
      seen.push(title());
    }
    expect(seen).toEqual(["Chain 02", "Chain 01", "Chain 03", "Chain 04", "Chain 04", "Chain 03", "Chain 02"]);
    expect(location.hash).toBe("#chain-2");
  });

  it("opens at the chain of the address", async () => {
    await openPage(questionOf(), "#chain-4");
    expect(title()).toBe("Chain 04");
    expect(text(".rq-section")).toContain("This chain has no facts: no facts");
  });

  it("changes its views by the keys 1 to 3 and the letters of the matrix", async () => {
    await openPage(questionOf());
    await press("2");
    expect(text(".rq-steps")).toContain("Step 2. So the bear wins. from 1");
    await press("3");
    expect(text(".rq-compare h4")).toBe("Chain 02 true, correct");
    expect(text(".rq-facts li")).toContain("≈ 03, fact 1: 0.67");
    await press("t");
    const rows = [...document.querySelectorAll(".rq-table-scroll tbody tr")].map((row) => row.querySelector("th")?.textContent);
    expect(rows).toEqual(["01", "03"]);
    await press("1");
    await click('.rq-table-scroll [aria-label="03, compare"]');
    expect(text(".rq-compare > div:nth-child(2) h4")).toContain("Chain 03");
    await press("s");
    expect(document.querySelector(".rq-heat-map")).not.toBeNull();
  });

  it("reads the matrix by arrow keys and opens a pair with Enter", async () => {
    await openPage(questionOf());
    const map = document.querySelector<HTMLElement>(".rq-heat-map")!;
    // From row 02, column 03 to row 01, column 03.
    await press("ArrowDown", map);
    expect(text(".rq-readout")).toContain("01 × 03 at pointer");
    expect(text(".rq-heat [aria-live]")).toBe("01 and 03: distance 0.500");
    expect(title()).toBe("Chain 02");
    await press("Enter", map);
    expect(title()).toBe("Chain 01");
    expect(text(".rq-readout")).toContain("01 × 03");
  });

  it("sorts the list and says by what", async () => {
    await openPage(questionOf());
    await click(".rq-chains thead th:nth-child(1) button");
    const names = [...document.querySelectorAll(".rq-chains tbody:nth-of-type(1) .rq-chain-name")].map((name) => name.textContent);
    expect(names).toEqual(["01", "02", "03"]);
    expect(document.querySelector('th[aria-sort="ascending"]')?.textContent).toContain("chain");
  });

  it("shows a fact whole when it is chosen, and keeps it chosen at a second click", async () => {
    await openPage(questionOf());
    await click('[data-fact="1"]');
    await click('[data-fact="1"]');
    expect(text(".rq-fact-line")).toBe("Fact 2, step 2, terminal: The bear wins From step 1. Support 0.25.");
  });

  it("says what is missing and what to run", async () => {
    await openPage(questionOf({ document: null, matrix: null, early: { chains: 0, gold: { mean: null, n: 0 }, own: { mean: null, n: 0 } }, chains: [questionOf().chains[0]!] }));
    const all = text("[data-island]");
    expect(all).toContain("Not scored yet: the distances appear after “Compare and score”.");
    expect(all).toContain("Not asked yet: run “Early answering” from the study.");
    expect(all).toContain("run “Counterfactual edits” from the study");
    expect(all).toContain("If the medoid is forbidden");
    expect(all).toContain("run “Forbid the medoid” from the study");
  });

  it("says once why there is no score at all", async () => {
    const page = questionOf();
    await openPage({ ...page, metrics: page.metrics.map((metric) => ({ ...metric, value: null, missing: "Not scored yet." })) });
    expect(document.querySelector(".rq-scores")).toBeNull();
    expect(text("[data-island]").split("Not scored yet.")).toHaveLength(2);
  });

  it("gives a score that is missing a dash and the reason, and opens a definition", async () => {
    await openPage(questionOf());
    const rows = [...document.querySelectorAll(".rq-scores tr")].map((row) => row.textContent);
    expect(rows.find((row) => row?.startsWith("CoTA"))).toBe("CoTA–No labeller was asked.");
    expect(text(".rq-about")).toBe("A coherence. A definition.");
    await click('[aria-label="About CoTA"]');
    expect(text(".rq-scores")).toContain("Other. High: no.");
  });

  it("compares the medoid with what came when it was forbidden", async () => {
    const summary = { accuracy: 0.5, medoid_accuracy: 1, accuracy_change: -0.5, faithfulness: 0.8, medoid_faithfulness: 0.5, faithfulness_change: 0.3, distance: 0.6, n: 4, n_faithful: 3 };
    const own = { ...summary, faithfulness: 0.4, faithfulness_change: -0.1 };
    await openPage(questionOf({ ablation: { forbidden: 2, is_medoid: false, reference: "gold", gold: summary, own, distances: [0.4, 0.5, 0.7, 0.8], correct: 2, readable: 3 } }));
    const bar = text('[aria-label="Medoid ablation"]');
    expect(bar).toContain("1.00 → 0.50");
    expect(bar).toContain("2 of 4 give the gold answer; 1 could not be read.");
    expect(bar).toContain("vs gold, 3 of 4 with a value. vs own: 0.50 → 0.40.");
    expect(bar).toContain("Chain 02 is no longer the medoid");
    expect(document.querySelectorAll(".rq-track .mark")).toHaveLength(4);
  });

  it("shows facts of a step that the chain does not have", async () => {
    const page = questionOf();
    page.chains[1]!.facts.push(["From nowhere", 9, []]);
    await openPage(page);
    await press("2");
    expect(text(".rq-steps > li:last-child")).toContain("a step which the chain does not have3 From nowhere");
  });

  it("marks the nearest fact of the other chain under the pointer", async () => {
    await openPage(questionOf());
    await press("3");
    document.querySelector(".rq-facts li")?.dispatchEvent(new Event("pointerenter"));
    await settle();
    expect([...document.querySelectorAll(".rq-facts li.on")].map((fact) => fact.textContent)).toEqual([expect.stringContaining("Bears are fast"), expect.stringContaining("Men are fast")]);
  });

  it("keeps the server's table where the document does not come, and tries again", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const answers = [new Response(JSON.stringify({ error: { message: "The study is being scored.", remedy: "Wait a minute." } }), { status: 503 }), new Response(JSON.stringify(questionOf()))];
    const fetched = vi.fn(async () => answers.shift()!);
    vi.stubGlobal("fetch", fetched);
    await openPage(null as unknown as QuestionPage);
    expect(fetched).toHaveBeenCalledWith("/api/", expect.anything());
    expect(text('[role="alert"]')).toContain("The study is being scored. Wait a minute.");
    expect(text("[data-island]")).toContain("Server table");
    await click('[role="alert"] button');
    expect(title()).toBe("Chain 02");
    expect(text("[data-island]")).not.toContain("Server table");
    await press("j");
    expect(title()).toBe("Chain 01");
  });

  it("shows hostile text as text", async () => {
    const page = questionOf();
    page.chains[1]!.facts = [["<img src=x onerror=alert(1)>", 1, []]];
    page.document!.chains[1]!.terminals = [];
    await openPage(page);
    expect(document.querySelector("img")).toBeNull();
    expect(text(".rq-fact-text")).toBe("<img src=x onerror=alert(1)>");
  });

  it("says so when the server's document is of another kind", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    await openPage({ ...questionOf(), schema: "other/1" });
    expect(text('[role="alert"]')).toContain("the server sent other/1");
  });
});

describe("rows of early answering", () => {
  it("have gold first, no answer last, and what is too much as other", () => {
    const words = (strip: ReturnType<typeof stripOf>): [string[], number[]] => [strip.rows.map((row) => row.words), strip.at];
    expect(words(stripOf(["b", null, "a", "b"], "a"))).toEqual([["a", "b", "no answer"], [1, 2, 0, 1]]);
    expect(words(stripOf(["1", "2", "3", "4", "5"], null))).toEqual([["1", "2", "3", "other"], [0, 1, 2, 3, 3]]);
    // An answer that is the word "other" is not the rest.
    expect(words(stripOf(["other", "2", "3", "4", "5"], null))).toEqual([["other", "2", "3", "other"], [0, 1, 2, 3, 3]]);
  });
});
