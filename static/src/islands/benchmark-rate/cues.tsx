// Cues of a chain: what was seen and heard, with its times as buttons that play them.
import { formatClock } from "../../lib/video/cot";
import { Icon } from "../shared/parts";
import type { ClipPlayer } from "./clip-player";
import type { Cue } from "./types";

const KIND = { visual: { word: "Seen", icon: "eye" }, audio: { word: "Heard", icon: "soundwave" } } as const;

export function Cues({ cues, player, durationUs }: { cues: Cue[]; player: ClipPlayer; durationUs: number }) {
  return (
    <ul class="rate-cues">
      {cues.map((cue, k) => (
        <li key={k} class={`rate-cue ${cue.kind}`}>
          <h3>
            <Icon name={KIND[cue.kind].icon} />
            {KIND[cue.kind].word}
          </h3>
          <Times cue={cue} player={player} durationUs={durationUs} />
          {cue.description && <p class="chain-text">{cue.description}</p>}
          {cue.analysis && <p class="chain-text rate-analysis">{cue.analysis}</p>}
        </li>
      ))}
    </ul>
  );
}

function Times({ cue, player, durationUs }: { cue: Cue; player: ClipPlayer; durationUs: number }) {
  if (cue.intervals.length === 0) return <p class="rate-times muted small">{cue.timeframe || "No time is named."}</p>;
  return (
    <p class="rate-times">
      {cue.intervals.map(([start, end], k) => {
        const beyond = durationUs > 0 && start >= durationUs;
        const words = start === end ? formatClock(start, 1) : `${formatClock(start, 1)} to ${formatClock(end, 1)}`;
        return (
          <button key={k} type="button" class="rate-time num" disabled={beyond} title={beyond ? "The clip ends before" : start === end ? "Show this moment" : "Play this stretch"} onClick={() => player.span(start, end)}>
            <Icon name={start === end ? "bullseye" : "play-fill"} />
            {words}
            {beyond && <span class="visually-hidden"> (beyond the clip)</span>}
          </button>
        );
      })}
    </p>
  );
}
