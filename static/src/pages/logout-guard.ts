// Logging out deletes what this browser keeps for the person, and asks first when the server does not have it yet.
import { openStore } from "../lib/queue-store";
import type { QueueStore } from "../lib/queue-store";

export async function guardLogout(form: HTMLFormElement, open: () => Promise<QueueStore> = openStore, ask: (question: string) => boolean = (question) => window.confirm(question)): Promise<void> {
  const user = Number(form.dataset.user);
  try {
    const store = await open();
    const waiting = await store.count(user);
    if (waiting > 0) {
      const changes = waiting === 1 ? "1 change is" : `${waiting} changes are`;
      if (!ask(`${changes} not on the server yet. Logging out deletes ${waiting === 1 ? "it" : "them"} from this browser. Log out all the same?`)) return;
    }
    await store.clear(user);
    for (const key of Object.keys(localStorage)) if (key.startsWith(`reasonaudit-tab:${user}:`)) localStorage.removeItem(key);
  } catch (error) {
    // Without a store nothing is kept that could be lost.
    console.warn("The browser's store could not be looked at.", error);
  }
  form.submit();
}

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (!form.matches("form[data-logout]")) return;
  event.preventDefault();
  void guardLogout(form);
});
