// The audit of a case beside the person's labels: the trace page's pane, tied to this page's segment list.
import { effect } from "@preact/signals";
import { render } from "preact";
import { markedPremises } from "../../lib/model";
import { segmentName } from "../../lib/words";
import { AuditChip } from "../shared/parts";
import { shortcuts } from "../shared/shortcut-sheet";
import { App } from "../trace-audit/app";
import { viewKeys } from "../trace-audit/page";
import { createStore } from "../trace-audit/store";
import { SaidChip } from "./segments";
import type { Workspace } from "./workspace";

export function showAudit(host: HTMLElement, workspace: Workspace, off: AbortSignal): void {
  const { store } = workspace;
  const payload = store.audit.peek();
  if (!payload) return;
  const audit = createStore(payload, store.payload.peek().reveal.url, store.current.peek(), { whatIf: false });
  // Two views of one choice: what is selected here is selected there.
  const follow = effect(() => audit.select(store.current.value));
  const lead = effect(() => {
    const selected = audit.selected.value;
    if (selected !== store.current.peek()) store.tryGo(selected, null);
    // Not yet its turn in an ordered study: the drawing stays where the list is.
    if (selected !== store.current.peek()) audit.select(store.current.peek());
    store.premises.value = new Set(markedPremises(audit.model.value, selected));
  });
  // A study that shows the audit from the start labels at the same time: then keys of labels come first.
  const free = viewKeys(audit).filter((view) => !view.keys.some((key) => shortcuts.has(key)));
  const forget = shortcuts.add(free);
  render(
    <>
      <App store={audit} />
      <Compared workspace={workspace} />
    </>,
    host,
  );
  off.addEventListener("abort", () => {
    follow();
    lead();
    forget();
    store.premises.value = new Set();
    render(null, host);
  });
}

/** Everything that was said of the current segment, in one table. */
function Compared({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const index = store.current.value;
  const segment = store.payload.value.segments.find((one) => one.index === index);
  if (!segment || segment.context) return null;
  const draft = store.draft(index).value;
  const revision = store.revisions.value.get(index);
  const label = store.audit.value?.segments.find((one) => one.index === index)?.label ?? null;
  const others = (store.others.value?.others ?? []).flatMap(({ name, segments }) => (segments[String(index)] ? [{ name, ...segments[String(index)]! }] : []));
  return (
    <section class="compared" aria-label={`Labels for ${segmentName(index)}`}>
      <div class="section-head">
        <h2>Labels for {segmentName(index)}</h2>
      </div>
      <table class="data data-flush">
        <tbody>
          <tr>
            <th scope="row">You</th>
            <td>
              <SaidChip label={draft.label} cannotJudge={draft.cannot_judge} />
              {revision && (
                <>
                  <span aria-label="revised to"> → </span>
                  <SaidChip label={revision.label} cannotJudge={revision.cannot_judge} />
                </>
              )}
            </td>
            <td class="muted">{draft.comment}</td>
          </tr>
          <tr>
            <th scope="row">Audit</th>
            <td>
              <AuditChip label={label} />
            </td>
            <td />
          </tr>
          {others.map((other) => (
            <tr key={other.name}>
              <th scope="row">{other.name}</th>
              <td>
                <SaidChip label={other.label} cannotJudge={other.cannot_judge} />
              </td>
              <td class="muted">{other.comment}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
