// The right pane: the clause in force, what happened to the case, the audit once it may be seen, and what comes next.
import { useMemo } from "preact/hooks";
import { segmentName } from "../../lib/words";
import { AuditChip, Icon, WithSegments } from "../shared/parts";
import { createStore } from "../trace-audit/store";
import { TreeText } from "../trace-audit/tree-text";
import { against, labelWord } from "./draft";
import { clauseFor, clausesOf } from "./guideline";
import type { Store } from "./store";
import type { JudgedSegment, SegmentAudit } from "./types";

export function Side({ store }: { store: Store }) {
  const segment = store.segment.value;
  return (
    <section class="pane" aria-label="Guideline and history" tabIndex={0}>
      <div class="adj-side">
        <Guideline store={store} />
        {segment && <History store={store} segment={segment} />}
        {segment && <Audit store={store} segment={segment} />}
        {segment && <After store={store} segment={segment} />}
        <Flagged store={store} />
      </div>
    </section>
  );
}

function Guideline({ store }: { store: Store }) {
  const guideline = store.page.guideline;
  const clauses = useMemo(() => clausesOf(guideline?.html ?? ""), [guideline]);
  if (!guideline) return null;
  const words = new Map(Object.values(guideline.reasons).flatMap((list) => list.map((one) => [one.code, one.words] as const)));
  const given = Object.values(store.segment.value?.labels ?? {}).flatMap((one) => one.reasons);
  const wanted = [...store.draft.value.reasons, ...given].map((code) => words.get(code) ?? "").filter(Boolean);
  const at = store.clause.value ?? clauseFor(clauses, wanted);
  const clause = clauses[at];
  const under = store.item.value?.labelled_under ?? [];
  return (
    <section>
      <div class="section-head">
        <h2>Guideline in force</h2>
        <span class="grow" />
        <span class="chip accent">version {guideline.version}</span>
      </div>
      {clauses.length > 1 && (
        <select class="form-select form-select-sm" aria-label="Clause of the guideline" value={at} onChange={(event) => (store.clause.value = Number(event.currentTarget.value))}>
          {clauses.map((one, k) => (
            <option key={k} value={k}>
              {one.title}
            </option>
          ))}
        </select>
      )}
      {clause && (
        <div class="adj-clause guideline" tabIndex={0} role="region" aria-label={`Clause: ${clause.title}`}>
          <div dangerouslySetInnerHTML={{ __html: clause.html }} />
        </div>
      )}
      {under.length > 0 && (
        <p class="muted small">
          <Icon name="pin-angle" /> {under.length === 1 ? `All labelled under version ${under[0]}.` : `Labelled under versions ${under.join(" and ")}.`}
        </p>
      )}
    </section>
  );
}

function History({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const lines = (store.item.value?.history ?? []).filter((line) => line.segment === null || line.segment === segment.index);
  const draft = store.draft.value;
  return (
    <section>
      <h2>History of this item</h2>
      <ol class="adj-history">
        {lines.map((line, k) => (
          <li key={k}>{line.what}</li>
        ))}
        {segment.open && store.page.may_decide && (
          <li class="now">
            <b>Opened by you</b>
            {draft.label && `, draft: ${labelWord(draft.label)}`}
          </li>
        )}
      </ol>
      <p class="muted small">Times are hidden so that they cannot reveal who is A or B. All original labels are kept.</p>
    </section>
  );
}

function Audit({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const place = store.current.value;
  const found = place ? store.audits.value.get(`${place.item}:${place.index}`) : undefined;
  const locked = segment.open || !segment.decision.final;
  const seen = segment.decision.final !== null && store.page.study.blinding !== "blind";
  return (
    <section>
      <h2>Structural audit</h2>
      {locked ? (
        <div class="adj-lock">
          <Icon name="lock" />
          <div>
            <b>{seen ? "Seen before this change" : store.page.study.blinding === "blind" ? "Hidden" : "Hidden until your decision is saved"}</b>
            <p>
              {seen
                ? "The audit could be seen after the first decision; what you decide now is recorded as “after audit”."
                : store.page.study.blinding === "blind"
                  ? "This study hides the audit from everybody who labels or decides."
                  : "The audit label and the judges’ votes would steer a human reference label. After saving, you see them; a later change is recorded as “after audit”."}
            </p>
          </div>
        </div>
      ) : found ? (
        <Shown audit={found} index={segment.index} />
      ) : (
        <p class="muted small">Loading…</p>
      )}
    </section>
  );
}

function Shown({ audit, index }: { audit: SegmentAudit; index: number }) {
  if ("none" in audit) return <p class="muted small">{audit.none}</p>;
  return (
    <div class="adj-audit">
      <div class="chips">
        <AuditChip label={audit.label} large />
        {audit.judges.map((judge) => (
          <span class="chip plain" key={judge.name}>
            {judge.name}: {judge.verdict ?? "no verdict"}
          </span>
        ))}
      </div>
      {audit.explanation && (
        <p class="why">
          <WithSegments text={audit.explanation} />
        </p>
      )}
      {audit.note && <p class="muted small">{audit.note}</p>}
      {audit.payload && <Tree audit={audit.payload} index={index} />}
    </div>
  );
}

/** The support tree as text, as on the page of a trace. */
function Tree({ audit, index }: { audit: NonNullable<Exclude<SegmentAudit, { none: string }>["payload"]>; index: number }) {
  const shown = useMemo(() => createStore(audit, "", index, { whatIf: false }), [audit, index]);
  return <TreeText store={shown} focusable />;
}

function After({ store, segment }: { store: Store; segment: JudgedSegment }) {
  const next = store.next.value;
  const name = segmentName(segment.index);
  return (
    <section>
      <h2>After this decision</h2>
      <p class="muted">
        {segment.open ? `${name} leaves the queue and its reference label becomes final. ` : `${name} is decided. `}
        {next ? (
          <>
            Next:{" "}
            <button type="button" class="btn-text" onClick={store.skip}>
              {next.case}, {segmentName(next.index)}
            </button>
            , {against(next)}.
          </>
        ) : (
          "Nothing else waits."
        )}
      </p>
    </section>
  );
}

/** What adjudicators called unclear, for those who write the guideline. */
function Flagged({ store }: { store: Store }) {
  const { flagged, may_decide } = store.page;
  if (may_decide || flagged.length === 0) return null;
  return (
    <section>
      <h2>Clauses called unclear</h2>
      <ul class="adj-flagged">
        {flagged.map((one) => (
          <li key={`${one.item}:${one.index}`}>
            <button type="button" class="btn-text" onClick={() => void store.go({ item: one.item, index: one.index })}>
              {one.case}, {segmentName(one.index)}
            </button>{" "}
            <span class="muted">version {one.guideline}</span>
            {one.note && <p>{one.note}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
