// The form that brings videos in: each file goes up in pieces with a bar of its own. Without scripts the form works too.
import { csrfToken } from "../lib/api";
import { PieceUpload, Refused } from "../lib/piece-upload";

const MB = 1024 * 1024;

/** A line of the list: name, bar, words. */
function line(list: HTMLElement, file: File): { show(share: number, words: string): void; end(words: string, good: boolean): void } {
  const row = document.createElement("div");
  row.className = "form-row";
  const name = document.createElement("div");
  name.className = "long-name";
  name.textContent = file.name;
  const bar = document.createElement("progress");
  bar.className = "progress-line";
  bar.max = 100;
  bar.value = 0;
  bar.setAttribute("aria-label", `Upload of ${file.name}`);
  const words = document.createElement("div");
  words.className = "form-text num";
  row.append(name, bar, words);
  list.append(row);
  return {
    show(share, text): void {
      bar.value = Math.round(100 * share);
      words.textContent = text;
    },
    end(text, good): void {
      bar.classList.add(good ? "done" : "failed");
      if (good) bar.value = 100;
      else words.setAttribute("role", "alert");
      words.textContent = text;
    },
  };
}

const size = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;

export async function sendAll(form: HTMLFormElement, files: File[], upload: Pick<PieceUpload, "upload">): Promise<number> {
  const list = form.querySelector<HTMLElement>("[data-upload-list]") ?? form;
  const largest = Number(form.dataset.largest);
  let refused = 0;
  for (const { file, row } of files.map((file) => ({ file, row: line(list, file) }))) {
    if (largest && file.size > largest) {
      refused += 1;
      row.end(`${size(file.size)}; the limit is ${size(largest)}. Cut it into parts or encode it smaller.`, false);
      continue;
    }
    try {
      const { isNew } = await upload.upload(file, (now) => row.show(now.bytes ? now.received / now.bytes : 0, now.waiting || `${size(now.received)} of ${size(now.bytes)}`));
      row.end(isNew ? "Received; it is prepared now." : "The set has this video already.", true);
    } catch (error) {
      if (!(error instanceof Refused)) console.error(error);
      refused += 1;
      row.end(error instanceof Refused ? error.message : "The file could not be read. Choose it again.", false);
    }
  }
  return refused;
}

let sending = false;
window.addEventListener("beforeunload", (event) => {
  if (sending) event.preventDefault();
});

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (!form.matches("form[data-upload]")) return;
  const files = [...(form.querySelector<HTMLInputElement>("input[type=file]")?.files ?? [])];
  if (!files.length || sending) return;
  event.preventDefault();
  sending = true;
  const button = form.querySelector<HTMLButtonElement>("button:not([type=button])");
  if (button) button.disabled = true;
  form.querySelector<HTMLElement>("[data-upload-list]")?.replaceChildren();
  const { begin = "", uploads = "", pieceBytes = "", doneHref = "" } = form.dataset;
  void sendAll(form, files, new PieceUpload({ begin, uploads, pieceBytes: Number(pieceBytes) || 8 * MB }, csrfToken)).then((refused) => {
    sending = false;
    if (button) button.disabled = false;
    if (!refused && doneHref) window.location.assign(doneHref);
  });
});
