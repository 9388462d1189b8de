// The island's requests.
import { ApiError, getJson, writeJson } from "../../lib/api";
import type { AssignmentPayload } from "../../lib/label-draft";
import { withGuideline } from "../../lib/label-draft";
import type { StoredChange } from "../../lib/queue-store";
import { whoAmI } from "../../lib/relogin";
import type { ErrorBody } from "../../lib/save-answers";
import { Refusal, readAnswer, sentence, whoseLogin } from "../../lib/save-answers";
import type { SendAnswer } from "../../lib/save-queue";

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

  async #whoseLogin(status: number, message: string): Promise<SendAnswer> {
    const { urls, user } = this.#payload();
    const changed = await whoseLogin(urls.relogin, user.username);
    if (changed) return changed;
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
