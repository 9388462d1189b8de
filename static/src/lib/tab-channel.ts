// Words between the tabs of one browser.

export interface TabWord {
  ask?: string;
  have?: string;
}

export interface TabChannel {
  say(word: TabWord): void;
  listen(hear: (word: TabWord) => void): void;
}

export function openChannel(name: string): TabChannel {
  if (typeof BroadcastChannel === "undefined") return { say: () => undefined, listen: () => undefined };
  const channel = new BroadcastChannel(name);
  return {
    say: (word) => channel.postMessage(word),
    listen: (hear) => channel.addEventListener("message", (event: MessageEvent<TabWord>) => hear(event.data)),
  };
}
