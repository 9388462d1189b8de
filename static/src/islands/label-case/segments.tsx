// The reasoning segments in reading order: what is done above, the current one open, later ones closed in an ordered study.
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { CaseSegment, Draft } from "../../lib/label-draft";
import { isComplete, isJudged } from "../../lib/label-draft";
import type { AuditWord, GoldWord } from "../../lib/payload";
import { GOLD_WORDS, segmentName } from "../../lib/words";
import { AuditChip, GoldChip, Icon } from "../shared/parts";
import { Card, MarkedText } from "./card";
import { ReviewCard } from "./review-card";
import type { Workspace } from "./workspace";

export function Segments({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const { segments, guideline } = store.payload.value;
  const list = useRef<HTMLOListElement>(null);
  const current = store.current.value;
  // The focus moves at once, not with the next picture: the key after "3" belongs to the comment already.
  useEffect(
    () =>
      effect(() => {
        const focus = store.focusOn.value;
        if (!focus) return;
        store.focusOn.value = null;
        const place = focus === "comment" ? "#label-comment" : focus === "submit" ? "#submit-case" : `#S${store.current.peek()}`;
        document.querySelector<HTMLElement>(place)?.focus({ preventScroll: true });
      }),
    [],
  );
  useLayoutEffect(() => list.current?.querySelector(`#S${current}`)?.scrollIntoView({ block: "nearest" }), [current]);
  return (
    <>
      <div class="pane-head segments-head">
        <h2>Reasoning segments</h2>
        <span class="muted small">model name hidden</span>
        <span class="grow" />
        <span class="muted small keys-hint">
          <kbd>J</kbd> <kbd>K</kbd> move {store.editable.value && <><kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> label</>}
        </span>
        <p class="question">
          <Icon name="question-circle" />
          {guideline.question}
        </p>
      </div>
      <ol class="segments" ref={list}>
        {segments.map((segment) => (
          <Segment key={segment.index} workspace={workspace} segment={segment} />
        ))}
      </ol>
    </>
  );
}

function Segment({ workspace, segment }: { workspace: Workspace; segment: CaseSegment }) {
  const { store } = workspace;
  const { index, context } = segment;
  const current = store.current.value === index;
  const open = store.opened(index);
  const premise = store.comparing.value && store.premises.value.has(index) && !current;
  const select = (event: MouseEvent): void => {
    // A field or button keeps its own meaning, and marking text is no choice.
    if (current || (event.target as Element).closest("a, button, input, textarea, select, label, summary")) return;
    if (window.getSelection()?.toString()) return;
    store.tryGo(index);
  };
  const names = ["segment", context && "is-context", current && !context && "is-open", premise && "is-premise", !open && "is-later"].filter(Boolean).join(" ");
  return (
    <li class={names} id={`S${index}`} tabIndex={-1} aria-current={current ? "true" : undefined} onClick={select}>
      <span class="segment-id">{segmentName(index)}</span>
      <div>
        {context ? (
          <ContextText segment={segment} />
        ) : !open ? (
          <p class="segment-text later">{index === (store.reach.value ?? 0) + 1 ? `Opens when ${segmentName(index - 1)} is labelled.` : "Later"}</p>
        ) : current ? (
          store.isDraftState.value ? (
            <Card workspace={workspace} segment={segment} />
          ) : (
            <ReviewCard workspace={workspace} segment={segment} />
          )
        ) : (
          <Said workspace={workspace} segment={segment} />
        )}
      </div>
    </li>
  );
}

function ContextText({ segment }: { segment: CaseSegment }) {
  return (
    <>
      <p class="segment-text segment-context-text">{segment.text}</p>
      <div class="chips">
        <AuditChip label={null} />
        <span class="muted small">given, not labelled</span>
      </div>
    </>
  );
}

/** A segment that is not open for work: text, what was said of it, and after the reveal what the audit says. */
function Said({ workspace, segment }: { workspace: Workspace; segment: CaseSegment }) {
  const { store } = workspace;
  const draft = store.draft(segment.index).value;
  const parked = store.save.value.parked.get(`s${segment.index}`);
  return (
    <>
      <MarkedText text={segment.text} spans={draft.spans} />
      <div class="chips">
        <LabelChips workspace={workspace} index={segment.index} draft={draft} />
        {parked && (
          <span class="chip incorrect">
            <Icon name="exclamation-triangle" />
            {parked.kind === "conflict" ? "Conflict" : "Not saved"}
          </span>
        )}
      </div>
      <Notes workspace={workspace} index={segment.index} draft={draft} />
    </>
  );
}

export function LabelChips({ workspace, index, draft }: { workspace: Workspace; index: number; draft: Draft }) {
  const { store } = workspace;
  const audit = store.comparing.value ? store.audit.value?.segments.find((one) => one.index === index)?.label : undefined;
  const expected = store.feedback.value?.segments[String(index)];
  const revision = store.revisions.value.get(index);
  return (
    <>
      {(isJudged(draft) || store.comparing.value) && <span class="chip-source">You</span>}
      <SaidChip label={draft.label} cannotJudge={draft.cannot_judge} />
      {isJudged(draft) && !isComplete(draft) && <span class="chip plain">Reason missing</span>}
      {draft.flagged && (
        <span class="chip plain">
          <Icon name="flag" />
          Flagged
        </span>
      )}
      {revision && (
        <>
          <span class="chip-source">Revised</span>
          <SaidChip label={revision.label} cannotJudge={revision.cannot_judge} />
        </>
      )}
      {audit && <AuditSays label={audit} />}
      {expected && (
        <>
          <span class="chip-source">Expected</span>
          <GoldChip label={expected.expected} />
        </>
      )}
    </>
  );
}

const AuditSays = ({ label }: { label: AuditWord }) => (
  <>
    <span class="chip-source">Audit</span>
    <AuditChip label={label} />
  </>
);

export function SaidChip({ label, cannotJudge }: { label: GoldWord | null; cannotJudge: boolean }) {
  if (label) return <GoldChip label={label} />;
  return <span class="chip plain">{cannotJudge ? "Cannot judge" : "Not labelled"}</span>;
}

export function Notes({ workspace, index, draft }: { workspace: Workspace; index: number; draft: Draft }) {
  const { store } = workspace;
  const reasons = store.payload.value.guideline.reasons;
  const words = draft.label ? draft.reasons.map((code) => reasons[draft.label as GoldWord]?.find((one) => one.code === code)?.words ?? code) : [];
  const said = [words.join(", "), draft.comment].filter(Boolean).join(": ");
  return (
    <>
      {said && (
        <div class="segment-note">
          <Icon name="chat-left-text" />
          <span class="note-text">
            <span class="visually-hidden">{draft.label ? `Why ${GOLD_WORDS[draft.label].word}: ` : "Comment: "}</span>
            {said}
          </span>
        </div>
      )}
      <Feedback workspace={workspace} index={index} draft={draft} />
    </>
  );
}

/** In a training case that was handed in: what was expected, and why. */
export function Feedback({ workspace, index, draft }: { workspace: Workspace; index: number; draft: Draft }) {
  const feedback = workspace.store.feedback.value?.segments[String(index)];
  if (!feedback) return null;
  const agrees = feedback.expected === draft.label;
  return (
    <div class={`segment-note feedback ${agrees ? "good" : "bad"}`}>
      <Icon name={agrees ? "check-circle" : "info-circle"} />
      <span class="note-text">
        <b>{agrees ? "As expected." : `Expected: ${GOLD_WORDS[feedback.expected].word}.`}</b> {feedback.why}
      </span>
    </div>
  );
}
