"""Storing traces all or nothing, and changing segments by hand while nothing is said about them."""

from dataclasses import replace

import pytest

from annotation.formats.records import SegmentRecord
from annotation.models import Case, Dataset, Segment, Trace
from annotation.selectors import current_segments, segment_texts
from annotation.services import (
    SegmentationLocked,
    dataset_create,
    segment_merge,
    segment_split,
    segmentation_lock,
    traces_create,
)
from annotation.services.segmentation import SegmentationChanged
from annotation.services.traces import text_hash
from reasonaudit.lib.errors import UserError
from tests.auditing.factories import dataset, record, trace

pytestmark = pytest.mark.django_db


def create(into, *records):
    return traces_create(dataset=into, records=records, segmenter="s-1", by=None)


def test_a_trace_is_stored_with_case_segments_gold_and_relations():
    made = record(3, name="t", relations=[((1,), 2, "entailment")])
    labelled = replace(
        made, segments=(*made.segments[:2], SegmentRecord("third", "incorrect", "wrong unit", "native"))
    )
    (stored,) = create(dataset(), labelled)
    assert stored.case.context == "t segment 1."
    assert stored.stored_relations == [[[1], 2, "entailment"]]
    rows = list(current_segments(stored).values_list("index", "text", "gold", "gold_note", "error_kind"))
    assert rows[1:] == [(2, "t segment 2.", "", "", ""), (3, "third", "incorrect", "wrong unit", "native")]
    assert current_segments(stored)[2].text_sha256 == text_hash("third")
    assert stored.segmenter == "", "it came in segments, so nothing of ours split it"


def test_two_traces_may_share_a_case_and_a_case_may_wait_for_an_answer():
    into = dataset()
    first, second = record(3, name="a"), record(3, name="b")
    second = replace(second, case_id=first.case_id, segments=(first.segments[0], *second.segments[1:]))
    waiting = replace(
        record(2, name="c"), segments=(SegmentRecord("only the case"),), meta={"case_only": True}
    )
    assert len(create(into, first, second, waiting)) == 2
    assert Case.objects.filter(dataset=into).count() == 2
    assert Case.objects.get(external_id="case-c").traces.count() == 0


def test_a_case_with_other_line_ends_is_the_same_case():
    into = dataset()
    first = record(2, name="a", texts=("Age 12.\r\nWell.", "x"))
    second = replace(first, id="b", segments=(SegmentRecord("Age 12.\nWell."), SegmentRecord("y")))
    assert len(create(into, first, second)) == 2
    assert Case.objects.get(dataset=into).context == "Age 12.\r\nWell."


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([record(3, name="a"), record(3, name="a")], "given twice .*case-a / a"),
        ([record(3, name="a"), replace(record(3, name="b"), case_id="case-a")], "case-a has different texts"),
        ([replace(record(2, name="a"), segments=(SegmentRecord("x"),))], "no reasoning"),
        ([record(2, name="a", texts=("x", "y\x00z"))], "NUL"),
        ([record(3, name="old")], "in the data set already .*case-old / old"),
        ([record(3, name="new"), record(3, name="old", texts=("other", "y", "z"))], "with another text"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_stored(records, words):
    into = dataset()
    create(into, record(3, name="old"))
    counts = [model.objects.count() for model in (Case, Trace, Segment)]
    with pytest.raises(ValueError, match=words):
        create(into, record(2, name="good"), *records)
    assert [model.objects.count() for model in (Case, Trace, Segment)] == counts


def test_data_sets_have_names_and_addresses_of_their_own():
    assert dataset_create(name="Kidney cases").slug == "kidney-cases"
    assert dataset_create(name="kidney  CASES!").slug == "kidney-cases-2"
    assert dataset_create(name="Нефрология").slug
    for wrong in ("", "  ", "x" * 201, "a\x00b", "Kidney cases"):
        with pytest.raises(UserError):
            dataset_create(name=wrong)
    assert Dataset.objects.count() == 3


def test_rp_09_splitting_makes_new_segments_and_keeps_the_old_ones():
    one = trace(3, texts=("case", "first part. second part.", "end"))
    old = list(current_segments(one))
    changed = segment_split(trace=one, index=2, offset=12, by=None)
    assert changed.segmentation == 2
    assert segment_texts(changed) == ["case", "first part.", "second part.", "end"]
    assert [Segment.objects.get(pk=row.pk).text for row in old] == ["case", "first part. second part.", "end"]
    again = segment_merge(trace=changed, index=2, by=None)
    assert segment_texts(again) == ["case", "first part. second part.", "end"]
    assert segment_texts(again, 1) == segment_texts(again)
    assert [row.text_sha256 for row in current_segments(again)] == [row.text_sha256 for row in old]


@pytest.mark.parametrize(
    ("index", "offset"), [(1, 2), (0, 1), (4, 1), (2, 0), (2, 5), (2, 99), (2, -1), (3, 1)]
)
def test_splits_that_make_no_sense_are_refused(index, offset):
    one = trace(3, texts=("case", "ab cd", " e"))
    with pytest.raises(UserError):
        segment_split(trace=one, index=index, offset=offset, by=None)
    one.refresh_from_db()
    assert one.segmentation == 1


@pytest.mark.parametrize("index", [0, 1, 3, 4])
def test_merges_that_make_no_sense_are_refused(index):
    with pytest.raises(UserError):
        segment_merge(trace=trace(3), index=index, by=None)


def test_a_change_meant_for_another_segmentation_is_refused():
    """Two people have the trace open: what one calls S3 after the other's merge is another segment."""
    one = trace(5)
    merged = segment_merge(trace=one, index=2, by=None, expected=1)
    assert merged.segmentation == 2
    texts = segment_texts(merged)
    for expected in (1, 3):
        with pytest.raises(SegmentationChanged, match=r"meanwhile.* Nothing was changed\.") as refused:
            segment_merge(trace=one, index=3, by=None, expected=expected)
        assert refused.value.status == 409
        with pytest.raises(SegmentationChanged):
            segment_split(trace=one, index=2, offset=1, by=None, expected=expected)
    one.refresh_from_db()
    assert one.segmentation == 2
    assert segment_texts(one) == texts
    assert segment_merge(trace=one, index=3, by=None, expected=2).segmentation == 3


def test_segments_with_relations_or_labels_are_locked():
    free = trace(3)
    assert segmentation_lock(free) == ""
    related = trace(3, relations=[((1,), 2, "neutral")])
    labelled = trace(3)
    Segment.objects.filter(trace=labelled, index=2).update(gold="correct")
    for one in (related, labelled):
        assert segmentation_lock(one)
        with pytest.raises(SegmentationLocked):
            segment_merge(trace=one, index=2, by=None)
