// Versions of the reasoning that a model wrote for this question: asking for them, watching, and taking their texts over.
import { batch, computed, signal } from "@preact/signals";
import { errorText } from "../../lib/api";
import type { Changes, TextChange } from "../../lib/video/changes";
import { changesOf } from "../../lib/video/changes";
import type { VideoDocument } from "../../lib/video/document";
import { emptyDocument } from "../../lib/video/document";
import { textChange } from "../../lib/video/edits";
import type { RunState } from "../../lib/video/proposals";
import { isActive } from "../../lib/video/proposals";
import type { Requests } from "./proposals";
import type { Store } from "./store";
import { createWatch } from "./watching";

/** The version that was imported with the question. */
export const IMPORTED = "imported";

export type DraftKind = "target_label" | "reasoning";
export type Drafts = ReturnType<typeof createDrafts>;

export interface DraftRun {
  id: string;
  kind: DraftKind;
  model: string;
  state: RunState;
  done: number;
  total: number;
  message: string;
  created_at: string;
}

export interface Version {
  id: string;
  number: number;
  kind: DraftKind;
  created_at: string;
  model: string;
  /** Name of the prompt, with its version. */
  prompt: string;
  warnings: string[];
  document: VideoDocument;
}

interface Answer {
  available: boolean;
  why_not: string;
  connections: { name: string; pictures: number }[];
  runs: DraftRun[];
  versions: Version[];
}

export const KIND_WORDS: Record<DraftKind, string> = { target_label: "target label", reasoning: "reasoning" };

const isLabel = ({ path }: TextChange): boolean => path[0] === "target_label";

/** What is different between a version and the present answer, in the parts that the version speaks of. */
export function against(version: Version | null, imported: VideoDocument | null, present: VideoDocument): Changes {
  if (!version) return changesOf(imported ?? emptyDocument(), present);
  const { texts } = changesOf(version.document, present);
  return { texts: texts.filter((text) => isLabel(text) === (version.kind === "target_label")), tracks: [], sounds: [], links: { added: 0, removed: 0, changed: 0 } };
}

/** Whether a version says anything there: what it leaves empty never takes the place of what a person wrote. */
export const canTake = ({ before }: TextChange): boolean => before !== "";

export function createDrafts(store: Store, requests: Requests) {
  const info = signal<Answer | null>(null);
  /** Of asking for reasoning, and of looking; that of asking for a label stands beside the label. */
  const problem = signal("");
  const labelProblem = signal("");
  const asking = signal(false);
  const connection = signal("");
  const chosen = signal(IMPORTED);
  /** Ids of versions that were there when a label was asked for; null: none was, or its answer is dealt with. */
  const known = signal<ReadonlySet<string> | null>(null);

  const url = (): string | null => store.payload.peek().urls.drafts ?? null;
  const available = computed(() => info.value?.available ?? false);
  const whyNot = computed(() => (store.payload.value.urls.drafts ? (info.value?.why_not ?? "") : ""));
  const connections = computed(() => info.value?.connections ?? []);
  const runs = computed(() => info.value?.runs ?? []);
  const versions = computed(() => info.value?.versions ?? []);
  const version = computed(() => versions.value.find((one) => one.id === chosen.value) ?? null);
  /** The newest run of each kind: the older ones are history. */
  const newest = (kind: DraftKind): DraftRun | null => runs.value.find((run) => run.kind === kind) ?? null;
  /** The label that the model offers since it was asked here. */
  const offered = computed((): Version | null => {
    const before = known.value;
    return before ? (versions.value.find((one) => one.kind === "target_label" && !before.has(one.id)) ?? null) : null;
  });

  async function ask(kind: DraftKind): Promise<void> {
    const address = url();
    if (!address || asking.peek()) return;
    if (!store.editable.peek()) return store.say(store.whyNot(), { bad: true });
    const said = kind === "target_label" ? labelProblem : problem;
    batch(() => ((asking.value = true), (said.value = "")));
    try {
      const run = await requests.post<DraftRun>(address, { kind, connection: connection.peek() });
      if (kind === "target_label") known.value = new Set(versions.peek().map(({ id }) => id));
      put(run);
      store.says.value = `Asked ${run.model} for the ${KIND_WORDS[kind]}.`;
      watch();
    } catch (error) {
      said.value = errorText(error);
    } finally {
      asking.value = false;
    }
  }

  async function cancel(run: DraftRun): Promise<void> {
    try {
      put(await requests.post<DraftRun>(`${url()}${run.id}/cancel/`, {}));
      watch();
    } catch (error) {
      problem.value = errorText(error);
    }
  }

  function put(run: DraftRun): void {
    const now = info.peek();
    if (now) info.value = { ...now, runs: [run, ...now.runs.filter(({ id }) => id !== run.id)] };
  }

  async function look(): Promise<void> {
    const address = url();
    if (!address) return;
    const before = info.peek();
    const next = await requests.get<Answer>(address);
    const waited = new Set((before?.runs ?? []).filter(isActive).map(({ id }) => id));
    const ended = next.runs.filter((run) => waited.has(run.id) && !isActive(run));
    batch(() => {
      info.value = next;
      for (const run of ended) {
        if (run.state === "done" && run.kind === "reasoning") chosen.value = next.versions.find(({ kind }) => kind === run.kind)?.id ?? chosen.peek();
        tell(run);
      }
    });
  }

  function tell(run: DraftRun): void {
    const words = `The ${KIND_WORDS[run.kind]}`;
    if (run.state === "done") store.says.value = `${words} is drafted.`;
    else if (run.state === "cancelled") store.says.value = `${words} was cancelled.`;
    else store.says.value = `${words} could not be drafted. ${run.message}`;
    // Where the dialog is closed, nothing else would show that it is there.
    if (run.state === "done" && run.kind === "reasoning" && store.dialog.peek() !== "changes") store.say("A draft of the reasoning is there: see More, Versions.");
  }

  const { watch, start, stop } = createWatch(problem, () => runs.peek().some(isActive), look);

  async function begin(): Promise<void> {
    if (!url()) return;
    start();
    try {
      await look();
    } catch (error) {
      problem.value = errorText(error);
    }
    watch();
  }

  /** Texts of a version in the place of the present ones: one operation, so one step of undo. */
  function take(texts: readonly TextChange[], from: Version | null): void {
    const source = from?.document ?? store.payload.peek().generated;
    const taken = texts.filter(canTake);
    if (!source || !taken.length) return store.say("This version has nothing there to take over.");
    const what = taken.length === 1 ? (taken[0] as TextChange).name.toLowerCase() : KIND_WORDS[from?.kind ?? "reasoning"];
    const name = from ? `version ${from.number}` : "the imported version";
    const changes = taken.map(({ path }) => textChange(store.doc.peek(), path, source));
    if (store.edit(`Take over ${what} of ${name}`, changes)) store.say(`Took over the ${what} of ${name}.`, { undo: true });
  }

  function takeLabel(): void {
    const from = offered.peek();
    if (!from) return;
    const { target_label: label } = from.document;
    if (label && label !== store.doc.peek().target_label && !store.edit(`Take over target label of version ${from.number}`, [textChange(store.doc.peek(), ["target_label"], from.document)])) return;
    dismiss();
  }

  function dismiss(): void {
    known.value = null;
    document.getElementById("target-label")?.focus();
  }

  return {
    available, whyNot, connections, connection, runs, versions, version, chosen, problem, labelProblem, asking, offered, known, newest, ask, cancel, begin, stop, take, takeLabel, dismiss,
  };
}
