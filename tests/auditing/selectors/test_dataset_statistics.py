"""Figures of Tables 7 and 8 and the failure modes, against counts made by hand."""

import pytest

from auditing.selectors.dataset_statistics import (
    FailureModes,
    failure_modes_of,
    failure_takeaway,
    statistics_of,
)
from tests.auditing.views.rows import make_audit, make_dataset, make_run, make_trace

pytestmark = pytest.mark.django_db


def test_tables_7_and_8_by_hand(django_assert_num_queries):
    ward = make_dataset()
    # Words: 3, 1 | 2, 5 | 4  -> 15 words in 5 segments, mean 3.0, sorted 1 2 3 4 5, median 3.
    make_trace(ward, "A", ["one two three", "one"], ["correct", "incorrect"])
    make_trace(ward, "B", ["one two", "one  two\nthree four five"], ["uncertain"])
    make_trace(ward, "C", ["one two three four"], ["correct"])
    make_trace(make_dataset("Other"), "D", ["not counted"], ["correct"])
    with django_assert_num_queries(3):
        found = statistics_of(ward)
    assert (found.cases, found.traces, found.segments, found.labelled) == (3, 3, 5, 4)
    assert found.gold == {"correct": 2, "incorrect": 1, "uncertain": 1}
    assert (found.trustworthy, found.problematic) == (2, 2)
    assert found.segments_mean == pytest.approx(5 / 3)
    assert (found.segments_median, found.segments_min, found.segments_max) == (2, 1, 2)
    assert (found.words_mean, found.words_median) == (3.0, 3.0)
    assert found.histogram == [(1, 1), (2, 2)]
    assert found.unit == "case"
    assert found.takeaway == "About half of the labelled segments are correct"


def test_medians_between_two_values():
    ward = make_dataset()
    # Two traces of 1 and 4 segments: median 2.5. Words 1, 1, 2, 2, 7: median 2.
    make_trace(ward, "A", ["a"])
    make_trace(ward, "B", ["a", "a b", "a b", "a b c d e f g"])
    found = statistics_of(ward)
    assert found.segments_median == 2.5
    assert found.words_median == 2


def test_two_traces_of_one_case_are_counted_by_trace():
    ward = make_dataset()
    first = make_trace(ward, "A", ["a"])
    make_trace(ward, "A", ["a", "b"], case=first.case, generator="model-b")
    found = statistics_of(ward)
    assert (found.cases, found.traces, found.unit) == (1, 2, "trace")


def test_an_empty_data_set_has_no_figures_not_zeros():
    found = statistics_of(make_dataset())
    assert (
        found.segments_mean,
        found.segments_median,
        found.segments_min,
        found.words_mean,
        found.words_median,
    ) == (
        None,
        None,
        None,
        None,
        None,
    )
    assert found.takeaway == "No segment has a reference label"


def test_old_segmentations_do_not_count():
    ward = make_dataset()
    trace = make_trace(ward, "A", ["a", "b"])
    trace.segmentation = 2
    trace.save()
    trace.all_segments.create(segmentation=2, index=1, text="case", text_sha256="0" * 64)
    trace.all_segments.create(segmentation=2, index=2, text="a b", text_sha256="0" * 64)
    found = statistics_of(ward)
    assert (found.segments, found.words_mean) == (1, 2.0)


def test_failure_modes_by_hand(django_assert_num_queries):
    ward = make_dataset()
    run = make_run(ward)
    clinical = make_trace(ward, "A", ["a", "b", "c", "d"])
    maths = make_trace(ward, "B", ["a", "b"], domain="mathematical")
    stale = make_trace(ward, "C", ["a"])
    make_audit(make_run(ward), clinical, ["contradicted"] * 4)
    # Newer audit of A: its counts replace the ones above.
    newer = make_run(ward)
    make_audit(newer, clinical, ["supported", "orphan", "orphan", "unsupported"])
    make_audit(run, maths, ["supported", "orphan"])
    make_audit(run, stale, ["orphan"])
    stale.segmentation = 2
    stale.save()
    with django_assert_num_queries(2):
        first, second = failure_modes_of(ward)
    assert (first.domain, first.traces, first.segments) == ("clinical", 1, 4)
    assert first.counts == {"supported": 1, "unsupported": 1, "orphan": 2, "contradicted": 0}
    assert first.ratio == 2.0
    assert [(label, width) for label, _, width, _ in first.parts] == [
        ("supported", 25.0),
        ("unsupported", 25.0),
        ("orphan", 50.0),
    ]
    assert second.ratio is None
    assert failure_takeaway([first, second]) == (
        "Clinical: 25\u00a0% supported, the rest mostly lacks any support; "
        "Maths: 50\u00a0% supported, the rest mostly lacks any support"
    )
    assert [mode.domain for mode in failure_modes_of(ward, newer)] == ["clinical"]


@pytest.mark.parametrize(
    ("orphan", "unsupported", "sentence"),
    [
        (0, 0, "Clinical: 100\u00a0% supported"),
        (2, 2, "Clinical: 20\u00a0% supported, missing support and broken chains are as common"),
        (1, 3, "Clinical: 20\u00a0% supported, the rest mostly rests on broken chains"),
    ],
)
def test_takeaways(orphan, unsupported, sentence):
    counts = {"supported": 1, "unsupported": unsupported, "orphan": orphan, "contradicted": 0}
    assert failure_takeaway([FailureModes("clinical", 1, counts)]) == sentence
