// Runs of a tracker or a model for this question: asking for them, watching them, and taking their boxes over.
import { batch, computed, signal } from "@preact/signals";
import { errorText, getJson } from "../../lib/api";
import { keep, readKept } from "../../lib/kept";
import type { Interval } from "../../lib/video/intervals";
import type { Direction, Prompt, Proposer, Run } from "../../lib/video/proposals";
import { acceptance, framesOf, gapAt, hasBoxes, isActive, isIn, windowOf } from "../../lib/video/proposals";
import type { Track } from "../../lib/video/tracks";
import { shownAt } from "../../lib/video/tracks";
import { plural } from "../../lib/words";
import { nameOf } from "./actions";
import { MOST_BYTES } from "./saving";
import type { Store } from "./store";
import { createWatch } from "./watching";

/** How far a run goes unless somebody says otherwise. */
export const WINDOW = 100;
/** Runs of an earlier visit whose boxes are fetched at once; older ones when somebody asks. */
const FETCHED = 4;
const REMEMBERED = 200;

export type Decision = "accepted" | "rejected";
export type Proposals = ReturnType<typeof createProposals>;

export interface Requests {
  get<T>(url: string): Promise<T>;
  post<T>(url: string, body: unknown): Promise<T>;
}

export function createProposals(store: Store, requests: Requests) {
  const { index, player } = store;
  const open = signal(false);
  const proposers = signal<Proposer[] | null>(null);
  const runs = signal<Run[]>([]);
  const problem = signal("");
  const asking = signal(false);
  const chosen = signal("");
  const direction = signal<Direction>("forward");
  const count = signal(WINDOW);
  const text = signal<string | null>(null);
  const decisions = signal<ReadonlyMap<string, Decision>>(remembered());

  const url = (): string | null => store.payload.peek().urls.proposals ?? null;
  const available = computed(() => Boolean(store.payload.value.urls.proposals));

  /** What became of a run; nothing, when its boxes were accepted and taken back since. */
  const decisionOf = (run: Run): Decision | null => {
    const decision = decisions.value.get(run.id) ?? null;
    return decision === "accepted" && !isIn(store.doc.value, run.id) ? null : decision;
  };

  /** Proposed tracks to be drawn: of runs that nobody has decided on. */
  const shown = computed((): { run: Run; track: Track }[] => runs.value.filter((run) => !decisionOf(run)).flatMap((run) => (run.tracks ?? []).map((track) => ({ run, track }))));

  /** The object that a proposed track goes into, when accepted; null: it becomes one of its own. */
  const targetOf = ({ run, track }: { run: Run; track: Track }): string | null => {
    const { track: asked } = run.prompt;
    if (asked && store.doc.value.tracks[asked] && run.tracks?.length === 1) return asked;
    return store.doc.value.tracks[track.id] ? track.id : null;
  };

  // ---- remembering -------------------------------------------------------------------------------------------------------

  function key(): string {
    const { user, id } = store.payload.peek();
    return `reasonaudit-proposals:${user.id}:${id}`;
  }

  function remembered(): Map<string, Decision> {
    try {
      return new Map(JSON.parse(readKept(key()) ?? "[]") as [string, Decision][]);
    } catch {
      return new Map();
    }
  }

  function decide(run: Run, decision: Decision | null): void {
    const next = new Map(decisions.peek());
    next.delete(run.id);
    if (decision) next.set(run.id, decision);
    decisions.value = next;
    keep(key(), JSON.stringify([...next].slice(-REMEMBERED)));
  }

  // ---- asking ------------------------------------------------------------------------------------------------------------

  const proposer = computed(() => {
    const all = proposers.value ?? [];
    return all.find((one) => one.name === chosen.value) ?? all.find((one) => one.available) ?? all[0] ?? null;
  });

  /** The selected object as this frame shows it; null where there is nothing to start from. */
  const start = computed(() => {
    const track = store.selectedTrack.value;
    const frame = player.frame.value;
    const box = track ? shownAt(track, frame)?.box : undefined;
    return track && box ? { track, frame, box } : null;
  });

  const gap = computed((): Interval | null => (start.value ? gapAt(start.value.track, start.value.frame) : null));

  /** What would be asked now, or why it cannot be. */
  const wanted = computed((): { prompt: Prompt } | { why: string } => {
    const by = proposer.value;
    if (!by) return { why: proposers.value ? "This server has no proposer." : "Asking which proposers there are." };
    if (!by.available) return { why: by.why_not || `${by.title} is not available here.` };
    const from = start.value;
    const frame = player.frame.value;
    if (from) {
      if (!by.box) return { why: `${by.title} takes a noun, not a box: press Esc to select nothing.` };
      const common = { proposer: by.name, label: from.track.label, track: from.track.id, text: "" };
      if (direction.value === "gap") {
        const ends = gap.value;
        if (!ends) return { why: "There are no two keyframes around this frame." };
        const [first, last] = ends.map((at) => shownAt(from.track, at)?.box ?? null);
        return { prompt: { ...common, frame: ends[0], box: first ?? null, box_end: last ?? null, start: ends[0], end: ends[1], direction: "gap" } };
      }
      const [first, end] = windowOf(from.frame, count.value, direction.value, index.n);
      if (end - first < 2) return { why: `There is no frame ${direction.value === "backward" ? "before" : "after"} this one.` };
      return { prompt: { ...common, frame: from.frame, box: from.box, start: first, end, direction: direction.value } };
    }
    if (store.selectedTrack.value) return { why: `${nameOf(store.selectedTrack.value)} is not on this frame: go to one where it is.` };
    if (!by.text) return { why: `${by.title} needs a box to start from: select an object that is on this frame.` };
    const noun = (text.value ?? store.doc.value.target_label).trim();
    if (!noun) return { why: "Write what to look for, as one noun." };
    const way = direction.value === "gap" ? "forward" : direction.value;
    const [first, end] = windowOf(frame, count.value, way, index.n);
    return { prompt: { proposer: by.name, label: noun, track: null, text: noun, frame, box: null, start: first, end, direction: way } };
  });

  async function ask(prompt: Prompt): Promise<void> {
    const address = url();
    if (!address || asking.peek()) return;
    if (!store.editable.peek()) return store.say(store.whyNot(), { bad: true });
    batch(() => ((asking.value = true), (problem.value = "")));
    try {
      const run = await requests.post<Run>(address, prompt);
      put([run]);
      store.says.value = `Asked for ${runWords(run)}.`;
      watch();
    } catch (error) {
      problem.value = errorText(error);
    } finally {
      asking.value = false;
    }
  }

  async function propose(): Promise<void> {
    const now = wanted.peek();
    if ("why" in now) return store.say(now.why);
    if (!store.onPicture()) return;
    await ask(now.prompt);
  }

  /** The same again: from the box that the object has there now. */
  function again(run: Run): Promise<void> {
    const { prompt } = run;
    const track = prompt.track ? store.doc.peek().tracks[prompt.track] : undefined;
    const boxAt = (frame: number): Prompt["box"] => (track ? (shownAt(track, frame)?.box ?? null) : null);
    const box = boxAt(prompt.frame) ?? prompt.box;
    return ask({ ...prompt, box, ...(prompt.direction === "gap" ? { box_end: boxAt(prompt.end) ?? prompt.box_end ?? null } : {}) });
  }

  async function cancel(run: Run): Promise<void> {
    try {
      put([await requests.post<Run>(`${url()}${run.id}/cancel/`, {})]);
      watch();
    } catch (error) {
      problem.value = errorText(error);
    }
  }

  // ---- watching ----------------------------------------------------------------------------------------------------------

  function put(next: readonly Run[]): void {
    const known = new Map(runs.peek().map((run) => [run.id, run]));
    for (const run of next) {
      const before = known.get(run.id);
      // A list tells of runs without their boxes.
      known.set(run.id, { ...run, tracks: run.tracks ?? before?.tracks ?? null, flags: run.flags ?? before?.flags ?? {} });
    }
    runs.value = [...known.values()].sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0));
  }

  async function look(run: Run): Promise<void> {
    const was = isActive(run);
    const next = await requests.get<Run>(`${url()}${run.id}/`);
    put([next]);
    if (was && !isActive(next)) store.says.value = `${runWords(next)}: ${stateWords(next)}`;
  }

  const { watch, start: startWatch, stop } = createWatch(problem, () => runs.peek().some(isActive), async () => {
    for (const run of runs.peek().filter(isActive)) await look(run);
  });

  async function load(run: Run): Promise<void> {
    try {
      await look(run);
    } catch (error) {
      problem.value = errorText(error);
    }
  }

  async function begin(): Promise<void> {
    const address = url();
    if (!address) return;
    startWatch();
    try {
      const answer = await requests.get<{ proposers: Proposer[]; runs: Run[] }>(address);
      batch(() => {
        proposers.value = answer.proposers;
        put(answer.runs);
      });
      const waiting = runs.peek().filter((run) => !decisionOf(run) && !run.tracks && !isActive(run) && run.state !== "failed");
      for (const run of waiting.slice(0, FETCHED)) await look(run);
    } catch (error) {
      problem.value = errorText(error);
    }
    watch();
  }

  // ---- deciding ----------------------------------------------------------------------------------------------------------

  /** The chosen stretch of the timelines in frames. */
  const range = computed((): Interval | null => {
    const span = store.span.value;
    return span ? [index.atUs(span[0]), index.atUs(Math.max(span[0], span[1] - 1)) + 1] : null;
  });

  function accept(run: Run, part: Interval | null = null): void {
    const got = acceptance(store.doc.peek(), run, part);
    if (!got) return store.say(part ? "This proposal changes nothing on the chosen frames." : "This proposal changes nothing: its boxes are there, or a person's are.");
    if (got.tracks.some((id) => store.locked.peek().has(id))) return store.say("The object is locked: unlock it in its row first.");
    // What the server refuses would hold up everything after it.
    if (JSON.stringify(got.changes).length > MOST_BYTES) return store.say("That is more than can be saved at once: choose a stretch on the timelines and accept it part by part.", { bad: true });
    if (!store.edit(`Accept proposal: ${run.prompt.label || run.prompt.text || "object"}${part ? `, frames ${part[0]} to ${part[1] - 1}` : ""}`, got.changes)) return;
    if (!part) decide(run, "accepted");
    const [first] = got.tracks;
    if (first) store.select({ kind: "track", id: first });
    store.say(`Accepted ${plural(got.frames, "frame")}. Keyframes that a person set stay.`, { undo: true });
  }

  function reject(run: Run): void {
    decide(run, "rejected");
    store.say("Rejected. Nothing was changed.");
  }

  return {
    open, proposers, runs, problem, asking, chosen, direction, count, text, available, proposer, start, gap, wanted, shown, range, decisionOf, targetOf,
    ask, propose, again, cancel, load, begin, stop, accept, reject,
    reopen: (run: Run): void => decide(run, null),
    toggle(): void {
      const inside = document.activeElement?.closest("[data-proposals]");
      open.value = !open.peek();
      if (!open.peek() && inside) document.querySelector<HTMLElement>('.tools [aria-label="Propose boxes"]')?.focus();
      if (open.peek()) requestAnimationFrame(() => document.querySelector<HTMLElement>("#proposals-title")?.focus());
    },
    /** Opens the panel at one run. */
    show(run: Run): void {
      open.value = true;
      requestAnimationFrame(() => {
        const card = document.querySelector<HTMLElement>(`[data-run="${run.id}"]`);
        card?.scrollIntoView({ block: "nearest" });
        card?.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
      });
    },
  };
}

export function runWords({ prompt }: Run): string {
  const [start, end] = framesOf(prompt);
  return `${prompt.label || prompt.text || "object"}, frames ${start} to ${end - 1}`;
}

export function stateWords(run: Run): string {
  switch (run.state) {
    case "queued":
      return "waits for its turn";
    case "running":
      return run.total ? `${run.done} of ${plural(run.total, "frame")}` : "works";
    case "paused":
      return "paused";
    case "cancelled":
      return hasBoxes(run) ? "cancelled; what it had found is shown" : "cancelled";
    case "failed":
      return "failed";
    case "partial":
      return "partly done";
    case "done":
      return run.tracks && !hasBoxes(run) ? "found nothing" : "done";
  }
}

export const requestsOf = (post: Requests["post"]): Requests => ({ get: getJson, post });
