"""Tags that every page uses."""

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from reasonaudit.lib.templatetags import ui


def test_a_chip_has_icon_and_word():
    html = ui.label_chip("orphan")
    assert 'class="chip orphan"' in html
    assert "#slash-circle" in html
    assert html.endswith("Orphan</span>")
    assert "Not labelled" in ui.label_chip("")
    assert "Not labelled" in ui.label_chip(None)


def test_a_strip_says_its_counts_and_stops_at_twelve():
    html = ui.label_strip(["correct", "", "correct"], "Gold labels")
    assert 'aria-label="Gold labels: 2 correct, 1 not labelled"' in html
    long = ui.label_strip(["orphan"] * 14, "Audit labels")
    assert long.count('class="orphan"') == 12
    assert ">+2<" in long
    assert "14 orphan" in long
    assert 'aria-label="no segment"' in ui.label_strip([])


def test_texts_are_escaped():
    assert "<b>" not in ui.label_strip([], "<b>")
    assert "<b>" not in ui.run_state("<b>")


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, ui.DASH), (0.2, "1 s"), (40.4, "40 s"), (240, "4 min"), (7500, "2 h 5 min")],
)
def test_durations(value, words):
    assert ui.duration(value) == words


def test_numbers_that_cannot_be_computed_are_dashes():
    assert ui.share(1, 0) == ui.DASH
    assert ui.share(None, 3) == ui.DASH
    assert ui.share(1, 8) == "12.5\u00a0%"
    assert ui.decimal(None) == ui.DASH
    assert ui.decimal(7.625) == "7.62"
    assert (ui.short(7.0), ui.short(7.5), ui.short(None)) == ("7", "7.5", ui.DASH)


def test_coverage_is_never_rounded_up_to_complete():
    assert ui.coverage(10_659, 10_660) == "99.9\u00a0%"
    assert ui.coverage(10_660, 10_660) == "100\u00a0%"
    assert ui.coverage(0, 0) == ui.DASH


def test_links_keep_the_query_and_go_back_to_page_one():
    request = RequestFactory().get("/", {"domain": ["a", "b"], "page": "3", "sort": "case"})
    render = lambda source: Template(source).render(Context({"request": request}))  # noqa: E731
    assert render("{% query_with sort='-case' %}") == "?domain=a&amp;domain=b&amp;sort=-case"
    assert render("{% query_with page=4 %}") == "?domain=a&amp;domain=b&amp;sort=case&amp;page=4"
    assert render("{% query_with domain=None %}") == "?sort=case"


def test_initials():
    assert ui.initials("Ada Lovelace Byron") == "AB"
    assert ui.initials("rona") == "RO"
    assert ui.initials("") == ""
