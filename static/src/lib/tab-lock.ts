// One tab of one person writes an assignment; others read. The server decides, the tabs of one browser help each other.
import { openChannel } from "./tab-channel";

export interface TabAnswer {
  held: boolean;
  since: string;
}

export interface TabLockOptions {
  user: number;
  assignment: string;
  /** Asks the server; `take` takes the assignment away from another tab. Rejects when there is no answer. */
  ask(tab: string, take: boolean): Promise<TabAnswer>;
  /** Whether the person was there a moment ago: a page left alone does not keep its hold, nor its login. */
  active(): boolean;
  onHeld(): void;
  onLost(since: string): void;
}

const BEAT_MS = 20_000;
const ANSWER_MS = 150;

export class TabLock {
  readonly id: string;
  readonly #options: TabLockOptions;
  #held: boolean | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #asking = false;

  constructor(id: string, options: TabLockOptions) {
    this.id = id;
    this.#options = options;
  }

  get held(): boolean {
    return this.#held === true;
  }

  async start(): Promise<void> {
    await this.ask(false);
    this.#timer ??= setInterval(() => {
      if (this.#options.active()) void this.ask(false);
    }, BEAT_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Asks who holds it. Without an answer (offline) a tab that never was refused goes on: saves are checked all the same. */
  async ask(take: boolean): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      const { held, since } = await this.#options.ask(this.id, take);
      this.#set(held, since);
    } catch {
      if (this.#held === null) this.#set(true, "");
    } finally {
      this.#asking = false;
    }
  }

  /** A save was refused because another tab holds the assignment. */
  lost(since: string): void {
    this.#set(false, since);
  }

  #set(held: boolean, since: string): void {
    if (this.#held === held) return;
    this.#held = held;
    if (held) this.#options.onHeld();
    else this.#options.onLost(since);
  }
}

/**
 * The id of this tab. The one that this browser used last for the assignment is used again unless a living page has it, so that
 * a reload or a crash does not lock the person out of their own work.
 */
export async function claimTabId(
  name: string,
  storage: Pick<Storage, "getItem" | "setItem">,
  open: typeof openChannel = openChannel,
  uuid: () => string = () => crypto.randomUUID(),
): Promise<string> {
  const channel = open(name);
  let mine = "";
  let taken = false;
  let candidate = "";
  channel.listen(({ ask, have }) => {
    if (ask && ask === mine) channel.say({ have: mine });
    if (have && have === candidate) taken = true;
  });
  candidate = read(storage, name) ?? "";
  if (candidate) {
    channel.say({ ask: candidate });
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  }
  mine = candidate && !taken ? candidate : uuid();
  candidate = "";
  try {
    storage.setItem(name, mine);
  } catch {
    // No storage: after a reload the hold of the old id runs out by itself.
  }
  return mine;
}

function read(storage: Pick<Storage, "getItem">, name: string): string | null {
  try {
    return storage.getItem(name);
  } catch {
    return null;
  }
}
