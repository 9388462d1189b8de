// Small parts of the question's page: answer chips, glyphs, fill patterns, meters.
import type { ComponentChildren } from "preact";
import { Icon } from "../shared/parts";
import type { Chain, Outcome } from "./model";

export const OUTCOME_WORDS: Record<Outcome, string> = {
  correct: "correct",
  incorrect: "incorrect",
  none: "no answer that could be read",
  unjudged: "no gold answer to compare with",
};
const OUTCOME_CHIP: Record<Outcome, { look: string; icon: string }> = {
  correct: { look: "correct", icon: "check-lg" },
  incorrect: { look: "incorrect", icon: "x-lg" },
  none: { look: "plain", icon: "dash-lg" },
  unjudged: { look: "plain", icon: "question-lg" },
};

export function AnswerChip({ answer, outcome }: { answer: string | null; outcome: Outcome }) {
  const { look, icon } = OUTCOME_CHIP[outcome];
  return (
    <span class={`chip rq-answer ${look}`} title={answer === null ? OUTCOME_WORDS.none : `${answer}: ${OUTCOME_WORDS[outcome]}`}>
      <Icon name={icon} />
      <span class="clip">{answer ?? "none"}</span>
      {answer !== null && <span class="visually-hidden">, {OUTCOME_WORDS[outcome]}</span>}
    </span>
  );
}

export const ChainChip = ({ chain }: { chain: Chain }) => <AnswerChip answer={chain.answer} outcome={chain.outcome} />;

/** Disc, diamond, ring or square: the shape says what the colour says. */
export function Glyph({ outcome, x = 0, y = 0, size = 3.4 }: { outcome: Outcome; x?: number; y?: number; size?: number }) {
  if (outcome === "correct") return <circle class="rq-glyph correct" cx={x} cy={y} r={size} />;
  if (outcome === "none") return <circle class="rq-glyph none" cx={x} cy={y} r={size - 0.4} />;
  if (outcome === "unjudged") return <rect class="rq-glyph unjudged" x={x - size * 0.85} y={y - size * 0.85} width={size * 1.7} height={size * 1.7} />;
  const far = size * 1.2;
  return <path class="rq-glyph incorrect" d={`M${x} ${y - far}l${far} ${far}l${-far} ${far}l${-far} ${-far}z`} />;
}

export function GlyphSample({ outcome }: { outcome: Outcome }) {
  return (
    <svg width="11" height="11" aria-hidden="true">
      <Glyph outcome={outcome} x={5.5} y={5.5} />
    </svg>
  );
}

/** Patterns of the bars; the colours are classes, so that the style sheet alone knows them. */
export function Patterns({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={`${id}-incorrect`} width="5" height="5" patternUnits="userSpaceOnUse">
        <rect class="rq-dots-ground" width="5" height="5" />
        <circle class="rq-dots" cx="2.5" cy="2.5" r="1.25" />
      </pattern>
      {(["correct", "incorrect", "none", "unjudged"] as const).map((outcome) => (
        <pattern key={outcome} id={`${id}-medoid-${outcome}`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class={`rq-stripes-ground ${outcome}`} width="6" height="6" />
          <rect class={`rq-stripes ${outcome}`} width="3" height="6" />
        </pattern>
      ))}
    </defs>
  );
}

/** A bar of 0 to 1 with one or two parts; the number stands beside it. */
export function Meter({ parts }: { parts: number[] }) {
  let at = 0;
  return (
    <svg class="rq-meter" aria-hidden="true">
      {parts.map((part, k) => {
        const width = Math.max(0, Math.min(1 - at, part));
        const x = at;
        at += width;
        return <rect key={k} class={`part-${k}`} x={`${x * 100}%`} width={`${width * 100}%`} height="100%" />;
      })}
    </svg>
  );
}

export function Toggle<V extends string>({
  label,
  options,
  value,
  change,
}: {
  label: string;
  options: readonly (readonly [V, string])[];
  value: V;
  change: (value: V) => void;
}) {
  return (
    <span class="toggle" role="group" aria-label={label}>
      {options.map(([id, words]) => (
        <button key={id} type="button" aria-pressed={id === value} onClick={() => change(id)}>
          {words}
        </button>
      ))}
    </span>
  );
}

/** A head line inside a pane. */
export function Head({ title, more, children }: { title: string; more?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="rq-head-line">
      <h3>{title}</h3>
      {more && (
        <span class="muted small" title={typeof more === "string" ? more : undefined}>
          {more}
        </span>
      )}
      <span class="grow" />
      {children}
    </div>
  );
}
