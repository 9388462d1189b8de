// The case on the left: stays in view, can be searched, and lights up where it is a premise of the segment in the audit.
import { useEffect, useRef } from "preact/hooks";
import { memo } from "../shared/memo";
import { Icon } from "../shared/parts";
import { mount as mountSearch } from "../case-search/index";
import { asksApart } from "../../lib/case-text";
import type { AssignmentPayload } from "../../lib/label-draft";
import { segmentName } from "../../lib/words";
import type { Workspace } from "./workspace";

export function CasePane({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const payload = store.payload.value;
  const search = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    // The search marks the text itself, so this part of the page is drawn once and then left to it.
    if (search.current && !search.current.firstChild) mountSearch(search.current);
  }, []);
  const contexts = payload.segments.filter((segment) => segment.context && store.premises.value.has(segment.index));
  const instead = store.isDraftState.value ? "Shown after the case is submitted." : payload.recall?.allowed ? "Shown once the case cannot be taken back any more." : "None is given.";
  const lit = store.comparing.value && contexts.length > 0;
  return (
    <>
      <div class="pane-head">
        <h2>Case</h2>
        {lit && (
          <span class="chip context">
            <Icon name="file-medical" />
            {contexts.map((segment) => segmentName(segment.index)).join(", ")} premise of {segmentName(store.current.value)}
          </span>
        )}
        <span class="grow" />
        <span class="case-search" id="case-search" data-in="case-text" ref={search} />
      </div>
      <CaseText content={payload.case} instead={instead} lit={lit ? contexts.map((segment) => segment.text) : []} />
    </>
  );
}

interface CaseTextProps {
  content: AssignmentPayload["case"];
  /** What stands where the reference impression is not shown. */
  instead: string;
  /** Texts of the context segments that are premises. */
  lit: string[];
}

const plain = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Whether a section is (part of) a premise: the context segment holds its text, or it holds the segment's. */
const isLit = (text: string, lit: string[]): boolean => lit.some((premise) => plain(premise).includes(plain(text)) || plain(text).includes(plain(premise)));

const same = (a: CaseTextProps, b: CaseTextProps): boolean => a.content === b.content && a.instead === b.instead && a.lit.join("\n") === b.lit.join("\n");

const CaseText = memo<CaseTextProps>(
  ({ content, instead, lit }) => (
    <div class={`case${lit.length ? " is-premise" : ""}`} id="case-text">
      {content.sections.map(([heading, text], k) => (
        <div class={`case-part${lit.length && isLit(text, lit) ? " is-lit" : ""}`} key={k}>
          {heading && <h3>{heading}</h3>}
          {text
            .split(/\n+/)
            .filter((line) => line.trim())
            .map((line, at) => (
              <p key={at}>{line}</p>
            ))}
        </div>
      ))}
      {asksApart(content.sections, content.question) && (
        <div class="case-part">
          <h3>Question to the model</h3>
          <p>{content.question}</p>
        </div>
      )}
      {content.reference !== undefined && (
        <div class="case-part">
          <h3>Reference impression</h3>
          {content.reference ? (
            <p>{content.reference}</p>
          ) : (
            <p class="muted">
              <Icon name="lock" /> {instead}
            </p>
          )}
        </div>
      )}
    </div>
  ),
  same,
);
