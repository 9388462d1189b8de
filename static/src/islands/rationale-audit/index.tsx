// The audit of a rationale beside its clip: which steps rest on what is really seen, heard and said.
import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { errorText } from "../../lib/api";
import { arrowsAreFree, enterIsFree } from "../../lib/shortcuts";
import type { Shortcut } from "../../lib/shortcuts";
import { AUDIT_WORDS, segmentName } from "../../lib/words";
import type { Film } from "../grounded-video/film";
import { Lanes } from "../grounded-video/lanes";
import { openFilm } from "../grounded-video/open";
import { Controls, Screen } from "../grounded-video/screen";
import { Notice } from "../shared/parts";
import { shortcuts, startShortcuts } from "../shared/shortcut-sheet";
import { rationaleRows } from "./lanes";
import { Steps, Summary, Unused } from "./steps";
import type { Rationale } from "./store";
import { createRationale } from "./store";
import type { RationalePayload } from "./types";

export async function mount(host: HTMLElement): Promise<Rationale | null> {
  try {
    const inline = document.getElementById(host.dataset.payload ?? "rationale")?.textContent;
    if (!inline) throw new Error("The page has no rationale. Reload it.");
    const payload = JSON.parse(inline) as RationalePayload;
    let film: Film | null = null;
    let problem = "";
    try {
      film = await openFilm(payload.film);
    } catch (error) {
      problem = errorText(error);
    }
    const rationale = createRationale(payload, film, stepOfHash());
    host.replaceChildren();
    render(<Page rationale={rationale} problem={problem} />, host);
    void film?.player.seek(0);
    startShortcuts();
    shortcuts.add(rationaleKeys(rationale));
    host.dataset.ready = "true";
    return rationale;
  } catch (error) {
    console.error(error);
    host.replaceChildren();
    render(
      <Notice kind="bad" icon="exclamation-circle">
        <p>The rationale could not be shown. {errorText(error)}</p>
      </Notice>,
      host,
    );
    return null;
  }
}

function stepOfHash(): number | null {
  const match = /^#S(\d{1,6})$/.exec(location.hash);
  return match ? Number(match[1]) : null;
}

function Page({ rationale, problem }: { rationale: Rationale; problem: string }) {
  const { film } = rationale;
  return (
    <div class="rationale">
      <section class="rationale-film" aria-label="Clip and evidence">
        {film ? (
          <div class="film">
            <Screen film={film} />
            <Controls film={film} />
            <Shown rationale={rationale} />
            <Lanes film={film} rows={rationaleRows(rationale, film)} />
          </div>
        ) : (
          <>
            <Notice kind="warn" icon="exclamation-triangle">
              <p>{problem}</p>
            </Notice>
            <Shown rationale={rationale} />
          </>
        )}
      </section>
      <section class="rationale-side" aria-label="Rationale">
        <Summary rationale={rationale} />
        <Steps rationale={rationale} />
        <Unused rationale={rationale} />
      </section>
      <Says rationale={rationale} />
    </div>
  );
}

/** The chosen piece of evidence as it was asked: in chips and lanes there is room for a few words only. */
function Shown({ rationale }: { rationale: Rationale }) {
  const { leaf } = rationale;
  return <p class={`rationale-shown small${leaf.value === null ? " muted" : ""}`}>{leaf.value === null ? "Choose a piece of evidence to see or hear it here." : <><b>{segmentName(leaf.value)}</b> {rationale.leafSays()}</>}</p>;
}

/** Says the chosen step and its label to a screen reader, after a change only. */
function Says({ rationale }: { rationale: Rationale }) {
  const region = useRef<HTMLParagraphElement>(null);
  const first = useRef(true);
  const found = rationale.findings.steps.find((one) => one.step.index === rationale.selected.value);
  const words = rationale.leafSays() || (found ? `${segmentName(found.step.index)}, ${found.label ? AUDIT_WORDS[found.label].word : "no label"}. ${found.step.text}` : "");
  useLayoutEffect(() => {
    if (first.current) first.current = false;
    else if (region.current) region.current.textContent = words;
  }, [words]);
  return <p class="visually-hidden" aria-live="polite" ref={region} />;
}

export function rationaleKeys(rationale: Rationale): Shortcut[] {
  const { film, audit } = rationale;
  const plays = (): boolean => film !== null && !film.player.problem.peek();
  const spaceIsFree = (): boolean => plays() && !document.activeElement?.closest("button, a, summary, select, [role='button']");
  return [
    { keys: ["ArrowDown", "j"], does: "Next step", group: "Steps", when: arrowsAreFree, run: () => rationale.move(1) },
    { keys: ["ArrowUp", "k"], does: "Step before", group: "Steps", when: arrowsAreFree, run: () => rationale.move(-1) },
    { keys: ["n"], does: "Next step that is not supported", group: "Steps", when: () => rationale.doubtful.length > 0, run: () => rationale.moveDoubtful(1) },
    { keys: ["N"], does: "The one before that is not supported", group: "Steps", when: () => rationale.doubtful.length > 0, run: () => rationale.moveDoubtful(-1) },
    { keys: ["Enter"], does: "Unfold or fold its support", group: "Steps", when: () => audit !== null && enterIsFree(), run: () => rationale.toggle(rationale.selected.peek()) },
    { keys: ["x"], does: "Support tree as text or drawing", group: "Steps", when: () => audit !== null, run: () => audit && void (audit.asText.value = !audit.asText.peek()) },
    { keys: ["p"], does: "Play the evidence of the step, then the next piece of it", group: "Clip", when: plays, run: () => void rationale.playEvidence() },
    { keys: [" "], does: "Play or pause", group: "Clip", when: spaceIsFree, run: () => film?.player.toggle() },
    { keys: ["ArrowRight"], does: "Forward one frame", group: "Clip", when: () => plays() && arrowsAreFree(), run: () => void film?.player.step(1) },
    { keys: ["ArrowLeft"], does: "Back one frame", group: "Clip", when: () => plays() && arrowsAreFree(), run: () => void film?.player.step(-1) },
    { keys: ["+", "="], does: "Times closer, around the playhead", group: "Clip", when: () => (film?.mostZoom ?? 0) > 0, run: () => film?.zoomBy(1) },
    { keys: ["-"], does: "More of the clip's times", group: "Clip", when: () => (film?.mostZoom ?? 0) > 0, run: () => film?.zoomBy(-1) },
  ];
}
