// State of the audit pane. Everything that is shown follows from these signals.
import { batch, computed, effect, signal } from "@preact/signals";
import { Latest, errorText, getJson, isAbort, postJson } from "../../lib/api";
import type { Edge, Model } from "../../lib/model";
import { buildModel, firstOfInterest, modelOf } from "../../lib/model";
import type { AuditPayload, AuditWord, FlipChange, FlipsPayload, RelationWord, WhatIfPayload } from "../../lib/payload";
import type { OpenedByHand } from "../../lib/tree-layout";
import * as whatIf from "../../lib/what-if";

export type Tab = "tree" | "hypergraph" | "node-link" | "table";

/** A wait shorter than this shows no spinner: it would only flicker. */
const SLOW_MS = 300;

export type FlipState =
  | { kind: "closed" }
  | { kind: "asking"; to: AuditWord }
  | { kind: "ready"; to: AuditWord; answer: FlipsPayload }
  | { kind: "failed"; to: AuditWord; problem: string };

export interface EdgeMenuState {
  edge: Edge;
  /** Where to open: left and bottom of what was pressed, in the window. */
  x: number;
  y: number;
  opener: Element | null;
}

export type Store = ReturnType<typeof createStore>;

/** `whatIf: false` leaves out what asks the server to suppose: the what-if mode and the smallest changes. */
export function createStore(payload: AuditPayload, source: string, startAt: number | null, { whatIf: canSuppose = true } = {}) {
  const stored = modelOf(payload);
  const selected = signal(startAt && stored.segments.has(startAt) ? startAt : firstOfInterest(stored));
  const tab = signal<Tab>("tree");
  const asText = signal(false);
  const opened = signal<OpenedByHand>(new Map());

  const whatIfOn = signal(false);
  const history = signal<whatIf.History>(whatIf.EMPTY_HISTORY);
  const answer = signal<WhatIfPayload | null>(null);
  const asking = signal(false);
  const slow = signal(false);
  const problem = signal("");
  const menu = signal<EdgeMenuState | null>(null);
  const flips = signal<FlipState>({ kind: "closed" });

  const supposed = computed<Model | null>(() => {
    if (!answer.value) return null;
    const changed = new Map(answer.value.segments.map((segment) => [segment.index, segment]));
    const segments = payload.segments.map((segment) => ({ ...segment, ...changed.get(segment.index) }));
    return buildModel(segments, answer.value.edges, payload.run.parameters ?? {});
  });
  const model = computed<Model>(() => (whatIfOn.value && supposed.value ? supposed.value : stored));
  const changes = computed(() => (whatIfOn.value ? (answer.value?.changed ?? []) : []));

  const whatIfRequest = new Latest();
  const flipRequest = new Latest();

  async function ask(edits: whatIf.EdgeEdit[]): Promise<void> {
    const timer = setTimeout(() => (slow.value = true), SLOW_MS);
    asking.value = true;
    problem.value = "";
    let aborted = false;
    try {
      const got = await whatIfRequest.run((signal) => postJson<WhatIfPayload>(`${source}what-if/`, { edits }, signal));
      answer.value = got;
    } catch (error) {
      aborted = isAbort(error);
      if (!aborted) problem.value = errorText(error);
    } finally {
      clearTimeout(timer);
      // An aborted request was replaced by a newer one, which owns these flags now.
      if (!aborted) batch(() => ((asking.value = false), (slow.value = false)));
    }
  }

  const edits = computed(() => history.value.present);
  effect(() => {
    const present = edits.value;
    if (present.length > 0) {
      void ask(present);
      return;
    }
    whatIfRequest.abort();
    batch(() => {
      answer.value = null;
      asking.value = false;
      slow.value = false;
      problem.value = "";
    });
  });

  function select(index: number): void {
    if (!stored.segments.has(index) || index === selected.peek()) return;
    flipRequest.abort();
    batch(() => {
      selected.value = index;
      opened.value = new Map();
      menu.value = null;
      flips.value = { kind: "closed" };
    });
  }

  return {
    payload,
    canSuppose,
    stored,
    model,
    selected,
    tab,
    asText,
    opened,
    whatIfOn,
    history,
    edits,
    changes,
    asking,
    slow,
    problem,
    menu,
    flips,
    select,
    /** Moves the selection by whole segments in reading order; stops at the ends. */
    move(step: number): void {
      const order = [...stored.segments.keys()].sort((a, b) => a - b);
      const at = order.indexOf(selected.peek());
      const next = order[Math.min(order.length - 1, Math.max(0, at + step))];
      if (next !== undefined) select(next);
    },
    openMore(index: number, support: number, against: number): void {
      opened.value = new Map(opened.peek()).set(index, { support, against });
    },
    edit(edge: Edge, label: RelationWord | null): void {
      batch(() => {
        history.value = whatIf.apply(history.peek(), [{ premises: edge.premises, target: edge.target, label }], stored);
        menu.value = null;
      });
    },
    tryFlip(set: FlipChange[]): void {
      batch(() => {
        whatIfOn.value = true;
        history.value = whatIf.tryChanges(history.peek(), set);
      });
    },
    undo: () => void (history.value = whatIf.undo(history.peek())),
    redo: () => void (history.value = whatIf.redo(history.peek())),
    reset: () => void (history.value = whatIf.reset(history.peek())),
    retry: () => void ask(edits.peek()),
    openMenu(edge: Edge, opener: Element): void {
      const place = opener.getBoundingClientRect();
      menu.value = { edge, x: place.left, y: place.bottom + 4, opener };
    },
    closeMenu(): void {
      const opener = menu.peek()?.opener;
      menu.value = null;
      if (opener instanceof HTMLElement || opener instanceof SVGElement) opener.focus();
    },
    async askFlips(to: AuditWord): Promise<void> {
      flips.value = { kind: "asking", to };
      const index = selected.peek();
      try {
        const url = `${source}flips/?segment=${index}&to=${to}`;
        const got = await flipRequest.run((signal) => getJson<FlipsPayload>(url, signal));
        flips.value = { kind: "ready", to, answer: got };
      } catch (error) {
        if (!isAbort(error)) flips.value = { kind: "failed", to, problem: errorText(error) };
      }
    },
    closeFlips(): void {
      flipRequest.abort();
      flips.value = { kind: "closed" };
    },
  };
}
