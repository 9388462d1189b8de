// The case on the left, with the question that the model was asked and its whole reasoning.
import { useState } from "preact/hooks";
import { asksApart } from "../../lib/case-text";
import { segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
import type { Store } from "./store";
import type { ItemPayload } from "./types";

const TABS = [
  { id: "case", title: "Case" },
  { id: "question", title: "Question" },
  { id: "trace", title: "Full trace" },
] as const;
type Tab = (typeof TABS)[number]["id"];

export function CasePane({ store }: { store: Store }) {
  const [tab, setTab] = useState<Tab>("case");
  const item = store.item.value;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = TABS.findIndex((one) => one.id === tab);
    const next = TABS[(at + step + TABS.length) % TABS.length];
    if (!next) return;
    setTab(next.id);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`#adj-tab-${next.id}`)?.focus();
  };
  return (
    <section class="pane" aria-label="Case" tabIndex={0}>
      <div class="tabs" role="tablist" aria-label="Case" onKeyDown={onKeyDown}>
        {TABS.map(({ id, title }) => (
          <button key={id} type="button" role="tab" id={`adj-tab-${id}`} aria-controls="adj-case" aria-selected={tab === id} tabIndex={tab === id ? 0 : -1} onClick={() => setTab(id)}>
            {title}
          </button>
        ))}
      </div>
      <div class="case" role="tabpanel" id="adj-case" aria-labelledby={`adj-tab-${tab}`}>
        <h2 class="visually-hidden">Case details</h2>
        {item && tab === "case" && <Case item={item} />}
        {item && tab === "question" && <Question item={item} />}
        {item && tab === "trace" && <Trace item={item} current={store.current.value?.index ?? 0} />}
      </div>
    </section>
  );
}

function Lines({ text }: { text: string }) {
  const lines = text.split(/\n+/).filter((line) => line.trim());
  return (
    <>
      {lines.map((line, k) => (
        <p key={k}>{line}</p>
      ))}
    </>
  );
}

function Question({ item }: { item: ItemPayload }) {
  return (
    <>
      <h3>Question to the model</h3>
      {item.case.question ? <Lines text={item.case.question} /> : <p class="muted">The data name no question.</p>}
    </>
  );
}

function Case({ item }: { item: ItemPayload }) {
  return (
    <>
      {item.case.sections.map(([heading, text], k) => (
        <div key={k}>
          {heading && <h3>{heading}</h3>}
          <Lines text={text} />
        </div>
      ))}
      {asksApart(item.case.sections, item.case.question) && <Question item={item} />}
      <h3>Reference impression</h3>
      {item.case.reference ? (
        <Lines text={item.case.reference} />
      ) : (
        <p class="muted">
          <Icon name="lock" /> {item.state === "open" ? "Shown after all segments of the case are decided." : "The data name none."}
        </p>
      )}
    </>
  );
}

function Trace({ item, current }: { item: ItemPayload; current: number }) {
  return (
    <ol class="adj-trace">
      {item.segments.map((segment) => (
        <li key={segment.index} aria-current={segment.index === current ? "true" : undefined}>
          <span class="segment-id">{segmentName(segment.index)}</span>
          <p>{segment.text}</p>
        </li>
      ))}
    </ol>
  );
}
