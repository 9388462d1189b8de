"""The pages about ratings: what they say, where their numbers lead, and how many queries they take."""

import json
import re

import pytest
from django.urls import reverse

from auditing.models import ModelAnswer, Reference
from auditing.services.anchor import results
from tests.annotation.factories import user
from tests.auditing import benchmark_rows as rows

pytestmark = pytest.mark.django_db

PAGES = ("panel", "agreement", "people", "sources")
HOSTILE = "<script>alert(1)</script>"


def build(items: int = 3):
    """Two models, two judges, one person, two sources of references."""
    of = rows.benchmark(items)
    rows.references(of)
    rows.references(of, "draft", writer="m1")
    for model in ("m1", f"m2 {HOSTILE}"):
        rows.answers(of, model)
    person = user()
    for facet in ("answer", "hallucination", "divergence"):
        rows.rate(
            of,
            facet,
            {
                "m1": [{"openai:a": 5, "openai:b": 5, person: 5}]
                + [{"openai:a": 4, "openai:b": 1}] * (items - 1),
                f"m2 {HOSTILE}": [{"openai:a": 5, "openai:b": 5 if facet == "answer" else 3, person: 4}]
                + [{"openai:a": "invalid", "openai:b": 2}] * (items - 1),
            },
        )
    rows.rate(of, "answer", {"m1": [{"openai:a": 3}] * items}, reference="draft")
    return of


def text_of(response) -> str:
    """The page without tags, on one line."""
    body = response.content.decode().partition("<main")[2]
    return " ".join(re.sub(r"<script.*?</script>|<[^>]+>", " ", body, flags=re.DOTALL).split())


@pytest.mark.parametrize("part", PAGES)
def test_a_name_that_came_with_the_data_is_text(visitor, part):
    of = build()
    response = visitor.get(f"/benchmarks/{of.slug}/{part}/")
    assert response.status_code == 200
    assert HOSTILE not in response.content.decode()
    assert 'aria-current="page"' in response.content.decode()


@pytest.mark.parametrize("part", PAGES)
def test_an_empty_benchmark_says_what_to_do(visitor, part):
    response = visitor.get(f"/benchmarks/{rows.benchmark(0).slug}/{part}/")
    assert response.status_code == 200
    assert 'class="empty"' in response.content.decode()


@pytest.mark.parametrize(
    ("part", "queries"),
    # Session, user, whether this person rates blind, benchmark, the stored part.
    [("panel", 5), ("agreement", 5), ("people", 5), ("sources", 5)],
)
def test_more_items_take_no_more_queries(visitor, part, queries, django_assert_num_queries):
    for items in (3, 30):
        of = build(items)
        results.compute(of, part)
        address = f"/benchmarks/{of.slug}/{part}/"
        visitor.get(address)
        with django_assert_num_queries(queries):
            visitor.get(address)


@pytest.mark.parametrize("part", PAGES)
def test_what_was_never_computed_is_not_shown_as_nothing(visitor, part, monkeypatch):
    of = build()
    monkeypatch.setattr(results, "AT_ONCE", 1)
    said = text_of(visitor.get(f"/benchmarks/{of.slug}/{part}/"))
    assert "These results are being computed" in said


def test_panel_shows_means_and_why_ratings_are_missing(visitor):
    of = build()
    said = text_of(visitor.get(f"/benchmarks/{of.slug}/panel/"))
    # m1: 5, 2.5, 2.5.
    assert "3.33" in said
    assert "missing: 2 unreadable" in said
    # Hallucination where both answers are fully right: item 1, 5 against 4.
    assert "Hallucination: 1 item." in said


def test_panel_is_sorted_by_a_column_with_missing_values_last(visitor):
    of = build()
    rows.answers(of, "m0 unrated")

    def order(sort: str) -> list[str]:
        found = visitor.get(f"/benchmarks/{of.slug}/panel/?sort={sort}").context["rows"]
        return [row["model"][:2] for row in found]

    # m1: 5, 2.5, 2.5; m2: 5, 2, 2.
    assert order("answer") == ["m2", "m1", "m0"]
    assert order("-answer") == ["m1", "m2", "m0"]
    assert order("-model") == ["m2", "m1", "m0"]
    assert order("nonsense") == ["m0", "m1", "m2"]


def test_panel_compares_the_models_that_are_asked_for(visitor):
    of = build()
    rows.answers(of, "m0")
    chosen = visitor.get(f"/benchmarks/{of.slug}/panel/", {"first": "m1", "second": "m0"}).context
    assert (chosen["first"], chosen["second"]) == ("m0", "m1")
    assert (chosen["pair"]["first"], chosen["pair"]["second"]) == ("m0", "m1")
    chosen = visitor.get(f"/benchmarks/{of.slug}/panel/", {"first": "m1", "second": "m1"}).context
    assert "m1" in (chosen["first"], chosen["second"])
    chosen = visitor.get(f"/benchmarks/{of.slug}/panel/", {"first": "nobody"}).context
    assert (chosen["first"], chosen["second"]) == ("m0", "m1")


def test_numbers_lead_to_the_answer(visitor):
    of = build()
    answer = ModelAnswer.objects.get(model="m1", item__number=2)
    other = ModelAnswer.objects.exclude(model="m1").get(item__number=1)
    for page, wanted in (("panel", answer), ("people", other)):
        body = visitor.get(f"/benchmarks/{of.slug}/{page}/").content.decode()
        address = reverse("auditing:benchmark_item", args=[of.slug, wanted.item_id])
        assert f'href="{address}#answer-{wanted.pk}"' in body


def test_agreement_of_all_or_of_one_model(visitor):
    of = build()
    page = visitor.get(f"/benchmarks/{of.slug}/agreement/")
    said = text_of(page)
    assert "Answer: mean kappa" in said
    charts = json.loads(re.search(r'id="agreement-charts"[^>]*>(.*?)</script>', page.content.decode())[1])
    assert charts["matrices"]["answer"]["judges"] == ["openai:a", "openai:b"]
    narrowed = visitor.get(f"/benchmarks/{of.slug}/agreement/", {"model": f"m2 {HOSTILE}"})
    assert narrowed.context["chosen"] == f"m2 {HOSTILE}"
    # Both gave 5 to the one answer that both could rate.
    assert "Both gave the same rating to every item that both rated." in text_of(narrowed)
    assert visitor.get(f"/benchmarks/{of.slug}/agreement/", {"model": "nobody"}).context["chosen"] == ""


def test_people_are_pseudonyms(visitor):
    of = build()
    said = text_of(visitor.get(f"/benchmarks/{of.slug}/people/"))
    assert "Rater 1" in said
    # Two answers on three facets.
    assert "over 6 scores" in said


def test_sources_say_which_ratings_are_of_an_earlier_version(visitor):
    of = build()
    Reference.objects.filter(source="draft", item__number=1).update(sha256="2" * 64)
    said = text_of(visitor.get(f"/benchmarks/{of.slug}/sources/"))
    assert "3 not rated yet, 1 of an earlier version of answer or reference" in said
    # Judge b did not rate against the draft.
    assert "left out: b" in said
