"""Rows of studies for the tests: plain ORM, no services, no events.

Every function makes what it needs and was not given. Names are numbered, so that two calls never clash.
`study_with_work` makes the usual scene in one call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from django.contrib.auth import get_user_model

from annotation.models import (
    AdjudicationDecision,
    Assignment,
    Case,
    Dataset,
    GuidelineVersion,
    ItemGold,
    Segment,
    SegmentLabel,
    Study,
    StudyItem,
    StudyMember,
    Submission,
    Trace,
)
from annotation.services.traces import text_hash
from reasonaudit.lib.canonical import sha256_of

NUMBERS = count(1)
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PASSWORD = "pw-for-tests-only"
QUESTION = "Is this reasoning segment right, supported by the case, and safe to trust?"
REASONS: dict[str, list[dict[str, str]]] = {
    "correct": [{"code": "incomplete_but_right", "words": "Right but incomplete"}],
    "uncertain": [{"code": "vague", "words": "Vague"}, {"code": "hedged", "words": "Hedged"}],
    "incorrect": [{"code": "contradicts_case", "words": "Contradicts the case"}],
}


# People


def user(role: str = "physician", *, username: str = "", **fields: Any) -> Any:
    """A user who can log in with `PASSWORD`."""
    name = username or f"{role}-{next(NUMBERS)}"
    return get_user_model().objects.create_user(username=name, password=PASSWORD, role=role, **fields)


# Data


def dataset(name: str = "") -> Dataset:
    number = next(NUMBERS)
    return Dataset.objects.create(name=name or f"Data set {number}", slug=f"data-set-{number}")


def case(into: Dataset | None = None, *, title: str = "", context: str = "", **fields: Any) -> Case:
    number = next(NUMBERS)
    return Case.objects.create(
        dataset=into or dataset(),
        external_id=f"case-{number}",
        domain=fields.pop("domain", "clinical"),
        title=title or f"Case {number}",
        context=context or f"A person of {20 + number % 60} years has had pain for {number} days.",
        **fields,
    )


def trace(
    of: Case | None = None,
    *,
    into: Dataset | None = None,
    segments: int | Sequence[str] = 4,
    gold: Mapping[int, str] | Sequence[str] | None = None,
    generator: str = "model-a",
) -> Trace:
    """A trace of one context segment and judged segments: their number (of all, S1 is context) or their texts.

    `gold` maps the index of a segment (2 is the first judged) to its imported label, or lists those of all judged.
    """
    of = of or case(into)
    number = next(NUMBERS)
    made = Trace.objects.create(case=of, external_id=f"trace-{number}", generator=generator)
    judged = (
        [f"Trace {number} says thing {index}." for index in range(2, segments + 1)]
        if isinstance(segments, int)
        else list(segments)
    )
    labels = dict(enumerate(gold, start=2)) if isinstance(gold, list | tuple) else dict(gold or {})  # type: ignore[call-overload]
    Segment.objects.bulk_create(
        Segment(
            trace=made,
            segmentation=1,
            index=index,
            text=text,
            text_sha256=text_hash(text),
            gold=labels.get(index, ""),
        )
        for index, text in enumerate([of.context, *judged], start=1)
    )
    return made


def judged_segments(of: Trace | StudyItem) -> list[Segment]:
    """The segments that people judge, in reading order."""
    row, number = (of.trace, of.segmentation) if isinstance(of, StudyItem) else (of, of.segmentation)
    return list(
        Segment.objects.filter(trace=row, segmentation=number, index__gt=row.context_segments).order_by(
            "index"
        )
    )


# Studies


def guideline(
    of: Study, *, number: int = 1, published: bool = True, text: str = "", **fields: Any
) -> GuidelineVersion:
    return GuidelineVersion.objects.create(
        study=of,
        number=number,
        text=text or f"# Guideline {number}\n\nJudge each segment in the light of the case.",
        question=fields.pop("question", QUESTION),
        reasons=fields.pop("reasons", REASONS),
        published_at=NOON if published else None,
        **fields,
    )


def study(of: Dataset | None = None, *, published: bool = True, **fields: Any) -> Study:
    """An open study, with a published guideline unless `published` is False."""
    number = next(NUMBERS)
    made = Study.objects.create(
        name=fields.pop("name", f"Study {number}"),
        slug=f"study-{number}",
        dataset=of or dataset(),
        stage=fields.pop("stage", Study.Stage.OPEN),
        seed=fields.pop("seed", 1000 + number),
        **fields,
    )
    if published:
        guideline(made)
    return made


def member(
    of: Study, who: Any = None, *, part: str = "physician", qualified: bool = True, **fields: Any
) -> StudyMember:
    """A member with a user of the fitting role; physicians have read the newest published guideline."""
    who = who or user("researcher" if part == "lead" else part)
    taken = StudyMember.objects.filter(study=of).count()
    newest = of.guidelines.exclude(published_at=None).order_by("-number").first() if qualified else None
    return StudyMember.objects.create(
        study=of,
        user=who,
        part=part,
        pseudonym=fields.pop("pseudonym", f"P{taken + 1}"),
        qualified_at=NOON if newest else None,
        qualified_version=newest.number if newest else None,
        **fields,
    )


def item(of: Study, of_trace: Trace | None = None, *, kind: str = "main", **fields: Any) -> StudyItem:
    """An item of the study; `expected` maps segment indices to the labels expected of training and gold items."""
    expected: Mapping[int, str] = fields.pop("expected", {})
    segments = fields.pop("segments", 4)
    row = of_trace or trace(into=of.dataset, segments=segments)
    made = StudyItem.objects.create(
        study=of,
        trace=row,
        segmentation=row.segmentation,
        kind=kind,
        number=fields.pop("number", StudyItem.objects.filter(study=of).count() + 1),
        **fields,
    )
    by_index = {segment.index: segment for segment in judged_segments(made)}
    ItemGold.objects.bulk_create(
        ItemGold(item=made, segment=by_index[index], label=label) for index, label in expected.items()
    )
    return made


def assignment(of_item: StudyItem, to: StudyMember, **fields: Any) -> Assignment:
    position = fields.pop("position", Assignment.objects.filter(member=to).count() + 1)
    return Assignment.objects.create(item=of_item, member=to, position=position, **fields)


# Labels


def label(
    of: Assignment, index: int, value: str = "correct", *, comment: str | None = None, **fields: Any
) -> SegmentLabel:
    """A label of a segment (`index` as shown, 2 is the first judged). Commented where the rules ask for it.

    `value` "cannot_judge" makes the state of that name.
    """
    segment = Segment.objects.get(trace=of.item.trace_id, segmentation=of.item.segmentation, index=index)
    words = comment if comment is not None else ("" if value == "correct" else f"Because of S{index}.")
    return SegmentLabel.objects.create(
        assignment=of,
        segment=segment,
        label="" if value == "cannot_judge" else value,
        cannot_judge=value == "cannot_judge",
        comment=words,
        guideline=fields.pop("guideline", None)
        or GuidelineVersion.objects.filter(study=of.item.study_id).order_by("-number")[0],
        first_label_at=fields.pop("first_label_at", NOON),
        active_ms=fields.pop("active_ms", 12_000),
        **fields,
    )


def submission(
    of: Assignment,
    labels: Mapping[int, str] | Sequence[str] | None = None,
    *,
    number: int = 1,
    recalled: bool = False,
    state: str = "submitted",
) -> Submission:
    """What a person handed in, with the segment labels behind it; the assignment moves to `state`.

    `labels` maps indices to labels, or lists those of all judged segments; none: all "correct".
    """
    indices = [segment.index for segment in judged_segments(of.item)]
    if labels is None:
        values: dict[int, str] = dict.fromkeys(indices, "correct")
    elif isinstance(labels, Mapping):
        values = dict(labels)
    else:
        values = dict(zip(indices, labels, strict=True))
    for index, value in values.items():
        if not SegmentLabel.objects.filter(assignment=of, segment__index=index, round=1).exists():
            label(of, index, value)
    rows = SegmentLabel.objects.filter(assignment=of, round=1).select_related("segment", "guideline")
    body = [
        {
            "segment": row.segment_id,
            "index": row.segment.index,
            "label": row.label or None,
            "cannot_judge": row.cannot_judge,
            "reasons": row.reasons,
            "comment": row.comment,
            "spans": row.spans,
            "flagged": row.flagged,
            "active_ms": row.active_ms,
            "guideline": row.guideline.number,
            "unblinded": row.unblinded,
        }
        for row in rows.order_by("segment__index")
    ]
    made = Submission.objects.create(
        assignment=of,
        number=number,
        labels=body,
        labels_sha256=sha256_of(body),
        submitted_at=NOON,
        recalled_at=NOON if recalled else None,
    )
    of.state = "draft" if recalled else state
    of.submitted_at = None if recalled else NOON
    of.version += 1
    of.save()
    return made


def decision(
    of: StudyItem, index: int, value: str = "correct", *, by: StudyMember, number: int = 1, **fields: Any
) -> AdjudicationDecision:
    """A final decision on a segment (`number` 0 makes a draft)."""
    segment = Segment.objects.get(trace=of.trace_id, segmentation=of.segmentation, index=index)
    return AdjudicationDecision.objects.create(
        item=of,
        segment=segment,
        number=number,
        adjudicator=by.user,
        pseudonym=by.pseudonym,
        label=value,
        guideline=GuidelineVersion.objects.filter(study=of.study_id).order_by("-number")[0],
        decided_at=NOON if number else None,
        **fields,
    )


@dataclass(frozen=True)
class Scene:
    """A study with people and work; `work[item index][member index]` is an assignment."""

    study: Study
    lead: StudyMember
    adjudicator: StudyMember
    physicians: list[StudyMember]
    items: list[StudyItem]
    work: list[list[Assignment]]


def study_with_work(*, items: int = 2, physicians: int = 2, segments: int = 4, **fields: Any) -> Scene:
    """An open study: a lead, an adjudicator, physicians P3, P4 …, each assigned to every item in item order."""
    made = study(**fields)
    lead, adjudicator = member(made, part="lead"), member(made, part="adjudicator")
    people = [member(made) for _ in range(physicians)]
    rows = [item(made, segments=segments) for _ in range(items)]
    work = [[assignment(row, person) for person in people] for row in rows]
    return Scene(made, lead, adjudicator, people, rows, work)
