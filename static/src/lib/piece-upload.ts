// Sending a file in pieces: the server says how much of it is there, and the next piece begins at that byte. A lost
// connection, a busy server or a reload therefore cost one piece, not the file.

export type Sent = { id: string; received: number; bytes: number };
export type Progress = { received: number; bytes: number; waiting: string };
export type Where = { begin: string; uploads: string; pieceBytes: number };
export type Outcome = { isNew: boolean };

/** The server refused, in its own words; trying again would not help. */
export class Refused extends Error {}

export type Send = (url: string, init: RequestInit) => Promise<Response>;
export type Wait = (milliseconds: number) => Promise<void>;

const TRIES = 6;
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;

type Problem = { error?: { message?: string; remedy?: string; fields?: { received?: number } } };

const JSON_HEADERS = { Accept: "application/json", "Content-Type": "application/json" };
const plain: Wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** How long to wait before the next try: doubled each time, or what the server asks for. */
export function pause(attempt: number, retryAfter: string | null): number {
  const asked = Number(retryAfter);
  return Math.min(LONGEST_WAIT, retryAfter && Number.isFinite(asked) ? asked * 1000 : FIRST_WAIT * 2 ** attempt);
}

/** Whether the same request may succeed later: no answer, a busy or a broken server. */
const isPassing = (status: number): boolean => status === 429 || status === 408 || (status >= 500 && status !== 507);

export class PieceUpload {
  readonly #where: Where;
  readonly #token: () => string;
  readonly #send: Send;
  readonly #wait: Wait;

  constructor(where: Where, token: () => string, send: Send = (url, init) => fetch(url, init), wait: Wait = plain) {
    this.#where = where;
    this.#token = token;
    this.#send = send;
    this.#wait = wait;
  }

  /** Send a whole file; `onProgress` is called after each piece and at each wait. Throws Refused. */
  async upload(file: File, onProgress: (progress: Progress) => void): Promise<Outcome> {
    const tell = (received: number, waiting = ""): void => onProgress({ received, bytes: file.size, waiting });
    const waiting = (received: number) => (seconds: number): void => tell(received, `No answer; trying again in ${seconds} s`);
    const announced = await this.#ask(this.#where.begin, { method: "POST", headers: JSON_HEADERS, body: JSON.stringify({ file_name: file.name, bytes: file.size }) }, waiting(0));
    const { id, received: start } = (await announced.json()) as Sent;
    const address = `${this.#where.uploads}${id}/`;
    let received = start;
    tell(received);
    while (received < file.size) {
      const piece = file.slice(received, received + this.#where.pieceBytes);
      const init = { method: "PUT", headers: { Accept: "application/json", "Content-Type": "application/octet-stream" }, body: piece };
      const answer = await this.#ask(`${address}piece/?offset=${received}`, init, waiting(received), 409);
      const body = (await answer.json()) as Sent & Problem;
      const now = answer.status === 409 ? body.error?.fields?.received : body.received;
      // A server that never goes on would be asked for ever.
      if (now === undefined || (answer.status !== 409 && now <= received)) throw new Refused(words(body, answer.status));
      received = now;
      tell(received);
    }
    const done = await this.#ask(`${address}finish/`, { method: "POST", headers: JSON_HEADERS, body: "{}" }, waiting(received));
    return { isNew: done.status === 201 };
  }

  async #ask(url: string, init: RequestInit, onWait: (seconds: number) => void, alsoFine = 0): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      let answer: Response | null = null;
      try {
        answer = await this.#send(url, { credentials: "same-origin", ...init, headers: { ...init.headers, "X-CSRFToken": this.#token() } });
      } catch {
        // No connection: handled like a server that does not answer.
      }
      if (answer && (answer.ok || answer.status === alsoFine)) return answer;
      if (answer && !isPassing(answer.status)) throw new Refused(words((await answer.json().catch(() => ({}))) as Problem, answer.status));
      if (attempt + 1 >= TRIES) throw new Refused("The server does not answer. Choose the file again later: what arrived is kept.");
      const rest = pause(attempt, answer?.headers.get("Retry-After") ?? null);
      onWait(Math.round(rest / 1000));
      await this.#wait(rest);
    }
  }
}

function words(problem: Problem, status: number): string {
  const said = [problem.error?.message, problem.error?.remedy].filter(Boolean).join(" ");
  return said || `The server answered with status ${status}.`;
}
