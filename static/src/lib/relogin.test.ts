// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { logInAgain, whoAmI } from "./relogin";

const answers: [number, unknown][] = [];
const asked: { method: string; body: unknown; token: string | null }[] = [];
const token = (): string | undefined => document.querySelector<HTMLMetaElement>("meta")?.content;

beforeEach(() => {
  answers.length = asked.length = 0;
  document.head.innerHTML = '<meta name="csrf-token" content="old">';
  document.body.setAttribute("hx-headers:inherited", '{"X-CSRFToken": "old"}');
  document.body.innerHTML = '<input name="csrfmiddlewaretoken" value="old">';
  vi.stubGlobal("fetch", async (_: string, init: RequestInit = {}) => {
    asked.push({ method: init.method ?? "GET", body: init.body ? JSON.parse(String(init.body)) : null, token: new Headers(init.headers).get("X-CSRFToken") });
    const [status, body] = answers.shift() ?? [500, null];
    if (status === 0) throw new TypeError("down");
    return new Response(JSON.stringify(body), { status });
  });
});
afterEach(() => vi.unstubAllGlobals());

describe("ab_14: who is logged in", () => {
  it.each<[number, unknown, string]>([
    [200, { user: "reader", csrf_token: "new" }, "me"],
    [200, { user: null, csrf_token: "new" }, "nobody"],
    [200, { user: "other", csrf_token: "theirs" }, "somebody else"],
    [502, null, "unknown"],
    [0, null, "unknown"],
  ])("%i %o: %s", async (status, body, who) => {
    answers.push([status, body]);
    expect(await whoAmI("/relogin/", "reader")).toBe(who);
    // Another person's token is not for this page.
    expect(token()).toBe(who === "me" || who === "nobody" ? "new" : "old");
  });
});

describe("ab_14: logging in again in place", () => {
  it("takes over the new token everywhere on the page", async () => {
    answers.push([200, { user: "reader", csrf_token: "new" }]);
    expect(await logInAgain("/relogin/", "reader", "secret words", "")).toEqual({ kind: "done" });
    expect(asked[0]?.body).toEqual({ username: "reader", password: "secret words", code: "" });
    expect([token(), document.querySelector("input")?.value, document.body.getAttribute("hx-headers:inherited")]).toEqual(["new", "new", '{"X-CSRFToken":"new"}']);
  });

  it("fetches a fresh token and tries once more when its own is too old", async () => {
    answers.push([403, { error: { code: "csrf" } }], [200, { user: null, csrf_token: "fresh" }], [200, { csrf_token: "new" }]);
    expect(await logInAgain("/relogin/", "reader", "p", "")).toEqual({ kind: "done" });
    expect(asked.map((one) => [one.method, one.token])).toEqual([["POST", "old"], ["GET", null], ["POST", "fresh"]]);
  });

  it.each([
    ["code_required", "code"],
    ["bad_code", "refused"],
    ["bad_login", "refused"],
    ["locked_out", "refused"],
    ["other_user", "other_user"],
  ])("%s", async (code, kind) => {
    answers.push([code === "locked_out" ? 429 : 401, { error: { code, message: "No.", remedy: "Wait." } }]);
    expect(await logInAgain("/relogin/", "reader", "p", "")).toEqual({ kind, message: "No. Wait." });
    expect(token()).toBe("old");
  });
});
