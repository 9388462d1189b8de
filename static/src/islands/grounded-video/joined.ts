// Spans of a lane as they are drawn: where a long clip has hundreds of them, slivers that follow each other are one button.
import type { Interval } from "../../lib/video/intervals";
import type { LaneSpan } from "./lanes";

/** A lane with no more spans than this has a button for each. */
const MOST_SPANS = 60;
/** A span up to this part of the time shown is a sliver; several are joined up to `WIDEST` of it, over gaps of a sliver. */
const SLIVER = 1 / 200;
const WIDEST = 1 / 40;

export function drawnSpans(spans: readonly LaneSpan[], [from, to]: Interval): LaneSpan[] {
  const visible = spans.filter(({ span: [start, end] }) => start <= to && Math.max(end, start + 1) > from);
  if (visible.length <= MOST_SPANS) return visible;
  const [sliver, widest] = [(to - from) * SLIVER, (to - from) * WIDEST];
  const groups: LaneSpan[][] = [];
  let end = -Infinity;
  let open = false;
  for (const one of [...visible].sort((a, b) => a.span[0] - b.span[0])) {
    // What is in the light stays a button of its own.
    const narrow = one.span[1] - one.span[0] <= sliver && !one.lit;
    const group = groups.at(-1);
    const [start, until] = one.span;
    if (group && open && narrow && start - end <= sliver && until - (group[0] as LaneSpan).span[0] <= widest) {
      group.push(one);
      end = Math.max(end, until);
    } else {
      groups.push([one]);
      end = until;
    }
    open = narrow;
  }
  return groups.map(joined);
}

/** One span in place of several; a click is one on the first. */
function joined(group: LaneSpan[]): LaneSpan {
  const first = group[0] as LaneSpan;
  if (group.length === 1) return first;
  const end = Math.max(...group.map(({ span }) => span[1]));
  return { ...first, key: `${first.key}+${group.length}`, span: [first.span[0], end], label: `${group.length} in a row: ${first.label} … (closer shows each)` };
}
