// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunMessage } from "../../lib/progress";
import { mount } from "./index";

const sockets: FakeSocket[] = [];

class FakeSocket extends EventTarget {
  static readonly OPEN = 1;
  readyState = 0;
  readonly url: string;
  constructor(url: string) {
    super();
    this.url = url;
    sockets.push(this);
  }
  close(): void {
    this.readyState = 3;
  }
  opens(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }
  says(message: unknown): void {
    this.dispatchEvent(new MessageEvent("message", { data: typeof message === "string" ? message : JSON.stringify(message) }));
  }
  breaks(): void {
    this.readyState = 3;
    this.dispatchEvent(new Event("close"));
  }
}

let server: RunMessage;
let posted: string[];
let down = false;
const text = (): string => document.body.textContent?.replace(/\s+/g, " ").trim() ?? "";
const pass = (ms = 20): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(async () => {
  vi.useFakeTimers();
  sockets.length = 0;
  posted = [];
  down = false;
  server = { seq: 1, id: 5, state: "running", done: 61, total: 96, cached: 4, invalid: 1, failed: 0, calls_per_second: 40.1, seconds_left: 10, message: "" };
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (down) throw new TypeError("down");
    if (init.method === "POST") posted.push(url);
    return new Response(JSON.stringify(server));
  });
});
afterEach(() => {
  window.dispatchEvent(new Event("pagehide"));
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function show(attributes = ""): Promise<void> {
  document.body.innerHTML = `<div data-run="5" data-src="/api/v1/runs/5/" data-socket="/ws/runs/5/" ${attributes}>Server text</div>`;
  mount(document.body.firstElementChild as HTMLElement);
  await pass();
}

describe("run-progress", () => {
  it("asks for the state at once, so that a reload loses nothing", async () => {
    await show();
    expect(text()).toContain("Running63 %61 of 96 calls, 4 cached, 1 invalid, 40.1 per second, 10 s left");
    expect(document.querySelector("progress")?.value).toBe(61);
    expect(text()).not.toContain("Server text");
  });

  it("takes live messages and ignores older ones", async () => {
    await show();
    sockets[0]?.opens();
    expect(sockets[0]?.url).toBe("ws://localhost:3000/ws/runs/5/");
    sockets[0]?.says({ ...server, seq: 3, done: 80 });
    sockets[0]?.says({ ...server, seq: 2, done: 70 });
    await pass();
    expect(text()).toContain("80 of 96 calls");
  });

  it("polls while the socket is away and opens it again after a growing pause", async () => {
    await show();
    sockets[0]?.opens();
    server = { ...server, seq: 4, done: 90 };
    sockets[0]?.breaks();
    await pass(100);
    expect(text()).toContain("90 of 96 calls");
    expect(text()).toContain("no live link");
    server = { ...server, seq: 5, done: 91 };
    await pass(2100);
    expect(text()).toContain("91 of 96 calls");
    expect(sockets).toHaveLength(2); // after 1 s
    sockets[1]?.breaks();
    await pass(1500);
    expect(sockets).toHaveLength(2);
    await pass(1000);
    expect(sockets).toHaveLength(3); // after 2 s more
  });

  it("says when the server does not answer, and recovers", async () => {
    down = true;
    await show();
    expect(text()).toContain("The server does not answer. Trying again.");
    down = false;
    await pass(2100);
    expect(text()).toContain("61 of 96 calls");
  });

  it("cancels, then offers to resume", async () => {
    await show();
    server = { ...server, seq: 9, state: "cancelled", seconds_left: null };
    document.querySelector<HTMLButtonElement>(".btn-danger-quiet")?.click();
    await pass(50);
    expect(posted).toEqual(["/api/v1/runs/5/cancel/"]);
    expect(text()).toContain("Cancelled63 %");
    server = { ...server, seq: 10, state: "running" };
    [...document.querySelectorAll("button")].find((button) => button.textContent === "Resume")?.click();
    await pass(50);
    expect(posted[1]).toBe("/api/v1/runs/5/resume/");
    expect(text()).toContain("Running");
  });

  it("shows the server's refusal", async () => {
    await show();
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ error: { message: "The run is finished.", remedy: "Reload the page." } }), { status: 409 }));
    document.querySelector<HTMLButtonElement>(".btn-danger-quiet")?.click();
    await pass(50);
    expect(document.querySelector('[role="alert"]')?.textContent).toContain("The run is finished. Reload the page.");
  });

  it("links to the audit when done, and stops asking", async () => {
    server = { ...server, state: "done", done: 96 };
    await show('data-done-href="/traces/3/"');
    expect(document.querySelector("a")?.getAttribute("href")).toBe("/traces/3/");
    expect(text()).toContain("Done100 %");
    server = { ...server, seq: 2, message: "later" };
    await pass(10_000);
    expect(text()).not.toContain("later");
  });

  it("says what a step of a study counts", async () => {
    server = { ...server, kind: "reasoning", done: 96, state: "done" };
    await show('data-done-href="/grapheval/s/"');
    expect(text()).toContain("96 of 96 items");
    expect(document.querySelector("progress")?.getAttribute("aria-label")).toBe("Done, 96 of 96 items");
    expect(document.querySelector("a")?.textContent).toBe("Show the results");
  });

  it("says what a step of a benchmark counts", async () => {
    server = { ...server, kind: "benchmark", done: 96, state: "done" };
    await show('data-done-href="/benchmarks/b/"');
    expect(document.querySelector("progress")?.getAttribute("aria-label")).toBe("Done, 96 of 96 tasks");
    expect(document.querySelector("a")?.textContent).toBe("Show the benchmark");
  });

  it("has a small form for tables", async () => {
    await show("data-compact");
    expect(text()).toBe("Running, 63 %10 s left63 %");
    expect(document.querySelector("button")).toBeNull();
  });
});
