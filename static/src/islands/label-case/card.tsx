// The current segment as a card: its text with underlined words, the label and what belongs to it.
import { useEffect, useRef } from "preact/hooks";
import type { CaseSegment, Draft } from "../../lib/label-draft";
import { hasWord, needsComment } from "../../lib/label-draft";
import type { Span } from "../../lib/text-spans";
import { pieces, selectedSpan } from "../../lib/text-spans";
import { segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
import { Feedback } from "./segments";
import { CommentField, LabelChoice, ReasonChips, commentWords } from "./choice";
import { commentKey } from "./keys";
import type { Workspace } from "./workspace";

export function MarkedText({ text, spans }: { text: string; spans: readonly Span[] }) {
  return (
    <p class="segment-text">
      {pieces(text, spans).map((piece, k) =>
        piece.span === null ? (
          piece.text
        ) : (
          <u class="meant" key={k}>
            {piece.text}
          </u>
        ),
      )}
    </p>
  );
}

/** Text in which words can be selected; what is selected is known to the store until something else is. */
function SelectableText({ segment, spans, onSelect }: { segment: CaseSegment; spans: readonly Span[]; onSelect(span: Span | null): void }) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const look = (): void => {
      const text = holder.current?.querySelector<HTMLElement>(".segment-text");
      if (text) onSelect(selectedSpan(text, window.getSelection()));
    };
    document.addEventListener("selectionchange", look);
    return () => document.removeEventListener("selectionchange", look);
  }, [segment.index]);
  return (
    <div ref={holder}>
      <MarkedText text={segment.text} spans={spans} />
    </div>
  );
}

function Underlined({ text, spans, onRemove }: { text: string; spans: readonly Span[]; onRemove(place: number): void }) {
  if (spans.length === 0) return null;
  const points = [...text];
  return (
    <ul class="meant-list" aria-label="Underlined words">
      {spans.map(([start, end], k) => {
        const words = points.slice(start, end).join("");
        return (
          <li key={`${start}-${end}`}>
            <span class="clip">{words}</span>
            <button type="button" aria-label={`Remove the underline of: ${words}`} onClick={() => onRemove(k)}>
              <Icon name="x-lg" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

export function Card({ workspace, segment }: { workspace: Workspace; segment: CaseSegment }) {
  const { store } = workspace;
  const draft = store.draft(segment.index).value;
  const payload = store.payload.value;
  const editable = store.editable.value;
  const name = segmentName(segment.index);
  const blocked = store.blocked.value?.segment === segment.index ? store.blocked.value.sentence : "";
  const parked = store.save.value.parked.get(`s${segment.index}`);
  const remark = payload.returned?.segments[String(segment.index)];
  return (
    <>
      <SelectableText segment={segment} spans={draft.spans} onSelect={(span) => (store.selection.value = editable ? span : null)} />
      {editable && <Underlined text={segment.text} spans={draft.spans} onRemove={store.removeUnderline} />}
      {remark && (
        <div class="segment-note returned-note">
          <Icon name="arrow-counterclockwise" />
          <span>
            <b>Returned:</b> {remark}
          </span>
        </div>
      )}
      <Feedback workspace={workspace} index={segment.index} draft={draft} />
      <LabelChoice draft={draft} name={`Your label for ${name}`} keys disabled={!editable} onChoose={(label, byHand) => store.choose(label, byHand)} />
      <ReasonChips draft={draft} reasons={payload.guideline.reasons} disabled={!editable} onToggle={store.toggleReason} />
      <CommentField
        id="label-comment"
        label={commentWords(draft)}
        value={draft.comment}
        limit={payload.limits.comment}
        disabled={!store.writable.value}
        invalid={blocked !== "" && needsComment(draft) && !hasWord(draft.comment)}
        onText={store.comment}
        onKeyDown={(event) => commentKey(event, workspace)}
        onBlur={workspace.leftField}
      />
      {blocked && (
        <p class="card-blocked" role="alert">
          <Icon name="exclamation-circle" />
          {blocked}
        </p>
      )}
      {parked?.kind === "refused" && (
        <p class="card-blocked" role="alert">
          <Icon name="exclamation-circle" />
          <span>
            Not saved: {parked.message} <span class="muted">Your text is kept here.</span>
          </span>
        </p>
      )}
      {parked?.kind === "conflict" && (
        <p class="card-blocked">
          <Icon name="exclamation-triangle" />
          <span>Changed in another place too. </span>
          <button type="button" class="btn btn-quiet btn-sm" onClick={() => (store.dialog.value = "conflict")}>
            Compare and choose
          </button>
        </p>
      )}
      <Actions workspace={workspace} draft={draft} name={name} />
    </>
  );
}

function Actions({ workspace, draft, name }: { workspace: Workspace; draft: Draft; name: string }) {
  const { store } = workspace;
  const editable = store.editable.value;
  const last = store.judged.value.at(-1)?.index === store.current.value;
  return (
    <div class="card-actions">
      <button type="button" class="btn btn-primary" onClick={store.saveAndNext} disabled={!editable}>
        {last ? "Save" : "Save and next"}
        <kbd class="on-primary when-away" aria-hidden="true">
          ↵
        </kbd>
        <kbd class="on-primary when-typing" aria-hidden="true">
          Ctrl ↵
        </kbd>
      </button>
      {!store.payload.value.study.in_order && (
        <button type="button" class="btn btn-quiet" onClick={store.skip}>
          Skip
        </button>
      )}
      <button type="button" class="btn btn-quiet" aria-pressed={draft.cannot_judge} disabled={!editable} onClick={store.toggleCannotJudge} title="A state beside the three labels: you cannot say">
        Cannot judge
        <kbd aria-hidden="true">U</kbd>
      </button>
      <span class="grow" />
      <button
        type="button"
        class="btn btn-quiet btn-tool"
        aria-label={`Underline the selected words of ${name}`}
        title="Underline the selected words (H)"
        disabled={!editable}
        onMouseDown={(event) => event.preventDefault()}
        onClick={store.underline}
        data-ready={store.selection.value !== null || undefined}
      >
        <Icon name="type-underline" />
        <kbd aria-hidden="true">H</kbd>
      </button>
      <button type="button" class="btn btn-quiet btn-tool" aria-pressed={draft.flagged} aria-label={`Flag ${name} for discussion`} title="Flag for discussion (F)" disabled={!editable} onClick={() => store.toggleFlag()}>
        <Icon name="flag" />
        <kbd aria-hidden="true">F</kbd>
      </button>
    </div>
  );
}
