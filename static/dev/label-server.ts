// A server in memory for the workspace: versions, keys, the tab that holds, submit, reveal. `?fault=` sets what goes wrong.
import type { AssignmentPayload, Draft, LabelPayload } from "../src/lib/label-draft";
import { draftOf, isComplete } from "../src/lib/label-draft";

import { kitchen } from "./payload";

const ID = "0b9c5a52-7e1d-4f58-9a53-2c7be4a1f001";
const at = (path: string): string => `/api/v1/assignments/${ID}/${path}`;

const GUIDELINE = `<p>Read the case first. Then judge each segment in order, in the light of the case and of the reasoning before it.</p>
<h2>Correct</h2><p>True for this case, supported by it, and safe to rely on. “Correct but incomplete” is Correct with a comment.</p>
<h2>Uncertain</h2><p>Partly right, vague, or more certain than the case allows. Say what is missing.</p>
<h2>Incorrect</h2><p>Wrong, against the case, or a step that should not be taken. Say why in a sentence.</p>
<h2>Cannot judge</h2><p>Only where knowledge is missing that nobody has from the case. It is a state, not a label.</p>`;

export function makePayload(query: URLSearchParams): AssignmentPayload {
  const audit = kitchen();
  const said: Record<number, Partial<Draft>> = {
    2: { label: "correct" },
    3: { label: "correct" },
    4: { label: "correct", comment: "Fits the cool room.", reasons: [] },
    5: { label: "correct" },
    6: { label: "uncertain", reasons: ["insufficient"], comment: "Nothing in the case says which flour was used." },
    7: { label: "uncertain", reasons: ["vague"], comment: "Rests on the flour being weak, which is not shown." },
  };
  const upTo = Number(query.get("done") ?? 7);
  return {
    id: ID,
    user: { id: 7, username: "reader" },
    study: { slug: "loaves", name: "Loaves, first study", in_order: query.get("order") !== "free", blinding: query.has("open") ? "open" : "reveal" },
    kind: query.get("kind") === "training" ? "training" : "main",
    position: { number: 12, of: 40 },
    state: "draft",
    editable: true,
    why_not: "",
    version: 17,
    round: 1,
    notes: { text: "", version: 0, editable: true },
    guideline: {
      version: 3,
      html: GUIDELINE,
      question: "Is this segment appropriate, supported by the case, and safe to treat as trustworthy in the context of the full explanation?",
      reasons: {
        correct: [{ code: "incomplete", words: "correct but incomplete" }],
        uncertain: [
          { code: "incomplete", words: "incomplete" },
          { code: "vague", words: "vague" },
          { code: "overconfident", words: "overconfident" },
          { code: "hedged", words: "hedged" },
          { code: "insufficient", words: "insufficiently justified" },
          { code: "partial", words: "partially true" },
        ],
        incorrect: [
          { code: "wrong", words: "wrong statement" },
          { code: "contradicts", words: "contradicts case" },
          { code: "misreads", words: "misreads finding" },
          { code: "next_step", words: "inappropriate next step" },
          { code: "misleading", words: "misleading" },
        ],
      },
    },
    case: {
      title: audit.trace.title,
      sections: [
        ["What happened", audit.segments[0]?.text ?? ""],
        ["History", "The starter is two years old and was kept in the fridge. The recipe has been used before, in summer, with a good loaf. The same flour sack was opened last week."],
        ["Measurements", "Dough at the start: 19 °C.\nRoom: 17 °C.\nOven: 230 °C, 35 minutes.\nInside of the loaf at the end: 96 °C."],
      ],
      question: "What is the most likely reason, and what would you change for the next loaf?",
      reference: null,
    },
    segments: audit.segments.map((segment) => ({
      index: segment.index,
      context: segment.context,
      text: segment.text,
      ...(segment.context ? {} : { label: labelOf(segment.index <= upTo ? said[segment.index] : undefined) }),
    })),
    returned: query.has("returned") ? { reason: "Please look at the last two segments again.", segments: { 8: "Is the schedule really to stay?" } } : null,
    limits: { comment: 10000, notes: 20000 },
    next: null,
    progress: { submitted: 11, of: 40 },
    recall: { allowed: true },
    reveal: { allowed: query.has("open"), done: query.has("open"), url: at("audit/"), others_url: at("others/") },
    urls: { detail: at(""), save: at("segments/{index}/"), submit: at("submit/"), tab: at("tab/"), recall: at("recall/"), reveal: at("reveal/"), revise: at("revisions/{index}/"), notes: at("notes/"), feedback: at("feedback/"), relogin: "/accounts/relogin/", work: "#work", next: "#next" },
  };
}

const labelOf = (said: Partial<Draft> | undefined): LabelPayload => ({
  ...draftOf(said),
  version: said ? 1 : 0,
  active_ms: said ? 41_000 : 0,
  complete: said !== undefined,
  saved_at: said ? "2026-11-30T10:42:00Z" : null,
});

export interface FakeServer {
  payload: AssignmentPayload;
  /** "", "offline", "login", "conflict", "other_tab", "withdrawn", "long" */
  fault: string;
  holder: string;
  writes: { method: string; url: string; body: Record<string, unknown>; key: string | null }[];
  answer(method: string, url: string, body: Record<string, unknown>, key: string | null): [status: number, body: unknown];
}

export function makeServer(payload: AssignmentPayload, fault = ""): FakeServer {
  const replies = new Map<string, [string, [number, unknown]]>();
  const error = (status: number, code: string, message: string, more: object = {}): [number, unknown] => [status, { error: { code, message, remedy: "", fields: {} }, ...more }];
  const server: FakeServer = {
    payload,
    fault,
    holder: "",
    writes: [],
    answer(method, url, body, key) {
      const known = key ? replies.get(key) : undefined;
      if (known) return known[0] === JSON.stringify(body) ? known[1] : error(422, "idempotency_mismatch", "Same key, other body.");
      const got = route(method, url, body);
      server.writes.push({ method, url, body, key });
      if (key && got[0] < 300) replies.set(key, [JSON.stringify(body), got]);
      return got;
    },
  };
  const segment = (index: number) => payload.segments.find((one) => one.index === index);
  const state = (): { state: string; version: number } => ({ state: payload.state, version: payload.version });
  const audit = kitchen();

  function route(method: string, url: string, body: Record<string, unknown>): [number, unknown] {
    if (url.includes("relogin")) return relogin(method, body);
    if (server.fault === "login") return error(401, "not_authenticated", "You are not logged in.");
    if (url.endsWith("/tab/")) {
      if (server.fault === "other_tab" && !body.take) return [200, { held: false, since: "2026-11-30T10:40:00Z" }];
      if (body.take) server.fault = "";
      server.holder = String(body.tab);
      return [200, { held: true, since: "2026-11-30T10:42:00Z" }];
    }
    const place = /(segments|revisions)\/(\d+)\/$/.exec(url);
    if (method === "PUT" && place) return save(place[1] === "revisions", Number(place[2]), body);
    if (method === "PUT" && url.endsWith("/notes/")) return note(body);
    if (url.endsWith("/submit/")) return submit();
    if (url.endsWith("/recall/")) return change({ state: "draft", editable: true, reveal: { ...payload.reveal, allowed: false } });
    if (url.endsWith("/reveal/")) return change({ reveal: { ...payload.reveal, done: true, allowed: true } });
    if (url.endsWith("/audit/")) return [200, { ...audit, segments: audit.segments.map(({ gold: _, ...segment }) => segment) }];
    if (url.endsWith("/others/")) return [200, { others: [{ name: "Second physician", segments: { 8: { label: "incorrect", cannot_judge: false, comment: "Feed the starter first." } } }] }];
    if (url.endsWith("/feedback/")) return [200, { segments: { 2: { expected: "correct", why: "A cool room slows yeast." }, 9: { expected: "incorrect", why: "A hungry starter is the first thing to look at." } } }];
    return [200, payload];
  }

  function relogin(method: string, body: Record<string, unknown>): [number, unknown] {
    if (method === "GET") return [200, { user: server.fault === "login" ? null : payload.user.username, csrf_token: "fresh" }];
    if (body.password !== "right") return error(401, "bad_login", "The name or the password is wrong.");
    server.fault = "";
    return [200, { user: payload.user.username, csrf_token: "new" }];
  }

  function save(revision: boolean, index: number, body: Record<string, unknown>): [number, unknown] {
    const found = segment(index);
    if (!found) return error(404, "not_found", "No such segment.");
    if (server.fault === "withdrawn") return error(409, "not_editable", "This case was withdrawn by the study lead.");
    if (server.fault === "other_tab") return error(409, "other_tab", "Open elsewhere.", { since: "2026-11-30T10:40:00Z" });
    if (server.fault === "conflict") {
      server.fault = "";
      found.label = { ...labelOf({ label: "uncertain", comment: "Written on another machine." }), version: Number(body.base_version) + 1 };
    }
    const row = revision ? found.revision : found.label;
    if (Number(body.base_version) !== (row?.version ?? 0)) return error(409, "version_conflict", "Changed elsewhere.", { current: row });
    if ([...String(body.comment)].length > payload.limits.comment) return error(422, "comment_too_long", `The comment has ${[...String(body.comment)].length} characters; ${payload.limits.comment} are allowed.`);
    const draft = draftOf(body as Partial<Draft>);
    const version = (row?.version ?? 0) + 1;
    const saved_at = new Date().toISOString();
    if (revision) found.revision = { ...draft, version, saved_at, reason: String(body.reason) };
    else found.label = { ...draft, version, saved_at, active_ms: Number(body.active_ms), complete: isComplete(draft) };
    payload.version++;
    return [200, { version, saved_at, complete: isComplete(draft), assignment: state() }];
  }

  function note(body: Record<string, unknown>): [number, unknown] {
    if (server.fault === "withdrawn") return error(409, "not_editable", "This case was withdrawn by the study lead.");
    if (server.fault === "other_tab") return error(409, "other_tab", "Open elsewhere.", { since: "2026-11-30T10:40:00Z" });
    if (server.fault === "conflict") {
      server.fault = "";
      payload.notes = { ...payload.notes, text: "Noted on another machine.", version: 7001 };
    }
    const { text, version } = payload.notes;
    if (body.base_version !== version) return error(409, "version_conflict", "Changed elsewhere.", { current: { notes: text, version } });
    // The real one is made of the text, too: it grows with nothing.
    payload.notes = { ...payload.notes, text: String(body.notes), version: [...String(body.notes)].reduce((sum, one) => (sum * 31 + (one.codePointAt(0) ?? 0)) % 1_000_003, 1) };
    return [200, { version: payload.notes.version, saved_at: new Date().toISOString() }];
  }

  function submit(): [number, unknown] {
    const open = payload.segments.filter((one) => !one.context && !isComplete(draftOf(one.label))).map((one) => one.index);
    if (open.length) return error(422, "incomplete", "Some segments are not complete.", {});
    return change({ state: "submitted", editable: false, reveal: { ...payload.reveal, allowed: payload.study.blinding === "reveal" } });
  }

  function change(part: Partial<AssignmentPayload>): [number, unknown] {
    Object.assign(payload, part, { version: payload.version + 1 });
    if (payload.state === "submitted") payload.case.reference = "The dough was under-fermented: a hungry starter in a cold room.";
    return [200, { state: payload.state, next: null }];
  }
  return server;
}

