// The island's requests: what the server says to a change, turned into what the queue does next.
import { ApiError, getJson, writeJson } from "../../lib/api";
import type { AssignmentPayload } from "../../lib/label-draft";
import { withGuideline } from "../../lib/label-draft";
import type { StoredChange } from "../../lib/queue-store";
import { whoAmI } from "../../lib/relogin";
import type { SendAnswer } from "../../lib/save-queue";

interface ErrorBody {
  error?: { code?: string; message?: string; remedy?: string; fields?: Record<string, unknown> };
  current?: Record<string, unknown>;
  since?: string;
}

export class Refusal extends ApiError {
  readonly code: string;
  readonly fields: Record<string, unknown>;
  constructor(status: number, body: ErrorBody | null) {
    super(body?.error?.message ?? `The server answered with status ${status}.`, body?.error?.remedy ?? "", status);
    this.code = body?.error?.code ?? "";
    this.fields = body?.error?.fields ?? {};
  }
}

const sentence = (status: number, body: ErrorBody | null): string => {
  const refusal = new Refusal(status, body);
  return [refusal.message, refusal.remedy].filter(Boolean).join(" ");
};

/** What an answer means for the change that was sent. `null`: it depends on who is logged in now. */
export function readAnswer(status: number, body: ErrorBody & Record<string, unknown>, retryAfter: string | null): SendAnswer | null {
  if (status >= 200 && status < 300) {
    if (typeof body?.version !== "number") return { kind: "retry" }; // some page in between, not our server
    return { kind: "saved", version: body.version, savedAt: String(body.saved_at ?? ""), reply: body };
  }
  if (status === 429) return { kind: "retry", ...(Number(retryAfter) > 0 ? { afterMs: Number(retryAfter) * 1000 } : {}) };
  if (status === 408 || status >= 500) return { kind: "retry" };
  const message = sentence(status, body);
  const code = body?.error?.code ?? "";
  if (status === 409 && code === "version_conflict") return { kind: "conflict", current: body.current ?? {} };
  if (status === 409 && code === "other_tab") return { kind: "other_tab", since: String(body.since ?? body.error?.fields?.since ?? "") };
  if (status === 409 && code === "other_user") return { kind: "other_user", message };
  if (status === 409 && code !== "not_in_order") return { kind: "not_editable", message };
  if (status === 401 || status === 403 || status === 404) return null;
  return { kind: "refused", code, message };
}

export class Server {
  readonly #payload: () => AssignmentPayload;
  #refreshed = 0;

  constructor(payload: () => AssignmentPayload) {
    this.#payload = payload;
  }

  async detail(): Promise<AssignmentPayload> {
    return withGuideline(await getJson<AssignmentPayload>(this.#payload().urls.detail));
  }

  /** Sends one change of a lane ("s8": label of S8, "r8": its revision, "n0": the notes). */
  async send(change: StoredChange, leaving: boolean): Promise<SendAnswer> {
    const { urls } = this.#payload();
    const where = { n: urls.notes, r: urls.revise }[change.lane.charAt(0)] ?? urls.save;
    const url = where.replace("{index}", change.lane.slice(1));
    let response: Response;
    try {
      response = await this.#write("PUT", url, change.body, change.key, leaving);
    } catch {
      return { kind: "retry" };
    }
    const body = (await response.json().catch(() => null)) as ErrorBody & Record<string, unknown>;
    const answer = readAnswer(response.status, body, response.headers.get("Retry-After"));
    if (answer?.kind === "saved") this.#refreshed = 0;
    return answer ?? this.#whoseLogin(response.status, sentence(response.status, body));
  }

  /** 401, 403 and 404 say little by themselves: another tab may have logged in again, or as somebody else. */
  async #whoseLogin(status: number, message: string): Promise<SendAnswer> {
    const { urls, user } = this.#payload();
    const who = await whoAmI(urls.relogin, user.username);
    if (who === "somebody else") return { kind: "other_user", message: "Another person is logged in in this browser." };
    if (who === "unknown") return { kind: "retry" };
    if (who === "nobody") return { kind: "login", message: "The login has run out." };
    if (status === 404) return { kind: "not_editable", message: "This case is not yours to label any more." };
    // The same person with a fresh token: once more at once, but not for ever.
    return ++this.#refreshed <= 2 ? { kind: "retry", afterMs: 0 } : { kind: "login", message };
  }

  who(): ReturnType<typeof whoAmI> {
    const { urls, user } = this.#payload();
    return whoAmI(urls.relogin, user.username);
  }

  /** A request that is no change of a label; throws `Refusal` where the server says no. */
  async post<T>(url: string, body: unknown, key: string = crypto.randomUUID()): Promise<T> {
    let response: Response;
    try {
      response = await this.#write("POST", url, body, key, false);
    } catch {
      throw new ApiError("The server did not answer.", "Check the network, then try again.");
    }
    const answer = (await response.json().catch(() => null)) as ErrorBody | null;
    if (!response.ok || answer === null) throw new Refusal(response.status, answer);
    return answer as T;
  }

  #write(method: string, url: string, body: unknown, key: string, leaving: boolean): Promise<Response> {
    return writeJson(method, url, body, { user: this.#payload().user.id, key, leaving });
  }
}
