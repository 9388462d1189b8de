// The middle pane: the segment that is decided with everybody's labels, and the other segments folded around it.
import { useState } from "preact/hooks";
import { layered } from "../../lib/layered-spans";
import type { GoldWord } from "../../lib/payload";
import { plural, segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
import { Decision } from "./decision";
import { folds, gapWords, labelWord, ordinal, sameRow } from "./draft";
import { SaidChip } from "./queue";
import type { Store } from "./store";
import type { GivenLabel, JudgedSegment } from "./types";

export function Segments({ store }: { store: Store }) {
  const segment = store.segment.value;
  return (
    <section class="pane" aria-label="Disagreement" tabIndex={0}>
      <div class="pane-head">
        <h2>{segment ? `Segment ${segmentName(segment.index)}` : "Segments"}</h2>
        {segment && (
          <span class="chip plain">
            <Icon name="arrows-expand-vertical" />
            {gapWords(segment)}
          </span>
        )}
        <span class="muted small">model name hidden</span>
        <span class="grow" />
        <div class="muted small" aria-hidden="true">
          <kbd>J</kbd> <kbd>K</kbd> item <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> decide
        </div>
      </div>
      {store.loading.value && (
        <p class="pane-body muted">
          <span class="spinner" /> Loading the case…
        </p>
      )}
      {segment && folds(store.judged.value, segment.index).map((row) => <Row key={rowKey(row)} store={store} row={row} />)}
    </section>
  );
}

type FoldRow = ReturnType<typeof folds>[number];
const rowKey = (row: FoldRow): string => (row.kind === "agreed" ? `a${row.segments[0]?.index}` : `${row.kind}${row.segment.index}`);

function Row({ store, row }: { store: Store; row: FoldRow }) {
  if (row.kind === "current") return <Current store={store} segment={row.segment} />;
  if (row.kind === "agreed") return <Agreed store={store} segments={row.segments} />;
  if (row.kind === "other") return <Other store={store} segment={row.segment} />;
  const label = Object.values(row.segment.labels)[0]?.label ?? null;
  const people = Object.keys(row.segment.labels).length;
  return (
    <div class="adj-before">
      <span class="segment-id">{segmentName(row.segment.index)}</span>
      <p>{row.segment.text}</p>
      <SaidChip label={label} tail={people === 2 ? ", both" : people > 2 ? ", all" : ""} />
    </div>
  );
}

const range = (segments: readonly JudgedSegment[]): string => {
  const [first, last] = [segments[0]?.index ?? 0, segments.at(-1)?.index ?? 0];
  return first === last ? segmentName(first) : `${segmentName(first)}–${segmentName(last)}`;
};

const agreeing = (people: number): string => (people === 2 ? "both physicians agree" : "all physicians agree");

function Agreed({ store, segments }: { store: Store; segments: JudgedSegment[] }) {
  const [open, setOpen] = useState(false);
  const counts = new Map<GoldWord | null, number>();
  for (const segment of segments) {
    const label = Object.values(segment.labels)[0]?.label ?? null;
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const people = Object.keys(segments[0]?.labels ?? {}).length;
  return (
    <>
      <button type="button" class="adj-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "chevron-down" : "chevron-right"} />
        <b>{range(segments)}</b>
        <span>
          {plural(segments.length, "segment")}, {agreeing(people)}
        </span>
        <span class="grow" />
        {[...counts].map(([label, count]) => (
          <SaidChip key={label} label={label} tail={` ${count}`} />
        ))}
      </button>
      {open && segments.map((segment) => <Opened key={segment.index} store={store} segment={segment} />)}
    </>
  );
}

function Other({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const [open, setOpen] = useState(false);
  const rows = store.rows.value.filter((row) => !row.decided);
  const at = rows.findIndex((row) => sameRow(row, { item: store.item.value?.item ?? "", index: segment.index }));
  const decided = !segment.open && segment.decision.final;
  const what = segment.agrees ? "agreed, looked at a second time" : "also disagrees";
  return (
    <>
      <button type="button" class="adj-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "chevron-down" : "chevron-right"} />
        <b>{segmentName(segment.index)}</b>
        <span>
          {what}, {decided ? "decided" : "to be decided"}
        </span>
        <span class="grow" />
        {decided ? (
          <SaidChip label={decided.label} />
        ) : (
          <span class="chip plain">
            <Icon name="hourglass-split" />
            {at >= 0 ? `${ordinal(at + 1)} in queue, ` : ""}
            {gapWords(segment).split(":")[0]}
          </span>
        )}
      </button>
      {open && <Opened store={store} segment={segment} />}
    </>
  );
}

function Opened({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const item = store.item.value;
  const inQueue = segment.queued || segment.open || segment.decision.final !== null;
  return (
    <div class="adj-opened">
      <span class="segment-id">{segmentName(segment.index)}</span>
      <div>
        <p>{segment.text}</p>
        <div class="chips">
          {Object.entries(segment.labels).map(([letter, given]) => (
            <SaidChip key={letter} label={given.label} tail={`, ${letter}`} />
          ))}
          <span class="grow" />
          {inQueue && item ? (
            <button type="button" class="btn btn-quiet btn-sm" onClick={() => void store.go({ item: item.item, index: segment.index })}>
              Go to {segmentName(segment.index)}
            </button>
          ) : (
            store.page.may_decide &&
            item?.state !== "released" && (
              <button type="button" class="btn btn-quiet btn-sm" onClick={() => (store.dialog.value = { kind: "reopen", index: segment.index })}>
                Decide all the same…
              </button>
            )
          )}
        </div>
      </div>
    </div>
  );
}

/** The text with everybody's underlines: A solid, B dashed, further ones dotted, each in the colour of its label. */
function Marked({ segment }: { segment: JudgedSegment }) {
  const letters = Object.keys(segment.labels);
  const pieces = layered(segment.text, Object.fromEntries(letters.map((letter) => [letter, segment.labels[letter]?.spans ?? []])));
  const mark = (text: preact.ComponentChild, by: string[]): preact.ComponentChild => {
    const [letter, ...rest] = by;
    if (letter === undefined) return text;
    return <u class={`adj-by by-${letters.indexOf(letter)} ${segment.labels[letter]?.label ?? "none"}`}>{mark(text, rest)}</u>;
  };
  return (
    <p class="adj-text">
      {pieces.map((piece, k) => (
        <span key={k}>
          {mark(piece.text, piece.by)}
          {piece.ends.map((letter) => (
            <sup key={letter} class={segment.labels[letter]?.label ?? "none"}>
              {letter}
            </sup>
          ))}
        </span>
      ))}
    </p>
  );
}

function Current({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const letters = Object.keys(segment.labels);
  const marked = letters.filter((letter) => segment.labels[letter]?.spans.length);
  return (
    <article class="adj-focus" aria-current="true" aria-label={`Segment ${segmentName(segment.index)}`}>
      <div class="adj-line">
        <span class="segment-id">{segmentName(segment.index)}</span>
        <Marked segment={segment} />
      </div>
      <div class="adj-people">
        {letters.map((letter) => (
          <Person key={letter} store={store} letter={letter} given={segment.labels[letter] as GivenLabel} />
        ))}
      </div>
      <p class="adj-hint muted small">
        <Icon name="shuffle" /> Names hidden; letters are drawn at random per item, then fixed.
        {marked.length > 0 && (
          <>
            {" "}
            Underlined: the words each selected (
            {marked.map((letter, k) => (
              <span key={letter}>
                {k > 0 && ", "}
                <u class={`adj-by by-${letters.indexOf(letter)} ${segment.labels[letter]?.label ?? "none"}`}>{letter}</u>
              </span>
            ))}
            ).
          </>
        )}
      </p>
      <Decision store={store} segment={segment} />
    </article>
  );
}

function Person({ store, letter, given }: { store: Store; letter: string; given: GivenLabel }) {
  const words = new Map(Object.values(store.page.guideline?.reasons ?? {}).flatMap((list) => list.map(({ code, words }) => [code, words] as const)));
  return (
    <section class="adj-person" aria-label={`Physician ${letter}`}>
      <header>
        <h3>Physician {letter}</h3>
        <span class="grow" />
        <SaidChip label={given.label} large />
      </header>
      <div class="chips">
        {given.reasons.map((code) => (
          <span class="chip plain" key={code}>
            {words.get(code) ?? code.replaceAll("_", " ")}
          </span>
        ))}
        {given.flagged && (
          <span class="chip outline">
            <Icon name="flag" />
            Flagged for discussion
          </span>
        )}
      </div>
      {given.comment ? <blockquote>{given.comment}</blockquote> : <p class="muted small">No comment.</p>}
      {store.editable.value && (
        <button type="button" class="btn-text small" aria-label={`Return the case to physician ${letter}, who said ${labelWord(given.label)}`} onClick={() => (store.dialog.value = { kind: "return", letter })}>
          Return to {letter}…
        </button>
      )}
    </section>
  );
}
