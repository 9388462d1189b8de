// Made-up payloads and a server in memory for the tests of this island.
import type { AnswerText, Facet, ItemText, RatePayload, SavedRating } from "./types";

const facet = (id: string, short: string): Facet => ({ id, short, title: `${short}?`, help: `About ${id}.`, levels: [1, 2, 3, 4, 5].map((level) => `${short} ${level}.`) });
const FACETS = [facet("answer", "Answer"), facet("hallucination", "Hallucination"), facet("divergence", "Divergence")];

export const answerText = (id: number): AnswerText => ({
  cues: [
    { kind: "visual", timeframe: "00:01 - 00:02", intervals: [[1_000_000, 2_000_000]], description: `Seen in ${id}.`, analysis: "So it runs." },
    { kind: "audio", timeframe: "00:09", intervals: [[9_000_000, 9_000_000]], description: `Heard in ${id}.`, analysis: "" },
  ],
  final_answer: `Answer ${id}.`,
  text: `Visual Cue: Seen in ${id}.`,
  shown: `texts-${id}`,
});

export const itemText = (name: string): ItemText => ({
  number: 1,
  question: `Why, ${name}?`,
  options: ["four", "five"],
  final_answer: "five",
  cues: [{ kind: "visual", timeframe: "throughout", intervals: [], description: `Reference of ${name}.`, analysis: "" }],
  clip: { title: `Clip ${name}`, media: `/media/${name}`, playback: `/playback/${name}`, duration_us: 5_000_000, has_audio: true, preparing: false, why: "" },
});

/** Answers 11, 12 to item 1 and 21, 22 to item 2. */
export function makePayload(change: Partial<RatePayload> = {}): RatePayload {
  return {
    benchmark: { slug: "clips", name: "Clips" },
    facets: FACETS,
    user: { id: 5, username: "reader" },
    queue: [[11, 1], [12, 1], [21, 2], [22, 2]],
    said: {},
    earlier: [],
    limits: { note: 20, at_once: 2 },
    urls: { save: "/api/ratings/", texts: "/api/ratings/", relogin: "/accounts/relogin/", items: "" },
    answers: Object.fromEntries([11, 12, 21, 22].map((id) => [id, answerText(id)])),
    items: { 1: itemText("One"), 2: itemText("Two") },
    ...change,
  };
}

export const given = (value: number, note = ""): SavedRating => ({ value, note, version: 1, saved_at: "" });
/** An answer with the same rating on every facet. */
export const rated = (value: number): Record<string, SavedRating> => Object.fromEntries(FACETS.map(({ id }) => [id, given(value)]));

/** What the server does with a save: versions count up; a key is done once. */
export class FakeServer {
  readonly stored = new Map<string, SavedRating>();
  readonly sent: Record<string, unknown>[] = [];
  readonly #replies = new Map<string, [number, unknown]>();
  fault: "" | "offline" | "login" | "gone" | "other texts" | "not listed" = "";
  playback = "ready";
  #version = 0;

  answer(method: string, url: string, body: Record<string, unknown>, key: string | null): [number, unknown] {
    if (url.startsWith("/accounts/")) return [200, { user: this.fault === "login" ? null : "reader" }];
    if (this.fault === "login") return [401, { error: { code: "not_logged_in", message: "Log in." } }];
    if (url.startsWith("/playback/")) return [200, { state: this.playback }];
    if (method === "GET") {
      const ids = (new URL(url, "http://x").searchParams.get("answers") ?? "").split(",").map(Number);
      return [200, { answers: Object.fromEntries(ids.map((id) => [id, answerText(id)])), items: { 1: itemText("One"), 2: itemText("Two") } }];
    }
    const before = this.#replies.get(key ?? "");
    if (before) return before;
    this.sent.push(body);
    if (this.fault === "other texts") return [422, { error: { code: "other_texts", message: "The answer or its reference was changed since you read it.", remedy: "Reload the page." } }];
    if (this.fault === "gone") return [404, { error: { code: "no_such_answer", message: "This answer is not among those that are rated any more.", remedy: "Reload the page." } }];
    if (this.fault === "not listed") return [404, { error: { code: "not_found", message: "There is no such page." } }];
    const lane = `${String(body.answer)}.${String(body.facet)}`;
    const stored = this.stored.get(lane);
    if ((stored?.version ?? 0) !== body.base_version) return [409, { error: { code: "version_conflict", message: "Rated meanwhile." }, current: stored ?? { value: null, note: "", version: 0 } }];
    const saved = { value: body.value, note: body.note, version: body.value === null ? 0 : ++this.#version, saved_at: "2026-01-01T10:00:00Z" } as SavedRating;
    if (body.value === null) this.stored.delete(lane);
    else this.stored.set(lane, saved);
    const reply: [number, unknown] = [200, { version: saved.version, saved_at: saved.saved_at, complete: false }];
    this.#replies.set(key ?? "", reply);
    return reply;
  }
}
