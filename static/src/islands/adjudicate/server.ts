// Requests of the adjudicator's page. A change that got no answer is sent again with its key, so that it is done once.
import { ApiError, writeJson } from "../../lib/api";
import { whoAmI } from "../../lib/relogin";
import type { DecisionState, PagePayload } from "./types";

export type Answer<T> =
  | { kind: "done"; reply: T }
  | { kind: "conflict"; current: DecisionState }
  | { kind: "login"; message: string }
  /** Nothing was written, and sending the same again would not help. */
  | { kind: "refused"; code: string; message: string }
  /** No answer: it is not known whether it was done. Send the same key again. */
  | { kind: "unknown"; message: string };

interface ErrorBody {
  error?: { code?: string; message?: string; remedy?: string };
  current?: DecisionState;
}

export class Server {
  readonly #page: PagePayload;
  constructor(page: PagePayload) {
    this.#page = page;
  }

  url(name: keyof PagePayload["urls"], item = "", index = 0): string {
    return this.#page.urls[name].replace("{item}", item).replace("{index}", String(index));
  }

  async write<T>(method: "PUT" | "POST", url: string, body: unknown, key: string, leaving = false): Promise<Answer<T>> {
    let answer = await this.#once<T>(method, url, body, key, leaving);
    if (answer === "who") {
      const who = await whoAmI(this.#page.urls.relogin, this.#page.user.username);
      if (who === "somebody else") return { kind: "refused", code: "other_user", message: "Another person is logged in in this browser." };
      if (who === "nobody") return { kind: "login", message: "The login has run out." };
      answer = who === "me" ? await this.#once<T>(method, url, body, key, leaving) : "who";
      if (answer === "who") return { kind: "refused", code: "no_right", message: "You may not change this any more." };
    }
    return answer;
  }

  async #once<T>(method: string, url: string, body: unknown, key: string, leaving: boolean): Promise<Answer<T> | "who"> {
    let response: Response;
    try {
      response = await writeJson(method, url, body, { user: this.#page.user.id, key, leaving });
    } catch {
      return { kind: "unknown", message: "The server did not answer." };
    }
    const read = (await response.json().catch(() => null)) as (ErrorBody & T) | null;
    if (response.ok && read !== null) return { kind: "done", reply: read };
    if (response.status === 401 || response.status === 403 || response.status === 404) return "who";
    const said = new ApiError(read?.error?.message ?? `The server answered with status ${response.status}.`, read?.error?.remedy ?? "", response.status);
    const message = [said.message, said.remedy].filter(Boolean).join(" ");
    const code = read?.error?.code ?? "";
    if (code === "version_conflict" && read?.current) return { kind: "conflict", current: read.current };
    if (response.ok || response.status === 429 || response.status >= 500) return { kind: "unknown", message };
    return { kind: "refused", code, message };
  }
}
