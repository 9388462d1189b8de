"""A labelled, judged and audited study written straight into the database, for tests of what is counted from it.

`Answers` says, case by case, what everybody said; nothing is drawn at random here unless `invented` is asked for.
"""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.models import (
    AdjudicationDecision,
    Assignment,
    Case,
    Dataset,
    GuidelineVersion,
    Segment,
    SegmentLabel,
    Study,
    StudyItem,
    StudyMember,
    Submission,
    Trace,
)
from auditing.core.parameters import AuditParameters
from auditing.models import AuditResult, AuditRun, JudgeRun, JudgeVerdict, SegmentAudit
from reasonaudit.accounts.models import User

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
SHORT = {"c": "correct", "u": "uncertain", "i": "incorrect"}
AUDIT = {"S": "supported", "U": "unsupported", "O": "orphan", "X": "contradicted"}


@dataclass
class Answers:
    """One case. Strings have a letter a segment.

    People: c u i, `?` cannot judge, `-` not handed in (for the whole case). Judges: 1 0, `x` invalid, `-` never asked.
    Audits: S U O X, `-` none. `gold` and `decided`: c u i, `-` none.
    """

    people: Mapping[str, str]
    judges: Mapping[str, str] = field(default_factory=dict)
    audits: Mapping[str, str] = field(default_factory=dict)
    gold: str = ""
    decided: str = ""
    decided_after_audit: bool = False
    revised: Mapping[str, str] = field(default_factory=dict)
    revealed: Sequence[str] = ()
    unblinded: Sequence[str] = ()
    flagged: str = ""
    domain: str = "clinical"
    group: str = ""
    title: str = ""
    active_ms: int = 20_000
    texts: Sequence[str] = ()
    roots: Sequence[int | None] = ()


def lead(name: str = "lead") -> User:
    return User.objects.create_user(name, password="long enough for a test", role="manager")


def make_study(
    cases: Sequence[Answers],
    *,
    name: str = "Follow-up",
    members: Mapping[str, str] | None = None,
    quality: Mapping[str, str] | None = None,
    **values: Any,
) -> Study:
    """A study with these answers. `members` maps pseudonyms to seniority; the first two are senior and junior."""
    slug = name.lower().replace(" ", "-")
    dataset = Dataset.objects.create(name=f"{name} cases", slug=f"{slug}-cases", invented=True)
    study = Study.objects.create(name=name, slug=slug, dataset=dataset, seed=7, stage="open", **values)
    guideline = GuidelineVersion.objects.create(
        study=study, number=1, text="Judge.", question="Is it sound?", published_at=START
    )
    pseudonyms = list(dict.fromkeys(person for case in cases for person in case.people))
    seniorities = members or dict(zip(pseudonyms, ["senior", "junior"], strict=False))
    people = {
        pseudonym: StudyMember.objects.create(
            study=study, part="physician", pseudonym=pseudonym, seniority=seniorities.get(pseudonym, "")
        )
        for pseudonym in pseudonyms
    }
    traces = _traces(dataset, cases)
    segments = _segments(traces, cases)
    items = StudyItem.objects.bulk_create(
        StudyItem(study=study, trace=trace, segmentation=1, number=number)
        for number, trace in enumerate(traces, start=1)
    )
    _labels(cases, items, people, segments, guideline)
    _decisions(cases, items, segments, guideline)
    _judges(dataset, cases, segments)
    _audits(dataset, cases, traces, segments, quality or {})
    return study


def _traces(dataset: Dataset, cases: Sequence[Answers]) -> list[Trace]:
    rows = Case.objects.bulk_create(
        Case(
            dataset=dataset,
            external_id=f"case-{number}",
            domain=case.domain,
            title=case.title or f"Case title {number}",
            context="A case.",
            meta={"group": case.group} if case.group else {},
        )
        for number, case in enumerate(cases, start=1)
    )
    return Trace.objects.bulk_create(Trace(case=row, external_id="t") for row in rows)


def _segments(traces: Sequence[Trace], cases: Sequence[Answers]) -> list[list[Segment]]:
    rows = []
    for trace, case in zip(traces, cases, strict=True):
        n = len(next(iter(case.people.values()), case.gold))
        texts = list(case.texts) or [f"Segment {index} of trace {trace.pk}." for index in range(2, n + 2)]
        for index, text in enumerate(["A case.", *texts], start=1):
            gold = case.gold[index - 2] if case.gold and index > 1 else "-"
            rows.append(
                Segment(
                    trace=trace,
                    index=index,
                    text=text,
                    text_sha256=hashlib.sha256(text.encode()).hexdigest(),
                    gold=SHORT.get(gold, ""),
                )
            )
    made = iter(Segment.objects.bulk_create(rows))
    found = []
    for case in cases:
        next(made)
        found.append([next(made) for _ in next(iter(case.people.values()), case.gold)])
    return found


def _labels(
    cases: Sequence[Answers],
    items: Sequence[StudyItem],
    people: Mapping[str, StudyMember],
    segments: Sequence[Sequence[Segment]],
    guideline: GuidelineVersion,
) -> None:
    assignments, labels, submissions = [], [], []
    clock = dict.fromkeys(people, START)
    for position, (case, item, own) in enumerate(zip(cases, items, segments, strict=True), start=1):
        for person, letters in case.people.items():
            waiting = set(letters) == {"-"}
            clock[person] += timedelta(hours=2) if position % 8 == 1 else timedelta(minutes=1)
            assignments.append(
                Assignment(
                    item=item,
                    member=people[person],
                    position=position,
                    state="assigned" if waiting else "submitted",
                    submitted_at=None if waiting else START,
                    revealed_at=START if person in case.revealed else None,
                )
            )
            if waiting:
                continue
            entries = []
            for place, (letter, segment) in enumerate(zip(letters, own, strict=True)):
                clock[person] += timedelta(seconds=30)
                one = {
                    "label": SHORT.get(letter, ""),
                    "cannot_judge": letter == "?",
                    "comment": "" if letter == "c" else "Because.",
                    "flagged": bool(case.flagged)
                    and case.flagged[place] == "f"
                    and person == next(iter(case.people)),
                    "active_ms": case.active_ms,
                    "unblinded": person in case.unblinded,
                }
                labels.append(
                    SegmentLabel(
                        assignment=assignments[-1],
                        segment=segment,
                        guideline=guideline,
                        first_label_at=clock[person],
                        **one,
                    )
                )
                entries.append(
                    one
                    | {
                        "segment": segment.pk,
                        "index": segment.index,
                        "label": one["label"] or None,
                        "reasons": [],
                        "spans": [],
                        "guideline": guideline.number,
                    }
                )
            submissions.append(
                Submission(
                    assignment=assignments[-1],
                    number=1,
                    labels=entries,
                    labels_sha256="0" * 64,
                    submitted_at=START,
                )
            )
            for letter, segment in zip(case.revised.get(person, ""), own, strict=False):
                if letter != "-":
                    labels.append(
                        SegmentLabel(
                            assignment=assignments[-1],
                            segment=segment,
                            guideline=guideline,
                            round=2,
                            label=SHORT.get(letter, ""),
                            cannot_judge=letter == "?",
                            reason="Saw the audit.",
                            unblinded=True,
                        )
                    )
    Assignment.objects.bulk_create(assignments)
    SegmentLabel.objects.bulk_create(labels, batch_size=5000)
    Submission.objects.bulk_create(submissions)


def _decisions(
    cases: Sequence[Answers],
    items: Sequence[StudyItem],
    segments: Sequence[Sequence[Segment]],
    guideline: GuidelineVersion,
) -> None:
    if not any(case.decided for case in cases):
        return
    adjudicator = User.objects.create_user(f"judge-{items[0].pk}", password="long enough", role="adjudicator")
    AdjudicationDecision.objects.bulk_create(
        AdjudicationDecision(
            item=item,
            segment=segment,
            number=1,
            adjudicator=adjudicator,
            pseudonym="A1",
            label=SHORT[letter],
            note="Decided.",
            guideline=guideline,
            decided_at=START,
            after_audit=case.decided_after_audit,
        )
        for case, item, own in zip(cases, items, segments, strict=True)
        for letter, segment in zip(case.decided, own, strict=False)
        if letter != "-"
    )


def _judges(dataset: Dataset, cases: Sequence[Answers], segments: Sequence[Sequence[Segment]]) -> None:
    for judge in dict.fromkeys(judge for case in cases for judge in case.judges):
        imported = judge.startswith("imported:")
        run = JudgeRun.objects.create(
            dataset=dataset,
            judge=judge,
            judge_id=judge if imported else f"{judge}#{len(judge):08x}",
            state="done",
        )
        JudgeVerdict.objects.bulk_create(
            (
                JudgeVerdict(
                    run=run,
                    segment=segment,
                    verdict={"1": "trustworthy", "0": "problematic"}.get(letter),
                    status="valid" if letter in "01" else "invalid:no_json",
                )
                for case, own in zip(cases, segments, strict=True)
                for letter, segment in zip(case.judges.get(judge, ""), own, strict=False)
                if letter != "-"
            ),
            batch_size=5000,
        )


def _audits(
    dataset: Dataset,
    cases: Sequence[Answers],
    traces: Sequence[Trace],
    segments: Sequence[Sequence[Segment]],
    quality: Mapping[str, str],
) -> None:
    parameters = AuditParameters().to_dict()
    for labeller in dict.fromkeys(labeller for case in cases for labeller in case.audits):
        run = AuditRun.objects.create(
            dataset=dataset,
            labeller=labeller,
            parameters=parameters,
            state="done",
            labeller_identity={"model": "nli-minilm"} if labeller == "local" else {},
            quality_note=quality.get(labeller, ""),
        )
        chosen = [place for place, case in enumerate(cases) if set(case.audits.get(labeller, "-")) != {"-"}]
        results = AuditResult.objects.bulk_create(
            AuditResult(
                run=run,
                trace=traces[place],
                segmentation=1,
                parameters=parameters,
                relations=[],
                # All that the page of a trace reads of it: it audits the (here no) relations again.
                document={"n": 1 + len(segments[place])},
                document_sha256="0" * 64,
                labelled=10,
                total=10,
            )
            for place in chosen
        )
        SegmentAudit.objects.bulk_create(
            (
                SegmentAudit(
                    result=result,
                    segment=segment,
                    index=segment.index,
                    label=AUDIT[letter],
                    search_label=AUDIT[letter],
                    y_hat=int(letter == "S"),
                    root_breakpoint=(list(cases[place].roots) or [None] * 99)[number],
                )
                for place, result in zip(chosen, results, strict=True)
                for number, (letter, segment) in enumerate(
                    zip(cases[place].audits[labeller], segments[place], strict=True)
                )
                if letter != "-"
            ),
            batch_size=5000,
        )


def invented(
    cases: int,
    models: Sequence[str] = ("gpt-oss-20b", "gemma-4"),
    *,
    seed: int = 1,
    segments: tuple[int, int] = (5, 12),
    domain: str = "clinical",
    texts: Sequence[str] = (),
    titles: Sequence[str] = (),
    drift: bool = False,
) -> list[Answers]:
    """Random answers that look like the paper's: lenient judges, audits that doubt, two physicians who mostly agree."""
    draw = random.Random(seed)
    tnr = {model: draw.uniform(0.05, 0.45) for model in models}
    made = []
    for number in range(cases):
        n = draw.randint(*segments)
        truth = [draw.choices("cui", (53, 22, 25))[0] for _ in range(n)]
        senior = "".join(one if draw.random() < 0.93 else draw.choice("cui") for one in truth)
        junior = "".join(one if draw.random() < 0.80 else draw.choice("cui") for one in truth)
        if draw.random() < 0.1:
            junior = junior[:-1] + "?"
        judges = {
            f"openai:{model}": "".join(
                "x"
                if draw.random() < 0.004
                else str(int(draw.random() < (0.95 if one == "c" else 1 - tnr[model])))
                for one in truth
            )
            for model in models
        }
        failing = (7, 40, 4) if domain == "clinical" else (28, 28, 3)
        audits = {
            f"openai:{model}": "".join(
                "S" if draw.random() < (0.55 if one == "c" else 0.38) else draw.choices("UOX", failing)[0]
                for one in truth
            )
            for model in models
        }
        revealed = ["P1", "P2"] if draw.random() < 0.7 else []
        shown = next(iter(audits.values()), "")
        revised = {
            person: "".join(
                ("u" if one == "c" else "c")
                if draw.random() < 0.12 and (one == "c") != (audit == "S")
                else "-"
                for one, audit in zip(said, shown, strict=False)
            )
            for person, said in (("P1", senior), ("P2", junior))
            if person in revealed
        }
        decided = "".join("-" if a == b else one for a, b, one in zip(senior, junior, truth, strict=True))
        made.append(
            Answers(
                people={"P1": senior, "P2": junior},
                judges=judges,
                audits=audits,
                gold="".join(truth),
                decided=decided,
                revised=revised,
                revealed=revealed,
                flagged="".join("f" if draw.random() < 0.15 else "-" for _ in range(n)),
                domain=domain,
                title=titles[number % len(titles)]
                + (f", {number // len(titles) + 1}" if number >= len(titles) else "")
                if titles
                else "",
                texts=[draw.choice(texts) for _ in range(n)] if texts else (),
                active_ms=int(draw.lognormvariate(10, 0.4) / (1 + (number / cases if drift else 0))),
                roots=[draw.choice([None, *range(2, 2 + place)]) if place else None for place in range(n)],
            )
        )
    return made
