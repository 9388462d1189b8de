// The differences between the sides, one under the other: what each has there, whom the decision follows, and taking a side.
import type { ComponentChildren } from "preact";
import type { Difference, Standing } from "../../lib/video/comparison";
import { isPart, lettersOf } from "../../lib/video/comparison";
import { formatClock, formatTimeframe } from "../../lib/video/cot";
import { diff } from "../../lib/video/diff";
import type { AudioEvent, Timeframe } from "../../lib/video/document";
import { length } from "../../lib/video/intervals";
import type { Track } from "../../lib/video/tracks";
import { firstFrame, keyframeFrames, lastFrame } from "../../lib/video/tracks";
import { plural } from "../../lib/words";
import { Icon } from "../shared/parts";
import { nameOf } from "./actions";
import type { Adjudication } from "./adjudication";
import type { Workspace } from "./workspace";

interface Props {
  workspace: Workspace;
  adjudication: Adjudication;
}

const percent = (value: number): string => `${Math.round(value * 100)} %`;

export function Differences({ workspace, adjudication }: Props) {
  const { part, matched } = adjudication;
  const { differences, letters, measures, history, sampled } = part.value;
  const said = [
    measures.boxes !== null && `boxes ${percent(measures.boxes)}`,
    measures.events !== null && `sounds ${percent(measures.events)}`,
    measures.timeframes !== null && `times ${percent(measures.timeframes)}`,
    measures.texts !== null && `texts ${percent(measures.texts)}`,
    measures.boxes_unmatched > 0 && `${plural(measures.boxes_unmatched, "object")} of one only`,
    measures.events_unmatched > 0 && `${plural(measures.events_unmatched, "sound")} of one only`,
  ].filter(Boolean);
  return (
    <section class="differences" aria-label="Differences">
      <header>
        <h2>Differences</h2>
        <span class="muted num nowrap" data-decided>
          {matched.value} of {differences.length} decided
        </span>
        <span class="grow" />
        <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Previous difference" title={`Previous difference${workspace.keyHint("differenceBack")}`} onClick={() => adjudication.move(-1)}>
          <Icon name="chevron-up" />
        </button>
        <button type="button" class="btn btn-quiet btn-sm btn-icon" aria-label="Next difference" title={`Next difference${workspace.keyHint("differenceForward")}`} onClick={() => adjudication.move(1)}>
          <Icon name="chevron-down" />
        </button>
      </header>
      {said.length > 0 && <p class="small muted">Agreement of {letters.join(", ")}: {said.join(" · ")}</p>}
      {differences.length === 0 && <p class="muted">The answers agree everywhere{sampled ? "; the question was drawn for a second look" : ""}.</p>}
      <ol class="difference-list">
        {differences.map((difference) => (
          <Row key={difference.id} workspace={workspace} adjudication={adjudication} difference={difference} />
        ))}
      </ol>
      {(workspace.store.isDraftState.value || adjudication.note.value.trim()) && <NoteField workspace={workspace} adjudication={adjudication} id="decision-note" />}
      {history.length > 0 && (
        <details class="small">
          <summary>What happened before</summary>
          <ul class="finding-list">
            {history.map(({ what }, k) => (
              <li key={k}>{what}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

export function NoteField({ workspace, adjudication, id }: Props & { id: string }) {
  const { store } = workspace;
  return (
    <div class="decision-note">
      <label class="field-label" for={id}>
        Note on the decision
      </label>
      <textarea id={id} class="form-control" rows={2} maxLength={store.payload.value.limits.note} value={adjudication.note.value} readOnly={!store.editable.value} placeholder="Why, where you follow nobody" onInput={(event) => adjudication.write(event.currentTarget.value)} />
    </div>
  );
}

function Row({ workspace, adjudication, difference }: Props & { difference: Difference }) {
  const { store } = workspace;
  const on = adjudication.chosen.value?.id === difference.id;
  const now = adjudication.standings.value.get(difference.id) ?? { letters: [], kind: "open" };
  const may = store.editable.value;
  const letters = lettersOf(difference);
  const { agreement } = difference;
  const droppable = isPart(difference) && letters.every((letter) => difference.sides[letter] !== null);
  return (
    <li class={`difference${on ? " is-on" : ""}`} data-difference={difference.id}>
      <div class="difference-head">
        <button type="button" class="difference-title" aria-pressed={on} onClick={() => (on ? adjudication.leave() : adjudication.choose(difference.id))}>
          {difference.title}
        </button>
        <span class="agreement" title="Agreement of the sides">
          <span class="agreement-bar" aria-hidden="true">
            <span style={{ width: `${(agreement ?? 0) * 100}%` }} />
          </span>
          <span class="num">{agreement === null ? "–" : percent(agreement)}</span>
        </span>
        <StandingChip now={now} />
      </div>
      <div class="difference-sides">
        {letters.map((letter) => (
          <div class="difference-side" key={letter} role="group" aria-label={`${difference.title}: ${letter}`}>
            <p>
              <Tag place={adjudication.part.value.letters.indexOf(letter)} letter={letter} /> <Value adjudication={adjudication} difference={difference} letter={letter} />
            </p>
            <button type="button" class="btn btn-quiet btn-sm" disabled={!may} aria-pressed={now.letters.includes(letter)} onClick={() => adjudication.take(difference, letter)}>
              Take {letter}
            </button>
          </div>
        ))}
      </div>
      {droppable && may && now.kind !== "open" && (
        <button type="button" class="btn-text small" onClick={() => adjudication.drop(difference)}>
          Leave out
        </button>
      )}
    </li>
  );
}

export const Tag = ({ place, letter }: { place: number; letter: string }) => <b class={`side-tag side-${place % 4}`}>{letter}</b>;

function StandingChip({ now }: { now: Standing }) {
  if (now.kind === "side") return <span class="chip correct" data-standing={now.letters.join("")}>as {now.letters.join(", ")}</span>;
  if (now.kind === "own") return <span class="chip accent" data-standing="own">own</span>;
  return <span class="chip plain" data-standing="open">open</span>;
}

function Value({ adjudication, difference, letter }: { adjudication: Adjudication; difference: Difference; letter: string }) {
  const value = difference.sides[letter];
  const { kind } = difference;
  const there = adjudication.comparison.value.partOf(difference, letter);
  if (there && kind === "track") {
    const track = there as Track;
    return (
      <>
        <Icon name="bounding-box" /> <b>{nameOf(track)}</b>{" "}
        <span class="muted num">
          frames {firstFrame(track)} to {lastFrame(track)}, {plural(length(track.visible), "frame")}, {plural(keyframeFrames(track).length, "keyframe")}
        </span>
      </>
    );
  }
  if (there && kind === "event") {
    const event = there as AudioEvent;
    return (
      <>
        <Icon name="soundwave" /> <b>{event.label || "sound"}</b> <Times>{`${formatClock(event.start_us, 2)} – ${formatClock(event.end_us, 2)}`}</Times>
      </>
    );
  }
  if (kind === "timeframe" && value) return <TimeframeValue timeframe={value as Timeframe} />;
  if (typeof value === "string" && value.trim() && (kind === "text" || kind === "target_label")) return <TextValue difference={difference} letter={letter} text={value} />;
  return <span class="muted">nothing</span>;
}

const Times = ({ children }: { children: ComponentChildren }) => <span class="chip plain num">{children}</span>;

function TimeframeValue({ timeframe }: { timeframe: Timeframe }) {
  if (timeframe.whole) return <Times>whole clip</Times>;
  if (!timeframe.intervals.length) return timeframe.raw.trim() ? <span>{formatTimeframe(timeframe)}</span> : <span class="muted">nothing</span>;
  return (
    <>
      {timeframe.intervals.map(([start, end], k) => (
        <Times key={k}>{`${formatClock(start, 2)} – ${formatClock(end, 2)}`}</Times>
      ))}
    </>
  );
}

/** A side's text, with the words marked that the side it is compared with does not have. */
function TextValue({ difference, letter, text }: { difference: Difference; letter: string; text: string }) {
  const [first, second] = lettersOf(difference);
  const other = letter === first ? second : first;
  const against = other === undefined ? text : String(difference.sides[other] ?? "");
  return (
    <span class="side-text">
      {diff(against, text)
        .filter(({ kind }) => kind !== "gone")
        .map((part, k) => (part.kind === "same" ? <span key={k}>{part.text}</span> : <mark key={k}>{part.text}</mark>))}
    </span>
  );
}
