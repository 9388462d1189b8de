// Page of one question of a GraphEVAL study: chains, distances, medoid, the selected chain, scores, ablation.
import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { errorText, getJson } from "../../lib/api";
import type { Shortcut } from "../../lib/shortcuts";
import { Notice } from "../shared/parts";
import { shortcuts, startShortcuts } from "../shared/shortcut-sheet";
import { AblationBar } from "./ablation";
import { ChainList } from "./chain-list";
import { ChainPane } from "./chain-pane";
import { Distances } from "./heat-map";
import { MedoidBars } from "./medoid-bars";
import { answerWord } from "./model";
import { OUTCOME_WORDS } from "./parts";
import { createStore } from "./store";
import type { MatrixView, Store, View } from "./store";
import type { Links, QuestionPage } from "./types";

const SCHEMA = "reasonaudit.grapheval-question-page/1";

export async function mount(host: HTMLElement): Promise<void> {
  try {
    const inline = document.getElementById(host.dataset.payload ?? "")?.textContent;
    const page = (inline ? (JSON.parse(inline) as QuestionPage | null) : null) ?? (await getJson<QuestionPage>(host.dataset.src ?? ""));
    if (page.schema !== SCHEMA) throw new Error(`This page reads ${SCHEMA}, the server sent ${page.schema}. Reload the page.`);
    const links: Links = { study: host.dataset.study ?? "", trace: host.dataset.trace ?? "" };
    const store = createStore(page, links, chainOfHash());
    startShortcuts();
    host.replaceChildren();
    render(<App store={store} />, host);
    connectKeys(store);
    followAddress(store);
    host.dataset.ready = "true";
  } catch (error) {
    console.error(error);
    // The server's table stays below: it says the most of it.
    const place = document.createElement("div");
    place.className = "pane-body";
    host.prepend(place);
    const again = (): void => {
      place.remove();
      void mount(host);
    };
    render(
      <Notice kind="bad" icon="exclamation-circle">
        <p>The drawings of this question could not be shown. {errorText(error)}</p>
        <button type="button" class="btn btn-quiet btn-sm mt-2" onClick={again}>
          Try again
        </button>
      </Notice>,
      place,
    );
  }
}

function App({ store }: { store: Store }) {
  return (
    <>
      <div class="rq-columns">
        <ChainList store={store} />
        <section class="pane rq-pane rq-middle" aria-label="Distances and medoid" tabIndex={0}>
          <Distances store={store} />
          <MedoidBars store={store} />
        </section>
        <ChainPane store={store} />
      </div>
      <AblationBar store={store} />
      <Announcer store={store} />
    </>
  );
}

function chainOfHash(): number | null {
  const match = /^#chain-(\d+)$/.exec(location.hash);
  return match ? Number(match[1]) : null;
}

/** The selected chain stands in the address, so that it can be sent to somebody; the page's own choice does not. */
function followAddress(store: Store): void {
  let first = chainOfHash() === null;
  effect(() => {
    const hash = `#chain-${store.selected.value}`;
    if (!first && location.hash !== hash) history.replaceState(history.state, "", hash);
    first = false;
  });
  window.addEventListener("hashchange", () => {
    const number = chainOfHash();
    if (number !== null) store.select(number);
  });
}

/** Where arrow keys have no other meaning. */
function arrowsAreFree(): boolean {
  const active = document.activeElement;
  return !active || active === document.body || active.classList.contains("rq-pane");
}

function connectKeys(store: Store): void {
  const show = (view: View) => (): void => void (store.view.value = view);
  const order = (view: MatrixView) => (): void => void (store.matrixView.value = view);
  const follow = (rel: string) => (): void => document.querySelector<HTMLAnchorElement>(`a[rel="${rel}"]`)?.click();
  const keys: Shortcut[] = [
    { keys: ["j"], does: "Next chain of the list", group: "Chains", run: () => store.move(1) },
    { keys: ["k"], does: "Previous chain of the list", group: "Chains", run: () => store.move(-1) },
    { keys: ["ArrowDown"], does: "Next chain", group: "Chains", run: () => store.move(1), when: arrowsAreFree },
    { keys: ["ArrowUp"], does: "Previous chain", group: "Chains", run: () => store.move(-1), when: arrowsAreFree },
    { keys: ["m"], does: "Go to the medoid", group: "Chains", run: () => store.select(store.model.medoid ?? -1) },
    { keys: ["1"], does: "Chain as graph", group: "Views", run: show("graph") },
    { keys: ["2"], does: "Chain as text", group: "Views", run: show("text") },
    { keys: ["3"], does: "Two chains side by side", group: "Views", run: show("compare") },
    { keys: ["c"], does: "Distances in order of clusters", group: "Views", run: order("cluster") },
    { keys: ["s"], does: "Distances in order of scores", group: "Views", run: order("score") },
    { keys: ["t"], does: "Distances as a table", group: "Views", run: order("table") },
    { keys: ["n"], does: "Next question", group: "Questions", run: follow("next") },
    { keys: ["p"], does: "Previous question", group: "Questions", run: follow("prev") },
  ];
  shortcuts.add(keys);
}

/** Says the selection to a screen reader, politely and only after a change. */
function Announcer({ store }: { store: Store }) {
  const region = useRef<HTMLDivElement>(null);
  const silent = useRef(true);
  const chain = store.model.chains.get(store.selected.value);
  const text = chain ? `Chain ${chain.name}, ${answerWord(chain.answer)}, ${chain.excluded || OUTCOME_WORDS[chain.outcome]}.` : "";
  useEffect(() => {
    if (silent.current) silent.current = false;
    else if (region.current) region.current.textContent = text;
  }, [text]);
  return <div class="visually-hidden" aria-live="polite" ref={region} />;
}
