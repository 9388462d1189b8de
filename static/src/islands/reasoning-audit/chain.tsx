// The chain in the middle: its steps in order and its answer; where facts are checked, beside the steps they come from.
import { useEffect, useRef } from "preact/hooks";
import { Notice } from "../shared/parts";
import type { Store } from "./store";
import type { ChainText, Fact, Step } from "./types";

export function Chain({ store }: { store: Store }) {
  const chain = store.chain.value;
  const head = useRef<HTMLHeadingElement>(null);
  const { siblings } = store;
  const here = siblings.value.findIndex(({ at }) => at === store.at.value);
  const first = useRef(true);
  useEffect(() => {
    const pane = head.current?.closest(".pane");
    pane?.scrollTo?.({ top: 0 });
    // In a narrow window the page scrolls instead of the pane, and the buttons are below a long chain.
    if (!first.current && pane && getComputedStyle(pane).overflowY === "visible") pane.scrollIntoView?.({ block: "start" });
    first.current = false;
    const row = pane?.querySelector<HTMLElement>(".dots");
    const dot = row?.querySelector<HTMLElement>('[aria-current="true"]');
    if (row && dot) row.scrollLeft = dot.offsetLeft - row.clientWidth / 2;
  }, [store.at.value]);
  return (
    <>
      <div class="pane-head">
        <h2 ref={head}>
          Chain <span class="num">{here + 1}</span> of <span class="num">{siblings.value.length}</span> of this question
        </h2>
        <span class="grow" />
        {siblings.value.length > 1 && (
          <nav class="dots" aria-label="Chains of this question">
            {siblings.value.map(({ chain: id, at }, k) => {
              const done = store.complete(id);
              return (
                // One stop of the Tab key for all: there may be a hundred, and J, K and the arrows go through them.
                <button key={id} type="button" class={`chain-dot${done ? " is-done" : ""}`} aria-current={k === here ? "true" : undefined} tabIndex={k === here ? 0 : -1} title={`Chain ${k + 1}: ${done ? "judged" : "open"}`} onClick={() => store.go(at)}>
                  {k + 1}
                  <span class="visually-hidden">, {done ? "judged" : "open"}</span>
                </button>
              );
            })}
          </nav>
        )}
      </div>
      {chain ? (
        store.page.kind === "decomposition" ? (
          <Decomposed chain={chain} />
        ) : (
          <Steps steps={chain.steps} />
        )
      ) : (
        <div class="pane-body">
          {store.problem.value ? (
            <Notice kind="bad" icon="exclamation-circle">
              <p>
                {store.problem.value}{" "}
                <button type="button" class="btn-text" onClick={() => void store.fetchAround()}>
                  Try again
                </button>
              </p>
            </Notice>
          ) : (
            <p class="muted" role="status">
              <span class="spinner" aria-hidden="true" /> Loading the chain.
            </p>
          )}
        </div>
      )}
      {chain && (
        <p class="chain-answer">
          <span class="muted">Answer</span> <b>{chain.answer ?? "– (the chain gives none)"}</b>
        </p>
      )}
    </>
  );
}

const restsOn = (numbers: readonly number[]): string => (numbers.length ? `from step${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")}` : "from the question");

function Steps({ steps }: { steps: Step[] }) {
  if (steps.length === 0) return <p class="pane-body muted">This chain has no steps.</p>;
  return (
    <ol class="segments chain-steps">
      {steps.map((step, k) => (
        <li class="segment" key={k}>
          <span class="segment-id num">{step.index}</span>
          <div>
            <p class="segment-text">{step.text}</p>
            <p class="chain-from">{restsOn(step.depends_on)}</p>
          </div>
        </li>
      ))}
    </ol>
  );
}

function Decomposed({ chain }: { chain: ChainText }) {
  const facts = chain.facts ?? [];
  const known = new Set(chain.steps.map(({ index }) => index));
  const numbered = facts.map((fact, k) => [k + 1, fact] as const);
  const strays = numbered.filter(([, fact]) => !known.has(fact.step));
  return (
    <table class="chain-facts">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Text</th>
          <th scope="col">Facts</th>
        </tr>
      </thead>
      <tbody>
        {chain.steps.map((step, k) => (
          <tr key={k}>
            <th scope="row" class="num">
              {step.index}
            </th>
            <td>
              <p class="chain-text">{step.text}</p>
              <p class="chain-from">{restsOn(step.depends_on)}</p>
            </td>
            <td>
              <Facts facts={numbered.filter(([, fact]) => fact.step === step.index)} none="No fact comes from this step." />
            </td>
          </tr>
        ))}
        {strays.length > 0 && (
          <tr>
            <th scope="row">–</th>
            <td class="muted">Facts that name a step which the chain does not have</td>
            <td>
              <Facts facts={strays} none="" />
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Facts({ facts, none }: { facts: (readonly [number, Fact])[]; none: string }) {
  if (facts.length === 0) return <p class="muted small">{none}</p>;
  return (
    <ol class="fact-list">
      {facts.map(([number, fact]) => (
        <li key={number} value={number}>
          {fact.text} <span class="chain-from">{restsOn(fact.depends_on)}</span>
        </li>
      ))}
    </ol>
  );
}
