// The questions of one clip: another one comes on the screen without loading the page, so that picture, index and sound stay. What
// was not sent of the one before goes on being sent; it is in the browser's store all the while.
import { computed, signal } from "@preact/signals";
import { errorText, getJson } from "../../lib/api";
import type { QueueStore } from "../../lib/queue-store";
import { claimTabId } from "../../lib/tab-lock";
import type { Clip } from "./clip";
import { closeClip } from "./clip";
import type { OtherQuestion, RefinePayload } from "./types";
import type { Workspace } from "./workspace";
import { createWorkspace } from "./workspace";

export type Questions = ReturnType<typeof createQuestions>;

export interface Screen {
  /** Puts a question's workspace on the screen, in place of the one that is there. */
  show(workspace: Workspace): void;
  /** Loads another page. */
  load(url: string): void;
}

interface Prepared {
  payload: RefinePayload;
  tab: string;
}

export const claimTab = (user: number, assignment: string): Promise<string> => claimTabId(`reasonaudit-tab:${user}:${assignment}`, localStorage);

const pathOf = (url: string): string => new URL(url, location.href).pathname;

export function createQuestions(first: Workspace, clip: Clip, kept: QueueStore, screen: Screen) {
  const user = first.store.payload.peek().user.id;
  const current = signal(first);
  /** All that were on the screen, by the path of their page. */
  const opened = new Map<string, Workspace>([[pathOf(first.store.payload.peek().question.others.find((one) => one.here)?.url ?? location.href), first]]);
  const seen = signal<Workspace[]>([first]);
  const prepared = new Map<string, Promise<Prepared>>();
  const off = new AbortController();
  let wishes = 0;

  /** Questions that are not on the screen and have changes which do not get to the server. */
  const unsent = computed(() =>
    seen.value.flatMap((one) => {
      const { pending, offline, hold, parked } = one.store.save.value;
      const { number } = one.store.payload.value.question;
      return one !== current.value && pending && (offline || parked.size || (hold && hold.kind !== "asking")) ? [{ number, pending, url: urlOf(one) }] : [];
    }),
  );
  const urlOf = (workspace: Workspace): string => [...opened].find(([, one]) => one === workspace)?.[0] ?? "";

  const othersOf = (workspace: Workspace): OtherQuestion[] => workspace.store.payload.peek().question.others.filter((one) => !one.here);

  function prepare({ url, id, detail }: OtherQuestion): Promise<Prepared> | null {
    if (!id || !detail) return null;
    const path = pathOf(url);
    let waiting = prepared.get(path);
    if (!waiting) {
      waiting = Promise.all([getJson<RefinePayload>(detail), claimTab(user, id)]).then(([payload, tab]) => ({ payload, tab }));
      prepared.set(path, waiting);
      // What failed is asked again when somebody goes there.
      waiting.catch(() => prepared.delete(path));
    }
    return waiting;
  }

  /** Fetches what follows, so that going there waits for nothing. */
  function prefetch(): void {
    const all = current.peek().store.payload.peek().question.others;
    const here = all.findIndex((one) => one.here);
    const next = all[here + 1] ?? all[here - 1];
    if (next && !next.here && !opened.has(pathOf(next.url))) void prepare(next)?.catch(() => undefined);
  }

  /** The same person and the same media as those on the screen: another file has another index. */
  const belongsHere = ({ user: { id }, video }: RefinePayload): boolean => {
    const here = first.store.payload.peek().video;
    return id === user && video.urls.media === here.urls.media && video.n === here.n;
  };

  async function workspaceOf(other: OtherQuestion): Promise<{ workspace: Workspace; fetched: boolean } | null> {
    const path = pathOf(other.url);
    const there = opened.get(path);
    if (there) return { workspace: there, fetched: false };
    const wasPrepared = prepared.has(path);
    const answer = await prepare(other);
    if (!answer || !belongsHere(answer.payload)) return null;
    const workspace = createWorkspace(answer.payload, clip, kept, answer.tab);
    await workspace.session.open();
    prepared.delete(path);
    opened.set(path, workspace);
    seen.value = [...seen.peek(), workspace];
    return { workspace, fetched: !wasPrepared };
  }

  async function go(other: OtherQuestion, way: "push" | "pop" = "push"): Promise<void> {
    const wish = ++wishes;
    const from = current.peek();
    try {
      // What is being typed counts before anything else happens.
      (document.activeElement as HTMLElement | null)?.blur?.();
      from.flush();
      const got = await workspaceOf(other);
      // The newest wish wins.
      if (wish !== wishes) return;
      if (!got) return screen.load(other.url);
      enter(got.workspace, got.fetched, other.url, way);
    } catch (error) {
      if (wish !== wishes) return;
      from.store.problem.value = `Q${other.number} could not be opened. ${errorText(error)}`;
      // The address goes back to what is on the screen.
      if (way === "pop") history.pushState(null, "", urlOf(from));
    }
  }

  function enter(workspace: Workspace, fetched: boolean, url: string, way: "push" | "pop"): void {
    const from = current.peek();
    if (workspace === from) return;
    clip.player.pause();
    clip.player.leaveRange();
    from.leave();
    if (way === "push") history.pushState(null, "", url);
    current.value = workspace;
    connect(workspace);
    screen.show(workspace);
    void workspace.enter(fetched ? null : workspace.session.fetched()).then(prefetch);
  }

  /** Goes to a page if it is a question of this clip; false: it is not. */
  function openUrl(url: string): boolean {
    const path = pathOf(url);
    const other = othersOf(current.peek()).find((one) => pathOf(one.url) === path);
    if (!other?.detail) return false;
    void go(other);
    return true;
  }

  function connect(workspace: Workspace): void {
    workspace.openUrl = openUrl;
    workspace.unsentElsewhere = unsent;
    workspace.loggedIn = () => {
      for (const one of seen.peek()) if (one === workspace || one.queue.state.hold?.kind === "login") one.session.loggedIn();
    };
  }

  connect(first);
  window.addEventListener(
    "popstate",
    () => {
      const there = opened.get(location.pathname);
      const other = othersOf(current.peek()).find((one) => pathOf(one.url) === location.pathname);
      if (there && there !== current.peek()) {
        wishes++;
        enter(there, false, location.pathname, "pop");
      } else if (other) void go(other, "pop");
    },
    { signal: off.signal },
  );

  return {
    current, openUrl, prefetch,
    stop(): void {
      off.abort();
      for (const one of seen.peek()) one.stop();
      closeClip(clip);
    },
  };
}
