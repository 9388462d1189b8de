// The current segment after submitting: what was said, and after the reveal the form for a revision.
import { useEffect, useRef, useState } from "preact/hooks";
import type { CaseSegment, Draft } from "../../lib/label-draft";
import { draftOf, hasWord, sameDraft, setLabel, toggleReason, whatIsMissing } from "../../lib/label-draft";
import { segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
import { MarkedText } from "./card";
import { CommentField, LabelChoice, ReasonChips, commentWords } from "./choice";
import { LabelChips, Notes } from "./segments";
import type { Workspace } from "./workspace";

export function ReviewCard({ workspace, segment }: { workspace: Workspace; segment: CaseSegment }) {
  const { store, queue } = workspace;
  const { index } = segment;
  const first = store.draft(index).value;
  const waiting = store.save.value.pending ? (queue.latest(`r${index}`) as (Partial<Draft> & { reason?: string }) | null) : null;
  const revision = waiting ?? store.revisions.value.get(index);
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [index]);
  return (
    <>
      <MarkedText text={segment.text} spans={first.spans} />
      <div class="chips">
        <LabelChips workspace={workspace} index={index} draft={first} />
      </div>
      <Notes workspace={workspace} index={index} draft={first} />
      {revision && !open && (
        <div class="segment-note">
          <Icon name="pencil" />
          <span class="note-text">
            Revised{waiting ? " (not on the server yet)" : ""}: {revision.reason}
            {revision.comment && revision.comment !== first.comment ? ` ${revision.comment}` : ""}
          </span>
        </div>
      )}
      {store.payload.value.reveal.done &&
        (open ? (
          <ReviseForm workspace={workspace} segment={segment} start={draftOf(revision ?? first)} first={first} reason={revision?.reason ?? ""} close={() => setOpen(false)} />
        ) : (
          <div class="card-actions">
            <button type="button" class="btn btn-quiet" onClick={() => setOpen(true)}>
              <Icon name="pencil" />
              Revise {segmentName(index)}
            </button>
            <span class="muted small">Your first label is kept beside the revision.</span>
          </div>
        ))}
    </>
  );
}

interface ReviseProps {
  workspace: Workspace;
  segment: CaseSegment;
  start: Draft;
  first: Draft;
  reason: string;
  close(): void;
}

function ReviseForm({ workspace, segment, start, first, reason: reasonBefore, close }: ReviseProps) {
  const { store } = workspace;
  const name = segmentName(segment.index);
  const [draft, setDraft] = useState(start);
  const [reason, setReason] = useState(reasonBefore);
  const [problem, setProblem] = useState("");
  const limit = store.payload.value.limits.comment;
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const save = (event: Event): void => {
    event.preventDefault();
    const missing = whatIsMissing(draft, name);
    if (missing) return setProblem(missing);
    if (!hasWord(reason)) return setProblem("Say in a word why you change the label: a revision needs its reason.");
    if (sameDraft(draft, start) && reason === reasonBefore) return setProblem("Nothing is changed yet.");
    workspace.revise(segment.index, draft, reason);
    close();
  };
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <form class="revise" ref={form} onSubmit={save} aria-label={`Revise ${name}`}>
      <LabelChoice draft={draft} name={`Revised label for ${name}`} keys={false} disabled={false} onChoose={(label) => change(setLabel(draft, label))} />
      <ReasonChips draft={draft} reasons={store.payload.value.guideline.reasons} disabled={false} onToggle={(code) => change(toggleReason(draft, code))} />
      <CommentField id="revise-comment" label={commentWords(draft)} value={draft.comment} limit={limit} disabled={false} invalid={false} onText={(comment) => change({ comment })} />
      <CommentField id="revise-reason" label="Why do you change it, after seeing the audit? Required." value={reason} limit={limit} disabled={false} invalid={problem !== "" && !hasWord(reason)} onText={setReason} />
      {problem && (
        <p class="card-blocked" role="alert">
          <Icon name="exclamation-circle" />
          {problem}
        </p>
      )}
      <div class="card-actions">
        <button class="btn btn-primary">Save the revision</button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Cancel
        </button>
        <span class="grow" />
        <span class="muted small">First label: {first.cannot_judge ? "cannot judge" : (first.label ?? "none")}</span>
      </div>
    </form>
  );
}
