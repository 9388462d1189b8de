// The chain of thought beside the picture: two cues and the final answer, each with its time, its evidence and what does not fit.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { countCodePoints } from "../../lib/text-spans";
import type { Finding } from "../../lib/video/checks";
import { formatClock, parseClock, timeframeOf } from "../../lib/video/cot";
import { diff } from "../../lib/video/diff";
import type { Cue, Step, Timeframe } from "../../lib/video/document";
import { equal } from "../../lib/video/document";
import { answerChange, cueChange, targetChange } from "../../lib/video/edits";
import type { Interval } from "../../lib/video/intervals";
import { Icon } from "../shared/parts";
import { SuggestLabel } from "./drafts-dialog";
import { Evidence } from "./evidence";
import type { StepName } from "./store";
import type { Workspace } from "./workspace";

const TITLES: Record<StepName, string> = { visual: "Visual cue", audio: "Audio cue", final: "Final answer" };

export function Reasoning({ workspace }: { workspace: Workspace }) {
  return (
    <>
      <Question workspace={workspace} />
      <CueCard workspace={workspace} step="visual" />
      <CueCard workspace={workspace} step="audio" />
      <AnswerCard workspace={workspace} />
    </>
  );
}

function Question({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { question } = store.payload.value;
  const target = store.doc.value.target_label;
  return (
    <div class="question-card">
      <div class="small muted">
        Question {question.number} of {question.of}
        {question.difficulty && <span class="chip plain">{question.difficulty}</span>}
      </div>
      <p class="question-text">{question.text}</p>
      {question.options && (
        <ul class="question-options">
          {question.options.map((option) => (
            <li key={option} class={option === question.answer ? "is-answer" : ""}>
              {option}
            </li>
          ))}
        </ul>
      )}
      <div class="question-answer">
        <span class="small muted">Answer</span>
        <span>{question.answer}</span>
      </div>
      <div class="question-answer">
        <label class="small muted" for="target-label">
          Target
        </label>
        <input
          id="target-label"
          class="form-control form-control-sm"
          value={target}
          maxLength={200}
          readOnly={!store.editable.value}
          placeholder="what is boxed, as one noun"
          onChange={(event) => void store.edit("Change the target label", [targetChange(store.doc.peek(), event.currentTarget.value.trim())])}
        />
        <SuggestLabel workspace={workspace} />
      </div>
    </div>
  );
}

/** Whether a part is what the model wrote; null where it wrote nothing. */
function badge(generated: unknown, present: unknown): "generated" | "edited" | null {
  if (generated === undefined) return null;
  return equal(generated, present) ? "generated" : "edited";
}

function Card({ workspace, step, head, children }: { workspace: Workspace; step: StepName; head: ComponentChildren; children: ComponentChildren }) {
  const { store } = workspace;
  const on = store.step.value === step;
  const choose = (): void => workspace.chooseStep(step);
  return (
    <article class={`step-card${on ? " is-on" : ""}`} aria-label={TITLES[step]} data-step={step} onFocusCapture={choose} onPointerDown={choose}>
      <header>
        <h2>{TITLES[step]}</h2>
        {head}
      </header>
      {children}
    </article>
  );
}

function CueCard({ workspace, step }: { workspace: Workspace; step: Step }) {
  const { store } = workspace;
  const cue = store.doc.value.cot[step];
  const generated = store.payload.value.generated?.cot[step];
  const state = badge(generated, cue);
  const findings = workspace.findings.value.filter((one) => one.step === step);
  const text = (field: "description" | "analysis") => (value: string) => void store.edit(`Edit the ${field} of the ${step} cue`, [cueChange(store.doc.peek(), step, field, value)], `text:${step}:${field}`);
  return (
    <Card
      workspace={workspace}
      step={step}
      head={
        <>
          <Badge workspace={workspace} state={state} />
          <span class="grow" />
          <TimeframeChips workspace={workspace} step={step} timeframe={cue.timeframe} />
        </>
      }
    >
      <TextField workspace={workspace} id={`${step}-description`} label={`${TITLES[step]}: description`} hidden value={cue.description} before={generated?.description} change={text("description")} placeholder={step === "visual" ? "What is seen" : "What is heard"} />
      <TextField workspace={workspace} id={`${step}-analysis`} label="Analysis" value={cue.analysis} before={generated?.analysis} change={text("analysis")} placeholder="What follows from it" />
      <Evidence workspace={workspace} step={step} />
      {findings.map((finding) => (
        <FindingLine key={finding.code + finding.sentence} workspace={workspace} finding={finding} />
      ))}
    </Card>
  );
}

function AnswerCard({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const answer = store.doc.value.cot.final_answer;
  const generated = store.payload.value.generated?.cot.final_answer;
  const state = badge(generated, answer);
  return (
    <Card workspace={workspace} step="final" head={<><span class="grow" />{state && <span class="small muted">{state === "edited" ? "edited" : "unchanged"}</span>}</>}>
      <TextField workspace={workspace} id="final-answer" label="Final answer" hidden value={answer} before={generated} change={(value) => void store.edit("Edit the final answer", [answerChange(store.doc.peek(), value)], "text:final")} placeholder="The answer that follows" />
    </Card>
  );
}

function Badge({ workspace, state }: { workspace: Workspace; state: "generated" | "edited" | null }) {
  const { store } = workspace;
  if (!state) return null;
  if (state === "generated") return <span class="chip plain">generated</span>;
  return (
    <button type="button" class="chip accent chip-button" aria-pressed={store.compare.value} title="Show what was changed against the generated text" onClick={() => (store.compare.value = !store.compare.peek())}>
      edited
    </button>
  );
}

interface FieldProps {
  workspace: Workspace;
  id: string;
  label: string;
  hidden?: boolean;
  value: string;
  before: string | undefined;
  placeholder: string;
  change(value: string): void;
}

function TextField({ workspace, id, label, hidden = false, value, before, placeholder, change }: FieldProps) {
  const { store } = workspace;
  const field = useRef<HTMLTextAreaElement>(null);
  const limit = store.payload.value.limits.comment;
  const over = countCodePoints(value) - limit;
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    // As high as its text: nothing of a step is hidden behind a scroll bar of its own.
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight + 2}px`;
  }, [value]);
  const changed = store.compare.value && before !== undefined && before !== value;
  return (
    <div class="step-field">
      <label class={hidden ? "visually-hidden" : "field-label"} for={id}>
        {label}
      </label>
      <textarea
        id={id}
        ref={field}
        class="form-control"
        rows={1}
        value={value}
        placeholder={placeholder}
        readOnly={!store.editable.value}
        aria-invalid={over > 0}
        onInput={(event) => change(event.currentTarget.value)}
        onBlur={() => workspace.flush()}
        onKeyDown={(event) => workspace.fieldKey(event)}
      />
      {over > 0 && <p class="field-over">{over.toLocaleString("en")} characters too many; it is not saved like this.</p>}
      {changed && (
        <p class="text-diff" aria-label="Changes against the generated text">
          {diff(before, value).map((part, k) => (part.kind === "same" ? <span key={k}>{part.text}</span> : part.kind === "gone" ? <del key={k}>{part.text}</del> : <ins key={k}>{part.text}</ins>))}
        </p>
      )}
    </div>
  );
}

/** The times of a cue: two fields for each interval, bound to the span on the timelines in both directions. */
function TimeframeChips({ workspace, step, timeframe }: { workspace: Workspace; step: Step; timeframe: Timeframe }) {
  const { store, actions } = workspace;
  const may = store.editable.value;
  const { intervals, whole } = timeframe;
  const set = (next: readonly Interval[], all = false): void => void actions.setTimeframe(step, next, all);
  const toSelection = (which: number): void => {
    const chosen = store.span.peek() ?? (store.selection.peek() ? store.selectedSpan() : null);
    if (!chosen) {
      store.fit(store.stepSpan(step));
      return store.say("Choose a stretch on the timelines first; the timelines show the step meanwhile.");
    }
    const next: Interval = [Math.round(chosen[0]), Math.round(chosen[1])];
    set(which < intervals.length ? intervals.map((one, k) => (k === which ? next : one)) : [...intervals, next]);
  };
  if (whole) {
    return (
      <span class="timeframe">
        <span class="timeframe-words">whole clip</span>
        <button type="button" disabled={!may} aria-label="Give it a start and an end" title="Give it a start and an end" onClick={() => set([[0, store.index.durationUs]])}>
          <Icon name="x-lg" />
        </button>
      </span>
    );
  }
  if (!intervals.length) return <RawTimeframe workspace={workspace} step={step} timeframe={timeframe} toSelection={() => toSelection(0)} />;
  return (
    <span class="timeframes">
      {intervals.map(([start, end], k) => (
        <span class="timeframe num" key={k}>
          <TimeField workspace={workspace} drag={`step:${step}:${k}`} edge="start" label={`Start of the ${step} cue`} value={start} most={end} set={(value) => set(intervals.map((one, at) => (at === k ? [value, one[1]] : one)))} />
          <span aria-hidden="true">–</span>
          <TimeField workspace={workspace} drag={`step:${step}:${k}`} edge="end" label={`End of the ${step} cue`} value={end} least={start} set={(value) => set(intervals.map((one, at) => (at === k ? [one[0], value] : one)))} />
          <button type="button" disabled={!may} aria-label="Set to the selection" title="Set to the selection on the timelines" onClick={() => toSelection(k)}>
            <Icon name="bullseye" />
          </button>
          {may && store.span.value && k === intervals.length - 1 && (
            <button type="button" aria-label="Add the selection as another time" title="Add the selection as another time" onClick={() => toSelection(intervals.length)}>
              <Icon name="plus-lg" />
            </button>
          )}
          {intervals.length > 1 && (
            <button type="button" disabled={!may} aria-label="Remove this time" title="Remove this time" onClick={() => set(intervals.filter((_, at) => at !== k))}>
              <Icon name="x-lg" />
            </button>
          )}
        </span>
      ))}
    </span>
  );
}

/** No interval could be read: the text as it is, to be mended in place. */
function RawTimeframe({ workspace, step, timeframe, toSelection }: { workspace: Workspace; step: Step; timeframe: Timeframe; toSelection: () => void }) {
  const { store } = workspace;
  return (
    <span class="timeframe">
      <input
        class="is-raw"
        aria-label={`Timeframe of the ${step} cue`}
        value={timeframe.raw}
        placeholder="00:12 - 00:15"
        readOnly={!store.editable.value}
        onChange={(event) => void store.edit(`Change timeframe of the ${step} cue`, [cueChange(store.doc.peek(), step, "timeframe" satisfies keyof Cue, timeframeOf(event.currentTarget.value))])}
        onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
      />
      <button type="button" disabled={!store.editable.value} aria-label="Set to the selection" title="Set to the selection on the timelines" onClick={toSelection}>
        <Icon name="bullseye" />
      </button>
    </span>
  );
}

interface TimeFieldProps {
  workspace: Workspace;
  /** Key of the span on the timelines that shows the same time. */
  drag: string;
  edge: "start" | "end";
  label: string;
  value: number;
  least?: number;
  most?: number;
  set(value: number): void;
}

function TimeField({ workspace, drag, edge, label, value, least = 0, most, set }: TimeFieldProps) {
  const { store, player } = workspace;
  const bad = useSignal(false);
  const now = workspace.dragging.value;
  const shown = now?.key === drag ? now[edge] : value;
  const limit = most ?? (store.limits.duration_us as number);
  const commit = (element: HTMLInputElement): void => {
    const time = parseClock(element.value);
    bad.value = time === null || time < least || time > limit;
    if (time === null) store.say("Write a time like 01:20.12 or 80.12.", { bad: true });
    else if (bad.peek()) store.say(`${formatClock(time, 2)} does not fit: it must lie between ${formatClock(least, 2)} and ${formatClock(limit, 2)}.`, { bad: true });
    else if (formatClock(time) !== formatClock(value)) set(time);
    if (bad.peek()) element.value = formatClock(value, 2);
    bad.value = false;
  };
  return (
    <input
      aria-label={label}
      value={formatClock(shown, 2)}
      readOnly={!store.editable.value}
      aria-invalid={bad.value}
      title="Arrow keys move it by one frame; Enter shows it"
      onChange={(event) => commit(event.currentTarget)}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          const element = event.currentTarget;
          commit(element);
          const there = parseClock(element.value) ?? value;
          void player.seek(store.index.atUs(edge === "end" ? Math.max(0, there - 1) : there));
        }
        const way = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
        if (!way || !store.editable.peek()) return;
        event.preventDefault();
        const frame = store.index.atUs(value);
        const next = store.index.clipUs(Math.min(store.index.n, Math.max(0, frame + way)));
        if (next >= least && next <= limit) set(next);
      }}
    />
  );
}

function FindingLine({ workspace, finding }: { workspace: Workspace; finding: Finding }) {
  const { store } = workspace;
  const { remedy } = finding;
  return (
    <p class="finding" data-finding={finding.code}>
      <Icon name="exclamation-triangle" />
      <span>
        {finding.sentence}{" "}
        {remedy && store.editable.value && (
          <button type="button" class="btn-text" onClick={() => void store.edit(remedy.words, remedy.changes)}>
            {remedy.words}
          </button>
        )}
      </span>
    </p>
  );
}
