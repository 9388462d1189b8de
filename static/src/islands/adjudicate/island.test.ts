// @vitest-environment jsdom
// The island in a page without layout: keys, requests, what is kept when a request fails. Its looks are for the browser tests.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ITEM, given, itemOf, judged, pageOf, row } from "./testing";
import type { DecisionState, ItemPayload, PagePayload } from "./types";

const text = (selector: string): string => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "(none)";
const settle = (): Promise<void> => vi.advanceTimersByTimeAsync(20).then(() => undefined);
const press = async (key: string, target: EventTarget = document.body, more: KeyboardEventInit = {}): Promise<void> => {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  await settle();
};
const click = async (words: string): Promise<void> => {
  const button = [...document.querySelectorAll<HTMLElement>("button")].find((one) => one.textContent?.includes(words));
  if (!button) throw new Error(`No button says ${words}.`);
  button.click();
  await settle();
};
const type = async (words: string): Promise<void> => {
  const field = document.querySelector<HTMLTextAreaElement>("#adj-note") as HTMLTextAreaElement;
  field.value = words;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await settle();
};

interface Sent {
  method: string;
  url: string;
  body: Record<string, unknown>;
  key: string;
}
let sent: Sent[] = [];
/** Answers to writes, in order; without one the server does as it is told. */
let answers: (() => Response | Promise<never>)[] = [];
let item: ItemPayload;
let page: PagePayload;

const json = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status });
const lost = (): Promise<never> => Promise.reject(new TypeError("no network"));

/** A server that keeps one item, as far as the page can tell. */
async function serve(url: string, init: RequestInit = {}): Promise<Response> {
  const method = init.method ?? "GET";
  if (method === "GET") {
    sent.push({ method, url, body: {}, key: "" });
    if (url === "/agreement/") return json({ measure: "cohen", title: "Cohen's kappa", agreement: { value: 0.78, undefined_because: "", low: 0.7, high: 0.86, cases: 40 } });
    if (url.endsWith("/audit/")) return json({ label: "orphan", explanation: "S4 has no support.", payload: null, note: "Later.", judges: [{ name: "m", verdict: "trustworthy" }] });
    return json(url === "/q/" ? page.queue : item);
  }
  const body = JSON.parse(String(init.body)) as Record<string, unknown>;
  sent.push({ method, url, body, key: new Headers(init.headers).get("Idempotency-Key") ?? "" });
  const answer = answers.shift();
  if (answer) return answer();
  const index = Number(/\/(\d+)\/$/.exec(url)?.[1]);
  const said = { label: body["label"], reasons: body["reasons"], note: body["note"], reason: "", matches: "", guideline: 2 } as NonNullable<DecisionState["draft"]>;
  const version = Number(body["base_version"]) + 1;
  const decision: DecisionState = body["final"] ? { version, draft: null, final: said, finals: 1 } : { version, draft: said, final: null, finals: 0 };
  item = { ...item, segments: item.segments.map((one) => (one.index === index && !one.context ? { ...one, decision, open: !body["final"] } : one)) };
  return json({ version, decision });
}

const writes = (): Sent[] => sent.filter((one) => one.method !== "GET");

async function open(changes: Partial<PagePayload> = {}): Promise<void> {
  page = pageOf(changes);
  document.body.innerHTML = `<span data-adjudication-saved></span><div data-island="adjudicate" data-page="p"></div><script type="application/json" id="p">${JSON.stringify(page)}</script>`;
  const { mount } = await import("./index");
  await mount(document.querySelector<HTMLElement>("[data-island]") as HTMLElement);
  await settle();
}

const listening: [EventTarget, string, EventListener][] = [];

beforeEach(() => {
  vi.resetModules();
  vi.useFakeTimers();
  [sent, answers, item] = [[], [], itemOf()];
  history.replaceState(null, "", "/studies/batch-3/adjudication/");
  vi.stubGlobal("fetch", serve);
  vi.stubGlobal("ResizeObserver", class {
    observe(): void {}
    disconnect(): void {}
  });
  HTMLDialogElement.prototype.showModal = function (): void {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function (): void {
    this.open = false;
  };
  for (const target of [document, window]) {
    const listen = target.addEventListener.bind(target);
    vi.spyOn(target, "addEventListener").mockImplementation((kind: string, listener: unknown, options?: unknown) => {
      listening.push([target, kind, listener as EventListener]);
      listen(kind, listener as EventListener, options as AddEventListenerOptions);
    });
  }
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  for (const [target, kind, listener] of listening.splice(0)) target.removeEventListener(kind, listener);
});

describe("adjudicate", () => {
  it("opens the first of the queue, with both labels, the figures and the audit locked", async () => {
    await open();
    expect(text(".pane-head h2")).not.toBe("(none)");
    expect(text('[aria-label="Disagreement"] h2')).toBe("Segment S4");
    expect(text('[aria-label="Physician A"]')).toContain("Correct");
    expect(text('[aria-label="Physician B"]')).toContain("Unsafe.");
    expect(text(".sub")).toContain("4 segments, 2 agreed (50 %), 2 to decide");
    expect(text(".sub")).toContain("κ 0.78 before decisions");
    expect(text(".adj-lock")).toContain("Hidden until your decision is saved");
    expect(sent.map((one) => one.url)).not.toContain(`/i/${ITEM}/4/audit/`);
    expect(location.search).toBe(`?item=${ITEM}&segment=4`);
  });

  it.each([
    ["not in the case", []],
    ["a part of the case", [["Question to the model", "What is the\nplan?"]]],
  ] as [string, [string, string][]][])("shows the question to the model once, where it is %s", async (_, parts) => {
    const { sections } = item.case;
    item = itemOf({ case: { ...item.case, sections: [...sections, ...parts] } });
    await open();
    const heads = [...document.querySelectorAll(".case h3")].map((head) => head.textContent);
    expect(heads).toEqual(["Presentation", "Question to the model", "Reference impression"]);
  });

  it("says whose label each choice is, and sets it by key but not while typing", async () => {
    await open();
    expect([...document.querySelectorAll(".choice-button")].map((one) => one.textContent)).toEqual(["Correctas A1", "Uncertainneither2", "Incorrectas B3"]);
    await press("3");
    expect(text('[aria-checked="true"]')).toContain("Incorrect");
    await press("1", document.querySelector("#adj-note") as Element);
    expect(text('[aria-checked="true"]')).toContain("Incorrect");
  });

  it("saves the draft a second after the last change, with a version and a key", async () => {
    await open();
    await press("2");
    await type("Mixed.");
    expect(writes()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(writes()).toHaveLength(1);
    expect(writes()[0]).toMatchObject({ method: "PUT", url: `/i/${ITEM}/4/`, body: { base_version: 0, label: "uncertain", note: "Mixed.", final: false, guideline: 2 } });
    expect(text("[data-adjudication-saved]")).toContain("Draft saved");
    await type("Mixed, rather.");
    await vi.advanceTimersByTimeAsync(1000);
    expect(writes()[1]?.body["base_version"]).toBe(1);
    expect(writes()[1]?.key).not.toBe(writes()[0]?.key);
  });

  it("asks for a note where the decision matches nobody, and sends nothing until there is one", async () => {
    await open();
    await press("2");
    await press("Enter");
    expect(text('[role="alert"]')).toContain("needs a note");
    expect(text("label[for=adj-note]")).toContain("matches neither physician");
    expect(writes().filter((one) => one.body["final"])).toEqual([]);
    await type("The main claim stands.");
    await press("Enter", document.querySelector("#adj-note") as Element, { ctrlKey: true });
    expect(writes().filter((one) => one.body["final"])).toHaveLength(1);
  });

  it("shows the audit only after the decision is saved, and goes on with Enter", async () => {
    await open();
    await press("1");
    await press("Enter");
    await settle();
    expect(text(".adj-decision h3")).toBe("Decided");
    expect(text(".adj-audit")).toContain("Orphan");
    expect(text(".adj-audit")).toContain("m: trustworthy");
    await press("Enter");
    expect(text('[aria-label="Disagreement"] h2')).toBe("Segment S5");
    expect(text(".adj-lock")).toContain("Hidden");
  });

  it("keeps the text when nothing answers and sends the very same request again", async () => {
    await open();
    answers = [lost];
    await press("3");
    await type("Unsafe at 168.");
    await vi.advanceTimersByTimeAsync(1000);
    expect(text(".adj-decision")).toContain("Your text is kept here");
    expect(document.querySelector<HTMLTextAreaElement>("#adj-note")?.value).toBe("Unsafe at 168.");
    await vi.advanceTimersByTimeAsync(6000);
    expect(writes()).toHaveLength(2);
    expect(writes()[1]).toEqual(writes()[0]);
    expect(text("[data-adjudication-saved]")).toContain("Draft saved");
  });

  it("learns what became of a lost request before it sends what was written meanwhile", async () => {
    await open();
    answers = [lost];
    await press("3");
    await vi.advanceTimersByTimeAsync(1000);
    await type("Written while the network was away.");
    await vi.advanceTimersByTimeAsync(1000);
    expect(writes().map((one) => [one.body["base_version"], one.body["note"]])).toEqual([
      [0, ""],
      [0, ""],
      [1, "Written while the network was away."],
    ]);
    expect(writes()[1]?.key).toBe(writes()[0]?.key);
  });

  it("puts both texts side by side when somebody else saved, and overwrites only on request", async () => {
    await open();
    const current: DecisionState = { version: 4, draft: { label: "correct", reasons: [], note: "Written elsewhere.", reason: "", matches: "", guideline: 2 }, final: null, finals: 0 };
    answers = [() => json({ error: { code: "version_conflict", message: "Saved by somebody else." }, current }, 409)];
    await press("3");
    await type("Mine.");
    await vi.advanceTimersByTimeAsync(1000);
    expect(text("dialog")).toContain("Mine.");
    expect(text("dialog")).toContain("Written elsewhere.");
    expect(writes()).toHaveLength(1);
    await click("Keep mine");
    expect(writes()[1]?.body).toMatchObject({ base_version: 4, note: "Mine.", label: "incorrect" });
  });

  it("takes over the other text on request", async () => {
    await open();
    const current: DecisionState = { version: 4, draft: { label: "correct", reasons: [], note: "Written elsewhere.", reason: "", matches: "", guideline: 2 }, final: null, finals: 0 };
    answers = [() => json({ error: { code: "version_conflict", message: "" }, current }, 409)];
    await press("3");
    await vi.advanceTimersByTimeAsync(1000);
    item = { ...item, segments: item.segments.map((one) => (one.index === 4 && !one.context ? { ...one, decision: current } : one)) };
    await click("Take the other");
    expect(document.querySelector<HTMLTextAreaElement>("#adj-note")?.value).toBe("Written elsewhere.");
    expect(writes()).toHaveLength(1);
  });

  it("asks for the password in place when the login has run out, and keeps the text", async () => {
    await open();
    answers = [() => json({ error: { code: "not_authenticated", message: "Log in." } }, 401)];
    const real = serve;
    vi.stubGlobal("fetch", (url: string, init: RequestInit = {}) => (url === "/relogin/" ? Promise.resolve(json({ user: null, csrf_token: "t" })) : real(url, init)));
    await press("3");
    await type("Kept.");
    await vi.advanceTimersByTimeAsync(1000);
    expect(text("dialog")).toContain("The login has run out");
    expect(document.querySelector<HTMLTextAreaElement>("#adj-note")?.value).toBe("Kept.");
  });

  it("takes two quick steps as two, and shows the case it ends at whatever comes late", async () => {
    const other = "1b9a3c1e-1111-4222-8333-444455556666";
    const far = row(3, null, { item: other, case: "Case 30" });
    const first = itemOf();
    vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
      if (url === `/i/${other}/`) return json(itemOf({ item: other, name: "Case 30", segments: [judged(3, { A: given("correct"), B: given("incorrect") })] }));
      // The first case answers late, when the person has gone on.
      if (url === `/i/${ITEM}/` && writes().length) await new Promise((resolve) => setTimeout(resolve, 500));
      return url === `/i/${ITEM}/` ? json(first) : serve(url, init);
    });
    const queue = pageOf().queue;
    await open({ queue: { ...queue, to_decide: 3, queue: [...queue.queue, far] } });
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
    await press("Enter");
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
    await vi.advanceTimersByTimeAsync(2000);
    expect(text(".sub")).toContain("Case 30");
    expect(text('[aria-label="Disagreement"] h2')).toBe("Segment S3");
  });

  it("folds agreed segments and opens them on request", async () => {
    await open();
    const fold = document.querySelector<HTMLElement>(".adj-fold");
    expect(fold?.textContent).toContain("S21 segment, both physicians agree");
    expect(text(".adj-before")).toContain("Correct, both");
    fold?.click();
    await settle();
    expect(text(".adj-opened")).toContain("Text of segment 2.");
  });

  it("shows the clause that the chosen reason speaks of", async () => {
    await open();
    expect(text(".adj-clause")).toBe("Judge each segment.");
    await click("Mixed segment");
    expect(text(".adj-clause")).toContain("main claim");
  });

  it("lets nobody decide who only leads", async () => {
    item = itemOf({ may_decide: false });
    await open({ may_decide: false, why_not: "You lead this study and do not decide in it." });
    await press("1");
    await vi.advanceTimersByTimeAsync(1000);
    expect(writes()).toEqual([]);
    expect(text('[role="note"]')).toContain("do not decide");
    expect(document.querySelector(".choice-button")).toBeNull();
    expect(text(".adj-focus")).toContain("Not decided yet");
  });

  it("says so when there is nothing to decide, and when all is decided", async () => {
    await open({ queue: { segments: 0, agreed: 0, to_decide: 0, decided: 0, queue: [] } });
    expect(text(".empty")).toContain("Nothing to decide");
  });
});
