// The answer as a file in another program's format, and files taken in. Both say first what they keep and what they lose.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, csrfToken, errorText, getJson } from "../../lib/api";
import type { Incoming, Parts, Report } from "../../lib/video/incoming";
import { incomingChanges, partsOf } from "../../lib/video/incoming";
import { plural } from "../../lib/words";
import { Refusal } from "../../lib/save-answers";
import { Dialog } from "../shared/dialog";
import { Icon, Notice } from "../shared/parts";
import type { RefinePayload } from "./types";
import { VidatAddress } from "./vidat-address";
import type { Workspace } from "./workspace";

interface Format {
  name: string;
  title: string;
  extensions: string[];
  boxes: boolean;
  events: boolean;
  texts: boolean;
  modes: string[];
}

const KEYED = "keyframes";
const DENSE = "every frame";

const holds = ({ boxes, events, texts }: Format): string => [boxes && "boxes", events && "sounds", texts && "texts"].filter(Boolean).join(", ");

export function ExportDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store, queue } = workspace;
  const base = store.payload.value.urls.export ?? "";
  const formats = useSignal<Format[] | null>(null);
  const name = useSignal("");
  const dense = useSignal(false);
  const report = useSignal<Report | null>(null);
  const problem = useSignal("");
  const unsent = useSignal(0);
  const format = formats.value?.find((one) => one.name === name.value) ?? null;
  const every = format ? format.modes.includes(DENSE) && (dense.value || !format.modes.includes(KEYED)) : false;
  const address = format ? `${base}${format.name}/?dense=${every ? 1 : 0}` : "";

  useEffect(() => {
    let over = false;
    void (async () => {
      try {
        const answer = await getJson<{ formats: Format[] }>(base);
        // The file is made of what the server has.
        await queue.drained();
        if (over) return;
        unsent.value = queue.state.pending;
        formats.value = answer.formats;
        name.value = answer.formats[0]?.name ?? "";
      } catch (error) {
        if (!over) problem.value = errorText(error);
      }
    })();
    return () => {
      over = true;
    };
  }, []);
  useEffect(() => {
    if (!address) return;
    const controller = new AbortController();
    report.value = null;
    problem.value = "";
    void getJson<Report>(`${address}&report=1`, controller.signal)
      .then((answer) => (report.value = answer))
      .catch((error: unknown) => controller.signal.aborted || (problem.value = errorText(error)));
    return () => controller.abort();
  }, [address]);

  return (
    <Dialog title="Export" close={close}>
      {!formats.value && !problem.value && <p role="status">Looking which formats there are.</p>}
      {formats.value && (
        <>
          <div class="form-row">
            <label class="form-label" for="export-format">
              Format
            </label>
            <select id="export-format" class="form-select" value={name.value} onChange={(event) => (name.value = event.currentTarget.value)}>
              {formats.value.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.title} ({holds(one)})
                </option>
              ))}
            </select>
          </div>
          {format && format.modes.length > 0 && (
            <fieldset class="form-row file-modes">
              <legend class="form-label">Boxes</legend>
              {[KEYED, DENSE].map((mode) => (
                <label key={mode} class="form-check">
                  <input class="form-check-input" type="radio" name="export-mode" checked={(mode === DENSE) === every} disabled={!format.modes.includes(mode)} onChange={() => (dense.value = mode === DENSE)} />
                  <span class="form-check-label">{mode === KEYED ? "Keyframes only" : "On every frame"}</span>
                </label>
              ))}
            </fieldset>
          )}
          {unsent.value > 0 && <Notice kind="warn" icon="exclamation-triangle"><p>{plural(unsent.value, "change is", "changes are")} not on the server yet and would not be in the file.</p></Notice>}
        </>
      )}
      {report.value && <ReportView report={report.value} lossless="Nothing would be lost." />}
      {problem.value && <Notice kind="bad" icon="exclamation-circle"><p>{problem.value}</p></Notice>}
      {format?.name === "vidat" && store.payload.value.urls.vidat && <VidatAddress payload={store.payload.value} />}
      <div class="form-actions">
        {report.value && address && (
          <a class="btn btn-primary" href={address} download="">
            <Icon name="download" /> Download
          </a>
        )}
        <button type="button" class="btn btn-quiet" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

const MOST_LINES = 8;
const ONE: Record<string, string> = { boxes: "box" };
const counted = (count: number, what: string): string => (count === 1 ? (ONE[what] ?? what.replace(/s$/, "")) : what);


function ReportView({ report, lossless }: { report: Report; lossless: string }) {
  const counts = Object.entries(report.counts_out).map(([what, count]) => {
    const before = report.counts_in[what];
    return before === undefined || before <= count ? `${count} ${counted(count, what)}` : `${count} of ${before} ${counted(before, what)}`;
  });
  const lines = [...report.dropped, ...report.warnings];
  return (
    <div class="file-report" role="status">
      {counts.length > 0 && <p class="num">{counts.join(" · ")}</p>}
      {lines.length === 0 ? (
        <p class="muted">{lossless}</p>
      ) : (
        <div class="notice warn">
          <Icon name="exclamation-triangle" />
          <ul class="finding-list">
            {lines.slice(0, MOST_LINES).map((line) => (
              <li key={line}>{line}</li>
            ))}
            {lines.length > MOST_LINES && <li>and {lines.length - MOST_LINES} more</li>}
          </ul>
        </div>
      )}
    </div>
  );
}

/** Sends a file to be read; nothing is stored by it. */
async function readFile(payload: RefinePayload, file: File): Promise<Incoming> {
  const form = new FormData();
  form.append("file", file);
  let response: Response;
  try {
    response = await fetch(payload.urls.import ?? "", { method: "POST", credentials: "same-origin", headers: { Accept: "application/json", "X-CSRFToken": csrfToken(), "X-Expected-User": String(payload.user.id), "Idempotency-Key": crypto.randomUUID() }, body: form });
  } catch {
    throw new ApiError("The server did not answer.", "Check the network, then try again.");
  }
  const answer = (await response.json().catch(() => null)) as ConstructorParameters<typeof Refusal>[1];
  if (!response.ok || answer === null) throw new Refusal(response.status, answer);
  return answer as unknown as Incoming;
}

export function ImportDialog({ workspace, close }: { workspace: Workspace; close: () => void }) {
  const { store } = workspace;
  const given = useSignal<Incoming | null>(null);
  const file = useSignal("");
  const parts = useSignal<Parts>({ tracks: true, events: true, texts: false });
  const problem = useSignal("");
  const waiting = useSignal(false);
  const there = given.value ? partsOf(given.value) : null;
  const read = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    [given.value, problem.value, waiting.value, file.value] = [null, "", true, chosen.name];
    try {
      given.value = await readFile(store.payload.peek(), chosen);
      // Boxes and sounds are added; texts would replace others, so somebody has to want that.
      parts.value = { tracks: true, events: true, texts: false };
    } catch (error) {
      problem.value = errorText(error);
    } finally {
      waiting.value = false;
    }
  };
  const take = (): void => {
    if (!given.value) return;
    const changes = incomingChanges(store.doc.peek(), given.value, parts.value, store.uuid);
    if (!changes.length) {
      problem.value = "The file holds nothing that is not here already.";
      return;
    }
    if (!store.edit(`Import ${file.value}`.slice(0, 200), changes)) return;
    close();
    store.say(`Imported ${file.value}.`, { undo: true });
  };
  const choice = (name: keyof Parts, words: string) =>
    there?.[name] ? (
      <label class="form-check" key={name}>
        <input class="form-check-input" type="checkbox" checked={parts.value[name]} onChange={(event) => (parts.value = { ...parts.peek(), [name]: event.currentTarget.checked })} />
        <span class="form-check-label">{words}</span>
      </label>
    ) : null;
  const some = there !== null && (Object.keys(there) as (keyof Parts)[]).some((name) => there[name] && parts.value[name]);
  return (
    <Dialog title="Import" close={close}>
      <div class="form-row">
        <label class="form-label" for="import-file">
          A file with boxes, sounds or texts for this clip
        </label>
        <input id="import-file" class="form-control" type="file" disabled={waiting.value} onChange={(event) => void read(event.currentTarget.files?.[0])} />
      </div>
      {waiting.value && <p role="status">Reading {file.value}.</p>}
      {given.value && there && (
        <>
          <p>
            Read as <b>{given.value.title ?? given.value.format}</b>.
          </p>
          <ReportView report={given.value.report} lossless="Everything in it could be read." />
          {there.tracks || there.events || there.texts ? (
            <fieldset class="file-modes">
              <legend class="form-label">Take in</legend>
              {choice("tracks", `Add ${plural(given.value.tracks.length, "object")}`)}
              {choice("events", `Add ${plural(given.value.events.length, "sound")}`)}
              {choice("texts", "Replace the texts that the file has, with times and links")}
            </fieldset>
          ) : (
            <p>Nothing in it fits this clip.</p>
          )}
        </>
      )}
      {problem.value && <Notice kind="bad" icon="exclamation-circle"><p>{problem.value}</p></Notice>}
      <div class="form-actions">
        <button type="button" class="btn btn-primary" id="import-now" disabled={!some || !store.editable.value} onClick={take}>
          Take in
        </button>
        <button type="button" class="btn btn-quiet" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
