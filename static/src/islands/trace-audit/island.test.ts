// @vitest-environment jsdom
// The island in a page without layout: state, text, keys and requests. What it looks like is for the browser tests.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AuditPayload } from "../../lib/payload";
import { CLINICAL, auditOf } from "../../lib/testing";

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));
const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const press = async (key: string, target: EventTarget = document.body, more: KeyboardEventInit = {}): Promise<void> => {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  await settle();
};
const click = async (selector: string): Promise<void> => {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element) throw new Error(`Nothing matches ${selector}.`);
  element.click();
  await settle();
};

async function openPage(payload: AuditPayload, hash = ""): Promise<void> {
  history.replaceState(null, "", `/traces/3/${hash}`);
  const items = payload.segments.map(
    (segment) => `<li data-segment="${segment.index}" tabindex="-1"><p>${segment.text}</p><span class="chip" data-audit-chip>${segment.label}</span></li>`,
  );
  document.body.innerHTML = `<nav class="dots"><a href="#S5">S5</a><a href="#S8">S8</a></nav><ol>${items.join("")}</ol><textarea></textarea>
    <button data-shortcuts hidden>Shortcuts</button>
    <div data-island="trace-audit" data-src="/api/v1/audits/7/" data-payload="audit-payload"></div>
    <script type="application/json" id="audit-payload">${JSON.stringify(payload)}</script>`;
  const { mount } = await import("./index");
  await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await settle();
}

const answer = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status });

// Every test opens a page of its own: what the page before listened to must not answer to this one.
const listening: [EventTarget, string, EventListener][] = [];

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
    disconnect(): void {}
  });
  Element.prototype.scrollIntoView = () => {};
  Element.prototype.scrollTo = (() => {}) as typeof Element.prototype.scrollTo;
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

describe("trace-audit", () => {
  it("shows the first broken chain with its label, sentence and text tree", async () => {
    await openPage(CLINICAL);
    expect(text(".outcome h2")).toBe("S8");
    expect(text(".outcome .chip")).toBe("Unsupported");
    expect(text(".why")).toBe("Why S8.");
    expect(text('[role="tree"]')).toContain("Implied by S4 and S5 together, fails because S5 does not ground");
    expect(text('[role="tree"]')).toContain("no support edge kept (2 neutral, 1 pruned by distance)");
    expect(location.hash).toBe("");
  });

  it("marks the selected segment and its premises in the list, and follows address, click and keys", async () => {
    await openPage(CLINICAL, "#S4");
    const current = (): string | undefined => document.querySelector<HTMLElement>('li[aria-current="true"]')?.dataset.segment;
    const premises = (): (string | undefined)[] => [...document.querySelectorAll<HTMLElement>("li.is-premise")].map((item) => item.dataset.segment);
    expect([current(), premises()]).toEqual(["4", ["1"]]);
    await click('li[data-segment="8"] p');
    expect([current(), premises(), location.hash]).toEqual(["8", ["4", "5"], "#S8"]);
    expect(document.querySelector('.dots [aria-current="true"]')?.getAttribute("href")).toBe("#S8");
    await press("j");
    expect(current()).toBe("9");
    await press("k");
    await press("ArrowUp");
    expect(current()).toBe("7");
    await press("j", document.querySelector("textarea") as HTMLElement);
    expect(current()).toBe("7");
    location.hash = "#S5";
    await settle();
    expect(current()).toBe("5");
  });

  it("says a new selection politely, but says nothing when the page opens", async () => {
    await openPage(CLINICAL);
    expect(text('[aria-live="polite"].visually-hidden')).toBe("");
    await press("k");
    await settle();
    expect(text('[aria-live="polite"].visually-hidden')).toBe("S7, Orphan. Why S7.");
  });

  it("has every relation in a table, with the reason in words", async () => {
    await openPage(CLINICAL, "#S5");
    await press("r");
    expect(text(".relation-count")).toBe("11 of 11 relations");
    const row = [...document.querySelectorAll(".relations tbody tr")].find((item) => item.textContent?.startsWith("S2S5"));
    expect(row?.textContent).toContain("pruned by distance");
    expect(document.querySelector("table.relations")?.getAttribute("aria-rowcount")).toBe("12");
  });

  it("has a tab per view with one tab stop, moved by arrow keys", async () => {
    await openPage(CLINICAL);
    await press("ArrowRight", document.querySelector('[role="tab"]') as HTMLElement);
    const tabs = [...document.querySelectorAll<HTMLElement>('[role="tab"]')];
    expect(tabs.map((tab) => [tab.textContent, tab.getAttribute("aria-selected"), tab.tabIndex])).toEqual([
      ["Support tree", "false", -1],
      ["Hypergraph", "true", 0],
      ["Node-link", "false", -1],
      ["Table", "false", -1],
    ]);
    expect(document.querySelectorAll('[role="option"]')).toHaveLength(8);
  });

  it("does not draw node-link pictures of long traces and says why", async () => {
    await openPage(auditOf(Array.from({ length: 30 }, () => "orphan" as const), []));
    await press("n");
    expect(text(".audit-body")).toContain("A node-link picture of 31 segments would be a tangle; it is drawn for up to 30.");
  });

  it("lets the text tree be walked by keys", async () => {
    await openPage(CLINICAL, "#S8");
    await press("x");
    const item = (): HTMLElement => document.activeElement as HTMLElement;
    document.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')?.focus();
    expect(item().dataset.path).toBe("8");
    await press("ArrowDown", item());
    expect(item().dataset.path).toBe("8/4,5>8");
    await press("ArrowRight", item());
    expect(item().dataset.path).toBe("8/4,5>8/4");
    await press("ArrowLeft", item());
    expect(item().getAttribute("aria-expanded")).toBe("false");
    await press("ArrowLeft", item());
    expect(item().dataset.path).toBe("8/4,5>8");
    expect(text(".outcome h2")).toBe("S8");
  });
});

describe("what-if", () => {
  const changed = { index: 5, from: "orphan", to: "supported" };
  const supposed = {
    segments: CLINICAL.segments.map((segment) => (segment.index === 5 ? { ...segment, label: "supported", search_label: "supported", explanation: "Now it holds." } : segment)),
    edges: { ...CLINICAL.edges, rows: CLINICAL.edges.rows.map((row) => (row[1] === 5 && String(row[0]) === "4" ? [[4], 5, "entailment", true, null, "valid", 1] : row)) },
    changed: [changed],
  };

  it("asks the server, shows before and after, and undoes", async () => {
    document.cookie = "csrftoken=abc";
    const fetching = vi.fn(async (_url: string, _init: RequestInit) => answer(supposed));
    vi.stubGlobal("fetch", fetching);
    await openPage(CLINICAL, "#S5");
    await press("w");
    await press("r");
    await click('.relation-edit[aria-label="Neutral. Change S4 → S5"]');
    await click('[role="menuitemradio"]:nth-of-type(1)');
    expect(fetching).toHaveBeenCalledTimes(1);
    const [url, init] = fetching.mock.calls[0] as [string, RequestInit];
    expect(url).toBe("/api/v1/audits/7/what-if/");
    expect(JSON.parse(String(init.body))).toEqual({ edits: [{ premises: [4], target: 5, label: "entailment" }] });
    expect((init.headers as Record<string, string>)["X-CSRFToken"]).toBe("abc");
    expect(text(".what-if-edits")).toBe("S4 → S5: Entail");
    expect(text(".what-if-changes")).toBe("S5Orphan→Supported");
    expect(text('li[data-segment="5"] .whatif-chip')).toBe("→ what-ifSupported");
    await press("t");
    expect(text(".outcome")).toContain("Orphan→Supported");
    expect(text('[role="tree"]')).toContain("Entailed by S4");
    await press("u");
    expect(document.querySelector(".whatif-chip")).toBeNull();
    expect(text(".outcome .chip")).toBe("Orphan");
    await press("U", document.body, { shiftKey: true });
    expect(fetching).toHaveBeenCalledTimes(2);
    // Leaving the mode shows the stored audit again.
    await press("w");
    expect(text(".outcome .chip")).toBe("Orphan");
    expect(document.querySelector(".what-if")).toBeNull();
  });

  it("shows the server's sentence when it refuses, and can try again", async () => {
    const refusal = { error: { code: "no_run", message: "This audit has no run.", remedy: "Run it first." } };
    const fetching = vi.fn(async () => answer(refusal, 409));
    vi.stubGlobal("fetch", fetching);
    await openPage(CLINICAL, "#S8");
    await press("w");
    await click(".tree-rel-edit");
    await click('[role="menuitemradio"]:last-of-type');
    expect(text(".what-if-problem")).toContain("This audit has no run. Run it first.");
    expect(text(".outcome .chip")).toBe("Unsupported");
    fetching.mockImplementation(async () => answer(supposed));
    await click(".what-if-problem button");
    expect(document.querySelector(".what-if-problem")).toBeNull();
  });

  it("ignores the answer to an older question", async () => {
    const waiting: { init: RequestInit; resolve: (response: Response) => void }[] = [];
    vi.stubGlobal("fetch", (_url: string, init: RequestInit) =>
      new Promise<Response>((resolve, reject) => {
        waiting.push({ init, resolve });
        init.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      }),
    );
    await openPage(CLINICAL, "#S8");
    await press("w");
    await click(".tree-rel-edit");
    await click('[role="menuitemradio"]:last-of-type');
    await press("u");
    expect(waiting[0]?.init.signal?.aborted).toBe(true);
    expect(document.querySelector(".what-if-problem")).toBeNull();
    expect(document.querySelector(".whatif-chip")).toBeNull();
  });

  it("lists what would flip a label and tries a set", async () => {
    const flips = { segment: 8, from: "unsupported", to: "supported", found: true, searched_up_to: 3, size: 1, truncated: false, sets: [[{ premises: [4], target: 5, from: "neutral", to: "entailment" }]] };
    const fetching = vi.fn(async (url: string) => answer(url.includes("flips") ? flips : supposed));
    vi.stubGlobal("fetch", fetching);
    await openPage(CLINICAL, "#S8");
    await click(".outcome-facts > .btn");
    expect(fetching.mock.calls[0]?.[0]).toBe("/api/v1/audits/7/flips/?segment=8&to=supported");
    expect(text(".flip-sets li span")).toBe("S4 → S5: Neutral becomes Entail");
    await click(".flip-sets .btn");
    expect(text(".what-if-edits")).toBe("S4 → S5: Entail");
  });

  it("says when no set is found", async () => {
    vi.stubGlobal("fetch", async () => answer({ segment: 8, from: "unsupported", to: "supported", found: false, searched_up_to: 3, size: null, truncated: false, sets: [] }));
    await openPage(CLINICAL, "#S8");
    await click(".outcome-facts > .btn");
    expect(text(".flips")).toContain("No set of up to 3 changes does it.");
  });
});

describe("loading", () => {
  it("fetches the audit when the page carries none", async () => {
    vi.stubGlobal("fetch", vi.fn(async () => answer(CLINICAL)));
    document.body.innerHTML = '<div data-island="trace-audit" data-src="/api/v1/audits/7/"></div>';
    const { mount } = await import("./index");
    await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
    await settle();
    expect(text(".outcome h2")).toBe("S8");
  });

  it("says what went wrong and offers another try", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    vi.stubGlobal("fetch", vi.fn(async () => answer(null, 502)));
    document.body.innerHTML = '<div data-island="trace-audit" data-src="/api/v1/audits/7/"></div>';
    const { mount } = await import("./index");
    await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
    await settle();
    expect(text('[role="alert"]')).toContain("The audit could not be shown. The server answered with status 502.");
    vi.stubGlobal("fetch", vi.fn(async () => answer(CLINICAL)));
    await click('[role="alert"] button');
    expect(text(".outcome h2")).toBe("S8");
  });
});
