// Right pane of the trace page: the audit of the selected segment, drawn and as text.
import { render } from "preact";
import { errorText, getJson } from "../../lib/api";
import type { AuditPayload } from "../../lib/payload";
import { Notice } from "../shared/parts";
import { startShortcuts } from "../shared/shortcut-sheet";
import { App } from "./app";
import { connectPage, segmentOfHash } from "./page";
import { createStore } from "./store";

const SCHEMA = "reasonaudit.audit/1";

async function loadPayload(host: HTMLElement, source: string): Promise<AuditPayload> {
  const inline = document.getElementById(host.dataset.payload ?? "")?.textContent;
  const payload = inline ? (JSON.parse(inline) as AuditPayload | null) : null;
  return payload ?? getJson<AuditPayload>(source);
}

export async function mount(host: HTMLElement): Promise<void> {
  const source = host.dataset.src ?? "";
  try {
    const payload = await loadPayload(host, source);
    if (payload.schema !== SCHEMA) {
      throw new Error(`This page reads ${SCHEMA}, the server sent ${payload.schema}. Reload the page.`);
    }
    const store = createStore(payload, source, segmentOfHash());
    startShortcuts();
    host.replaceChildren();
    render(<App store={store} />, host);
    connectPage(store);
    host.dataset.ready = "true";
  } catch (error) {
    console.error(error);
    const again = (): void => {
      host.replaceChildren();
      void mount(host);
    };
    host.replaceChildren();
    render(
      <div class="pane-body">
        <Notice kind="bad" icon="exclamation-circle">
          <p>The audit could not be shown. {errorText(error)}</p>
          <button type="button" class="btn btn-quiet btn-sm mt-2" onClick={again}>
            Try again
          </button>
        </Notice>
      </div>,
      host,
    );
  }
}
