"""What people work on in a study: traces in their present segmentation, with the labels that experts expect, or
questions about videos.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F

from annotation.core.draws import draw, item_numbers
from annotation.core.labels import storable
from annotation.models import Assignment, Gold, ItemGold, Segment, Study, StudyItem, Trace
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from videos.models import VideoQuestion

from .adjudications import item_settle
from .moves import items_lock

MOST_ITEMS = 10_000
LONGEST_NOTE = 2000
MOST_OVERLAP = 10


def new_seed() -> int:
    """A study's seed: 62 random bits."""
    return secrets.randbits(62)


def items_add(
    *, study: Study, traces: Sequence[Trace], kind: str, by: Any, signed_off: bool = False
) -> list[StudyItem]:
    """Put traces of the study's data set into the study. Traces that are in it already are left as they are.

    The segmentation that a trace has now is the one that is labelled; from now on it cannot be split or merged.

    Parameters
    ----------
    kind
        "main", "training" or "gold" (hidden among the main ones).
    signed_off
        The labels that came with the data are taken as expected labels of training and gold items, on the word of
        `by`. Without it they are to be given with `item_gold_set`.

    Raises
    ------
    UserError
        No trace is new, one belongs to another data set or has nothing to judge, the study is closed, or imported
        labels are to be signed off and a trace has none.
    """
    if kind not in StudyItem.Kind.values:
        raise UserError(
            "unknown_kind", f"There is no kind of item called {kind!r}.", fields={"kind": "Choose one."}
        )
    with transaction.atomic():
        row = _locked(study)
        ids = [trace.pk for trace in traces]
        there = set(StudyItem.objects.filter(study=row, trace__in=ids).values_list("trace", flat=True))
        # Splitting a trace locks it too and asks afterwards whether a study has it.
        found = list(
            Trace.objects.select_for_update(no_key=True, of=("self",))
            .select_related("case")
            .filter(pk__in=[pk for pk in ids if pk not in there])
            .order_by("pk")
        )
        _check_traces(row, found)
        gold = _imported(found) if signed_off and kind != StudyItem.Kind.MAIN else {}
        if signed_off and kind != StudyItem.Kind.MAIN:
            _check_gold(found, gold)
        items = _numbered(row, found, kind)
        StudyItem.objects.bulk_create(items, batch_size=1000)
        expected = [
            ItemGold(item=item, segment=segment, label=segment.gold, note=segment.gold_note, signed_off_by=by)
            for item in items
            for segment in gold.get(item.trace.pk, ())
        ]
        ItemGold.objects.bulk_create(expected, batch_size=1000)
        record_event(
            stream=f"study:{row.pk}",
            actor=by,
            action="item.add",
            subject_type="study",
            subject_id=row.pk,
            data={
                "kind": kind,
                "items": {str(item.number): [item.trace_id, item.segmentation] for item in items},
                "signed_off": len(expected),
            },
        )
    return items


def questions_add(
    *, study: Study, questions: Sequence[VideoQuestion], kind: str = StudyItem.Kind.MAIN, by: Any
) -> list[StudyItem]:
    """Put questions of the study's set of videos into the study. Questions that are in it already are left as they are.

    `kind` is "main". Training and hidden gold compare labels, and a refinement has none.

    Raises
    ------
    UserError
        No question is new, one belongs to another set, the study is of traces or closed, or the kind is another one.
    """
    if kind != StudyItem.Kind.MAIN:
        raise UserError(
            "main_only",
            "In a study of videos all items are main ones: refinements are not compared with an expected answer.",
            "Add them as main items.",
            fields={"kind": "Choose Main."},
        )
    with transaction.atomic():
        row = _locked(study)
        ids = [question.pk for question in questions]
        there = set(StudyItem.objects.filter(study=row, question__in=ids).values_list("question", flat=True))
        # Nobody removes a question between this look and the new row.
        found = list(
            VideoQuestion.objects.select_for_update(no_key=True)
            .only("pk", "external_id", "video_set_id")
            .filter(pk__in=[pk for pk in ids if pk not in there])
            .order_by("pk")
        )
        _check_questions(row, found)
        taken = set(StudyItem.objects.filter(study=row).values_list("number", flat=True))
        mixed = sorted(found, key=lambda one: (draw(row.seed, "item", one.external_id), one.pk))
        numbers = item_numbers(row.seed, len(mixed), taken)
        items = [
            StudyItem(study=row, question=question, kind=kind, number=number)
            for question, number in zip(mixed, numbers, strict=True)
        ]
        StudyItem.objects.bulk_create(items, batch_size=1000)
        record_event(
            stream=f"study:{row.pk}",
            actor=by,
            action="item.add",
            subject_type="study",
            subject_id=row.pk,
            data={"kind": kind, "items": {str(item.number): item.question_id for item in items}},
        )
    return items


def item_remove(*, item: StudyItem, by: Any) -> None:
    """Take an item out again, as long as nobody has or had it to label. Raises `UserError` afterwards."""
    with transaction.atomic():
        _locked(item.study)
        if Assignment.objects.filter(item=item).exists():
            raise UserError(
                "item_in_use",
                f"{item} was given to somebody, so it stays in the study.",
                "Withdraw the work instead: nothing is deleted.",
                status=409,
            )
        ItemGold.objects.filter(item=item).delete()
        StudyItem.objects.filter(pk=item.pk).delete()
        about = {"question": item.question_id} if item.question_id else {"trace": item.trace_id}
        _event(item, by, "item.remove", {**about, "kind": item.kind})


def item_gold_set(*, item: StudyItem, labels: Mapping[int, tuple[str, str]], by: Any) -> None:
    """Say what experts expect of a training or gold item, in place of what was said before.

    `labels` maps the index of a judged segment to its label and a note (why; shown as feedback in training). Segments
    left out are not compared. `by` signs for it.
    """
    if item.kind == StudyItem.Kind.MAIN:
        raise UserError(
            "no_gold", "Main items have no expected labels: they are what the study is to find out."
        )
    with transaction.atomic():
        _locked(item.study)
        segments = {
            segment.index: segment
            for segment in Segment.objects.filter(
                trace=item.trace_id,
                segmentation=item.segmentation,
                index__gt=item.trace.context_segments,
            )
        }
        wrong: dict[str, str] = {}
        for index, (label, note) in labels.items():
            if index not in segments or label not in Gold.values:
                wrong[f"label_{index}"] = "Choose Correct, Uncertain or Incorrect for a judged segment."
            if len(note) > LONGEST_NOTE or not storable(note):
                wrong[f"note_{index}"] = f"At most {LONGEST_NOTE:,} characters fit."
        if wrong or not labels:
            raise UserError(
                "bad_gold",
                "The expected labels were not saved.",
                "At least one segment needs a label." if not wrong else "See beside the segments.",
                fields=wrong,
            )
        old = _as_data(ItemGold.objects.filter(item=item).values_list("segment__index", "label", "note"))
        new = _as_data((index, label, note.strip()) for index, (label, note) in labels.items())
        ItemGold.objects.filter(item=item).delete()
        ItemGold.objects.bulk_create(
            ItemGold(item=item, segment=segments[index], label=label, note=note.strip(), signed_off_by=by)
            for index, (label, note) in sorted(labels.items())
        )
        _event(item, by, "gold.set", {"old": old, "new": new})


def item_overlap_set(*, item: StudyItem, overlap: int | None, by: Any) -> None:
    """How many people are to label this item; None: as many as the study says. Fewer may settle it at once."""
    if overlap is not None and not 1 <= overlap <= MOST_OVERLAP:
        raise UserError(
            "bad_overlap",
            f"1 to {MOST_OVERLAP} people work on an item.",
            fields={"overlap": "Out of range."},
        )
    with transaction.atomic():
        _locked(item.study)
        (row,) = items_lock([item.pk])
        old, row.overlap = row.overlap, overlap
        if old == overlap:
            return
        row.save(update_fields=["overlap", "updated_at"])
        item_settle(row, by)
        _event(row, by, "item.change", {"old": {"overlap": old}, "new": {"overlap": overlap}})


def _as_data(rows: Any) -> dict[str, list[str]]:
    return {str(index): [label, note] for index, label, note in sorted(rows)}


def _check_traces(study: Study, traces: Sequence[Trace]) -> None:
    if not traces:
        raise UserError(
            "no_new_trace",
            "None of the chosen traces is new to the study.",
            "Tick traces that are not in it.",
        )
    _check_room(study, len(traces))
    if any(trace.case.dataset_id != study.dataset_id for trace in traces):
        raise UserError("wrong_dataset", "A trace belongs to another data set than the study.")
    ids = [trace.pk for trace in traces]
    judged = set(
        Segment.objects.filter(
            trace__in=ids,
            segmentation=F("trace__segmentation"),
            index__gt=F("trace__context_segments"),
        ).values_list("trace", flat=True)
    )
    if empty := [str(trace) for trace in traces if trace.pk not in judged]:
        raise UserError(
            "nothing_to_judge", f"These traces have no segment to judge: {_some(empty)}.", "Leave them out."
        )


def _check_questions(study: Study, questions: Sequence[VideoQuestion]) -> None:
    if not study.is_video:
        raise UserError("not_for_traces", "This is a study of traces.", "Add traces of its data set.")
    if not questions:
        raise UserError(
            "no_new_question",
            "None of the chosen questions is new to the study.",
            "Tick questions that are not in it.",
        )
    _check_room(study, len(questions))
    if any(question.video_set_id != study.video_set_id for question in questions):
        raise UserError("wrong_video_set", "A question belongs to another set of videos than the study.")


def _check_room(study: Study, new: int) -> None:
    if StudyItem.objects.filter(study=study).count() + new > MOST_ITEMS:
        raise UserError(
            "too_many_items",
            f"A study holds at most {MOST_ITEMS:,} items.",
            "Make another study for the rest.",
        )


def _imported(traces: Sequence[Trace]) -> dict[int, list[Segment]]:
    rows = Segment.objects.filter(
        trace__in=[trace.pk for trace in traces],
        segmentation=F("trace__segmentation"),
        index__gt=F("trace__context_segments"),
    ).exclude(gold="")
    found: dict[int, list[Segment]] = {}
    for segment in rows.order_by("trace", "index"):
        found.setdefault(segment.trace_id, []).append(segment)
    return found


def _check_gold(traces: Sequence[Trace], gold: Mapping[int, Sequence[Segment]]) -> None:
    if without := [str(trace) for trace in traces if not gold.get(trace.pk)]:
        raise UserError(
            "no_imported_labels",
            f"No label came with these traces, so there is nothing to sign off: {_some(without)}.",
            "Add them without signing off, and give their expected labels on their pages.",
        )


def _numbered(study: Study, traces: Sequence[Trace], kind: str) -> list[StudyItem]:
    """Items with drawn numbers: neither the order of import nor the kind shows in them."""
    taken = set(StudyItem.objects.filter(study=study).values_list("number", flat=True))
    numbers = item_numbers(study.seed, len(traces), taken)
    mixed = sorted(
        traces,
        key=lambda trace: (draw(study.seed, "item", trace.case.external_id, trace.external_id), trace.pk),
    )
    return [
        StudyItem(study=study, trace=trace, segmentation=trace.segmentation, kind=kind, number=number)
        for trace, number in zip(mixed, numbers, strict=True)
    ]


def _locked(study: Study) -> Study:
    row = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if row.stage == Study.Stage.CLOSED:
        raise UserError("study_closed", "The study is closed, so its items stay as they are.", status=409)
    return row


def _some(names: Sequence[str], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _event(item: StudyItem, by: Any, action: str, data: Mapping[str, Any]) -> None:
    record_event(
        stream=f"study:{item.study_id}",
        actor=by,
        action=action,
        subject_type="item",
        subject_id=item.number,
        data=data,
    )
