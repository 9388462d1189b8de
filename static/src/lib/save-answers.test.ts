import { describe, expect, it } from "vitest";
import { readAnswer } from "./save-answers";

const error = (code: string, more: object = {}): never => ({ error: { code, message: "Why.", remedy: "Do this." }, ...more }) as never;

describe("what an answer means", () => {
  it("saved, with its version", () => {
    const body = { version: 5, saved_at: "2026-11-30T10:00:00Z", complete: true };
    expect(readAnswer(200, body as never, null)).toEqual({ kind: "saved", version: 5, savedAt: "2026-11-30T10:00:00Z", reply: body });
  });

  it.each([
    [200, {}, { kind: "retry" }], // a page of some proxy
    [500, null, { kind: "retry" }],
    [502, null, { kind: "retry" }],
    [503, error("busy"), { kind: "retry" }],
    [408, null, { kind: "retry" }],
    [409, error("version_conflict", { current: { version: 6 } }), { kind: "conflict", current: { version: 6 } }],
    [409, error("version_conflict", { current: null }), { kind: "conflict", current: {} }],
    [409, error("other_tab", { since: "10:40" }), { kind: "other_tab", since: "10:40" }],
    [409, error("not_editable"), { kind: "not_editable", message: "Why. Do this." }],
    [409, error("wrong_state"), { kind: "not_editable", message: "Why. Do this." }],
    [409, error("other_user"), { kind: "other_user", message: "Why. Do this." }],
    [409, error("not_in_order"), { kind: "refused", code: "not_in_order", message: "Why. Do this." }],
    [422, error("comment_too_long"), { kind: "refused", code: "comment_too_long", message: "Why. Do this." }],
    [400, error("invalid"), { kind: "refused", code: "invalid", message: "Why. Do this." }],
    [413, null, { kind: "refused", code: "", message: "The server answered with status 413." }],
    // Who is logged in decides about these.
    [401, error("not_authenticated"), null],
    [403, error("csrf"), null],
    [404, error("not_found"), null],
  ])("%i %o", (status, body, meaning) => {
    expect(readAnswer(status, body as never, null)).toEqual(meaning);
  });

  it("waits as long as the server asks", () => {
    expect(readAnswer(429, null as never, "12")).toEqual({ kind: "retry", afterMs: 12_000 });
    expect(readAnswer(429, null as never, "soon")).toEqual({ kind: "retry" });
  });
});
