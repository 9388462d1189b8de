// People rate answers of models, blind: the clip with its reference, one answer, and three facets from 1 to 5.
import { effect } from "@preact/signals";
import { render } from "preact";
import { errorText } from "../../lib/api";
import { openStore } from "../../lib/queue-store";
import { LoginDialog } from "../shared/login-dialog";
import { Notice } from "../shared/parts";
import { shortcuts, startShortcuts } from "../shared/shortcut-sheet";
import { Answer } from "./answer";
import { Item } from "./item";
import { rateKeys } from "./keys";
import { Notices, Saved } from "./notices";
import { Rate } from "./rate";
import type { RatePayload } from "./types";
import type { Workspace } from "./workspace";
import { createWorkspace } from "./workspace";

/** The page's address names the place in the queue (from 1), so that a reload comes back to it. */
const placeOfHash = (): number | null => {
  const match = /^#(\d{1,6})$/.exec(location.hash);
  return match ? Number(match[1]) - 1 : null;
};

export async function mount(host: HTMLElement): Promise<Workspace | null> {
  try {
    const page = JSON.parse(document.getElementById(host.dataset.payload ?? "")?.textContent ?? "null") as RatePayload | null;
    if (!page) throw new Error("The page came without its answers.");
    const workspace = createWorkspace(page, await openStore(), placeOfHash());
    host.replaceChildren();
    render(<Page workspace={workspace} />, host);
    const into = (selector: string, part: preact.ComponentChild): void => {
      const place = document.querySelector<HTMLElement>(selector);
      if (place) render(part, place);
    };
    into("[data-rate-saved]", <Saved workspace={workspace} />);
    into("[data-rate-notices]", <Notices workspace={workspace} />);
    startShortcuts();
    const forget = shortcuts.add(rateKeys(workspace));
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
            The answers could not be shown. {errorText(error)} <a href="">Reload the page</a>
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
      <section class="pane rate-item" aria-label="Question, clip and reference" tabIndex={0}>
        <Item workspace={workspace} />
      </section>
      <section class="pane rate-answer" aria-label="Answer" tabIndex={0}>
        <Answer workspace={workspace} />
      </section>
      <section class="pane rate-rating" aria-label="Your rating">
        <Rate store={store} />
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
