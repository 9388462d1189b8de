// @vitest-environment jsdom
// The address for VidAT in the Export dialog: made, shown once, copied, withdrawn.
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { payloadOf } from "./testing";
import { VidatAddress } from "./vidat-address";

const QUERY = "?submitURL=https%3A%2F%2Fhere.example%2Fvidat%2Fra_12%2F";
const STANDING = { address: null as unknown, days: 14, origins: ["https://vidat.example.org"], file: "/export/vidat/", why_not: "" };
const ADDRESS = { expires_at: "2026-12-15T10:00:00Z", used_at: "2026-12-02T10:00:00Z", submits: 2 };

let asked: string[] = [];
let headers: Record<string, string> = {};
let answers: Record<string, [number, unknown]> = {};
const text = (): string => document.body.textContent?.replace(/\s+/g, " ") ?? "";
const button = (words: string): HTMLButtonElement => [...document.querySelectorAll("button")].find((one) => one.textContent?.includes(words)) as HTMLButtonElement;
const until = (what: () => boolean): Promise<void> => vi.waitFor(() => void expect(what()).toBe(true), { timeout: 8000, interval: 5 });

function show(): void {
  const payload = payloadOf();
  payload.urls.vidat = "/vidat-of-mine/";
  render(<VidatAddress payload={payload} />, document.body);
}

beforeEach(() => {
  [asked, answers] = [[], { GET: [200, STANDING], POST: [201, { ...STANDING, address: { ...ADDRESS, submits: 0, used_at: null }, url: "https://here.example/vidat/ra_12/", query: QUERY }], DELETE: [200, STANDING] }];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit = {}) => {
    const method = init.method ?? "GET";
    asked.push(`${method} ${url}`);
    headers = init.headers as Record<string, string>;
    const [status, body] = answers[method] as [number, unknown];
    return new Response(JSON.stringify(body), { status });
  });
});
afterEach(() => {
  render(null, document.body);
  vi.unstubAllGlobals();
});

describe("the address for VidAT", () => {
  it("is made on demand and says what to do with it", async () => {
    show();
    await until(() => button("Make an address")?.disabled === false);
    expect(asked).toEqual(["GET /vidat-of-mine/"]);
    button("Make an address").click();
    await until(() => text().includes("Shown only now"));
    expect(asked[1]).toBe("POST /vidat-of-mine/");
    expect(headers["X-Expected-User"]).toBe("3");
    expect(document.querySelector<HTMLInputElement>("#vidat-query")?.value).toBe(QUERY);
    expect(document.querySelector<HTMLInputElement>("#vidat-url")?.value).toBe("https://here.example/vidat/ra_12/");
    expect(text()).toContain("until 15 December 2026");
    expect(text()).toContain("Open VidAT at https://vidat.example.org");
  });

  it("is copied, or marked where the browser does not let pages copy", async () => {
    show();
    await until(() => button("Make an address")?.disabled === false);
    button("Make an address").click();
    await until(() => text().includes("Shown only now"));
    button("Copy").click();
    await until(() => text().includes("Ctrl+C"));
    const written: string[] = [];
    vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText: async (given: string) => void written.push(given) } });
    button("Copy").click();
    await until(() => text().includes("Copied."));
    expect(written).toEqual([QUERY]);
  });

  it("that is there already is not shown, but can be withdrawn", async () => {
    answers.GET = [200, { ...STANDING, address: ADDRESS }];
    show();
    await until(() => text().includes("used 2 times, last on 2 December 2026"));
    expect(document.querySelector("input")).toBe(null);
    button("Withdraw").click();
    await until(() => button("Withdraw") === undefined);
    expect(asked[1]).toBe("DELETE /vidat-of-mine/");
    expect(button("Make an address").disabled).toBe(false);
  });

  it("is not made for work that was handed in, and says what the server refuses", async () => {
    answers.GET = [200, { ...STANDING, why_not: "This case was handed in, so its labels stay as they are." }];
    show();
    await until(() => text().includes("was handed in"));
    expect(button("Make an address").disabled).toBe(true);
    render(null, document.body);
    answers = { ...answers, GET: [200, STANDING], POST: [409, { error: { code: "not_editable", message: "The study is closed.", remedy: "Ask its lead." } }] };
    show();
    await until(() => button("Make an address")?.disabled === false);
    button("Make an address").click();
    await until(() => document.querySelector("[role=alert]") !== null);
    expect(text()).toContain("The study is closed. Ask its lead.");
  });
});
