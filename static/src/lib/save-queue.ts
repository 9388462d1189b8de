// Changes on their way to the server: kept first, sent in order, never twice, never lost. Knows no page and no HTTP.
import type { QueueStore, StoredChange } from "./queue-store";

/** What became of one change that was sent. */
export type SendAnswer =
  | { kind: "saved"; version: number; savedAt: string; reply: Record<string, unknown> }
  | { kind: "conflict"; current: Record<string, unknown> }
  | { kind: "other_tab"; since: string }
  | { kind: "not_editable"; message: string }
  | { kind: "login"; message: string }
  | { kind: "other_user"; message: string }
  | { kind: "refused"; code: string; message: string }
  /** No answer, or one that says "later". The change may have been done all the same: it is sent again unchanged. */
  | { kind: "retry"; afterMs?: number };

/** Why nothing is sent at all, until someone acts; "asking": it is not known yet whether this tab may write. */
export type Hold = { kind: "asking" } | { kind: "other_tab"; since: string } | { kind: "not_editable" | "login" | "other_user"; message: string };

/** Why the changes of one lane wait while others go on. */
export type Parked = { kind: "conflict"; current: Record<string, unknown> } | { kind: "refused"; code: string; message: string };

export interface QueueState {
  /** Changes that the server does not have. */
  pending: number;
  sending: boolean;
  /** Sending failed and is tried again by itself. */
  offline: boolean;
  hold: Hold | null;
  parked: ReadonlyMap<string, Parked>;
  savedAt: string | null;
  /** False: a reload would lose what waits. */
  durable: boolean;
}

export interface QueueOptions {
  store: QueueStore;
  user: number;
  assignment: string;
  /** Id of this browser tab, part of every body. */
  tab: string;
  send(change: StoredChange, leaving: boolean): Promise<SendAnswer>;
  /** Whether the server's version says what the body says: then a conflict is none. */
  same(body: Record<string, unknown>, current: Record<string, unknown>): boolean;
  onChange(state: QueueState): void;
  onSaved(lane: string, body: Record<string, unknown>, answer: { version: number; savedAt: string; reply: Record<string, unknown> }): void;
  now?(): number;
  random?(): number;
  uuid?(): string;
}

interface Waiting extends StoredChange {
  /** It may have reached the server, so its body must stay as it is. */
  attempted: boolean;
  /** When it is to be sent, and since when it waits. */
  dueAt: number;
  since: number;
}

/** Longest wait for the server while somebody types on and on. */
const MAX_DELAY_MS = 5000;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;
/** A store that does not answer must not keep the server from hearing of a change. */
const STORE_MS = 1000;

export class SaveQueue {
  readonly #options: QueueOptions;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #uuid: () => string;
  readonly #versions = new Map<string, number>();
  #changes: Waiting[] = [];
  #parked = new Map<string, Parked>();
  #hold: Hold | null = null;
  #seq = 0;
  #sending: Waiting | null = null;
  #pumping = false;
  #failures = 0;
  #savedAt: string | null = null;
  #durable: boolean;
  /** Ends of all writes to the store so far. */
  #written: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #retryAt = 0;
  #closed = false;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
    this.#uuid = options.uuid ?? ((): string => crypto.randomUUID());
    this.#durable = options.store.durable;
  }

  /** Takes in what waits in the store (from before a reload or crash, or from another tab). Forgets what it held itself. */
  async open(): Promise<void> {
    await this.#written;
    const stored = await this.#options.store.load(this.#options.user, this.#options.assignment);
    const now = this.#now();
    // What could not be kept exists here only.
    const unkept = this.#durable ? [] : this.#changes.filter((change) => !stored.some((one) => one.key === change.key));
    // Nobody knows which of them were sent: all are sent again as they are.
    this.#changes = [...stored, ...unkept].map((change) => ({ ...change, attempted: true, dueAt: now, since: now })).sort((a, b) => a.seq - b.seq);
    this.#seq = Math.max(this.#seq, ...this.#changes.map((change) => change.seq));
    this.#parked = new Map();
    this.#changed();
  }

  get state(): QueueState {
    return {
      pending: this.#changes.length,
      sending: this.#sending !== null,
      offline: this.#failures > 0,
      hold: this.#hold,
      parked: this.#parked,
      savedAt: this.#savedAt,
      durable: this.#durable,
    };
  }

  /** The version of a lane that the page's text is based on. */
  setVersion(lane: string, version: number): void {
    this.#versions.set(lane, version);
  }

  /** The newest text of a lane that the server does not have. */
  latest(lane: string): Record<string, unknown> | null {
    return this.#changes.findLast((change) => change.lane === lane)?.body ?? null;
  }

  lanes(): string[] {
    return [...new Set(this.#changes.map((change) => change.lane))];
  }

  /** Adds a change; one of the same lane that was never sent is replaced. It is kept at once and sent after `delayMs`. */
  put(lane: string, body: Record<string, unknown>, delayMs = 0): void {
    const last = this.#changes.findLast((change) => change.lane === lane);
    const replaced = last && !last.attempted ? last : null;
    const base = replaced ? replaced.body.base_version : (this.#versions.get(lane) ?? 0);
    const change = this.#make(lane, { ...body, base_version: base }, replaced ?? undefined);
    // While somebody types the time moves on with each key, but not for ever.
    change.dueAt = Math.min(this.#now() + delayMs, change.since + MAX_DELAY_MS);
    if (replaced) this.#changes[this.#changes.indexOf(replaced)] = change;
    else this.#changes.push(change);
    this.#write([change], replaced ? [replaced.key] : []);
    if (this.#parked.get(lane)?.kind === "refused") this.#unpark(lane);
    // Order is kept: what goes at once takes along what waits before it.
    if (delayMs === 0) this.#allDue();
    this.#wake();
    this.#changed();
  }

  /** Sends now what waits for a pause in typing. */
  flush(): void {
    this.#allDue();
    this.#wake();
  }

  /** The network is back, or somebody pressed "try again": no more waiting. */
  retryNow(): void {
    this.#retryAt = 0;
    this.flush();
  }

  /** The page goes away: everything that may go is sent at once, without waiting for an answer. */
  leave(): void {
    if (this.#hold) return;
    const lanes = new Set<string>(this.#sending ? [this.#sending.lane] : []);
    for (const change of this.#changes) {
      // Of one lane only the first: the next one needs the version that this one makes.
      if (lanes.has(change.lane) || this.#parked.has(change.lane)) continue;
      lanes.add(change.lane);
      change.attempted = true;
      void this.#options.send(bare(change), true).catch(() => undefined);
    }
  }

  hold(hold: Hold): void {
    this.#hold = hold;
    this.#changed();
  }

  resume(): void {
    this.#hold = null;
    this.retryNow();
    this.#changed();
  }

  /** Resolves true when the server has everything, false when something keeps it from getting there. */
  async drained(): Promise<boolean> {
    this.retryNow();
    while (this.#pumping) await new Promise<void>((resolve) => this.#idle.push(resolve));
    return this.#changes.length === 0;
  }

  /** Ends a conflict: the body (mine, or both merged) goes on top of the server's version. */
  settle(lane: string, body: Record<string, unknown>, version: number): void {
    this.#drop(lane);
    this.#versions.set(lane, version);
    this.put(lane, body, 0);
  }

  /** Ends a conflict or a refusal by giving up what waits here. */
  discard(lane: string, version?: number): void {
    this.#drop(lane);
    if (version !== undefined) this.#versions.set(lane, version);
    this.#changed();
  }

  /** Waits until the store has everything that was put. */
  written(): Promise<void> {
    return this.#written;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #make(lane: string, body: Record<string, unknown>, before?: Waiting): Waiting {
    const { user, assignment, tab } = this.#options;
    const now = this.#now();
    const { seq, since, dueAt } = before ?? { seq: ++this.#seq, since: now, dueAt: now };
    return { key: this.#uuid(), user, assignment, seq, lane, body: { ...body, tab }, attempted: false, since, dueAt };
  }

  /** A changed body is another change: it gets a key of its own. */
  #remake(change: Waiting, body: Record<string, unknown>): Waiting {
    const made = this.#make(change.lane, body, change);
    this.#changes[this.#changes.indexOf(change)] = made;
    this.#write([made], [change.key]);
    return made;
  }

  #drop(lane: string): void {
    const gone = this.#changes.filter((change) => change.lane === lane);
    this.#changes = this.#changes.filter((change) => change.lane !== lane);
    this.#write([], gone.map((change) => change.key));
    this.#unpark(lane);
  }

  #park(lane: string, parked: Parked): void {
    this.#parked = new Map(this.#parked).set(lane, parked);
  }

  #unpark(lane: string): void {
    const parked = new Map(this.#parked);
    parked.delete(lane);
    this.#parked = parked;
  }

  #write(put: Waiting[], remove: string[]): void {
    const writing = this.#options.store.write(put.map(bare), remove).catch((error: unknown) => {
      console.warn("The browser could not keep a change.", error);
      this.#durable = false;
      this.#changed();
    });
    this.#written = Promise.all([this.#written, writing]).then(() => undefined);
  }

  #allDue(): void {
    for (const change of this.#changes) change.dueAt = Math.min(change.dueAt, this.#now());
  }

  #wake(): void {
    clearTimeout(this.#timer);
    const next = this.#next();
    if (this.#closed || this.#hold || this.#pumping || !next) return;
    const wait = Math.max(next.dueAt, this.#retryAt) - this.#now();
    if (wait <= 0) void this.#pump();
    else this.#timer = setTimeout(() => void this.#pump(), wait);
  }

  #next(): Waiting | undefined {
    return this.#changes.find((change) => !this.#parked.has(change.lane));
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      let change = this.#next();
      while (change && change.dueAt <= this.#now() && !this.#closed && !this.#hold) {
        change.attempted = true;
        this.#sending = change;
        this.#changed();
        await Promise.race([this.#written, new Promise((resolve) => setTimeout(resolve, STORE_MS))]);
        const answer = await this.#options.send(bare(change), false).catch((): SendAnswer => ({ kind: "retry" }));
        this.#sending = null;
        if (this.#closed) return;
        if (!this.#settled(change, answer)) break;
        change = this.#next();
      }
    } finally {
      this.#sending = null;
      this.#pumping = false;
      this.#changed();
      this.#wake();
      for (const tell of this.#idle.splice(0)) tell();
    }
  }

  /** Does what an answer asks for; false when nothing more can be sent for now. */
  #settled(change: Waiting, answer: SendAnswer): boolean {
    // Given up while it was on its way (a conflict was settled, the tab was taken over).
    if (!this.#changes.includes(change)) return true;
    if (answer.kind === "retry") return this.#later(answer.afterMs);
    this.#failures = 0;
    switch (answer.kind) {
      case "saved":
        this.#saved(change, answer);
        return true;
      case "conflict":
        this.#conflict(change, answer.current);
        return true;
      case "other_tab":
        // A change that an earlier tab left behind: not done under its name, so it is a change of this tab now.
        if (change.body.tab !== this.#options.tab) {
          this.#remake(change, change.body);
          return true;
        }
        this.#hold = { kind: "other_tab", since: answer.since };
        return false;
      case "refused":
        this.#refused(change, answer);
        return true;
      default:
        this.#hold = { kind: answer.kind, message: answer.message };
        return false;
    }
  }

  #later(afterMs?: number): false {
    const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
    this.#failures++;
    // Half of the wait is by chance, so that many pages do not come back in the same moment.
    this.#retryAt = this.#now() + (afterMs ?? wait * (0.5 + this.#random() / 2));
    return false;
  }

  #saved(change: Waiting, answer: { version: number; savedAt: string; reply: Record<string, unknown> }): void {
    this.#changes = this.#changes.filter((one) => one !== change);
    this.#write([], [change.key]);
    this.#versions.set(change.lane, answer.version);
    this.#savedAt = answer.savedAt;
    // What was written on top of it rests on the version that it made.
    const next = this.#changes.find((one) => one.lane === change.lane);
    if (next && next.body.base_version !== answer.version) this.#remake(next, { ...next.body, base_version: answer.version });
    // An order that the server missed may be there now.
    for (const [lane, parked] of this.#parked) if (parked.kind === "refused" && parked.code === "not_in_order") this.#unpark(lane);
    this.#options.onSaved(change.lane, change.body, answer);
  }

  #conflict(change: Waiting, current: Record<string, unknown>): void {
    if (this.#options.same(change.body, current)) {
      this.#saved(change, { version: Number(current.version ?? 0), savedAt: String(current.saved_at ?? ""), reply: {} });
      return;
    }
    // Every change holds the whole text: the newest one is what the person wants.
    const mine = this.#changes.filter((one) => one.lane === change.lane);
    const newest = mine.at(-1) ?? change;
    this.#changes = this.#changes.filter((one) => one.lane !== change.lane || one === newest);
    this.#write([], mine.filter((one) => one !== newest).map((one) => one.key));
    this.#remake(newest, { ...newest.body, base_version: change.body.base_version });
    this.#park(change.lane, { kind: "conflict", current });
  }

  #refused(change: Waiting, answer: { code: string; message: string }): void {
    const mismatch = answer.code === "idempotency_mismatch";
    // A later change of the lane may be what the server accepts.
    const newer = this.#changes.findLast((one) => one.lane === change.lane && one !== change);
    if (newer && !mismatch) {
      this.#changes = this.#changes.filter((one) => one !== change);
      this.#write([], [change.key]);
      return;
    }
    this.#remake(change, change.body);
    if (!mismatch) this.#park(change.lane, { kind: "refused", code: answer.code, message: answer.message });
  }

  #changed(): void {
    if (!this.#closed) this.#options.onChange(this.state);
  }
}

const bare = ({ attempted: _, dueAt: _due, since: _since, ...change }: Waiting): StoredChange => change;
