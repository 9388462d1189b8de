// In the middle: the answer, without the name of its model.
import { useEffect, useRef } from "preact/hooks";
import { Notice } from "../shared/parts";
import { Cues } from "./cues";
import type { Workspace } from "./workspace";

export function Answer({ workspace }: { workspace: Workspace }) {
  const { store, player } = workspace;
  const { siblings } = store;
  const answer = store.answer.value;
  const item = store.item.value;
  const [id] = store.place.value;
  const head = useRef<HTMLHeadingElement>(null);
  const first = useRef(true);
  const here = siblings.value.findIndex(({ at }) => at === store.at.value);
  useEffect(() => {
    const pane = head.current?.closest(".pane");
    pane?.scrollTo?.({ top: 0 });
    // In a narrow window the page scrolls instead of the pane, and the buttons are below a long answer.
    if (!first.current && pane && getComputedStyle(pane).overflowY === "visible") pane.scrollIntoView?.({ block: "start" });
    first.current = false;
  }, [store.at.value]);
  return (
    <>
      <div class="pane-head">
        <h2 ref={head}>
          {siblings.value.length > 1 ? (
            <>
              Answer <span class="num">{here + 1}</span> of <span class="num">{siblings.value.length}</span> to this question
            </>
          ) : (
            "Answer of a model"
          )}
        </h2>
      </div>
      <div class="pane-body">
        {store.page.earlier.includes(id) && !store.complete(id) && (
          <Notice kind="info" icon="info-circle">
            <p>You rated this answer before, but it or its reference was changed since. Please rate it anew.</p>
          </Notice>
        )}
        {answer ? (
          <>
            {answer.cues.length > 0 ? (
              <Cues cues={answer.cues} player={player} durationUs={item?.clip.duration_us ?? 0} />
            ) : (
              <p class="chain-text">{answer.text || "The answer is empty."}</p>
            )}
            {answer.cues.length > 0 && (
              <details class="rate-written" key={id}>
                <summary>As it was written</summary>
                <p class="chain-text">{answer.text}</p>
              </details>
            )}
          </>
        ) : store.problem.value ? (
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
            <span class="spinner" aria-hidden="true" /> Loading the answer.
          </p>
        )}
      </div>
      {answer && (
        <p class="chain-answer">
          <span class="muted">Final answer</span> <b>{answer.final_answer || "– (the answer names none)"}</b>
        </p>
      )}
    </>
  );
}
