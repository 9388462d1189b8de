// The rationale step by step: its label, what it rests on, and unfolded the support tree with the evidence as leaves.
import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { AuditWord } from "../../lib/payload";
import { AUDIT_WORDS, plural, segmentName } from "../../lib/words";
import { formatClock } from "../../lib/video/cot";
import { AuditChip, Icon } from "../shared/parts";
import { useWidth } from "../shared/use-width";
import { Tree } from "../trace-audit/support-tree";
import { playOrShow } from "../grounded-video/rows";
import type { StepFinding } from "./findings";
import { usesOf } from "./findings";
import type { Rationale } from "./store";
import { LEAF_ICONS, LEAF_WORDS, fieldWords, leafWords } from "./store";
import type { Leaf } from "./types";

export function Steps({ rationale }: { rationale: Rationale }) {
  const { findings } = rationale;
  return (
    <ol class="rationale-steps" aria-label={`Steps of the rationale of ${rationale.payload.name}`}>
      {findings.steps.map((found, k) => {
        const before = findings.steps[k - 1];
        return (
          <Fragment key={found.step.index}>
            {before?.step.field !== found.step.field && <FieldHead rationale={rationale} found={found} />}
            <StepItem rationale={rationale} found={found} />
          </Fragment>
        );
      })}
    </ol>
  );
}

/** Where the sentences are from and the times of their cue, each a button that leads there: in a lane of hours they are slivers. */
function FieldHead({ rationale: { film }, found: { step } }: { rationale: Rationale; found: StepFinding }) {
  return (
    <li class="rationale-field">
      <h3>{fieldWords(step)}</h3>
      {film === null && step.times_us.length > 0 && <span class="muted small num">{step.times_us.map(timeWords).join(", ")}</span>}
      {film !== null &&
        step.times_us.map((span) => (
          <button key={span.join()} type="button" class="rationale-time num" title={span[1] > span[0] ? "Play this time once" : "Show this moment"} onClick={() => void playOrShow(film, span)}>
            <Icon name="play-fill" />
            {timeWords(span)}
          </button>
        ))}
      {step.times_us.length === 0 && step.field !== "final_answer" && <span class="muted small">cites no time</span>}
    </li>
  );
}

const timeWords = ([start, end]: readonly [number, number]): string => (end > start ? `${formatClock(start, 1)} to ${formatClock(end, 1)}` : formatClock(start, 1));

function StepItem({ rationale, found }: { rationale: Rationale; found: StepFinding }) {
  const { step, label } = found;
  const chosen = rationale.selected.value === step.index;
  const open = chosen && rationale.unfolded.value;
  const item = useRef<HTMLLIElement>(null);
  const isFirst = useRef(!rationale.byAddress);
  useEffect(() => {
    // The page opens at its top, where the summary is.
    const opens = isFirst.current;
    isFirst.current = false;
    if (chosen && !opens && item.current) bringIn(item.current);
  }, [chosen, open]);
  // Enter and Space are for the step that is chosen, so the focus goes with it.
  useLayoutEffect(() => {
    if (chosen && document.activeElement?.classList.contains("rationale-go")) item.current?.querySelector<HTMLElement>(".rationale-go")?.focus({ preventScroll: true });
  }, [chosen]);
  return (
    <li class={`rationale-step${chosen ? " is-on" : ""}`} ref={item} data-step={step.index} aria-current={chosen ? "true" : undefined}>
      <button type="button" class="rationale-go" aria-expanded={rationale.audit ? open : undefined} onClick={() => rationale.toggle(step.index)}>
        <span class="segment-id">{segmentName(step.index)}</span>
        <span class="rationale-text">{step.text}</span>
        {label && <AuditChip label={label} />}
      </button>
      {label && <RestsOn rationale={rationale} found={found} />}
      {open && <Unfolded rationale={rationale} found={found} />}
    </li>
  );
}

/** All of a step where there is room, else its sentence and what comes after. */
function bringIn(step: HTMLElement): void {
  const covered = parseFloat(getComputedStyle(step).scrollMarginTop) || 0;
  step.scrollIntoView({ block: step.offsetHeight > innerHeight - covered ? "start" : "nearest" });
}

function RestsOn({ rationale, found }: { rationale: Rationale; found: StepFinding }) {
  const { label, basis, premises, against } = found;
  if (label === "contradicted") {
    return (
      <p class="rests-on is-against">
        Against it: <Premises rationale={rationale} indices={against} step={found.step.index} />
      </p>
    );
  }
  if (label === "orphan") return <p class="rests-on muted">Nothing given and no earlier step supports it.</p>;
  return (
    <p class="rests-on">
      {label === "unsupported" ? "Would rest on, but that has no support itself: " : basis === "evidence" ? "Rests on " : basis === "question" ? "Rests on the question alone: " : premises.some((index) => rationale.leaves.has(index)) ? "Rests on evidence and an earlier step: " : "Rests on an earlier step: "}
      <Premises rationale={rationale} indices={premises} step={found.step.index} />
    </p>
  );
}

function Premises({ rationale, indices, step }: { rationale: Rationale; indices: readonly number[]; step: number }) {
  return (
    <>
      {indices.map((index) => {
        const leaf = rationale.leaves.get(index);
        return leaf ? (
          <LeafButton key={index} rationale={rationale} leaf={leaf} step={step} />
        ) : (
          <button key={index} type="button" class="leaf-chip is-step" title={rationale.textOf(index)} onClick={() => rationale.select(index)}>
            <Icon name="arrow-up" />
            {segmentName(index)}
          </button>
        );
      })}
    </>
  );
}

/** A leaf as a button: an object is shown on its frame, a sound or speech is played once. */
export function LeafButton({ rationale, leaf, step }: { rationale: Rationale; leaf: Leaf; step?: number }) {
  const what = leaf.kind === "track" ? "Show" : leaf.kind === "question" ? "Read" : "Play";
  return (
    <button type="button" class={`leaf-chip is-${leaf.kind}${rationale.leaf.value === leaf.index ? " is-lit" : ""}`} data-leaf={leaf.index} title={leaf.text} aria-label={`${what} S${leaf.index}: ${leaf.text}`} onClick={() => {
        // Its times say where to look first.
        if (step !== undefined) rationale.select(step);
        void rationale.showLeaf(leaf.index);
      }}>
      <Icon name={LEAF_ICONS[leaf.kind]} />
      <span class="clip">
        <b>{segmentName(leaf.index)}</b> {leafWords(leaf)}
      </span>
    </button>
  );
}

function Unfolded({ rationale, found }: { rationale: Rationale; found: StepFinding }) {
  const { audit } = rationale;
  const { ref, width } = useWidth<HTMLDivElement>(440);
  if (!audit) return null;
  const text = audit.asText.value;
  const why = audit.model.value.segments.get(found.step.index)?.explanation ?? "";
  return (
    <div class="rationale-tree">
      <div class="rationale-tree-head">
        <p class="why small">{why}</p>
        <span class="toggle" role="group" aria-label="Show the tree as">
          <button type="button" aria-pressed={!text} onClick={() => (audit.asText.value = false)}>
            Drawing
          </button>
          <button type="button" aria-pressed={text} onClick={() => (audit.asText.value = true)}>
            Text
          </button>
        </span>
      </div>
      {found.step.asked !== found.step.text && <p class="muted small">Asked as: {found.step.asked}</p>}
      <div ref={ref}>
        <Tree store={audit} width={width} />
      </div>
    </div>
  );
}

export function Summary({ rationale }: { rationale: Rationale }) {
  const { findings, payload, audit } = rationale;
  if (!audit) return <p class="rationale-summary muted">{plural(payload.steps.length, "step")}, {plural(payload.leaves.length - 1, "piece")} of evidence. Not audited yet: press Audit to see which steps rest on it.</p>;
  const { counts } = findings;
  const rests = (count: number): string => (count === 1 ? "rests" : "rest");
  const parts: [number, AuditWord, string][] = [
    [counts.evidence, "supported", `${rests(counts.evidence)} on evidence`],
    [counts.steps, "supported", `${rests(counts.steps)} on other steps`],
    [counts.question, "supported", `${rests(counts.question)} on the question alone`],
    [counts.unsupported, "unsupported", `${rests(counts.unsupported)} only on steps without support`],
    [counts.orphan, "orphan", "without any support"],
    [counts.contradicted, "contradicted", "contradicted"],
  ];
  return (
    <div class="rationale-summary">
      <p data-summary>
        <b class="num">{plural(payload.steps.length, "step")}:</b>{" "}
        {parts.filter(([count], k) => count > 0 || k === 0).map(([count, word, words], k) => (
          <span key={words} class="summary-part">
            {k > 0 && ", "}
            <Icon name={AUDIT_WORDS[word].icon} /> <b class="num">{count}</b> {words}
          </span>
        ))}
        .
      </p>
      <Bar rationale={rationale} />
    </div>
  );
}

/** One mark a step, in reading order: the shape of the whole rationale at one glance. */
function Bar({ rationale }: { rationale: Rationale }) {
  const leaf = rationale.leaf.value;
  const uses = leaf === null ? null : usesOf(rationale.findings, leaf);
  return (
    <div class="rationale-bar" role="group" aria-label="Steps in reading order">
      {rationale.findings.steps.map(({ step, label, basis }) => {
        const words = label ? `${AUDIT_WORDS[label].word}${basis === "steps" ? " by other steps" : basis === "evidence" ? " by evidence" : basis === "question" ? " by the question alone" : ""}` : "No label";
        return (
          <button key={step.index} type="button" class={`rationale-mark ${label ?? "none"}${basis && basis !== "evidence" ? " by-steps" : ""}${uses?.below.includes(step.index) || uses?.against.includes(step.index) ? " is-using" : ""}`} aria-pressed={rationale.selected.value === step.index} title={`${segmentName(step.index)}: ${words}`} aria-label={`${segmentName(step.index)}, ${words}`} onClick={() => rationale.select(step.index)}>
            {label && <Icon name={AUDIT_WORDS[label].icon} />}
          </button>
        );
      })}
    </div>
  );
}

export function Unused({ rationale }: { rationale: Rationale }) {
  const { findings, audit, leaves, payload } = rationale;
  const shown = audit ? findings.unused : payload.leaves.filter((leaf) => leaf.kind !== "question").map((leaf) => leaf.index);
  return (
    <details class="rationale-unused" open={!audit}>
      <summary>
        {audit ? (shown.length ? `Evidence that no step uses: ${shown.length} of ${payload.leaves.length - 1}` : "Every piece of evidence is used by a step") : `Evidence: ${shown.length}`}
      </summary>
      <ul>
        {shown.map((index) => {
          const leaf = leaves.get(index);
          return leaf ? (
            <li key={index}>
              <span class="visually-hidden">{LEAF_WORDS[leaf.kind]}: </span>
              <LeafButton rationale={rationale} leaf={leaf} />
            </li>
          ) : null;
        })}
      </ul>
    </details>
  );
}
