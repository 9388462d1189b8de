// Operations on their way to the server, through the queue that every workspace uses. One lane, "doc": a body holds all operations
// that the server has not confirmed, oldest first, and the server passes over those whose id it knows. So the newest body of the
// lane always says everything, which is what the queue counts on when it replaces, merges or sends again.
import { ApiError, writeJson } from "../../lib/api";
import type { StoredChange } from "../../lib/queue-store";
import { Refusal, readAnswer, whoseLogin } from "../../lib/save-answers";
import type { SendAnswer } from "../../lib/save-queue";
import { SaveQueue } from "../../lib/save-queue";
import type { QueueOptions } from "../../lib/save-queue";
import type { Operation } from "../../lib/video/document";
import { join } from "../../lib/video/history";
import type { RefinePayload } from "./types";

export const LANE = "doc";
/** What the server takes in one request is a little more (`MOST_SAVE_BYTES`, `MOST_OPERATIONS` there). */
export const MOST_BYTES = 15_000_000;
const MOST_OPERATIONS = 2000;

/** What the workspace needs of whatever keeps its work. */
export interface Sender {
  /** Keeps an operation and sends it after `delayMs`; `joins`: it goes on with the one before it (typing). */
  send(operation: Operation, delayMs: number, joins: boolean): void;
}

interface Body extends Record<string, unknown> {
  operations: Operation[];
}

const operationsOf = (body: Record<string, unknown> | null): Operation[] => (body as Body | null)?.operations ?? [];

export class OperationQueue implements Sender {
  readonly queue: SaveQueue;
  #open: Operation[] = [];
  /** Ids that may have reached the server: these operations must stay as they are. */
  readonly #sent = new Set<string>();

  readonly #activeMs: () => number;

  /** `activeMs`: how long the person has been busy with the question so far. */
  constructor(options: Omit<QueueOptions, "same">, activeMs: () => number = () => 0) {
    this.#activeMs = activeMs;
    this.queue = new SaveQueue({
      ...options,
      // An operation that is there already is confirmed by the server; a true conflict is never "the same".
      same: () => false,
      send: (change, leaving) => {
        for (const { id } of operationsOf(change.body)) this.#sent.add(id);
        return options.send(change, leaving);
      },
      onSaved: (lane, body, answer) => {
        const done = new Set(operationsOf(body).map(({ id }) => id));
        this.#open = this.#open.filter(({ id }) => !done.has(id));
        for (const id of done) this.#sent.delete(id);
        options.onSaved(lane, body, answer);
      },
    });
  }

  /** Takes in what an earlier page left behind, and returns it. */
  async open(): Promise<Operation[]> {
    await this.queue.open();
    this.#open = operationsOf(this.queue.latest(LANE));
    for (const { id } of this.#open) this.#sent.add(id);
    return [...this.#open];
  }

  get waiting(): readonly Operation[] {
    return this.#open;
  }

  send(operation: Operation, delayMs: number, joins: boolean): void {
    const last = this.#open.at(-1);
    if (joins && last && !this.#sent.has(last.id)) this.#open = [...this.#open.slice(0, -1), { ...join(last, operation), id: last.id }];
    else this.#open = [...this.#open, operation];
    this.queue.put(LANE, this.#body(), delayMs);
  }

  /** Puts what waits on top of the server's version after a conflict. */
  settle(operations: Operation[], version: number): void {
    this.#open = operations;
    if (operations.length) this.queue.settle(LANE, this.#body(), version);
    else this.queue.discard(LANE, version);
  }

  #body(): Body {
    return { operations: this.#open, active_ms: this.#activeMs(), client_at: new Date().toISOString() };
  }
}

/** Operations in their order, in parts that the server takes: many wait after a long time offline or behind a large import. */
export function inParts(operations: readonly Operation[], mostBytes = MOST_BYTES, most = MOST_OPERATIONS): Operation[][] {
  const parts: Operation[][] = [[]];
  let bytes = 0;
  for (const operation of operations) {
    const size = new Blob([JSON.stringify(operation)]).size;
    const last = parts[parts.length - 1] as Operation[];
    if (last.length && (bytes + size > mostBytes || last.length >= most)) {
      parts.push([operation]);
      bytes = size;
    } else {
      last.push(operation);
      bytes += size;
    }
  }
  return parts;
}

/** Writes one body, in parts where it is long, and says what the answer means: that of the last part, or of the first that is not saved. */
export async function sendBody(payload: RefinePayload, change: StoredChange, leaving: boolean): Promise<SendAnswer> {
  const parts = inParts(operationsOf(change.body));
  const last = parts.pop() as Operation[];
  for (const operations of parts) {
    // Sent again it may have another key: the server passes over operations that it knows.
    const answer = await sendPart(payload, { ...change, key: crypto.randomUUID(), body: { ...change.body, operations } }, leaving);
    if (answer.kind !== "saved") return answer;
  }
  return sendPart(payload, { ...change, body: { ...change.body, operations: last } }, leaving);
}

async function sendPart(payload: RefinePayload, change: StoredChange, leaving: boolean): Promise<SendAnswer> {
  let response: Response;
  try {
    response = await writeJson("PUT", payload.urls.save, change.body, { user: payload.user.id, key: change.key, leaving });
  } catch {
    return { kind: "retry" };
  }
  const body = (await response.json().catch(() => null)) as Parameters<typeof readAnswer>[1];
  const answer = readAnswer(response.status, body, response.headers.get("Retry-After"));
  if (answer) return answer;
  const changed = await whoseLogin(payload.urls.relogin, payload.user.username);
  if (changed) return changed;
  return response.status === 404 ? { kind: "not_editable", message: "This question is not yours to refine any more." } : { kind: "retry", afterMs: 2000 };
}

/** A request that changes no part of the document; throws `Refusal` where the server says no. */
export async function postJsonAs<T>(payload: RefinePayload, url: string, body: unknown, key: string = crypto.randomUUID(), method: "POST" | "PUT" | "DELETE" = "POST"): Promise<T> {
  let response: Response;
  try {
    response = await writeJson(method, url, body, { user: payload.user.id, key });
  } catch {
    throw new ApiError("The server did not answer.", "Check the network, then try again.");
  }
  const answer = (await response.json().catch(() => null)) as ConstructorParameters<typeof Refusal>[1];
  if (!response.ok || answer === null) throw new Refusal(response.status, answer);
  return answer as T;
}
