// Adjudication: the queue of a study, the case, everybody's labels by letter, and the decision.
import { render } from "preact";
import { errorText } from "../../lib/api";
import { Icon, Notice } from "../shared/parts";
import { shortcuts, startShortcuts } from "../shared/shortcut-sheet";
import { CasePane } from "./case-pane";
import { Dialogs } from "./dialogs";
import { keys } from "./keys";
import { Head, Queue } from "./queue";
import { Segments } from "./segments";
import { Side } from "./side";
import type { Place, Store } from "./store";
import { createStore } from "./store";
import type { PagePayload } from "./types";

function placeOfAddress(): Place | null {
  const query = new URLSearchParams(location.search);
  const [item, index] = [query.get("item"), Number(query.get("segment"))];
  return item && /^[0-9a-f-]{36}$/.test(item) && Number.isInteger(index) && index > 0 ? { item, index } : null;
}

export async function mount(host: HTMLElement): Promise<Store | null> {
  try {
    const page = JSON.parse(document.getElementById(host.dataset.page ?? "")?.textContent ?? "null") as PagePayload;
    const store = createStore(page, placeOfAddress());
    host.replaceChildren();
    render(<Page store={store} />, host);
    const saved = document.querySelector<HTMLElement>("[data-adjudication-saved]");
    if (saved) render(<Saved store={store} />, saved);
    startShortcuts();
    shortcuts.add(keys(store));
    guardLeaving(store);
    await store.begin();
    host.dataset.ready = "true";
    return store;
  } catch (error) {
    console.error(error);
    host.replaceChildren();
    render(
      <div class="pane-body">
        <Notice kind="bad" icon="exclamation-circle">
          <p>
            The queue could not be shown. {errorText(error)} <a href="">Reload the page</a>
          </p>
        </Notice>
      </div>,
      host,
    );
    return null;
  }
}

function Page({ store }: { store: Store }) {
  const { why_not } = store.page;
  return (
    <>
      <Head store={store} />
      {why_not && (
        <div class="notice notice-bar info" role="note">
          <Icon name="info-circle" />
          <p>{why_not}</p>
        </div>
      )}
      {store.problem.value && (
        <div class="notice notice-bar bad" role="alert">
          <Icon name="exclamation-circle" />
          <p>
            {store.problem.value}{" "}
            <button type="button" class="btn-text" onClick={() => void store.refresh(store.current.peek()?.item ?? null)}>
              Try again
            </button>
          </p>
        </div>
      )}
      <Queue store={store} />
      {store.current.value ? (
        <div class="adj-columns">
          <CasePane store={store} />
          <Segments store={store} />
          <Side store={store} />
        </div>
      ) : (
        <Empty store={store} />
      )}
      <Dialogs store={store} />
      <p class="visually-hidden" role="status">
        {store.says.value}
      </p>
    </>
  );
}

function Empty({ store }: { store: Store }) {
  const { segments, to_decide, agreed } = store.queue.value;
  const first = store.rows.value[0];
  if (to_decide === 0) {
    return (
      <div class="empty">
        <Icon name="check-circle" />
        <h2>Nothing to decide</h2>
        <p>
          {segments === 0
            ? "No case has been labelled by everybody yet. Disagreements come here by themselves once it has."
            : `Everybody agrees on ${agreed.toLocaleString("en")} of ${segments.toLocaleString("en")} segments that were handed in so far.`}
        </p>
      </div>
    );
  }
  return (
    <div class="empty">
      <Icon name="check-circle" />
      <h2>All {to_decide.toLocaleString("en")} segments are decided</h2>
      <p>New disagreements come here by themselves. Decisions can be looked at, and changed with a reason.</p>
      {first && (
        <button type="button" class="btn btn-quiet" onClick={() => void store.go(first)}>
          Look at the decisions
        </button>
      )}
    </div>
  );
}

const clock = (at: Date): string => at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

function Saved({ store }: { store: Store }) {
  const state = store.save.value;
  if (state.kind === "none") return null;
  const decided = store.segment.value?.decision.final && !store.segment.value.open;
  const [icon, words, kind] =
    state.kind === "failed"
      ? ["exclamation-triangle", "Not saved", "bad"]
      : state.kind === "saved"
        ? ["check-circle-fill", `${decided ? "Decision" : "Draft"} saved${state.at ? ` ${clock(state.at)}` : ""}`, ""]
        : ["arrow-repeat", state.kind === "saving" ? "Saving…" : "Not saved yet", "busy"];
  return (
    <span class={`saved ${kind}`} data-save-state={state.kind}>
      <Icon name={icon} />
      {words}
    </span>
  );
}

/** What is not saved is sent once more when the page goes; if that may fail, the browser asks first. */
function guardLeaving(store: Store): void {
  window.addEventListener("beforeunload", (event) => {
    if (!store.unsaved()) return;
    void store.saveDraft(true);
    event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") void store.saveDraft(true);
  });
}
