// What the server says to a change, turned into what the queue of changes does next.
import { ApiError, errorText } from "./api";
import { whoAmI } from "./relogin";
import type { SendAnswer } from "./save-queue";

export interface ErrorBody {
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

export const sentence = (status: number, body: ErrorBody | null): string => errorText(new Refusal(status, body));

/** What an answer means for the change that was sent. `null`: it depends on who is logged in now. */
export function readAnswer(status: number, body: (ErrorBody & Record<string, unknown>) | null, retryAfter: string | null): SendAnswer | null {
  if (status >= 200 && status < 300) {
    if (typeof body?.version !== "number") return { kind: "retry" }; // some page in between, not our server
    return { kind: "saved", version: body.version, savedAt: String(body.saved_at ?? ""), reply: body };
  }
  if (status === 429) return { kind: "retry", ...(Number(retryAfter) > 0 ? { afterMs: Number(retryAfter) * 1000 } : {}) };
  if (status === 408 || status >= 500) return { kind: "retry" };
  const message = sentence(status, body);
  const code = body?.error?.code ?? "";
  if (status === 409 && code === "version_conflict") return { kind: "conflict", current: body?.current ?? {} };
  if (status === 409 && code === "other_tab") return { kind: "other_tab", since: String(body?.since ?? body?.error?.fields?.since ?? "") };
  if (status === 409 && code === "other_user") return { kind: "other_user", message };
  if (status === 409 && code !== "not_in_order") return { kind: "not_editable", message };
  if (status === 401 || status === 403 || status === 404) return null;
  return { kind: "refused", code, message };
}

/** 401, 403 and 404 say little by themselves: another tab may have logged in again, or as somebody else. `null`: still the person of this page. */
export async function whoseLogin(relogin: string, username: string): Promise<SendAnswer | null> {
  const who = await whoAmI(relogin, username);
  if (who === "somebody else") return { kind: "other_user", message: "Another person is logged in in this browser." };
  if (who === "unknown") return { kind: "retry" };
  if (who === "nobody") return { kind: "login", message: "The login has run out." };
  return null;
}
