"""The pages of data sets."""

import re

import pytest
from django.urls import reverse

from auditing.selectors.datasets import TraceFilters
from auditing.views.datasets import histogram_bars, share_bars
from reasonaudit.lib.templatetags.ui import DASH
from tests.auditing.views.rows import make_audit, make_dataset, make_run, make_trace

LIST = reverse("auditing:dataset_list")


def detail(dataset, query: str = "") -> str:
    return reverse("auditing:dataset_detail", args=[dataset.slug]) + query


def test_the_empty_list_says_what_to_do(visitor):
    html = visitor.get(LIST).content.decode()
    assert "No data set yet" in html
    assert reverse("auditing:import") in html


def test_the_list_names_data_sets_with_their_numbers(visitor, django_assert_num_queries):
    ward = make_dataset(invented=True)
    make_audit(make_run(ward), make_trace(ward, "Ache", ["one"]), ["orphan"])
    with django_assert_num_queries(3):  # session, user, data sets
        html = visitor.get(LIST).content.decode()
    assert "Ward round" in html
    assert "Invented data" in html
    assert "Clinical" in html


def test_the_page_shows_both_kinds_of_labels_with_words(visitor):
    ward = make_dataset()
    make_audit(make_run(ward), make_trace(ward, "Ache", ["one", "two"], ["correct"]), ["orphan", "supported"])
    html = visitor.get(detail(ward)).content.decode()
    assert 'aria-label="Gold labels: 1 correct, 1 not labelled"' in html
    assert 'aria-label="Audit labels: 1 orphan, 1 supported"' in html
    assert "Clinical: 50\u00a0% supported, the rest mostly lacks any support" in html
    assert "Invented data" not in html


def test_figures_that_cannot_be_computed_are_dashes_with_the_reason(visitor):
    html = visitor.get(detail(make_dataset())).content.decode()
    assert f"{DASH} / {DASH}" in html
    assert "nothing to average" in html
    assert "Failure modes need an audit" in html
    assert "No traces yet" in html


def test_no_ratio_without_an_unsupported_segment(visitor):
    ward = make_dataset()
    make_audit(make_run(ward), make_trace(ward, "Ache", ["one"]), ["orphan"])
    assert "No segment is Unsupported, so there is no ratio" in visitor.get(detail(ward)).content.decode()


def test_the_labellers_quality_is_shown_with_its_labels(visitor):
    ward = make_dataset()
    weak = make_run(ward, quality_note="Weak on purpose.")
    make_audit(weak, make_trace(ward, "Ache", ["one"]), ["orphan"])
    assert "Weak on purpose." in visitor.get(detail(ward)).content.decode()


def test_filters_paging_and_sorting_are_kept_in_links(visitor):
    ward = make_dataset()
    for number in range(27):
        make_trace(ward, f"T{number:02}", ["one"], domain="clinical" if number else "mathematical")
    html = visitor.get(detail(ward, "?domain=clinical&sort=-case")).content.decode()
    assert "26 traces" in html
    assert html.index(">T26<") < html.index(">T25<")
    assert "?domain=clinical&amp;sort=-case&amp;page=2" in html
    second = visitor.get(detail(ward, "?domain=clinical&page=2")).content.decode()
    assert "26 to 26 of 26" in second
    assert "?domain=clinical&amp;sort=-case" in second  # a new order starts at the first page


def test_nothing_found_says_so(visitor):
    ward = make_dataset()
    make_trace(ward, "Ache", ["one"])
    html = visitor.get(detail(ward, "?q=nothing+like+this")).content.decode()
    assert "No trace fits these filters" in html


def test_titles_and_texts_are_escaped(visitor):
    ward = make_dataset("<script>alert(1)</script>", slug="odd")
    make_trace(ward, "<img src=x onerror=alert(1)>", ["one"], generator="<b>x</b>")
    html = visitor.get(detail(ward)).content.decode()
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "<b>x</b>" not in html


def test_another_run_can_be_shown(visitor):
    ward = make_dataset()
    trace = make_trace(ward, "Ache", ["one"])
    old, new = make_run(ward, name="Old"), make_run(ward, name="New")
    make_audit(old, trace, ["orphan"])
    make_audit(new, trace, ["supported"])
    assert "Audit labels: 1 supported" in visitor.get(detail(ward)).content.decode()
    assert "Audit labels: 1 orphan" in visitor.get(detail(ward, f"?run={old.pk}")).content.decode()
    assert "Audit labels: 1 supported" in visitor.get(detail(ward, "?run=999999")).content.decode()


def test_labellers_are_named_in_words(visitor):
    ward = make_dataset()
    trace, other = make_trace(ward, "Ache", ["one"]), make_trace(ward, "Bleed", ["one"])
    local = make_run(ward, labeller_identity={"model": "nli-minilm"})
    make_audit(local, trace, ["orphan"])
    html = visitor.get(detail(ward)).content.decode()
    assert "1 of 2 traces audited, embedded model nli-minilm" in html
    assert f"Audit {local.pk}, embedded model</option>" in html
    stored = make_run(ward, labeller="stored")
    make_audit(stored, other, ["orphan"])
    html = visitor.get(detail(ward)).content.decode()
    assert "2 of 2 traces audited" in html
    assert 'title="stored relations, embedded model nli-minilm">by several labellers' in html
    assert (
        "1 of 2 traces audited, stored relations"
        in visitor.get(detail(ward, f"?run={stored.pk}")).content.decode()
    )


def test_the_share_filter_works_by_get_and_stays_filled_in(visitor):
    ward = make_dataset()
    make_trace(ward, "Bad one", ["one"], ["incorrect"])
    make_trace(ward, "Good one", ["one"], ["correct"])
    html = visitor.get(detail(ward, "?share_from=90&share_to=")).content.decode()
    assert "Bad one" in html
    assert "Good one" not in html
    assert re.search(r'name="share_from"[^>]*value="90"', html)
    assert re.search(r'name="share_to"[^>]*value=""', html)
    assert "1 with 90 to 100\u00a0%" in html
    assert "2 traces" in visitor.get(detail(ward, "?share_from=x&share_to=-1")).content.decode()


def test_without_gold_labels_there_is_no_share_filter(visitor):
    ward = make_dataset()
    make_trace(ward, "Ache", ["one"])
    html = visitor.get(detail(ward)).content.decode()
    assert "Needs gold labels" in html
    assert "share_from" not in html


def test_sorting_by_the_writer_is_offered_beside_the_case(visitor):
    ward = make_dataset()
    make_trace(ward, "A", ["one"], generator="z-model")
    make_trace(ward, "B", ["one"], generator="a-model")
    html = visitor.get(detail(ward, "?sort=generator")).content.decode()
    assert html.index(">B<") < html.index(">A<")
    assert '<th scope="col" aria-sort="ascending"><a href="?sort=case"' in html
    assert 'class="is-sorted" href="?sort=-generator"' in html


@pytest.mark.parametrize("traces", [3, 25])
def test_a_page_costs_the_same_queries(visitor, traces, django_assert_num_queries):
    ward = make_dataset()
    run = make_run(ward)
    for number in range(traces):
        trace = make_trace(ward, f"T{number:02}", ["one", "two"], ["correct"])
        if number % 2:
            make_audit(run, trace, ["supported", "orphan"])
    # session, user, data set, runs, count, 5 of the rows, 3 of the statistics, 2 of the failure modes, 4 of
    # the filters' counts, cases without a trace
    with django_assert_num_queries(20):
        visitor.get(detail(ward))


def test_running_traces_are_polled_and_done_ones_not(visitor):
    ward = make_dataset()
    run = make_run(ward, state="running")
    busy, still = make_trace(ward, "Busy", ["one"]), make_trace(ward, "Still", ["one"])
    run.run_traces.create(trace=busy, segmentation=1, state="running", total=8, done=2)
    poll = reverse("auditing:dataset_progress", args=[ward.slug])
    html = visitor.get(detail(ward)).content.decode()
    assert f"{poll}?trace={busy.pk}" in html
    assert "Running, 25 %" in html
    cells = visitor.get(f"{poll}?trace={busy.pk},{still.pk},x").content.decode()
    assert f'id="state-{busy.pk}"' in cells
    run.run_traces.update(state="done")
    assert "every 2s" not in visitor.get(f"{poll}?trace={busy.pk}").content.decode()


def test_an_unknown_data_set_is_not_found(visitor):
    assert visitor.get(reverse("auditing:dataset_detail", args=["nowhere"])).status_code == 404


def test_histogram_bars_by_hand():
    bars = histogram_bars([(2, 1), (4, 3)], 4)
    assert [(bar["height"], bar["typical"], bar["title"]) for bar in bars] == [
        (40 / 3, False, "1 with 2 segments"),
        (0, False, "0 with 3 segments"),
        (40, True, "3 with 4 segments"),
    ]
    wide = histogram_bars([(1, 2), (100, 1)], 1)
    assert len(wide) <= 14
    assert wide[0]["title"] == "2 with 1 to 8 segments"
    assert sum(bar["height"] for bar in wide) == 60
    assert histogram_bars([], None) == []


@pytest.mark.parametrize(
    ("limits", "taken"),
    [
        ((None, None), [True] * 10),
        ((90, None), [False] * 9 + [True]),
        ((100, 100), [False] * 9 + [True]),
        ((None, 0), [True] + [False] * 9),
        ((35, 50), [False] * 3 + [True] * 3 + [False] * 4),
        ((60, 40), [False] * 10),
    ],
)
def test_bars_that_the_limits_reach_into_are_marked(limits, taken):
    bars = share_bars([1] * 9 + [4], TraceFilters(share_from=limits[0], share_to=limits[1]))
    assert [bar["on"] for bar in bars] == taken
    assert [bar["height"] for bar in bars] == [10] * 9 + [40]
    assert bars[0]["title"] == "1 with 0 to under 10\u00a0%"
    assert share_bars([], TraceFilters()) == []
