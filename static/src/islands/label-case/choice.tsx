// Label, reasons and comment: the same controls for a first label and for a revision.
import { useRef } from "preact/hooks";
import type { Draft, Reason } from "../../lib/label-draft";
import { LABEL_ORDER, needsComment, overLimit } from "../../lib/label-draft";
import type { GoldWord } from "../../lib/payload";
import { countCodePoints } from "../../lib/text-spans";
import { GOLD_WORDS } from "../../lib/words";
import { Icon } from "../shared/parts";

/** Three label buttons, one stop of the Tab key; the arrows choose among them, as in any group of radio buttons. */
export function LabelChoice({ draft, name, keys, disabled, onChoose }: { draft: Draft; name: string; keys: boolean; disabled: boolean; onChoose(label: GoldWord, byHand: boolean): void }) {
  const group = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const buttons = [...(group.current?.querySelectorAll<HTMLElement>("[role='radio']") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const next = (at + step + buttons.length) % buttons.length;
    buttons[next]?.focus();
    const label = LABEL_ORDER[next];
    if (label) onChoose(label, false);
  };
  const stop = draft.label ?? LABEL_ORDER[0];
  return (
    <div class="choice" role="radiogroup" aria-label={name} aria-disabled={disabled || undefined} ref={group} onKeyDown={onKeyDown}>
      {LABEL_ORDER.map((label, k) => (
        <button
          key={label}
          type="button"
          role="radio"
          class={`choice-button ${label}`}
          aria-checked={draft.label === label}
          tabIndex={label === stop ? 0 : -1}
          disabled={disabled}
          onClick={() => onChoose(label, true)}
        >
          <Icon name={GOLD_WORDS[label].icon} />
          {GOLD_WORDS[label].word}
          {keys && <kbd aria-hidden="true">{k + 1}</kbd>}
        </button>
      ))}
    </div>
  );
}

export function ReasonChips({ draft, reasons, disabled, onToggle }: { draft: Draft; reasons: Record<GoldWord, Reason[]>; disabled: boolean; onToggle(code: string): void }) {
  const offered = draft.label ? (reasons[draft.label] ?? []) : [];
  if (offered.length === 0) return null;
  return (
    <div class="reasons" role="group" aria-label="Reasons">
      {offered.map(({ code, words }) => {
        const on = draft.reasons.includes(code);
        return (
          <button key={code} type="button" class={`reason ${draft.label}`} aria-pressed={on} disabled={disabled} onClick={() => onToggle(code)}>
            {on && <Icon name="check" />}
            {words}
          </button>
        );
      })}
    </div>
  );
}

export function commentWords(draft: Draft): string {
  if (draft.cannot_judge) return "Why can it not be judged? A short reason is required.";
  if (needsComment(draft)) return "Why? A short reason is required for Uncertain and Incorrect.";
  return "Comment, if you like: a word is required only for Uncertain and Incorrect.";
}

interface CommentProps {
  id: string;
  label: string;
  value: string;
  limit: number;
  disabled: boolean;
  invalid: boolean;
  onText(text: string): void;
  onKeyDown?(event: KeyboardEvent): void;
  onBlur?(): void;
}

export function CommentField({ id, label, value, limit, disabled, invalid, onText, onKeyDown, onBlur }: CommentProps) {
  const over = overLimit(value, limit);
  return (
    <>
      <label class="comment-label" for={id}>
        {label}
      </label>
      <textarea
        id={id}
        class="form-control comment"
        rows={2}
        value={value}
        readOnly={disabled}
        spellcheck
        aria-invalid={invalid || over > 0 || undefined}
        aria-describedby={over ? `${id}-limit` : undefined}
        onInput={(event) => onText(event.currentTarget.value)}
        {...(onKeyDown ? { onKeyDown } : {})}
        {...(onBlur ? { onBlur } : {})}
      />
      {over > 0 && (
        <p class="comment-limit num" id={`${id}-limit`} role="alert">
          <Icon name="exclamation-triangle" />
          {countCodePoints(value).toLocaleString("en")} characters, and {limit.toLocaleString("en")} are allowed: {over.toLocaleString("en")} too many. Your text is kept here; shorten it to save it.
        </p>
      )}
    </>
  );
}
