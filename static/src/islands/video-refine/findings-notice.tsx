// Lists of what somebody should know before a question is handed in or decided.
import type { ComponentChildren } from "preact";
import type { Finding } from "../../lib/video/checks";
import { plural } from "../../lib/words";
import { Icon } from "../shared/parts";

/** The first `most` lines of a list, and how many more there are. */
export function FirstLines<T>({ of, most, line }: { of: readonly T[]; most: number; line: (one: T) => ComponentChildren }) {
  return (
    <>
      {of.slice(0, most).map(line)}
      {of.length > most && <li>and {of.length - most} more</li>}
    </>
  );
}

export function FindingsNotice({ findings }: { findings: readonly Finding[] }) {
  if (!findings.length) return null;
  return (
    <div class="notice warn">
      <Icon name="exclamation-triangle" />
      <div>
        <p>{plural(findings.length, "thing does", "things do")} not fit yet:</p>
        <ul class="finding-list">
          <FirstLines of={findings} most={6} line={(one) => <li key={one.sentence}>{one.sentence}</li>} />
        </ul>
      </div>
    </div>
  );
}
