// A rationale of four steps over three leaves, audited by hand.
import { auditOf } from "../../lib/testing";
import type { AuditPayload } from "../../lib/payload";
import { CLINK, DOG, filmPayload } from "../grounded-video/testing";
import type { RationalePayload } from "./types";

/** S1 question, S2 dog, S3 clink, S4 speech; S5 rests on S2, S6 on S5 and S3, S7 on nothing, S8 is contradicted by S4. */
export function audited(): AuditPayload {
  const audit = auditOf(
    ["supported", "supported", "supported", "supported", "supported", "orphan", "contradicted"],
    [
      [[2], 5, "entailment"],
      [[3, 5], 6, "implied"],
      [[2], 7, "neutral", "neutral"],
      [[4], 8, "contradiction", "contradiction"],
    ],
    { 8: { contradicted: true, contradicting: [[4]] } },
  );
  return {
    ...audit,
    trace: { ...audit.trace, context_segments: 4 },
    run: { ...audit.run, parameters: { early_accept: 4, contradicted_blocks: true } },
    segments: audit.segments.map((segment) => (segment.index <= 4 ? { index: segment.index, text: segment.text, context: true, label: null } : segment)),
  };
}

export function rationalePayload(audit: AuditPayload | null = audited()): RationalePayload {
  const step = (index: number, field: string, text: string, times: [number, number][] = [[400_000, 1_600_000]]) => ({ index, field, text, asked: text, times_us: times });
  return {
    film: filmPayload(),
    side: "reference-1",
    name: "model-a, all cues",
    leaves: [
      { index: 1, kind: "question", id: "", label: "", text: "Question: Why?", spans_us: [] },
      { index: 2, kind: "track", id: DOG, label: "dog", text: "A dog is seen from 0:00.4 to 0:01.6.", spans_us: [[400_000, 1_600_000]] },
      { index: 3, kind: "sound", id: CLINK, label: "clink", text: "A clink is heard from 0:00.4 to 0:00.8.", spans_us: [[400_000, 800_000]] },
      { index: 4, kind: "speech", id: "", label: "Come here!", text: 'At 0:01.0 to 0:02.0 it is said: "Come here!"', spans_us: [[1_000_000, 2_000_000]] },
    ],
    steps: [step(5, "visual.description", "A dog is there."), step(6, "visual.analysis", "It hears the clink."), step(7, "audio.description", "A cat sings.", []), { ...step(8, "final_answer", "nobody calls", []), asked: "The answer is: nobody calls." }],
    audit,
  };
}
