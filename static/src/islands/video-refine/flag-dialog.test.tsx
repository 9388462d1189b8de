// @vitest-environment jsdom
// Reporting a problem with a question: what is sent, what stands afterwards, and that it can be taken back.
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FlagDialog, LONGEST_NOTE, flagWords } from "./flag-dialog";
import { createStore } from "./store";
import type { Store } from "./store";
import { INDEX, payloadOf, playerOf } from "./testing";
import type { Flag } from "./types";

const KINDS: Flag["kinds"] = [["media", "Sound or picture cannot be used"], ["other", "Something else"]];
const NOTHING: Flag = { kind: "", note: "", at: null, editable: true, kinds: KINDS };
const until = (what: () => boolean): Promise<void> => vi.waitFor(() => void expect(what()).toBe(true), { timeout: 8000, interval: 5 });
const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector) as T;

let sent: { url: string; method: string; body: unknown }[] = [];
let answer: [number, unknown] = [200, {}];
let closed = 0;

function show(flag: Flag): Store {
  const payload = payloadOf(undefined, { flag });
  payload.urls.flag = "/flag-of-mine/";
  const store = createStore(payload, INDEX, playerOf(), { changed: () => {}, now: () => 0, uuid: () => "" });
  render(<FlagDialog store={store} close={() => closed++} />, document.body);
  return store;
}

async function choose(kind: string, note = ""): Promise<void> {
  find<HTMLInputElement>(`input[value='${kind}']`).click();
  const field = find<HTMLTextAreaElement>("#flag-note");
  field.value = note;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await until(() => find<HTMLInputElement>(`input[value='${kind}']`).checked);
  await Promise.resolve();
}

beforeEach(() => {
  [sent, closed] = [[], 0];
  // jsdom has no dialogs.
  HTMLDialogElement.prototype.showModal = function (): void {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function (): void {
    this.open = false;
  };
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    sent.push({ url, method: init.method ?? "GET", body: JSON.parse(String(init.body)) });
    return new Response(JSON.stringify(answer[1]), { status: answer[0] });
  });
});
afterEach(() => {
  render(null, document.body);
  vi.unstubAllGlobals();
});

describe("the report of a problem", () => {
  it("is sent with its kind and note, closes the dialog, and stands in the payload", async () => {
    answer = [200, { kind: "media", note: "No sound.", at: "2026-12-01T10:00:00+00:00", editable: true }];
    const store = show(NOTHING);
    expect(find<HTMLButtonElement>("#flag-send").disabled).toBe(true);
    expect(document.querySelector("#flag-take-back")).toBeNull();
    await choose("media", "No sound.");
    await until(() => !find<HTMLButtonElement>("#flag-send").disabled);
    find("#flag-send").click();
    await until(() => closed === 1);
    expect(sent).toEqual([{ url: "/flag-of-mine/", method: "PUT", body: { kind: "media", note: "No sound." } }]);
    expect(store.payload.value.flag).toEqual({ ...(answer[1] as object), kinds: KINDS });
    expect(flagWords(store.payload.value.flag)).toBe("Sound or picture cannot be used");
    expect(store.says.value).toBe("Reported to the lead of the study.");
  });

  it("is taken back", async () => {
    answer = [200, { kind: "", note: "", at: null, editable: true }];
    const store = show({ ...NOTHING, kind: "media", note: "No sound.", at: "2026-12-01T10:00:00+00:00" });
    expect([find<HTMLInputElement>("input[value='media']").checked, find<HTMLTextAreaElement>("#flag-note").value]).toEqual([true, "No sound."]);
    find("#flag-take-back").click();
    await until(() => closed === 1);
    expect(sent[0]?.body).toEqual({ kind: "", note: "" });
    expect(flagWords(store.payload.value.flag)).toBe("");
  });

  it("of something else needs a note, and a note has an end", async () => {
    show(NOTHING);
    await choose("other");
    expect(find<HTMLButtonElement>("#flag-send").disabled).toBe(true);
    await choose("other", "x".repeat(LONGEST_NOTE + 2));
    await until(() => (document.body.textContent ?? "").includes("2 characters too many."));
    expect(find<HTMLButtonElement>("#flag-send").disabled).toBe(true);
    await choose("other", "The clip is of last year.");
    await until(() => !find<HTMLButtonElement>("#flag-send").disabled);
  });

  it("stays in the dialog, with the reason, where the server refuses it", async () => {
    answer = [409, { error: { code: "not_editable", message: "The study is closed.", remedy: "" } }];
    const store = show(NOTHING);
    await choose("media", "No sound.");
    await until(() => !find<HTMLButtonElement>("#flag-send").disabled);
    find("#flag-send").click();
    await until(() => (document.body.textContent ?? "").includes("The study is closed."));
    expect([closed, find<HTMLTextAreaElement>("#flag-note").value, store.payload.value.flag?.kind]).toEqual([0, "No sound.", ""]);
  });

  it("is only read where nothing can be reported any more", () => {
    show({ ...NOTHING, kind: "media", editable: false });
    expect([document.querySelector("#flag-send"), document.querySelector("#flag-take-back")]).toEqual([null, null]);
    expect(find<HTMLFieldSetElement>("fieldset").disabled).toBe(true);
  });
});
