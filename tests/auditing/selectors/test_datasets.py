"""The list of traces: its filters, its states, what it costs."""

import pytest

from annotation.models import Case, Dataset, Trace
from auditing.selectors import dataset_statistics, datasets
from auditing.selectors.datasets import TraceFilters
from reasonaudit.lib.models import RunState
from tests.auditing.views.rows import make_audit, make_dataset, make_run, make_trace

pytestmark = pytest.mark.django_db


@pytest.fixture
def ward() -> Dataset:
    return make_dataset()


def titles(traces) -> list[str]:
    return [trace.case.title for trace in traces]


@pytest.fixture
def three(ward) -> dict[str, Trace]:
    return {
        "a": make_trace(ward, "Ache", ["one", "two"], ["correct", "incorrect"], generator="m1"),
        "b": make_trace(ward, "Bleed", ["blood in the urine", "two"], ["correct"], generator="m2"),
        "c": make_trace(ward, "Count", ["one"], domain="mathematical", generator="m1"),
    }


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (TraceFilters(), ["Ache", "Bleed", "Count"]),
        (TraceFilters(domains=("mathematical",)), ["Count"]),
        (TraceFilters(generators=("m1",)), ["Ache", "Count"]),
        (TraceFilters(generators=("m1",), domains=("clinical",)), ["Ache"]),
        (TraceFilters(gold=("complete",)), ["Ache"]),
        (TraceFilters(gold=("part",)), ["Bleed"]),
        (TraceFilters(gold=("none", "part")), ["Bleed", "Count"]),
        (TraceFilters(gold=("no such",)), []),
        # Shares of problematic labels: Ache 1 of 2, Bleed 0 of 1, Count has no label and so no share.
        (TraceFilters(share_from=50), ["Ache"]),
        (TraceFilters(share_from=51), []),
        (TraceFilters(share_to=49), ["Bleed"]),
        (TraceFilters(share_from=0), ["Ache", "Bleed"]),
        (TraceFilters(share_from=0, share_to=0, gold=("part",)), ["Bleed"]),
        (TraceFilters(share_from=60, share_to=40), []),
        (TraceFilters(search="URINE"), ["Bleed"]),
        (TraceFilters(search="count"), ["Count"]),
        (TraceFilters(search="100%"), []),
        (TraceFilters(sort="-case"), ["Count", "Bleed", "Ache"]),
        (TraceFilters(sort="segments"), ["Count", "Ache", "Bleed"]),
        (TraceFilters(sort="no such"), ["Ache", "Bleed", "Count"]),
    ],
)
def test_filters(ward, three, filters, found):
    assert titles(datasets.filtered(datasets.traces_of(ward), filters)) == found


def test_label_filter_looks_at_the_shown_audit_only(ward, three):
    old, new = make_run(ward), make_run(ward)
    make_audit(old, three["a"], ["orphan", "supported"])
    make_audit(new, three["a"], ["supported", "supported"])
    orphans = TraceFilters(labels=("orphan",))
    assert titles(datasets.filtered(datasets.traces_of(ward), orphans)) == []
    assert titles(datasets.filtered(datasets.traces_of(ward, old), orphans)) == ["Ache"]


def test_audit_states(ward, three):
    more = make_trace(ward, "Dose", ["one"])
    run = make_run(ward)
    make_audit(run, three["a"], ["supported", "orphan"])
    stale = make_audit(run, three["b"], ["supported", "orphan"])
    three["b"].segmentation = 2
    three["b"].save()
    running = make_run(ward, state=RunState.RUNNING)
    running.run_traces.create(trace=three["c"], segmentation=1, state=RunState.RUNNING, total=9, done=3)
    failed = make_run(ward, state=RunState.FAILED)
    failed.run_traces.create(trace=more, segmentation=1, state=RunState.FAILED)
    make_trace(ward, "Ear", ["one"])
    rows = {
        row.trace.case.title: row
        for row in datasets.trace_rows(
            datasets.traces_of(ward).select_related("case").order_by("case__title")
        )
    }
    assert {title: row.state for title, row in rows.items()} == {
        "Ache": "audited",
        "Bleed": "stale",
        "Count": "running",
        "Dose": "stopped",
        "Ear": "none",
    }
    assert rows["Ache"].audit == ["supported", "orphan"]
    assert rows["Ache"].gold == ["correct", "incorrect"]
    assert rows["Bleed"].result == stale
    assert rows["Ear"].result is None
    states = {value: count for value, _, count in datasets.facets(ward).state}
    assert states == {"audited": 1, "stale": 1, "active": 1, "stopped": 1, "none": 1}
    for state in states:
        assert len(datasets.filtered(datasets.traces_of(ward), TraceFilters(states=(state,)))) == 1


def test_facets_count_traces(ward, three):
    run = make_run(ward)
    make_audit(run, three["a"], ["orphan", "orphan"])
    found = datasets.facets(ward)
    assert found.domain == [("clinical", "Clinical", 2), ("mathematical", "Maths", 1)]
    assert found.generator == [("m1", "m1", 2), ("m2", "m2", 1)]
    assert {value: count for value, _, count in found.gold} == {"complete": 1, "part": 1, "none": 1}
    assert [count for value, _, count in found.label if value == "orphan"] == [1]


def test_shares_of_problematic_labels_by_ten_per_cent(ward):
    """0 of 1, 1 of 3 (33.3 %), 3 of 10 (the range from 30 %), 1 of 2 and 1 of 1; uncertain ones count too."""
    make_trace(ward, "A", ["one"], ["correct"])
    make_trace(ward, "B", ["one", "two", "three"], ["correct", "uncertain", "correct"])
    make_trace(ward, "C", ["x"] * 10, ["incorrect"] * 2 + ["uncertain"] + ["correct"] * 7)
    make_trace(ward, "D", ["one", "two", "three"], ["incorrect", "correct"])  # the third has no label
    make_trace(ward, "E", ["one"], ["incorrect"])
    make_trace(ward, "F", ["one"])
    assert datasets.facets(ward).shares == [1, 0, 0, 2, 0, 1, 0, 0, 0, 1]


def test_without_gold_there_are_no_shares(ward):
    make_trace(ward, "A", ["one"])
    assert datasets.facets(ward).shares == []


def test_a_late_result_of_an_older_run_is_not_the_newest(ward, three):
    old, new = make_run(ward, name="Old"), make_run(ward, name="New")
    make_audit(new, three["a"], ["supported", "supported"])
    make_audit(old, three["a"], ["orphan", "orphan"])  # ended last
    (row,) = datasets.trace_rows(datasets.traces_of(ward).filter(pk=three["a"].pk).select_related("case"))
    assert row.result is not None
    assert row.result.run == new
    (mode,) = dataset_statistics.failure_modes_of(ward)
    assert mode.counts["supported"] == 2
    assert mode.counts["orphan"] == 0
    assert datasets.facets(ward).audited == 1


def test_a_data_set_line(ward, three):
    Case.objects.create(dataset=ward, external_id="x", title="Waiting", context="text")
    make_audit(make_run(ward), three["a"], ["orphan", "orphan"])
    make_audit(make_run(ward), three["a"], ["orphan", "orphan"])
    make_dataset("Empty")
    empty, line = datasets.dataset_rows()
    assert (line.case_count, line.trace_count, line.audited_count) == (4, 3, 1)
    assert sorted(line.domains) == ["clinical", "general", "mathematical"]
    assert (empty.case_count, empty.trace_count, empty.audited_count, empty.domains) == (0, 0, 0, None)
    assert titles_of(datasets.cases_without_trace(ward)) == ["Waiting"]


def titles_of(cases) -> list[str]:
    return [case.title for case in cases]


def test_a_page_of_rows_costs_the_same_queries_for_any_number(ward, django_assert_num_queries):
    run = make_run(ward)
    for number in range(12):
        trace = make_trace(ward, f"T{number:02}", ["one", "two"], ["correct"])
        if number % 2:
            make_audit(run, trace, ["supported", "orphan"])
    ordered = datasets.filtered(datasets.traces_of(ward), TraceFilters()).select_related("case")
    for size in (2, 12):
        with django_assert_num_queries(5):  # traces, results, run traces with runs, segments, audits
            assert len(datasets.trace_rows(ordered[:size])) == size
