// The physician's workspace: case, segments with labels, guideline or audit. Loaded by the page of one assignment.
import { effect } from "@preact/signals";
import { render } from "preact";
import { errorText, getJson } from "../../lib/api";
import type { AssignmentPayload } from "../../lib/label-draft";
import { withGuideline } from "../../lib/label-draft";
import { openStore } from "../../lib/queue-store";
import { claimTabId } from "../../lib/tab-lock";
import { Notice } from "../shared/parts";
import { shortcuts, startShortcuts } from "../shared/shortcut-sheet";
import { Banners } from "./banners";
import { CasePane } from "./case-pane";
import { Dialogs } from "./dialogs";
import { Saved, SubHead } from "./header";
import { labelKeys, moveKeys, pageKeys } from "./keys";
import { Segments } from "./segments";
import { Side } from "./side";
import type { Workspace } from "./workspace";
import { createWorkspace } from "./workspace";

async function loadPayload(host: HTMLElement): Promise<AssignmentPayload> {
  const inline = document.getElementById(host.dataset.payload ?? "assignment")?.textContent;
  const payload = inline ? (JSON.parse(inline) as AssignmentPayload | null) : null;
  return withGuideline(payload ?? (await getJson<AssignmentPayload>(host.dataset.src ?? "")));
}

const segmentOfHash = (): number | null => {
  const match = /^#S(\d+)$/.exec(location.hash);
  return match ? Number(match[1]) : null;
};

export async function mount(host: HTMLElement): Promise<Workspace | null> {
  try {
    const payload = await loadPayload(host);
    const kept = await openStore();
    const tab = await claimTabId(`reasonaudit-tab:${payload.user.id}:${payload.id}`, localStorage);
    const workspace = createWorkspace(payload, kept, tab, segmentOfHash());
    draw(host, workspace);
    connectKeys(workspace);
    connectPage(workspace);
    await workspace.start();
    host.dataset.ready = "true";
    return workspace;
  } catch (error) {
    console.error(error);
    host.replaceChildren();
    render(
      <div class="pane-body">
        <Notice kind="bad" icon="exclamation-circle">
          <p>The case could not be shown. {errorText(error)}</p>
          <p>
            <a href="">Reload the page</a>
          </p>
        </Notice>
      </div>,
      host,
    );
    return null;
  }
}

function draw(host: HTMLElement, workspace: Workspace): void {
  const into = (selector: string, part: preact.ComponentChild): void => {
    const place = document.querySelector<HTMLElement>(selector);
    if (!place) return;
    place.replaceChildren();
    render(part, place);
  };
  into("[data-label-saved]", <Saved workspace={workspace} />);
  into("[data-label-head]", <SubHead workspace={workspace} />);
  into("[data-label-notices]", <Banners workspace={workspace} />);
  host.replaceChildren();
  render(<Panes workspace={workspace} />, host);
}

function Panes({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  return (
    <>
      <section class="pane case-pane" aria-label="Case">
        <CasePane workspace={workspace} />
      </section>
      <section class="pane segments-pane" aria-label="Reasoning segments">
        <Segments workspace={workspace} />
      </section>
      <section class="pane side-pane" tabIndex={0} aria-label={store.revealed.value ? "Structural audit" : "Guideline and progress"}>
        <Side workspace={workspace} />
      </section>
      <Dialogs workspace={workspace} />
      <p class="visually-hidden" role="status">
        {store.says.value}
      </p>
    </>
  );
}

/** Keys that change labels exist only while the case may be changed; the others always. */
export function connectKeys(workspace: Workspace): void {
  startShortcuts();
  shortcuts.add([...moveKeys(workspace), ...pageKeys(workspace)]);
  let forget: (() => void) | null = null;
  effect(() => {
    const labelling = workspace.store.isDraftState.value;
    if (labelling && !forget) forget = shortcuts.add(labelKeys(workspace));
    else if (!labelling && forget) {
      forget();
      forget = null;
    }
  });
}

function connectPage({ store, queue }: Workspace): void {
  // The page's address names the segment, so that a reload comes back to it.
  let first = true;
  effect(() => {
    const current = store.current.value;
    if (!first && segmentOfHash() !== current) history.replaceState(history.state, "", `#S${current}`);
    first = false;
  });
  window.addEventListener("hashchange", () => {
    const index = segmentOfHash();
    if (index !== null) store.tryGo(index);
  });
  for (const button of document.querySelectorAll<HTMLElement>("[data-guideline]")) {
    button.hidden = false;
    button.addEventListener("click", () => (store.sideView.value = "guideline"));
  }
  // What waits for a pause in typing goes out while the person decides whether to log out.
  document.addEventListener("submit", (event) => {
    if ((event.target as HTMLElement).matches("form[data-logout]")) queue.flush();
  }, true);
}
