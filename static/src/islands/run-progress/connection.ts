// Keeps one run up to date: a socket for live messages, a poll while the socket is not there, and a new try after each loss.
import { getJson } from "../../lib/api";
import type { ProgressAction, RunMessage } from "../../lib/progress";
import { hasEnded, reconnectDelay } from "../../lib/progress";

const POLL_SECONDS = 2;

export interface Addresses {
  /** GET gives the newest message. */
  source: string;
  /** Path of the socket; "" = poll only. */
  socket: string;
}

export function connect(addresses: Addresses, dispatch: (action: ProgressAction) => void, isOver: () => boolean): { restart(): void; stop(): void } {
  let socket: WebSocket | null = null;
  let attempt = 0;
  let retry: number | undefined;
  let poll: number | undefined;
  let stopped = false;

  const take = (message: RunMessage): void => {
    dispatch({ type: "message", message });
    if (hasEnded(message) && isOver()) closeAll();
  };
  const closeAll = (): void => {
    window.clearTimeout(retry);
    window.clearTimeout(poll);
    const old = socket;
    socket = null;
    old?.close();
  };
  const isLive = (): boolean => socket?.readyState === WebSocket.OPEN;

  const ask = async (): Promise<void> => {
    window.clearTimeout(poll);
    try {
      take(await getJson<RunMessage>(addresses.source));
      if (!isLive() && !isOver()) dispatch({ type: "link", link: "polling" });
    } catch {
      if (!isLive()) dispatch({ type: "link", link: "lost" });
    }
    window.clearTimeout(poll);
    if (!stopped && !isLive() && !isOver()) poll = window.setTimeout(() => void ask(), POLL_SECONDS * 1000);
  };

  const open = (): void => {
    if (!addresses.socket || stopped) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const own = new WebSocket(`${scheme}://${location.host}${addresses.socket}`);
    socket = own;
    own.addEventListener("open", () => {
      attempt = 0;
      dispatch({ type: "link", link: "live" });
      // What happened before the socket was there.
      void ask();
    });
    own.addEventListener("message", (event) => {
      try {
        take(JSON.parse(String(event.data)) as RunMessage);
      } catch (error) {
        console.error("A progress message is not JSON.", error);
      }
    });
    own.addEventListener("close", () => {
      if (socket !== own) return;
      socket = null;
      if (stopped || isOver()) return;
      void ask();
      retry = window.setTimeout(open, reconnectDelay(attempt++) * 1000);
    });
  };

  const restart = (): void => {
    closeAll();
    stopped = false;
    attempt = 0;
    open();
    void ask();
  };
  const stop = (): void => {
    stopped = true;
    closeAll();
  };
  window.addEventListener("pagehide", stop);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) restart();
  });
  restart();
  return { restart, stop };
}
