// An address of one's own to which VidAT's submit button sends. It is shown once, when it is made.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { errorText, getJson } from "../../lib/api";
import { plural } from "../../lib/words";
import { Icon, Notice } from "../shared/parts";
import { postJsonAs } from "./saving";
import type { RefinePayload } from "./types";

interface Standing {
  address: { expires_at: string; used_at: string | null; submits: number } | null;
  days: number;
  /** Where VidAT may stand, beside this site itself. */
  origins: string[];
  why_not: string;
}
interface Made extends Standing {
  url: string;
  /** What VidAT's own address needs at its end. */
  query: string;
}

const day = (iso: string): string => new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });

export function VidatAddress({ payload }: { payload: RefinePayload }) {
  const standing = useSignal<Standing | null>(null);
  const made = useSignal<Made | null>(null);
  const problem = useSignal("");
  const waiting = useSignal(false);
  const url = payload.urls.vidat ?? "";

  useEffect(() => {
    const controller = new AbortController();
    void getJson<Standing>(url, controller.signal)
      .then((answer) => (standing.value = answer))
      .catch((error: unknown) => controller.signal.aborted || (problem.value = errorText(error)));
    return () => controller.abort();
  }, [url]);

  const change = async (method: "POST" | "DELETE"): Promise<void> => {
    [waiting.value, problem.value, made.value] = [true, "", null];
    try {
      const answer = await postJsonAs<Standing | Made>(payload, url, {}, crypto.randomUUID(), method);
      standing.value = answer;
      if ("url" in answer) made.value = answer;
    } catch (error) {
      problem.value = errorText(error);
    } finally {
      waiting.value = false;
    }
  };

  const now = standing.value;
  const address = now?.address ?? null;
  return (
    <section class="vidat-address" aria-labelledby="vidat-address-title">
      <h3 id="vidat-address-title">Stay in VidAT</h3>
      <p class="form-text">With an address of your own, VidAT's submit button saves into this question. It does not hand the question in.</p>
      {made.value && (
        <>
          <Copied id="vidat-query" label="Add this to the address of VidAT" text={made.value.query} />
          <Copied id="vidat-url" label="The address alone, for programs" text={made.value.url} />
          <Notice kind="warn" icon="exclamation-triangle">
            <p>Shown only now. Whoever has it can change your work on this question until {day(made.value.address?.expires_at ?? "")}.</p>
          </Notice>
          <ol class="form-text">
            <li>Download the file and load it in VidAT, or begin there from nothing.</li>
            <li>Close this page while you work there: what is open here would not see the change.</li>
            <li>
              {now?.origins.length ? (
                <>
                  Open VidAT at <b>{now.origins.join(", ")}</b>, or on this site: from elsewhere submits are refused.
                </>
              ) : (
                "VidAT has to stand on this site: from elsewhere submits are refused. Whoever runs this server can allow other places."
              )}
            </li>
          </ol>
        </>
      )}
      {address && !made.value && (
        <p>
          There is one until {day(address.expires_at)}, {address.submits ? `used ${plural(address.submits, "time")}, last on ${day(address.used_at ?? "")}` : "not used yet"}.
        </p>
      )}
      {now?.why_not && <p class="muted">{now.why_not}</p>}
      {problem.value && (
        <Notice kind="bad" icon="exclamation-circle">
          <p>{problem.value}</p>
        </Notice>
      )}
      <div class="form-actions">
        <button type="button" class="btn btn-quiet btn-sm" id="vidat-make" disabled={waiting.value || !now || now.why_not !== ""} onClick={() => void change("POST")}>
          {address ? "Make another, which ends this one" : "Make an address"}
        </button>
        {address && (
          <button type="button" class="btn btn-quiet btn-sm" id="vidat-withdraw" disabled={waiting.value} onClick={() => void change("DELETE")}>
            Withdraw
          </button>
        )}
      </div>
    </section>
  );
}

function Copied({ id, label, text }: { id: string; label: string; text: string }) {
  const field = useRef<HTMLInputElement>(null);
  const says = useSignal("");
  const copy = async (): Promise<void> => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(text);
      says.value = "Copied.";
    } catch {
      says.value = "Marked: copy it with Ctrl+C.";
    }
  };
  return (
    <div class="form-row">
      <label class="form-label" for={id}>
        {label}
      </label>
      <div class="vidat-copy">
        <input id={id} ref={field} class="form-control mono" readOnly value={text} onFocus={(event) => event.currentTarget.select()} />
        <button type="button" class="btn btn-quiet" aria-label={`Copy: ${label}`} onClick={() => void copy()}>
          <Icon name="clipboard" /> Copy
        </button>
      </div>
      <span class="form-text" role="status">
        {says.value}
      </span>
    </div>
  );
}
