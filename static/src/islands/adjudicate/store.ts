// State of the adjudicator's page: the queue, the open case, and what is about to be said of each segment of it.
import { batch, computed, signal } from "@preact/signals";
import { errorText, getJson } from "../../lib/api";
import type { GoldWord } from "../../lib/payload";
import type { Draft } from "./draft";
import { draftOf, inOrder, sameDraft, sameRow, toggle, whatIsMissing } from "./draft";
import type { Answer } from "./server";
import { Server } from "./server";
import type { AgreementPayload, DecisionState, ItemPayload, JudgedSegment, PagePayload, QueuePayload, SegmentAudit } from "./types";
import { isJudged } from "./types";

const SAVE_AFTER_MS = 1000;
const TRY_AGAIN_MS = 5000;

export interface Place {
  item: string;
  index: number;
}

export type SaveState = { kind: "none" | "waiting" | "saving" | "saved"; at?: Date } | { kind: "failed"; message: string };

export type DialogState = { kind: "login" } | { kind: "conflict"; place: Place; mine: Draft; current: DecisionState; final: boolean } | { kind: "return"; letter: string } | { kind: "reopen"; index: number };

/** A change on its way: the same key and body until there is an answer. */
interface Sending {
  place: Place;
  draft: Draft;
  final: boolean;
  base: number;
  key: string;
}

interface SegmentReply {
  version: number;
  decision: DecisionState;
  next?: Place | null;
}

export type Store = ReturnType<typeof createStore>;

export function createStore(page: PagePayload, start: Place | null) {
  const server = new Server(page);
  const queue = signal<QueuePayload>(page.queue);
  const rows = computed(() => inOrder(queue.value.queue));
  const item = signal<ItemPayload | null>(null);
  const current = signal<Place | null>(null);
  const loading = signal(false);
  const problem = signal("");
  const drafts = signal<ReadonlyMap<number, Draft>>(new Map());
  const save = signal<SaveState>({ kind: "none" });
  const blocked = signal("");
  const dialog = signal<DialogState | null>(null);
  const agreement = signal<AgreementPayload | null>(null);
  const audits = signal<ReadonlyMap<string, SegmentAudit>>(new Map());
  const says = signal("");
  const clause = signal<number | null>(null);

  const judged = computed<JudgedSegment[]>(() => (item.value?.segments ?? []).filter(isJudged));
  const segment = computed<JudgedSegment | null>(() => judged.value.find((one) => one.index === current.value?.index) ?? null);
  const draft = computed<Draft>(() => {
    const one = segment.value;
    if (!one) return { label: null, reasons: [], note: "" };
    return drafts.value.get(one.index) ?? draftOf(one.decision);
  });
  /** Whether something may be said of the current segment: it waits for a decision and this person decides. */
  const finalOnItsWay = signal(false);
  const editable = computed(() => !finalOnItsWay.value && page.may_decide && item.value?.may_decide === true && segment.value?.open === true);
  const next = computed(() => {
    const open = rows.value.filter((row) => !row.decided);
    const at = open.findIndex((row) => sameRow(row, current.value));
    return open.slice(at + 1).concat(open.slice(0, Math.max(at, 0)))[0] ?? null;
  });

  let timer: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let sending: Sending | null = null;
  let chain: Promise<unknown> = Promise.resolve();

  const segmentAt = (place: Place): JudgedSegment | undefined => (item.peek()?.item === place.item ? judged.peek().find((one) => one.index === place.index) : undefined);

  function setDecision(place: Place, decision: DecisionState): void {
    const now = item.peek();
    if (now?.item !== place.item) return;
    item.value = {
      ...now,
      segments: now.segments.map((one) => (isJudged(one) && one.index === place.index ? { ...one, decision, open: decision.draft !== null || (one.open && decision.final === null) } : one)),
    };
  }

  const unsaved = (): boolean => {
    const one = segment.peek();
    const mine = one && drafts.peek().get(one.index);
    return sending !== null || Boolean(one && mine && !sameDraft(mine, draftOf(one.decision)));
  };

  function change(changes: Partial<Draft>): void {
    const one = segment.peek();
    if (!one || !editable.peek()) return;
    batch(() => {
      drafts.value = new Map(drafts.peek()).set(one.index, { ...draft.peek(), ...changes });
      blocked.value = "";
      save.value = { kind: "waiting" };
    });
    clearTimeout(timer);
    timer = setTimeout(() => void saveDraft(), SAVE_AFTER_MS);
  }

  /** One request at a time, in order: a final decision never overtakes the draft before it. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const run = chain.then(work, work);
    chain = run.catch(() => undefined);
    return run;
  };

  const saveDraft = (leaving = false): Promise<boolean> => {
    clearTimeout(timer);
    const [place, mine] = [current.peek(), draft.peek()];
    return inTurn(async () => {
      const one = place && segmentAt(place);
      if (!place || !one || !one.open || sameDraft(mine, draftOf(one.decision))) {
        if (save.peek().kind === "waiting") save.value = { kind: "none" };
        return true;
      }
      return (await send({ place, draft: mine, final: false, base: one.decision.version, key: crypto.randomUUID() }, leaving)) !== null;
    });
  };

  async function send(wanted: Sending, leaving = false): Promise<SegmentReply | null> {
    // What was sent and not answered comes first, unchanged: only its answer tells which version stands.
    if (sending && sending.key !== wanted.key) {
      await deliver(sending, leaving);
      if (sending) return null;
      const stands = segmentAt(wanted.place);
      if (!stands?.open) return null;
      wanted.base = stands.decision.version;
    }
    return deliver(wanted, leaving);
  }

  async function deliver(change: Sending, leaving: boolean): Promise<SegmentReply | null> {
    sending = change;
    finalOnItsWay.value = change.final;
    save.value = { kind: "saving" };
    clearTimeout(again);
    const { place } = change;
    const body = { base_version: change.base, ...change.draft, guideline: page.guideline?.version ?? null, final: change.final };
    const answer = await server.write<SegmentReply>("PUT", server.url("segment", place.item, place.index), body, change.key, leaving);
    return settle(change, answer);
  }

  function settle(change: Sending, answer: Answer<SegmentReply>): SegmentReply | null {
    if (answer.kind === "unknown") {
      save.value = { kind: "failed", message: `${answer.message} Your text is kept here and sent again.` };
      again = setTimeout(() => void inTurn(() => send(change)), TRY_AGAIN_MS);
      return null;
    }
    sending = null;
    finalOnItsWay.value = false;
    if (answer.kind === "done") {
      batch(() => {
        setDecision(change.place, answer.reply.decision);
        const mine = drafts.peek().get(change.place.index);
        if (mine && sameDraft(mine, change.draft)) {
          const left = new Map(drafts.peek());
          left.delete(change.place.index);
          drafts.value = left;
        }
        save.value = { kind: "saved", at: new Date() };
      });
      if (change.final) void afterDecision(change.place);
      return answer.reply;
    }
    if (answer.kind === "conflict") {
      const theirs = draftOf(answer.current);
      if (!change.final && sameDraft(theirs, change.draft) && answer.current.draft) {
        setDecision(change.place, answer.current);
        save.value = { kind: "saved", at: new Date() };
        return null;
      }
      save.value = { kind: "failed", message: "Saved elsewhere meanwhile: compare the two." };
      dialog.value = { kind: "conflict", place: change.place, mine: change.draft, current: answer.current, final: change.final };
      return null;
    }
    save.value = { kind: "failed", message: `${answer.message} Your text is kept here.` };
    if (answer.kind === "login") dialog.value = { kind: "login" };
    return null;
  }

  async function decide(): Promise<void> {
    const [place, one] = [current.peek(), segment.peek()];
    if (!place || !one || !editable.peek()) return;
    const mine = draft.peek();
    const missing = whatIsMissing(mine, one, page.limits.note);
    if (missing) {
      blocked.value = missing;
      return;
    }
    clearTimeout(timer);
    drafts.value = new Map(drafts.peek()).set(place.index, mine);
    await inTurn(() => {
      const now = segmentAt(place);
      return send({ place, draft: mine, final: true, base: now?.decision.version ?? one.decision.version, key: crypto.randomUUID() });
    });
  }

  async function afterDecision(place: Place): Promise<void> {
    says.value = `The decision on S${place.index} is saved.`;
    await refresh(place.item);
    await loadAudit(place);
  }

  async function loadQueue(): Promise<void> {
    queue.value = await getJson<QueuePayload>(page.urls.queue);
  }

  async function loadItem(id: string): Promise<void> {
    const found = await getJson<ItemPayload>(server.url("item", id));
    // The person may have gone on to another case meanwhile.
    if (current.peek()?.item === id) item.value = found;
  }

  /** Queue and case as the server has them now. */
  async function refresh(id: string | null): Promise<void> {
    try {
      await Promise.all([loadQueue(), id && id === current.peek()?.item ? loadItem(id) : undefined]);
      problem.value = "";
    } catch (error) {
      problem.value = errorText(error);
    }
  }

  /** Where the page is going, or is: two quick steps are two steps, and of two ways the last one counts. */
  let heading: Place | null = null;

  async function go(place: Place | null): Promise<void> {
    if (!place || sameRow(place, heading)) return;
    heading = place;
    await saveDraft();
    if (heading !== place) return;
    if (dialog.peek()?.kind === "conflict" || save.peek().kind === "failed") {
      heading = current.peek();
      return;
    }
    const other = item.peek()?.item !== place.item;
    batch(() => {
      current.value = place;
      blocked.value = "";
      clause.value = null;
      save.value = { kind: "none" };
      if (other) {
        item.value = null;
        drafts.value = new Map();
        loading.value = true;
      }
    });
    history.replaceState(history.state, "", `?item=${place.item}&segment=${place.index}`);
    if (other) {
      try {
        await loadItem(place.item);
        problem.value = "";
      } catch (error) {
        problem.value = errorText(error);
      }
      if (heading !== place) return;
      loading.value = false;
    }
    await loadAudit(place);
  }

  /** Only of a segment that is decided: before that the server does not give it. */
  async function loadAudit(place: Place): Promise<void> {
    const one = segmentAt(place);
    if (!one?.decision.final || one.open) return;
    try {
      const found = await getJson<SegmentAudit>(server.url("audit", place.item, place.index));
      audits.value = new Map(audits.peek()).set(`${place.item}:${place.index}`, found);
    } catch (error) {
      audits.value = new Map(audits.peek()).set(`${place.item}:${place.index}`, { none: errorText(error) });
    }
  }

  async function post<T>(url: string, body: unknown): Promise<string> {
    const answer = await server.write<T>("POST", url, body, crypto.randomUUID());
    if (answer.kind === "done") return "";
    if (answer.kind === "login") dialog.value = { kind: "login" };
    return answer.kind === "conflict" ? "It was changed elsewhere meanwhile." : answer.message;
  }

  const step = (by: number): void => {
    const list = rows.peek();
    const at = list.findIndex((row) => sameRow(row, heading));
    const to = at < 0 ? list[0] : list[at + by];
    if (to) void go(to);
  };

  return {
    page,
    server,
    queue,
    rows,
    item,
    current,
    loading,
    problem,
    save,
    blocked,
    dialog,
    agreement,
    audits,
    says,
    clause,
    judged,
    segment,
    draft,
    editable,
    next,
    unsaved,
    go,
    step,
    decide,
    refresh,
    saveDraft,
    choose: (label: GoldWord): void => change({ label }),
    toggleReason: (code: string): void => change({ reasons: toggle(draft.peek().reasons, code) }),
    note: (note: string): void => change({ note }),
    skip: (): void => void go(next.peek()),
    tryAgain: (): void => void inTurn(async () => (sending ? send(sending) : null)).then(() => saveDraft()),
    /** Keep what is here: it is saved over what the other one saved, which stays in the record. */
    async keepMine(): Promise<void> {
      const state = dialog.peek();
      if (state?.kind !== "conflict") return;
      dialog.value = null;
      setDecision(state.place, state.current);
      drafts.value = new Map(drafts.peek()).set(state.place.index, state.mine);
      if (segmentAt(state.place)?.open) await saveDraft();
      else save.value = { kind: "failed", message: "It is decided meanwhile: open it again with a reason to change that. Your text is kept here." };
    },
    async takeTheirs(): Promise<void> {
      const state = dialog.peek();
      if (state?.kind !== "conflict") return;
      const left = new Map(drafts.peek());
      left.delete(state.place.index);
      batch(() => {
        dialog.value = null;
        drafts.value = left;
        save.value = { kind: "none" };
        setDecision(state.place, state.current);
      });
      await refresh(state.place.item);
    },
    async reopen(index: number, reason: string): Promise<string> {
      const id = current.peek()?.item ?? "";
      const wrong = await post(server.url("reopen", id, index), { reason });
      if (wrong) return wrong;
      dialog.value = null;
      await refresh(id);
      await go({ item: id, index });
      return "";
    },
    async giveBack(letter: string, reason: string, remark: string): Promise<string> {
      const place = current.peek();
      if (!place) return "";
      await saveDraft();
      const wrong = await post(server.url("return", place.item), { letter, reason, remarks: remark.trim() ? { [place.index]: remark } : {} });
      if (wrong) return wrong;
      says.value = "The work was returned; the case leaves the queue until it comes back.";
      heading = null;
      batch(() => {
        dialog.value = null;
        current.value = null;
        item.value = null;
        drafts.value = new Map();
      });
      await refresh(null);
      await go(rows.peek().find((row) => !row.decided) ?? null);
      return "";
    },
    async flagClause(): Promise<void> {
      const [place, one] = [current.peek(), segment.peek()];
      if (!place || !one) return;
      const flagged = !one.clause_unclear;
      const wrong = await post(server.url("flag", place.item, place.index), { flagged, note: flagged ? draft.peek().note.slice(0, page.limits.note) : "" });
      if (wrong) {
        blocked.value = wrong;
        return;
      }
      says.value = flagged ? "The study's lead is told that the clause is unclear." : "The clause is no longer called unclear.";
      const now = item.peek();
      if (now) item.value = { ...now, segments: now.segments.map((row) => (isJudged(row) && row.index === place.index ? { ...row, clause_unclear: flagged } : row)) };
    },
    async begin(): Promise<void> {
      void getJson<AgreementPayload>(page.urls.agreement)
        .then((found) => (agreement.value = found))
        .catch(() => undefined); // a figure beside the work: without it the work goes on
      await go(start ?? rows.peek().find((row) => !row.decided) ?? null);
    },
  };
}
