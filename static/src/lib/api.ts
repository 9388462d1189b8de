// Requests to our own server: JSON, CSRF header, errors in the server's words.

export class ApiError extends Error {
  readonly remedy: string;
  readonly status: number;
  constructor(message: string, remedy = "", status = 0) {
    super(message);
    this.name = "ApiError";
    this.remedy = remedy;
    this.status = status;
  }
}

export function csrfToken(): string {
  const cookie = document.cookie.split("; ").find((pair) => pair.startsWith("csrftoken="));
  if (cookie) return decodeURIComponent(cookie.slice("csrftoken=".length));
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? "";
}

async function request<T>(url: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...init });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError("The server did not answer.", "Check that it is running, then try again.");
  }
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const problem = (body as { error?: { message?: string; remedy?: string } } | null)?.error;
    throw new ApiError(problem?.message ?? `The server answered with status ${response.status}.`, problem?.remedy ?? "", response.status);
  }
  if (body === null) throw new ApiError("The server's answer is not JSON.", "Reload the page; you may have been logged out.");
  return body as T;
}

export const getJson = <T>(url: string, signal?: AbortSignal): Promise<T> =>
  request<T>(url, { headers: { Accept: "application/json" }, ...(signal ? { signal } : {}) });

export const postJson = <T>(url: string, body: unknown, signal?: AbortSignal): Promise<T> =>
  request<T>(url, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

/** Larger bodies the browser does not send while a page goes away. */
const KEEPALIVE_BYTES = 60_000;
const WRITE_TIMEOUT_MS = 15_000;

export interface WriteOptions {
  /** Id of the person whose page this is: the server refuses it where somebody else is logged in now. */
  user: number;
  /** The same for a change that is sent again. */
  key: string;
  /** The page goes away and waits for no answer. */
  leaving?: boolean;
}

/** Sends a change that may be sent again; what the answer means is up to the caller. Rejects without an answer. */
export function writeJson(method: string, url: string, body: unknown, { user, key, leaving = false }: WriteOptions): Promise<Response> {
  const text = JSON.stringify(body);
  return fetch(url, {
    method,
    credentials: "same-origin",
    headers: {
      Accept: "application/json",
      "Content-Type": "application/json",
      "X-CSRFToken": csrfToken(),
      "X-Expected-User": String(user),
      "Idempotency-Key": key,
    },
    body: text,
    keepalive: leaving && new Blob([text]).size < KEEPALIVE_BYTES,
    // A long body has more time: a second for each 100 kB.
    ...(leaving ? {} : { signal: AbortSignal.timeout(WRITE_TIMEOUT_MS + Math.ceil(text.length / 100)) }),
  });
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";

export function errorText(error: unknown): string {
  if (error instanceof ApiError) return [error.message, error.remedy].filter(Boolean).join(" ");
  return error instanceof Error ? error.message : String(error);
}

/** Keeps only the newest request of one kind: starting one aborts the one before. */
export class Latest {
  #controller: AbortController | null = null;

  async run<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#controller?.abort();
    const controller = new AbortController();
    this.#controller = controller;
    return ask(controller.signal);
  }

  abort(): void {
    this.#controller?.abort();
  }
}
