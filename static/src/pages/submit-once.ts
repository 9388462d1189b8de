// A form that starts work is sent once: a second click finds its button disabled. The server checks it as well.
const sent = new Set<HTMLFormElement>();

const setDisabled = (form: HTMLFormElement, disabled: boolean): void => {
  for (const button of form.querySelectorAll<HTMLButtonElement>("button:not([type=button])")) button.disabled = disabled;
};

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (!form.matches("[data-submit-once]") || event.defaultPrevented) return;
  if (sent.has(form)) return event.preventDefault();
  sent.add(form);
  // Afterwards: a button that is disabled while the form is read is left out of what is sent, name and value with it.
  setTimeout(() => setDisabled(form, sent.has(form)));
});

// Back from the page that followed: the browser may show this one as it was left.
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of sent) setDisabled(form, false);
  sent.clear();
});

export {};
