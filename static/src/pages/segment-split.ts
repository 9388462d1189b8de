// Splitting a segment where the text cursor stands. Without scripts the list of words does the same.
import { aroundPlace, codePoints } from "../lib/text-places";

for (const part of document.querySelectorAll<HTMLElement>("[data-split-cursor]")) connect(part);

function connect(part: HTMLElement): void {
  const text = part.querySelector("textarea");
  const offset = part.querySelector<HTMLInputElement>('input[name="cursor"]');
  const button = part.querySelector("button");
  const preview = part.querySelector<HTMLElement>("[data-split-preview]");
  if (!text || !offset || !button || !preview) return;
  const original = text.value;
  part.hidden = false;
  for (const old of part.parentElement?.querySelectorAll<HTMLElement>("[data-split-words]") ?? []) old.remove();
  // A read-only field has no visible cursor in most browsers: it is writable, and nothing can be written.
  text.readOnly = false;
  text.setAttribute("aria-readonly", "true");
  // The place is sent with this button only, not when a sentence was chosen.
  button.addEventListener("click", () => (offset.disabled = false));
  text.addEventListener("beforeinput", (event) => event.preventDefault());
  text.addEventListener("input", () => (text.value = original)); // compositions cannot be prevented
  const show = (): void => {
    const around = aroundPlace(original, text.selectionStart);
    offset.value = String(codePoints(original, text.selectionStart));
    button.disabled = around === null;
    preview.textContent = around ? `…${around.before} | ${around.after}…` : "Put the cursor where the new segment is to begin.";
  };
  for (const event of ["keyup", "click", "select", "focus"]) text.addEventListener(event, show);
  show();
}
