"""What results and pages read of judges."""

import pytest

from annotation.models import Segment
from auditing.models import JudgeRun, JudgeVerdict
from auditing.selectors.judges import (
    judge_runs_of,
    judge_verdicts,
    judges_by_segment,
    verdict_counts,
    verdicts_of_trace,
)
from tests.auditing import factories

pytestmark = pytest.mark.django_db


def make_run(dataset, judge="openai:alpha", judge_id=""):
    return JudgeRun.objects.create(dataset=dataset, judge=judge, judge_id=judge_id or f"{judge}#00000001")


def say(run, trace, said, segmentation=1):
    for index, verdict in said.items():
        valid = verdict in ("trustworthy", "problematic")
        JudgeVerdict.objects.create(
            run=run,
            segment=Segment.objects.get(trace=trace, index=index, segmentation=segmentation),
            verdict=verdict if valid else None,
            status="valid" if valid else verdict,
            reason=f"S{index}",
        )


def ids(trace, segmentation=1):
    return dict(Segment.objects.filter(trace=trace, segmentation=segmentation).values_list("index", "pk"))


def test_lj_08_a_verdict_that_is_none_is_missing_and_one_that_was_never_asked_is_absent():
    trace = factories.trace(5)
    say(make_run(trace.case.dataset), trace, {2: "trustworthy", 3: "problematic", 4: "invalid:refusal"})
    ((judge, found),) = judge_verdicts([trace]).items()
    number = ids(trace)
    assert (judge.name, judge.model, judge.imported) == ("alpha", "alpha", False)
    assert found == {number[2]: 1, number[3]: 0, number[4]: None}


def test_of_several_runs_the_newest_valid_verdict_counts():
    trace = factories.trace(4)
    old, middle, new = (make_run(trace.case.dataset) for _ in range(3))
    say(old, trace, {2: "trustworthy", 3: "trustworthy", 4: "error:timeout"})
    say(middle, trace, {2: "problematic", 3: "invalid:empty", 4: "invalid:empty"})
    say(new, trace, {3: "error:timeout"})
    number = ids(trace)
    (found,) = judge_verdicts([trace]).values()
    assert found == {number[2]: 0, number[3]: 1, number[4]: None}
    (only,) = judge_verdicts([trace], run=middle).values()
    assert only == {number[2]: 0, number[3]: None, number[4]: None}
    (one,) = verdicts_of_trace(trace)
    assert {index: (said.verdict, said.run_id) for index, said in one.said.items()} == {
        2: ("problematic", middle.pk),
        3: ("trustworthy", old.pk),
        4: (None, middle.pk),
    }


def test_judges_are_told_apart_by_everything_that_decides_and_come_by_name():
    trace = factories.trace(2)
    for judge, judge_id in (
        ("openai:beta", "openai:beta#0000000a"),
        ("openai:Alpha", "openai:Alpha#0000000b"),
        ("openai:beta", "openai:beta#0000000c"),
        ("imported:alpha two", "imported:alpha two"),
        ("imported:c#1", "imported:c#1"),
    ):
        say(make_run(trace.case.dataset, judge, judge_id), trace, {2: "trustworthy"})
    judges = list(judge_verdicts([trace]))
    assert [(judge.name, judge.model, judge.imported) for judge in judges] == [
        ("Alpha", "Alpha", False),
        ("alpha two", "alpha two", True),
        ("beta (0000000a)", "beta", False),
        ("beta (0000000c)", "beta", False),
        ("c#1", "c#1", True),
    ]


def test_verdicts_on_an_earlier_segmentation_and_on_given_text_do_not_count():
    trace = factories.trace(3)
    say(make_run(trace.case.dataset), trace, {2: "trustworthy", 3: "trustworthy"})
    type(trace).objects.filter(pk=trace.pk).update(context_segments=2)
    trace.refresh_from_db()
    (found,) = judge_verdicts([trace]).values()
    assert list(found) == [ids(trace)[3]]
    type(trace).objects.filter(pk=trace.pk).update(segmentation=2)
    trace.refresh_from_db()
    assert judge_verdicts([trace]) == {}
    assert verdicts_of_trace(trace) == []


def test_traces_may_be_a_query_and_the_number_of_queries_does_not_grow(django_assert_num_queries):
    into = factories.dataset()
    traces = [factories.trace(3, into=into) for _ in range(4)]
    other = factories.trace(3)
    run = make_run(into)
    for trace in traces:
        say(run, trace, {2: "trustworthy", 3: "problematic"})
    say(make_run(other.case.dataset, "openai:other"), other, {2: "trustworthy"})
    rows = type(other).objects.filter(case__dataset=into)
    with django_assert_num_queries(1):
        ((judge, found),) = judge_verdicts(rows).items()
    assert judge.name == "alpha"
    assert len(found) == 8
    with django_assert_num_queries(1):
        assert judge_verdicts(traces) == {judge: found}


def test_how_many_trust_a_segment_in_words():
    trace = factories.trace(4)
    for name, said in (
        ("a", {2: "trustworthy", 3: "trustworthy", 4: "invalid:empty"}),
        ("b", {2: "trustworthy", 3: "problematic"}),
        ("c", {2: "trustworthy", 3: "error:timeout"}),
    ):
        say(make_run(trace.case.dataset, f"openai:{name}"), trace, said)
    words = {index: judges.sentence for index, judges in judges_by_segment(trace).items()}
    assert words == {2: "3 of 3 trust it", 3: "1 of 2 trust it, 1 without a verdict", 4: "no verdict"}
    assert [line["name"] for line in judges_by_segment(trace)[2].lines] == ["a", "b", "c"]


def test_runs_of_a_data_set_newest_first_and_counts_of_one():
    trace = factories.trace(5)
    first, second = (make_run(trace.case.dataset) for _ in range(2))
    make_run(factories.dataset())
    say(first, trace, {2: "trustworthy", 3: "problematic", 4: "invalid:empty", 5: "error:timeout"})
    assert list(judge_runs_of(trace.case.dataset)) == [second, first]
    assert verdict_counts(first) == {"trustworthy": 1, "problematic": 1, "invalid": 1, "failed": 1}
