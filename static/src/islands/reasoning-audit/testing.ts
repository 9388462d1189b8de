// Made-up payloads and a server in memory for the tests of this island.
import type { AuditPayload, SavedJudgement } from "./types";

const SOUND = { id: "sound", title: "Is the reasoning sound?", help: "Every step follows.", short: "Sound" };
const FACTS = [
  { id: "atomic", title: "Is every fact atomic?", help: "One thing each.", short: "Atomic" },
  { id: "grounded", title: "Is every fact grounded?", help: "Nothing made up.", short: "Grounded" },
  { id: "dependencies", title: "Are the dependencies right?", help: "What it needs.", short: "Right dependencies" },
];

export const chainText = (id: number, facts = false): AuditPayload["chains"][string] => ({
  steps: [
    { index: 1, text: `First step of ${id}.`, depends_on: [] },
    { index: 2, text: `Second step of ${id}.`, depends_on: [1] },
  ],
  answer: "B",
  ...(facts
    ? {
        facts: [
          { text: `Fact one of ${id}.`, step: 1, depends_on: [] },
          { text: `Fact of no step of ${id}.`, step: 7, depends_on: [1, 2] },
        ],
      }
    : {}),
});

/** Chains 11, 12 of question 1 and 21, 22 of question 2. */
export function makePayload(change: Partial<AuditPayload> = {}): AuditPayload {
  const kind = change.kind ?? "soundness";
  const facts = kind === "decomposition";
  const question = (name: string): AuditPayload["questions"][string] => ({ title: name, sections: [["Context", `Text of ${name}`]], question: "", options: [["A", "four"], ["B", "five"]], gold: "B" });
  return {
    study: { slug: "sums", name: "Sums" },
    kind,
    criteria: facts ? FACTS : [SOUND],
    user: { id: 5, username: "reader" },
    queue: [[11, 1], [12, 1], [21, 2], [22, 2]],
    said: {},
    limits: { note: 20, at_once: 2 },
    urls: { save: "/api/judgements/", texts: `/api/judgements/?kind=${kind}`, relogin: "/accounts/relogin/" },
    chains: Object.fromEntries([11, 12, 21, 22].map((id) => [id, chainText(id, facts)])),
    questions: { 1: question("One"), 2: question("Two") },
    ...change,
  };
}

/** What the server does with a save: versions count up; a key is done once. */
export class FakeServer {
  readonly stored = new Map<number, SavedJudgement>();
  readonly sent: Record<string, unknown>[] = [];
  readonly #replies = new Map<string, [number, unknown]>();
  fault: "" | "offline" | "login" | "gone" | "taken" = "";
  #version = 0;

  answer(method: string, url: string, body: Record<string, unknown>, key: string | null): [number, unknown] {
    if (url.startsWith("/accounts/")) return [200, { user: this.fault === "login" ? null : "reader" }];
    if (this.fault === "login") return [401, { error: { code: "not_logged_in", message: "Log in." } }];
    if (method === "GET") {
      const chains = (new URL(url, "http://x").searchParams.get("chains") ?? "").split(",").map(Number);
      return [200, { chains: Object.fromEntries(chains.map((id) => [id, chainText(id)])), questions: {} }];
    }
    const before = this.#replies.get(key ?? "");
    if (before) return before;
    this.sent.push(body);
    if (this.fault === "taken") return [422, { error: { code: "note_too_long", message: "The note is too long.", remedy: "Shorten it." } }];
    if (this.fault === "gone") return [404, { error: { code: "no_such_chain", message: "This chain is not in the study any more.", remedy: "Reload the page." } }];
    const chain = Number(body.chain);
    const stored = this.stored.get(chain);
    if ((stored?.version ?? 0) !== body.base_version) return [409, { error: { code: "version_conflict", message: "Said meanwhile." }, current: stored ?? { answers: {}, note: "", version: 0 } }];
    const saved = { answers: body.answers, note: body.note, version: ++this.#version, saved_at: "2026-01-01T10:00:00Z" } as SavedJudgement;
    this.stored.set(chain, saved);
    const reply: [number, unknown] = [200, { version: saved.version, saved_at: saved.saved_at, complete: true }];
    this.#replies.set(key ?? "", reply);
    return reply;
  }
}
