import { describe, expect, it } from "vitest";
import type { CaseSegment, Draft } from "./label-draft";
import { EMPTY_DRAFT, asPlainText, frontier, hasWord, isComplete, overLimit, sameDraft, setLabel, toggleReason, whatIsMissing } from "./label-draft";

const draft = (part: Partial<Draft>): Draft => ({ ...EMPTY_DRAFT, ...part });

describe("what is complete", () => {
  it.each<[Partial<Draft>, boolean]>([
    [{}, false],
    [{ label: "correct" }, true],
    [{ label: "uncertain" }, false],
    [{ label: "uncertain", comment: " \n\t" }, false],
    [{ label: "uncertain", comment: "?" }, false],
    [{ label: "uncertain", comment: "3" }, true],
    [{ label: "uncertain", comment: "不" }, true],
    [{ label: "incorrect", comment: "Wrong." }, true],
    [{ label: "incorrect", reasons: ["wrong"] }, false],
    [{ cannot_judge: true }, false],
    [{ cannot_judge: true, comment: "No picture." }, true],
    [{ comment: "A word without a label." }, false],
  ])("%o: %s", (part, complete) => {
    expect(isComplete(draft(part))).toBe(complete);
    expect(whatIsMissing(draft(part), "S3") === "").toBe(complete);
  });

  it("wants a letter or a digit, of whatever script", () => {
    for (const none of ["\u00a0\u2003", "…!?", "🍞", "_"]) expect(hasWord(none)).toBe(false);
    for (const word of ["é", "ß", "٣", "Да", "ไม่"]) expect(hasWord(word)).toBe(true);
  });

  it("finds the first segment that is not complete", () => {
    const segments: CaseSegment[] = [1, 2, 3, 4].map((index) => ({ index, context: index === 1, text: "" }));
    expect(frontier(segments, (index) => draft(index === 3 ? {} : { label: "correct" }))).toBe(3);
    expect(frontier(segments, () => draft({ label: "correct" }))).toBeNull();
  });
});

describe("changes", () => {
  it("keeps reasons with their label", () => {
    expect(setLabel(draft({ label: "incorrect", reasons: ["wrong"] }), "incorrect")).toMatchObject({ reasons: ["wrong"] });
    expect(setLabel(draft({ label: "incorrect", reasons: ["wrong"], cannot_judge: true }), "correct")).toEqual({ label: "correct", cannot_judge: false, reasons: [] });
    expect(toggleReason(draft({ reasons: ["a", "b"] }), "a")).toEqual({ reasons: ["b"] });
  });

  it("compares by content, whatever else the server sends along", () => {
    expect(sameDraft(draft({ comment: "a" }), { ...draft({ comment: "a" }), version: 4 } as Draft)).toBe(true);
    expect(sameDraft(draft({ spans: [[0, 1]] }), draft({ spans: [[0, 2]] }))).toBe(false);
  });

  it("counts a comment in code points", () => {
    expect(overLimit("🍞".repeat(10), 10)).toBe(0);
    expect(overLimit("🍞".repeat(12), 10)).toBe(2);
  });

  it("writes it all as plain text for somebody to keep", () => {
    const text = asPlainText("Loaf", [[3, draft({ label: "incorrect", reasons: ["wrong"], comment: "No.", flagged: true })], [4, draft({ cannot_judge: true })]], (code) => `${code} statement`);
    expect(text).toBe("Loaf\n\nS3: incorrect; wrong statement; flagged for discussion\nNo.\n\nS4: cannot judge");
  });
});
