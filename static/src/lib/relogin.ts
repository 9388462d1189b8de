// Logging in again in place: who is logged in, and a password for the same person. Nothing else of the page changes.
import { ApiError, csrfToken } from "./api";

export type WhoAmI = "me" | "nobody" | "somebody else" | "unknown";

export type LoginAnswer = { kind: "done" } | { kind: "code"; message: string } | { kind: "refused"; message: string } | { kind: "other_user"; message: string };

/** All later requests carry the new token: of the page, and of htmx where the page uses it. */
export function useToken(token: unknown): void {
  if (typeof token !== "string" || !token) return;
  document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.setAttribute("content", token);
  for (const field of document.querySelectorAll<HTMLInputElement>('input[name="csrfmiddlewaretoken"]')) field.value = token;
  if (document.body.hasAttribute("hx-headers:inherited")) document.body.setAttribute("hx-headers:inherited", JSON.stringify({ "X-CSRFToken": token }));
}

/** Who is logged in in this browser now; takes over the fresh token when it is the person of this page. */
export async function whoAmI(url: string, username: string): Promise<WhoAmI> {
  try {
    const response = await fetch(url, { credentials: "same-origin", headers: { Accept: "application/json" } });
    if (!response.ok) return "unknown";
    const body = (await response.json()) as { user: string | null; csrf_token?: string };
    if (body.user === null || body.user === username) useToken(body.csrf_token);
    return body.user === null ? "nobody" : body.user === username ? "me" : "somebody else";
  } catch {
    return "unknown";
  }
}

export async function logInAgain(url: string, username: string, password: string, code: string): Promise<LoginAnswer> {
  const post = (): Promise<Response> =>
    fetch(url, {
      method: "POST",
      credentials: "same-origin",
      headers: { Accept: "application/json", "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
      body: JSON.stringify({ username, password, code }),
    });
  let response: Response;
  try {
    response = await post();
    if (response.status === 403) {
      await whoAmI(url, username);
      response = await post();
    }
  } catch {
    throw new ApiError("The server did not answer.", "Your text is kept here; try again.");
  }
  const body = (await response.json().catch(() => null)) as { csrf_token?: string; error?: { code?: string; message?: string; remedy?: string } } | null;
  if (response.ok) {
    useToken(body?.csrf_token);
    return { kind: "done" };
  }
  const message = [body?.error?.message ?? `The server answered with status ${response.status}.`, body?.error?.remedy].filter(Boolean).join(" ");
  if (body?.error?.code === "code_required") return { kind: "code", message };
  return { kind: body?.error?.code === "other_user" ? "other_user" : "refused", message };
}
