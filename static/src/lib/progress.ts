// State of the progress of one run: messages come by socket and by poll, out of order; only a newer one counts. Pure.

export type RunState = "queued" | "running" | "paused" | "cancelled" | "failed" | "partial" | "done";

export interface RunMessage {
  type?: string;
  seq: number;
  id: number;
  /** What is counted: relations of an audit (the usual), segments of a judge, or items of a step of a study or a benchmark. */
  kind?: "audit" | "judge" | "reasoning" | "benchmark";
  state: RunState;
  done: number;
  total: number;
  cached: number;
  invalid: number;
  failed: number;
  calls_per_second: number | null;
  seconds_left: number | null;
  message: string;
}

export interface Progress {
  run: RunMessage | null;
  /** How messages come: a socket, a poll, or neither at the moment. */
  link: "connecting" | "live" | "polling" | "lost";
  /** What went wrong with a request of the reader (cancel, resume), in the server's words. */
  problem: string;
}

export type ProgressAction =
  | { type: "message"; message: RunMessage }
  | { type: "link"; link: Progress["link"] }
  | { type: "problem"; text: string };

export const START: Progress = { run: null, link: "connecting", problem: "" };

export function reduce(state: Progress, action: ProgressAction): Progress {
  switch (action.type) {
    case "message": {
      const { message } = action;
      if (state.run && (message.id !== state.run.id || message.seq < state.run.seq)) return state;
      return { ...state, run: message };
    }
    case "link":
      return { ...state, link: action.link };
    case "problem":
      return { ...state, problem: action.text };
  }
}

const ENDED = new Set<RunState>(["done", "failed", "partial", "cancelled"]);
/** Nothing more will happen to the run unless somebody resumes it. */
export const hasEnded = (run: RunMessage | null): boolean => run !== null && ENDED.has(run.state);
export const canCancel = (run: RunMessage | null): boolean => run !== null && ["queued", "running", "paused"].includes(run.state);
export const canResume = (run: RunMessage | null): boolean => run !== null && ["paused", "failed", "partial", "cancelled"].includes(run.state);

export const STATE_WORDS: Record<RunState, { word: string; icon: string }> = {
  queued: { word: "Queued", icon: "hourglass-split" },
  running: { word: "Running", icon: "play-fill" },
  paused: { word: "Paused", icon: "pause-fill" },
  cancelled: { word: "Cancelled", icon: "stop-fill" },
  failed: { word: "Failed", icon: "exclamation-circle" },
  partial: { word: "Partly done", icon: "exclamation-triangle" },
  done: { word: "Done", icon: "check-circle-fill" },
};

/** Whole per cent done; 100 only when all is done, null when the total is not known yet. */
export function percent(run: Pick<RunMessage, "done" | "total">): number | null {
  if (run.total <= 0) return null;
  if (run.done >= run.total) return 100;
  return Math.min(99, Math.floor((100 * run.done) / run.total));
}

/** "10 s left", "4 min left", "1 h 5 min left". */
export function timeLeft(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds) || seconds < 0) return "";
  if (seconds < 1) return "less than 1 s left";
  if (seconds < 90) return `${Math.round(seconds)} s left`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min left`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

/** Seconds until the next attempt to open the socket: 1, 2, 4, 8, then 15. */
export const reconnectDelay = (attempt: number): number => Math.min(15, 2 ** Math.max(0, attempt));
