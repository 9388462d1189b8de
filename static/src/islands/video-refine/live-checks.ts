// The findings of the present document, and the times that their remedies would add.
import { computed } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { ClipFacts, Finding } from "../../lib/video/checks";
import { QUIET, check } from "../../lib/video/checks";
import type { Step } from "../../lib/video/document";
import type { Interval } from "../../lib/video/intervals";
import { subtract } from "../../lib/video/intervals";
import { pieces } from "../../lib/video/said";
import type { PeakTiles } from "../../lib/video/peaks";
import type { Store } from "./store";
import type { RefinePayload } from "./types";

export interface Suggestion {
  step: Step;
  interval: Interval;
}

export interface LiveChecks {
  findings: ReadonlySignal<Finding[]>;
  /** Times that a finding would add to a step, to be drawn faintly on its lane. */
  suggestions: ReadonlySignal<Suggestion[]>;
}

export function liveChecks(first: RefinePayload, store: Store, peaks: PeakTiles | null, loaded: ReadonlySignal<number>): LiveChecks {
  const facts: ClipFacts = {
    index: store.index,
    has_audio: first.video.has_audio,
    // Only what is loaded can be judged: the checks say nothing of the rest.
    loud: peaks && ((from, to): number | null => {
      let count = 0;
      for (let point = from; point < to; point++) {
        const pair = peaks.point(0, point);
        if (!pair) return null;
        if (Math.max(-pair[0], pair[1]) > QUIET) count++;
      }
      return count;
    }),
    audio_offset_us: first.video.peaks?.offset_us ?? first.video.audio_offset_us ?? 0,
    duration_us: store.limits.duration_us as number,
    speech: pieces(first.transcript),
    vocabulary: [],
  };
  const findings = computed(() => {
    void loaded.value;
    return check(store.doc.value, facts);
  });
  const suggestions = computed(() =>
    findings.value.flatMap(({ step, remedy }): Suggestion[] => {
      const change = remedy?.changes[0];
      if (!step || change?.path[2] !== "timeframe") return [];
      const [before, after] = [change.before, change.after] as [{ intervals: Interval[] }, { intervals: Interval[] }];
      return subtract(after.intervals, before.intervals).map((interval) => ({ step, interval }));
    }),
  );
  return { findings, suggestions };
}
