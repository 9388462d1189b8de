// The audit of chains: a question, one of its chains, and what one says of it. One after the other, without loading a page.
import { effect } from "@preact/signals";
import { render } from "preact";
import { errorText } from "../../lib/api";
import { openStore } from "../../lib/queue-store";
import { LoginDialog } from "../shared/login-dialog";
import { Notice } from "../shared/parts";
import { shortcuts, startShortcuts } from "../shared/shortcut-sheet";
import { Answer } from "./answer";
import { Chain } from "./chain";
import { auditKeys } from "./keys";
import { Notices, Saved } from "./notices";
import { Question } from "./question";
import type { AuditPayload } from "./types";
import type { Workspace } from "./workspace";
import { createWorkspace } from "./workspace";

/** The page's address names the place in the queue (from 1), so that a reload comes back to it. */
const placeOfHash = (): number | null => {
  const match = /^#(\d{1,6})$/.exec(location.hash);
  return match ? Number(match[1]) - 1 : null;
};

export async function mount(host: HTMLElement): Promise<Workspace | null> {
  try {
    const page = JSON.parse(document.getElementById(host.dataset.payload ?? "")?.textContent ?? "null") as AuditPayload | null;
    if (!page) throw new Error("The page came without its chains.");
    const workspace = createWorkspace(page, await openStore(), placeOfHash());
    host.replaceChildren();
    render(<Page workspace={workspace} />, host);
    const into = (selector: string, part: preact.ComponentChild): void => {
      const place = document.querySelector<HTMLElement>(selector);
      if (place) render(part, place);
    };
    into("[data-audit-saved]", <Saved workspace={workspace} />);
    into("[data-audit-notices]", <Notices workspace={workspace} />);
    startShortcuts();
    const forget = shortcuts.add(auditKeys(workspace.store));
    connectPage(workspace);
    await workspace.start();
    host.dataset.ready = "true";
    return { ...workspace, stop: () => (forget(), workspace.stop()) };
  } catch (error) {
    console.error(error);
    host.replaceChildren();
    render(
      <div class="pane-body">
        <Notice kind="bad" icon="exclamation-circle">
          <p>
            The chains could not be shown. {errorText(error)} <a href="">Reload the page</a>
          </p>
        </Notice>
      </div>,
      host,
    );
    return null;
  }
}

function Page({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  return (
    <>
      <section class="pane case-pane" aria-label="Question" tabIndex={0}>
        <Question store={store} />
      </section>
      <section class="pane" aria-label="Chain" tabIndex={0}>
        <Chain store={store} />
      </section>
      <section class="pane" aria-label="Your answer">
        <Answer store={store} />
      </section>
      {store.dialog.value === "login" && (
        <LoginDialog url={store.page.urls.relogin} username={store.page.user.username} pending={store.save.value.pending} done={workspace.loggedIn} close={() => (store.dialog.value = null)} />
      )}
      <p class="visually-hidden" role="status">
        {store.says.value}
      </p>
    </>
  );
}

function connectPage({ store, queue }: Workspace): void {
  let first = true;
  effect(() => {
    const at = store.at.value;
    if (!first && placeOfHash() !== at) history.replaceState(history.state, "", `#${at + 1}`);
    first = false;
  });
  window.addEventListener("hashchange", () => {
    const at = placeOfHash();
    if (at !== null) store.go(at);
  });
  // What waits for a pause in typing goes out while the person decides whether to log out.
  document.addEventListener("submit", (event) => {
    if ((event.target as HTMLElement).matches("form[data-logout]")) queue.flush();
  }, true);
}
