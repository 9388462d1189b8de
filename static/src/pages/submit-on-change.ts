// A choice that takes effect at once; without scripts the form's button sends it.
for (const field of document.querySelectorAll<HTMLSelectElement>("[data-submit-on-change]")) {
  field.addEventListener("change", () => field.form?.requestSubmit());
}

export {};
