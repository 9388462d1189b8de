// The annotator's workspace of one question: picture with boxes, timelines, chain of thought. Loaded by the page of one assignment.
import { effect } from "@preact/signals";
import { render } from "preact";
import { errorText, getJson } from "../../lib/api";
import { openStore } from "../../lib/queue-store";
import { Icon, Notice } from "../shared/parts";
import { shortcuts, startShortcuts } from "../shared/shortcut-sheet";
import { Differences } from "./adjudication-panel";
import { loadIndex, makeVideo, openClip } from "./clip";
import { Dialogs } from "./dialogs";
import { Banners, Saved, SubHead } from "./head";
import type { Action } from "./keys";
import { keyShortcuts, keysOf } from "./keys";
import { ProposalsPanel } from "./proposals-panel";
import type { Questions } from "./questions";
import { claimTab, createQuestions } from "./questions";
import { Reasoning } from "./reasoning";
import { Stage } from "./stage";
import { Timelines } from "./timelines";
import { Tools } from "./tools";
import { Transport } from "./transport";
import type { RefinePayload } from "./types";
import type { Workspace } from "./workspace";
import { createWorkspace } from "./workspace";

async function loadPayload(host: HTMLElement): Promise<RefinePayload> {
  const inline = document.getElementById(host.dataset.payload ?? "question")?.textContent;
  const payload = inline ? (JSON.parse(inline) as RefinePayload | null) : null;
  return payload ?? getJson<RefinePayload>(host.dataset.src ?? "");
}

const PLAYABLE = new Set(["original", "ready"]);
const POLL_MS = 3000;

/** Waits until there is a file that plays exactly, and says how far it is meanwhile. */
async function playable(host: HTMLElement, first: RefinePayload): Promise<RefinePayload> {
  let payload = first;
  for (;;) {
    const { playback } = payload.video;
    if (!playback || PLAYABLE.has(playback.state)) return payload;
    if (playback.state === "failed") throw new Error(`The clip could not be prepared for exact playing. ${playback.message ?? ""}`.trim());
    const { done, total } = playback;
    host.replaceChildren();
    render(
      <div class="pane-body">
        <Notice kind="info" icon="hourglass-split">
          <p>
            The clip is being prepared for exact playing{playback.reason ? `, because ${playback.reason}` : ""}. {playback.message}
          </p>
          {total ? <progress class="progress-line" max={total} value={done ?? 0} aria-label="Preparing the clip" /> : null}
        </Notice>
      </div>,
      host,
    );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    payload = await getJson<RefinePayload>(payload.urls.detail);
  }
}

export async function mount(host: HTMLElement): Promise<Questions | null> {
  try {
    const payload = await playable(host, await loadPayload(host));
    // At once: it loads while the index is fetched.
    const video = makeVideo(payload);
    const [index, kept, tab] = await Promise.all([loadIndex(payload.video.urls.index), openStore(), claimTab(payload.user.id, payload.id)]);
    if (index.n !== payload.video.n) throw new Error(`The clip has ${payload.video.n} frames, but its index has ${index.n}. Reload the page; if it stays, import the clip again.`);
    const clip = openClip(payload, index, video);
    const workspace = createWorkspace(payload, clip, kept, tab);
    await workspace.session.open();
    let disconnect = (): void => {};
    const show = (next: Workspace): void => {
      disconnect();
      draw(host, next);
      disconnect = connectKeys(next);
    };
    const questions = createQuestions(workspace, clip, kept, { show, load: (url) => location.assign(url) });
    for (const place of document.querySelectorAll<HTMLElement>("[data-video-saved], [data-video-head], [data-video-notices]")) place.replaceChildren();
    host.replaceChildren();
    show(workspace);
    for (const button of document.querySelectorAll<HTMLElement>("[data-guideline]")) {
      effect(() => void (button.hidden = questions.current.value.store.payload.value.guideline === null));
      button.addEventListener("click", () => (questions.current.peek().store.dialog.value = "guideline"));
    }
    void clip.player.seek(0);
    await workspace.enter();
    host.dataset.ready = "true";
    questions.prefetch();
    return questions;
  } catch (error) {
    console.error(error);
    host.replaceChildren();
    render(
      <div class="pane-body">
        <Notice kind="bad" icon="exclamation-circle">
          <p>The question could not be shown. {errorText(error)}</p>
          <p>
            <a href="">Reload the page</a>
          </p>
        </Notice>
      </div>,
      host,
    );
    return null;
  }
}

/** Everything is made anew for another question: its key differs. */
function draw(host: HTMLElement, workspace: Workspace): void {
  const { id, question } = workspace.store.payload.peek();
  const into = (selector: string, part: preact.ComponentChild): void => {
    const place = document.querySelector<HTMLElement>(selector);
    if (place) render(part, place);
  };
  into("[data-video-saved]", <Saved key={id} workspace={workspace} />);
  into("[data-video-head]", <SubHead key={id} workspace={workspace} />);
  into("[data-video-notices]", <Banners key={id} workspace={workspace} />);
  render(<Panes key={id} workspace={workspace} />, host);
  const crumb = document.querySelector("[data-question-crumb]");
  if (crumb) crumb.textContent = `Question ${question.number}`;
}

function Panes({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  return (
    <>
      <section class="stage" aria-label="Video">
        <Tools workspace={workspace} />
        <Stage workspace={workspace} />
        <Transport workspace={workspace} />
      </section>
      <section class="pane refine-side" aria-label="Question and reasoning" tabIndex={0}>
        <ProposalsPanel workspace={workspace} />
        {workspace.adjudication && <Differences workspace={workspace} adjudication={workspace.adjudication} />}
        <Reasoning workspace={workspace} />
      </section>
      <Timelines workspace={workspace} />
      <ToastLine workspace={workspace} />
      <Dialogs workspace={workspace} />
      <p class="visually-hidden" role="status">
        {store.says.value}
      </p>
      <svg width="0" height="0" class="visually-hidden" aria-hidden="true">
        <pattern id="tl-occluded" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="2" height="5" fill="#1b2733" opacity="0.55" />
        </pattern>
      </svg>
    </>
  );
}

function ToastLine({ workspace }: { workspace: Workspace }) {
  const { store } = workspace;
  const toast = store.toast.value;
  if (!toast) return null;
  return (
    <div class={`toast-line is-${toast.kind}`} data-toast>
      <span>{toast.text}</span>
      {toast.undo && (
        <button
          type="button"
          class="btn-text"
          onClick={() => {
            store.toast.value = null;
            store.undo();
          }}
        >
          Undo
        </button>
      )}
      <button type="button" class="toast-close" aria-label="Close the message" onClick={() => (store.toast.value = null)}>
        <Icon name="x-lg" />
      </button>
    </div>
  );
}

/** Keys follow the profile: the registry holds only those in force. Returns how to take them away. */
export function connectKeys(workspace: Workspace): () => void {
  startShortcuts();
  return effect(() => {
    const profile = workspace.profile.value;
    workspace.keyHint = (action) => {
      const [key] = keysOf(profile, action as Action);
      return key && key.trim() ? ` (${key.length === 1 ? key.toUpperCase() : key})` : "";
    };
    return shortcuts.add(keyShortcuts(workspace, profile));
  });
}
