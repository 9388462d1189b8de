// The "?" sheet, made from the registry, and the page-wide key listener.
import { render } from "preact";
import { ShortcutRegistry } from "../../lib/shortcuts";

export const shortcuts = new ShortcutRegistry();

const KEY_WORDS: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "Space" };
const showKey = (key: string): string =>
  key
    .split("+")
    .map((part) => KEY_WORDS[part] ?? (/^[A-Z]$/.test(part) ? `Shift ${part}` : part.length === 1 ? part.toUpperCase() : part))
    .join(" ");

function Sheet({ close }: { close: () => void }) {
  return (
    <>
      <div class="sheet-head">
        <h2>Keyboard shortcuts</h2>
        <span class="grow" />
        <button type="button" class="btn btn-quiet btn-sm" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      <div class="sheet-body">
        {shortcuts.groups().map(({ group, shortcuts: items }) => (
          <section key={group}>
            <h3 class="sheet-group">{group}</h3>
            <dl class="facts">
              {items.map((item) => (
                <div key={item.does}>
                  <dt>{item.does}</dt>
                  <dd class="sheet-keys">
                    {item.keys.map((key) => (
                      <kbd key={key}>{showKey(key)}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p class="muted small">Nothing happens while you type in a field.</p>
      </div>
    </>
  );
}

let dialog: HTMLDialogElement | null = null;

export function openSheet(): void {
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.className = "sheet";
    dialog.setAttribute("aria-label", "Keyboard shortcuts");
    document.body.append(dialog);
  }
  const sheet = dialog;
  render(<Sheet close={() => sheet.close()} />, sheet);
  if (!sheet.open) sheet.showModal();
}

let started = false;

/** Starts listening (once per page) and turns on the page's "Shortcuts" buttons. */
export function startShortcuts(): void {
  if (started) return;
  started = true;
  shortcuts.add([{ keys: ["?"], does: "Show this list", group: "Help", run: openSheet }]);
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    shortcuts.handle(event);
  });
  for (const button of document.querySelectorAll<HTMLElement>("[data-shortcuts]")) {
    button.hidden = false;
    button.addEventListener("click", openSheet);
  }
}
