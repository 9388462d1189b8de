// Progress of one run: bar, counts, time left, cancel and resume. The server is asked at the start, so a reload loses nothing.
import { signal } from "@preact/signals";
import { render } from "preact";
import { useState } from "preact/hooks";
import { errorText, postJson } from "../../lib/api";
import type { Progress, ProgressAction, RunMessage } from "../../lib/progress";
import { START, STATE_WORDS, canCancel, canResume, hasEnded, percent, reduce, timeLeft } from "../../lib/progress";
import { plural } from "../../lib/words";
import { Icon, Notice } from "../shared/parts";
import { connect } from "./connection";

export function mount(host: HTMLElement): void {
  const { src: source = "", socket = "", doneHref = "" } = host.dataset;
  const compact = host.dataset.compact !== undefined;
  const state = signal<Progress>(START);
  const dispatch = (action: ProgressAction): void => void (state.value = reduce(state.peek(), action));
  const connection = connect({ source, socket }, dispatch, () => hasEnded(state.peek().run));
  const order = async (verb: "cancel" | "resume"): Promise<void> => {
    dispatch({ type: "problem", text: "" });
    try {
      await postJson(`${source}${verb}/`, {});
      connection.restart();
    } catch (error) {
      dispatch({ type: "problem", text: errorText(error) });
    }
  };
  host.replaceChildren();
  render(<View />, host);

  function View() {
    const progress = state.value;
    return compact ? <Compact progress={progress} /> : <Full progress={progress} order={order} doneHref={doneHref} />;
  }
}

/** What a kind of run counts (in the bar's name and in the line of facts), and what its end leads to. */
const COUNTED = {
  audit: { counts: "relation calls", unit: "call", show: "Show the audit" },
  judge: { counts: "segments", unit: "segment", show: "Show the verdicts" },
  reasoning: { counts: "items", unit: "item", show: "Show the results" },
  benchmark: { counts: "tasks", unit: "task", show: "Show the benchmark" },
};
const counted = (run: RunMessage): (typeof COUNTED)["audit"] => COUNTED[run.kind ?? "audit"];

function Bar({ run }: { run: RunMessage }) {
  const share = percent(run);
  const name = `${STATE_WORDS[run.state].word}, ${run.done} of ${run.total} ${counted(run).counts}`;
  if (share === null) return <progress class={`progress-line ${run.state}`} aria-label={name} />;
  return (
    <progress class={`progress-line ${run.state}`} max={run.total} value={run.done} aria-label={name}>
      {share} %
    </progress>
  );
}

function Compact({ progress: { run } }: { progress: Progress }) {
  if (!run) return <span class="muted tiny">Asking…</span>;
  const share = percent(run);
  const active = run.state === "running" || run.state === "paused";
  return (
    <div class="run-progress compact">
      <div class="run-progress-line num">
        <span class={`state ${run.state}`}>
          <Icon name={STATE_WORDS[run.state].icon} />
          {STATE_WORDS[run.state].word}
          {active && share !== null && `, ${share} %`}
        </span>
        {run.state === "running" && <span class="muted">{timeLeft(run.seconds_left)}</span>}
      </div>
      {active && <Bar run={run} />}
    </div>
  );
}

interface FullProps {
  progress: Progress;
  order(verb: "cancel" | "resume"): Promise<void>;
  doneHref: string;
}

function Full({ progress, order, doneHref }: FullProps) {
  const { run, link, problem } = progress;
  const [busy, setBusy] = useState(false);
  const give = (verb: "cancel" | "resume") => async (): Promise<void> => {
    setBusy(true);
    await order(verb);
    setBusy(false);
  };
  if (!run) {
    return (
      <div class="run-progress" role="status">
        {link === "lost" ? "The server does not answer. Trying again." : "Asking for the state of the run…"}
      </div>
    );
  }
  const share = percent(run);
  const words = STATE_WORDS[run.state];
  return (
    <div class="run-progress">
      <div class="run-progress-line">
        <span class={`state ${run.state}`} role="status">
          <Icon name={words.icon} />
          {words.word}
        </span>
        {share !== null && <b class="num">{share} %</b>}
        <span class="muted small num">{facts(run)}</span>
        <span class="grow" />
        {link === "polling" && run.state === "running" && <span class="muted tiny">no live link, asking every 2 s</span>}
        {link === "lost" && !hasEnded(run) && <span class="muted tiny">connection lost, trying again</span>}
        {canCancel(run) && (
          <button type="button" class="btn btn-danger-quiet btn-sm" disabled={busy} onClick={give("cancel")}>
            <Icon name="stop-fill" />
            Cancel
          </button>
        )}
        {canResume(run) && (
          <button type="button" class="btn btn-quiet btn-sm" disabled={busy} onClick={give("resume")}>
            <Icon name="play-fill" />
            Resume
          </button>
        )}
        {run.state === "done" && doneHref && (
          <a class="btn btn-primary btn-sm" href={doneHref}>
            {counted(run).show}
          </a>
        )}
        {run.state === "done" && !doneHref && (
          <button type="button" class="btn btn-primary btn-sm" onClick={() => location.reload()}>
            Reload to see the results
          </button>
        )}
      </div>
      <Bar run={run} />
      {run.message && <p class="small">{run.message}</p>}
      {problem && (
        <Notice kind="bad" icon="exclamation-circle">
          <p>{problem}</p>
        </Notice>
      )}
    </div>
  );
}

/** "61 of 96 calls, 4 cached, 1 invalid, 40.1 per second, 10 s left". */
function facts(run: RunMessage): string {
  const parts = [`${run.done.toLocaleString("en")} of ${plural(run.total, counted(run).unit)}`];
  if (run.cached) parts.push(`${run.cached.toLocaleString("en")} cached`);
  if (run.invalid) parts.push(`${run.invalid.toLocaleString("en")} invalid`);
  if (run.failed) parts.push(`${run.failed.toLocaleString("en")} failed`);
  if (run.state === "running") {
    if (run.calls_per_second) parts.push(`${run.calls_per_second.toFixed(1)} per second`);
    const left = timeLeft(run.seconds_left);
    if (left) parts.push(left);
  }
  return parts.join(", ");
}
