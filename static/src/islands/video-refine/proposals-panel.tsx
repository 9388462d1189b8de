// Asking a tracker or a model for boxes, and what came back: beside the picture, over the question.
import { useSignal } from "@preact/signals";
import type { FlagSpan, Run } from "../../lib/video/proposals";
import { FLAG_WORDS, flagSpans, hasBoxes, isActive } from "../../lib/video/proposals";
import { plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import { nameOf } from "./actions";
import { runWords, stateWords } from "./proposals";
import type { Workspace } from "./workspace";

const DIRECTIONS = [
  ["forward", "Forward"],
  ["backward", "Backward"],
  ["both", "Both ways"],
  ["gap", "Between the keyframes"],
] as const;

/** Runs that are listed at first. */
const LISTED = 6;

/** Places that somebody should look at; more would be a wall. */
const MOST_FLAGS = 6;

export function ProposalsPanel({ workspace }: { workspace: Workspace }) {
  const { proposals } = workspace;
  const all = useSignal(false);
  if (!proposals.open.value) return null;
  const runs = proposals.runs.value;
  return (
    <section class="proposals" aria-labelledby="proposals-title" data-proposals>
      <header>
        <h2 id="proposals-title" tabIndex={-1}>
          Proposals
        </h2>
        <span class="small muted">A proposal counts only once you accept it.</span>
        <span class="grow" />
        <button type="button" class="row-toggle" aria-label="Close the proposals" onClick={proposals.toggle}>
          <Icon name="x-lg" />
        </button>
      </header>
      <Ask workspace={workspace} />
      {proposals.problem.value && (
        <p class="finding" role="alert">
          <Icon name="exclamation-circle" />
          <span>
            {proposals.problem.value}{" "}
            <button type="button" class="btn-text" onClick={() => (proposals.problem.value = "")}>
              Close
            </button>
          </span>
        </p>
      )}
      {runs.length > 0 && (
        <ul class="run-list" aria-label="Runs, newest first">
          {(all.value ? runs : runs.slice(0, LISTED)).map((run) => (
            <RunCard key={run.id} workspace={workspace} run={run} />
          ))}
          {!all.value && runs.length > LISTED && (
            <li>
              <button type="button" class="btn-text small" onClick={() => (all.value = true)}>
                Show {plural(runs.length - LISTED, "older run")}
              </button>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

function Ask({ workspace }: { workspace: Workspace }) {
  const { store, proposals } = workspace;
  if (!proposals.available.value) return <p class="small muted">This server makes no proposals for this question. Boxes can be drawn and copied by hand.</p>;
  const by = proposals.proposer.value;
  const now = proposals.wanted.value;
  const from = proposals.start.value;
  const gap = proposals.gap.value;
  const way = proposals.direction.value;
  const byText = !store.selectedTrack.value;
  return (
    <form
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        void proposals.propose();
      }}
    >
      <div class="ask-row">
        <label class="ask-by">
          <span class="field-label">By</span>
          <select class="form-select form-select-sm" value={by?.name ?? ""} onChange={(event) => (proposals.chosen.value = event.currentTarget.value)}>
            {(proposals.proposers.value ?? []).map((one) => (
              <option key={one.name} value={one.name}>
                {one.title}
                {one.available ? "" : ": not available"}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="field-label">Way</span>
          <select class="form-select form-select-sm" value={byText && way === "gap" ? "forward" : way} onChange={(event) => (proposals.direction.value = event.currentTarget.value as typeof way)}>
            {DIRECTIONS.filter(([name]) => name !== "gap" || !byText).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {(way !== "gap" || byText) && (
          <label>
            <span class="field-label">Frames</span>
            <input class="form-control form-control-sm num" type="number" min={1} max={store.index.n} value={proposals.count.value} onInput={(event) => (proposals.count.value = Math.max(1, Math.round(Number(event.currentTarget.value) || 1)))} />
          </label>
        )}
      </div>
      {byText && by?.text && (
        <label class="ask-noun">
          <span class="field-label">Look for</span>
          <input class="form-control form-control-sm" value={proposals.text.value ?? store.doc.value.target_label} maxLength={200} placeholder="one noun" onInput={(event) => (proposals.text.value = event.currentTarget.value)} />
        </label>
      )}
      <div class="ask-row">
        <p class="small muted grow" role="status">
          {"why" in now ? now.why : from ? `${nameOf(from.track)}: frames ${now.prompt.start} to ${way === "gap" ? now.prompt.end : now.prompt.end - 1}, from ${way === "gap" && gap ? "its boxes on both" : `its box on frame ${from.frame}`}.` : `“${now.prompt.text}” on frames ${now.prompt.start} to ${now.prompt.end - 1}.`}
        </p>
        <button class="btn btn-primary btn-sm" disabled={"why" in now || proposals.asking.value || !store.editable.value}>
          <Icon name="magic" />
          {proposals.asking.value ? "Asking" : "Propose"}
        </button>
      </div>
    </form>
  );
}

function RunCard({ workspace, run }: { workspace: Workspace; run: Run }) {
  const { store, proposals } = workspace;
  const decision = proposals.decisionOf(run);
  const active = isActive(run);
  const title = proposals.proposers.value?.find((one) => one.name === run.proposer)?.title ?? run.proposer;
  const range = proposals.range.value;
  const may = store.editable.value;
  const spans = flagSpans(run.flags);
  const open = !active && !decision;
  return (
    <li class={`run-card${decision ? " is-decided" : ""}`} data-run={run.id}>
      <div class="run-head">
        <span class="title clip">{runWords(run)}</span>
        <span class="grow" />
        <span class={`chip ${run.state === "failed" ? "incorrect" : decision === "accepted" ? "correct" : "plain"}`}>{decision ?? stateWords(run)}</span>
      </div>
      <p class="small muted">
        {title}
        {run.message ? ` · ${run.message}` : ""}
      </p>
      {active && <progress class="progress-line" max={Math.max(1, run.total)} {...(run.total ? { value: run.done } : {})} aria-label={`Progress of ${runWords(run)}`} />}
      {open && spans.length > 0 && <Flags workspace={workspace} spans={spans} />}
      <div class="run-actions">
        {active && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => void proposals.cancel(run)}>
            Cancel
          </button>
        )}
        {open && !run.tracks && run.state !== "failed" && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => void proposals.load(run)}>
            Show
          </button>
        )}
        {open && hasBoxes(run) && (
          <>
            <button type="button" class="btn btn-primary btn-sm" disabled={!may} onClick={() => proposals.accept(run)}>
              Accept
            </button>
            <button type="button" class="btn btn-quiet btn-sm" disabled={!may || !range} title={range ? `Frames ${range[0]} to ${range[1] - 1}` : "Choose a stretch on the timelines first"} onClick={() => range && proposals.accept(run, range)}>
              Accept range{range ? ` ${range[0]}–${range[1] - 1}` : ""}
            </button>
          </>
        )}
        {open && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => proposals.reject(run)}>
            Reject
          </button>
        )}
        {decision && (
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => proposals.reopen(run)}>
            Look again
          </button>
        )}
        {!active && (
          <button type="button" class="btn btn-quiet btn-sm" disabled={!may || proposals.asking.value} onClick={() => void proposals.again(run)}>
            Run again
          </button>
        )}
      </div>
    </li>
  );
}

function Flags({ workspace, spans }: { workspace: Workspace; spans: FlagSpan[] }) {
  return (
    <ul class="flag-list" aria-label="Look at these frames">
      {spans.slice(0, MOST_FLAGS).map(({ flag, start, end }) => (
        <li key={`${flag}:${start}`}>
          <Icon name="exclamation-triangle" />
          <button type="button" class="btn-text num" onClick={() => workspace.store.goTo(start)}>
            {end - start === 1 ? `Frame ${start}` : `Frames ${start} to ${end - 1}`}
          </button>
          : {FLAG_WORDS[flag]}
        </li>
      ))}
      {spans.length > MOST_FLAGS && <li class="muted">and {plural(spans.length - MOST_FLAGS, "more place")}</li>}
    </ul>
  );
}
