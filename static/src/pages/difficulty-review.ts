// Keys of the review of hard items: 1, 2, 3 choose, Enter saves, N goes to the next item without a decision.
import { isTyping } from "../lib/shortcuts";

const form = (): HTMLFormElement | null => document.querySelector<HTMLFormElement>("[data-difficulty-review] form");
const faults = (): HTMLFieldSetElement | null => document.querySelector<HTMLFieldSetElement>("[data-fault]");

/** Who erred is asked only with a rejection; what was chosen before stays, and the server takes it only there. */
function showFault(): void {
  const chosen = form()?.querySelector<HTMLInputElement>("input[name=decision]:checked")?.value;
  const asked = chosen === "rejected";
  const box = faults();
  if (!box) return;
  box.toggleAttribute("data-unused", !asked);
  for (const input of box.querySelectorAll<HTMLInputElement>("input")) input.required = asked;
}

function choose(key: string): boolean {
  const input = form()?.querySelector<HTMLInputElement>(`input[data-key="${key}"]`);
  if (!input) return false;
  input.checked = true;
  input.focus();
  showFault();
  return true;
}

document.addEventListener("change", (event) => {
  if ((event.target as HTMLElement).closest("[data-difficulty-review] form")) showFault();
});

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target)) return;
  const at = event.target as HTMLElement;
  // On a link, a button or in the player, Enter keeps its own meaning; on the choices it saves.
  const own = at.closest?.("a, button, summary, video, [data-island]");
  if (event.key === "Enter" && !own) {
    event.preventDefault();
    form()?.requestSubmit();
  } else if (event.key.toLowerCase() === "n") {
    const next = document.querySelector<HTMLAnchorElement>("[data-next-pending]");
    if (!next) return;
    event.preventDefault();
    next.click();
  } else if (/^[1-9]$/.test(event.key) && choose(event.key)) {
    event.preventDefault();
  }
});

showFault();
