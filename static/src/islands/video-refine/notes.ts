// A person's own notes on the question, beside the document: no operation, and no part of the answer.
import { signal } from "@preact/signals";
import { postJsonAs } from "./saving";
import type { Store } from "./store";

export function createNotes(store: Store, tab: string) {
  /** What is written and not saved yet; null: nothing. */
  const draft = signal<string | null>(null);
  return {
    draft,
    /** Throws where the server does not take them, and keeps the draft. */
    async save(): Promise<void> {
      const { notes, urls } = store.payload.peek();
      const text = draft.peek();
      if (!notes || !urls.notes || text === null) return;
      if (text !== notes.text) {
        const { version } = await postJsonAs<{ version: number }>(store.payload.peek(), urls.notes, { notes: text, base_version: notes.version, tab }, crypto.randomUUID(), "PUT");
        store.payload.value = { ...store.payload.peek(), notes: { ...notes, text, version } };
      }
      draft.value = null;
    },
  };
}
