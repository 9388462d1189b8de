// Head and queue of the page: what is decided, what is open, largest gap of labels first.
import { useEffect, useRef, useState } from "preact/hooks";
import { GOLD_WORDS, plural, segmentName } from "../../lib/words";
import { Icon } from "../shared/parts";
import { against, labelWord, sameRow, windowOf } from "./draft";
import type { Store } from "./store";
import type { AgreementPayload, QueueRow } from "./types";

export function SaidChip({ label, large = false, tail = "" }: { label: QueueRow["labels"][number]; large?: boolean; tail?: string }) {
  return (
    <span class={`chip ${label ?? "plain"}${large ? " chip-lg" : ""}`}>
      <Icon name={label ? GOLD_WORDS[label].icon : "dash"} />
      {labelWord(label)}
      {tail}
    </span>
  );
}

/** A label as a small square, with its word for those who do not see it. */
function Square({ label }: { label: QueueRow["labels"][number] }) {
  return (
    <span class={`chip ${label ?? "plain"}`} title={labelWord(label)}>
      <Icon name={label ? GOLD_WORDS[label].icon : "dash"} />
      <span class="visually-hidden">{labelWord(label)}</span>
    </span>
  );
}

export function kappaWords(found: AgreementPayload | null): { text: string; title: string } | null {
  if (!found?.measure || !found.agreement) return null;
  const { value, low, high, cases, undefined_because } = found.agreement;
  const letter = found.measure === "cohen" ? "κ" : "α";
  if (value === null) return { text: `${letter} undefined`, title: `${found.title}: undefined, because ${undefined_because}` };
  const interval = low !== null && high !== null ? `, 95 % interval ${low.toFixed(2)} to ${high.toFixed(2)} over ${plural(cases, "case")}` : "";
  return { text: `${letter} ${value.toFixed(2)} before decisions`, title: `${found.title} of the first blind labels${interval}` };
}

export function Head({ store }: { store: Store }) {
  const { segments, agreed, to_decide, decided } = store.queue.value;
  const kappa = kappaWords(store.agreement.value);
  const share = segments ? ` (${Math.round((100 * agreed) / segments)} %)` : "";
  return (
    <div class="sub" role="region" aria-label="Adjudication progress">
      <h1 title={store.item.value?.case.title}>{store.item.value?.case.title ?? "Adjudication"}</h1>
      {store.item.value && <span class="muted nowrap">{store.item.value.name}</span>}
      <span class="grow" />
      <span class="muted num nowrap">
        {store.page.study.name}: {plural(segments, "segment")}, {agreed.toLocaleString("en")} agreed{share}, {to_decide.toLocaleString("en")} to decide
      </span>
      {kappa && (
        <span class="chip plain num" title={kappa.title}>
          {kappa.text}
        </span>
      )}
      <span class="muted num nowrap">
        {decided.toLocaleString("en")} of {to_decide.toLocaleString("en")} decided
      </span>
      <a class="btn btn-quiet btn-sm" href={store.page.urls.back}>
        Finish later
      </a>
    </div>
  );
}

/** Width of one place in the strip, and of what stands before and after them, in pixels. */
const PLACE = 128;
const AROUND = 250;

export function Queue({ store }: { store: Store }) {
  const [all, setAll] = useState(false);
  const [room, setRoom] = useState(9);
  const strip = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = strip.current;
    if (!element) return;
    const measure = (): void => setRoom(Math.max(2, Math.floor((element.clientWidth - AROUND) / PLACE)));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const rows = store.rows.value;
  if (rows.length === 0) return null;
  const shown = all ? rows : windowOf(rows, store.current.value, room);
  const hidden = rows.length - shown.length;
  return (
    <nav class="adj-queue" aria-label="Queue of disagreements" ref={strip}>
      <div class="adj-queue-name">
        <b>Queue</b>
        <br />
        <span class="muted">largest label gap first</span>
      </div>
      <ol class={all ? "all" : ""}>
        {shown.map((row) => (
          <li key={`${row.item}:${row.index}`}>
            <QueueItem store={store} row={row} />
          </li>
        ))}
        {(hidden > 0 || all) && (
          <li class="more">
            <button type="button" class="btn-text" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? "Show fewer" : `${hidden} more`}
            </button>
          </li>
        )}
      </ol>
    </nav>
  );
}

function QueueItem({ store, row }: { store: Store; row: QueueRow }) {
  const isCurrent = sameRow(row, store.current.value);
  const name = `${row.case}, ${segmentName(row.index)}`;
  return (
    <button
      type="button"
      class={`adj-place num${isCurrent ? " current" : ""}${row.decided ? " done" : ""}`}
      aria-current={isCurrent ? "true" : undefined}
      title={`${name}: ${against(row)}`}
      onClick={() => void store.go(row)}
    >
      <span class="adj-place-top">
        <b>{name}</b>
        {row.decided && (
          <>
            <Icon name="check-circle" />
            <span class="visually-hidden">decided</span>
          </>
        )}
      </span>
      <span class="adj-place-labels">
        {row.labels.map((label, k) => (
          <>
            {k > 0 && <span>/</span>}
            <Square label={label} />
          </>
        ))}
        {row.decided ? (
          <>
            <span aria-hidden="true">→</span>
            <Square label={row.decided} />
          </>
        ) : (
          <span>{row.sampled ? "agreed" : `gap ${row.gap}`}</span>
        )}
      </span>
    </button>
  );
}
