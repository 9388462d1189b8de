// J, K and L as on an editing desk: L forwards and faster, J backwards and faster, K stops; with K held one frame each. Pure.

/** Speeds of repeated presses. Faster than 8 nobody sees anything. */
const SPEEDS = [1, 2, 4, 8];

export type ShuttleKey = "j" | "k" | "l";

export type ShuttleAction = { kind: "speed"; speed: number } | { kind: "step"; frames: 1 | -1 };

/** What a press means at the present speed (0: standing). */
export function shuttle(speed: number, key: ShuttleKey, kHeld: boolean): ShuttleAction {
  if (key === "k") return { kind: "speed", speed: 0 };
  const way = key === "l" ? 1 : -1;
  if (kHeld) return { kind: "step", frames: way };
  // Against the present way: first at normal speed the other way.
  if (speed === 0 || Math.sign(speed) !== way) return { kind: "speed", speed: way };
  const next = SPEEDS.find((one) => one > Math.abs(speed)) ?? (SPEEDS.at(-1) as number);
  return { kind: "speed", speed: way * next };
}

/** Speeds of the transport's own button and keys. */
export const RATES = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];

export const slower = (rate: number): number => RATES.findLast((one) => one < rate) ?? (RATES[0] as number);
export const faster = (rate: number): number => RATES.find((one) => one > rate) ?? (RATES.at(-1) as number);
