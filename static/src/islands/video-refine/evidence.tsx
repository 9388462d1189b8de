// What a cue rests on: links to objects and sounds, shown as chips that lead there.
import { useSignal } from "@preact/signals";
import type { Link, Step } from "../../lib/video/document";
import { formatClock } from "../../lib/video/cot";
import { firstFrame, lastFrame } from "../../lib/video/tracks";
import { Icon } from "../shared/parts";
import { nameOf } from "./actions";
import type { Workspace } from "./workspace";

export function Evidence({ workspace, step }: { workspace: Workspace; step: Step }) {
  const { store } = workspace;
  const links = Object.values(store.doc.value.links).filter((link) => link.step === step);
  return (
    <div class="evidence">
      {links.map((link) => (
        <LinkChip key={link.id} workspace={workspace} link={link} />
      ))}
      {store.editable.value && <Add workspace={workspace} step={step} taken={new Set(links.map((link) => link.target))} />}
    </div>
  );
}

/** A menu that opens below the edge of the pane would be taken for one that does not open. */
function showMenu(host: HTMLDetailsElement): void {
  if (host.open) host.querySelector(".pop")?.scrollIntoView({ block: "nearest" });
}

function LinkChip({ workspace, link }: { workspace: Workspace; link: Link }) {
  const { store, actions } = workspace;
  const { index } = store;
  const track = link.kind === "track" ? store.doc.value.tracks[link.target] : null;
  const event = link.kind === "event" ? store.doc.value.events[link.target] : null;
  if (!track && !event) return null;
  const name = track ? nameOf(track) : (event?.label ?? "");
  const [from, to] = track ? (link.frames ? [index.clipUs(link.frames[0]), index.clipUs(link.frames[1])] : [null, null]) : [event?.start_us ?? 0, event?.end_us ?? 0];
  const time = from === null || to === null ? "" : event ? ` · ${formatClock(from, 1)}` : ` · ${formatClock(from, 1)}–${formatClock(to, 1)}`;
  const selected = store.selection.value?.id === link.target;
  const against = link.relation === "contradicts";
  const go = (): void => {
    store.select({ kind: link.kind, id: link.target });
    const frame = track ? (link.frames?.[0] ?? firstFrame(track)) : index.atUs(event?.start_us ?? 0);
    const here = store.player.frame.peek();
    // Already somewhere on it: the picture stays.
    if (track && here >= firstFrame(track) && here <= lastFrame(track) && !link.frames) return;
    store.goTo(frame);
  };
  return (
    <span class={`link-chip${selected ? " is-selected" : ""}${against ? " is-against" : ""}`}>
      <button type="button" class="link-go" aria-pressed={selected} onClick={go} title={against ? "Evidence against the cue" : "Evidence for the cue"}>
        <Icon name={track ? "bounding-box" : "soundwave"} />
        {against ? "against: " : ""}
        {name}
        <span class="num">{time}</span>
      </button>
      {store.editable.value && (
        <details class="pop-host" onToggle={(event) => showMenu(event.currentTarget)}>
          <summary aria-label={`Change the link to ${name}`}>
            <Icon name="three-dots" />
          </summary>
          <div class="pop pop-left link-menu">
            {track && (
              <button type="button" class="btn btn-quiet btn-sm" onClick={() => actions.changeLink(link, { frames: link.frames ? null : linkFrames(workspace) })}>
                {link.frames ? "Point at all of it" : store.span.value ? "Point at the selection only" : "Point at the time of the cue only"}
              </button>
            )}
            <button type="button" class="btn btn-quiet btn-sm" onClick={() => actions.changeLink(link, { relation: against ? "supports" : "contradicts" })}>
              {against ? "It supports the cue" : "It contradicts the cue"}
            </button>
            <button type="button" class="btn btn-danger-quiet btn-sm" onClick={() => actions.unlink(link)}>
              Remove the link
            </button>
          </div>
        </details>
      )}
    </span>
  );
}

/** Frames of the chosen stretch, else of the cue in work; null: no time is known. */
function linkFrames({ store }: Workspace): [number, number] | null {
  const span = store.span.peek() ?? store.stepSpan(store.step.peek());
  return span ? [store.index.atUs(span[0]), store.index.atUs(Math.max(span[0], span[1] - 1)) + 1] : null;
}

function Add({ workspace, step, taken }: { workspace: Workspace; step: Step; taken: ReadonlySet<string> }) {
  const { store, actions } = workspace;
  const open = useSignal(false);
  const choice = [
    ...store.tracks.value.map((track) => ({ kind: "track" as const, id: track.id, name: nameOf(track), icon: "bounding-box" })),
    ...store.events.value.map((event) => ({ kind: "event" as const, id: event.id, name: event.label || "sound", icon: "soundwave" })),
  ].filter(({ id }) => !taken.has(id));
  return (
    <details
      class="pop-host"
      open={open.value}
      onToggle={(event) => {
        open.value = event.currentTarget.open;
        showMenu(event.currentTarget);
      }}
    >
      <summary class="link-add">
        <Icon name="plus-lg" /> Link evidence
      </summary>
      <div class="pop pop-left link-menu">
        {choice.length === 0 && <p class="muted small">Nothing to link: draw a box (N) or mark a sound first.</p>}
        {choice.map(({ kind, id, name, icon }) => (
          <button
            type="button"
            class="btn btn-quiet btn-sm"
            key={id}
            onClick={() => {
              open.value = false;
              actions.linkTo(step, { kind, id });
            }}
          >
            <Icon name={icon} />
            <span class="clip">{name}</span>
          </button>
        ))}
      </div>
    </details>
  );
}
