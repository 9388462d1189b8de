// Where changes wait until the server has them: IndexedDB, or memory where the browser gives none (private windows).

export interface StoredChange {
  /** The Idempotency-Key: one key belongs to one body for ever. */
  key: string;
  /** Whose change it is: nobody else's login ever sends it. */
  user: number;
  assignment: string;
  /** Order of the changes of one assignment. */
  seq: number;
  /** What it changes ("s8": the label of S8, "r8": its revision, "n0": the notes). Changes of one lane replace each other. */
  lane: string;
  body: Record<string, unknown>;
}

export interface QueueStore {
  /** False for memory: what it holds is gone after a reload. */
  readonly durable: boolean;
  /** Changes of one person and assignment, in order. */
  load(user: number, assignment: string): Promise<StoredChange[]>;
  /** Writes and deletes in one transaction. */
  write(put: readonly StoredChange[], remove: readonly string[]): Promise<void>;
  /** How many changes of a person wait, over all assignments. */
  count(user: number): Promise<number>;
  clear(user: number): Promise<void>;
}

export class MemoryStore implements QueueStore {
  readonly durable = false;
  readonly #changes = new Map<string, StoredChange>();

  async load(user: number, assignment: string): Promise<StoredChange[]> {
    return [...this.#changes.values()]
      .filter((change) => change.user === user && change.assignment === assignment)
      .sort((a, b) => a.seq - b.seq)
      .map((change) => structuredClone(change));
  }

  async write(put: readonly StoredChange[], remove: readonly string[]): Promise<void> {
    for (const key of remove) this.#changes.delete(key);
    for (const change of put) this.#changes.set(change.key, structuredClone(change));
  }

  async count(user: number): Promise<number> {
    return [...this.#changes.values()].filter((change) => change.user === user).length;
  }

  async clear(user: number): Promise<void> {
    for (const change of [...this.#changes.values()]) if (change.user === user) this.#changes.delete(change.key);
  }
}

const DATABASE = "reasonaudit";
const CHANGES = "changes";
const BY_USER = "user";

/** A change with its place by person and assignment, for the index. */
const placed = (change: StoredChange): StoredChange & { place: [number, string] } => ({ ...change, place: [change.user, change.assignment] });

export class IndexedDbStore implements QueueStore {
  readonly durable = true;
  readonly #database: IDBDatabase;

  private constructor(database: IDBDatabase) {
    this.#database = database;
    // A newer page may want another shape: holding on would keep it from opening.
    database.onversionchange = () => database.close();
  }

  static async open(factory: IDBFactory): Promise<IndexedDbStore> {
    const request = factory.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore(CHANGES, { keyPath: "key" });
      store.createIndex("place", "place");
      store.createIndex(BY_USER, "user");
    };
    return new IndexedDbStore(await answer(request));
  }

  async load(user: number, assignment: string): Promise<StoredChange[]> {
    const store = this.#database.transaction(CHANGES).objectStore(CHANGES);
    const found = (await answer(store.index("place").getAll([user, assignment]))) as (StoredChange & { place?: unknown })[];
    return found.map(({ place: _, ...change }) => change).sort((a, b) => a.seq - b.seq);
  }

  async write(put: readonly StoredChange[], remove: readonly string[]): Promise<void> {
    const transaction = this.#database.transaction(CHANGES, "readwrite");
    const store = transaction.objectStore(CHANGES);
    for (const key of remove) store.delete(key);
    for (const change of put) store.put(placed(change));
    // Not when this page has heard of each write, but now: a tab that dies meanwhile would take them along.
    transaction.commit();
    await done(transaction);
  }

  async count(user: number): Promise<number> {
    return answer(this.#database.transaction(CHANGES).objectStore(CHANGES).index(BY_USER).count(user));
  }

  async clear(user: number): Promise<void> {
    const transaction = this.#database.transaction(CHANGES, "readwrite");
    const store = transaction.objectStore(CHANGES);
    for (const key of await answer(store.index(BY_USER).getAllKeys(user))) store.delete(key);
    await done(transaction);
  }
}

const answer = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("The browser's store did not answer."));
    if ("onblocked" in request) (request as unknown as IDBOpenDBRequest).onblocked = () => reject(new Error("The browser's store is blocked by an older page."));
  });

const done = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("The browser's store refused a write."));
  });

/** The browser's store; memory where there is none or it refuses (the caller warns when it is not durable). */
export async function openStore(factory: IDBFactory | undefined = globalThis.indexedDB): Promise<QueueStore> {
  if (!factory) return new MemoryStore();
  try {
    return await IndexedDbStore.open(factory);
  } catch (error) {
    console.warn("Unsent changes are kept in memory only.", error);
    return new MemoryStore();
  }
}
