"""Page of one item: clip, references, answers, ratings that may be seen, category by hand."""

import json
import re

import pytest
from django.urls import reverse

from auditing.models import BenchmarkRater, GroundingScore, ModelAnswer, Rating, TaxonomyLabel
from auditing.services.anchor import grounding
from tests.auditing import benchmark_rows as table
from tests.auditing.services.anchor import builders
from tests.auditing.views.rows import make_user
from videos.models import Video

pytestmark = pytest.mark.django_db

WORDS = "The judge says that the whistle is named."


@pytest.fixture
def rated(db):
    made = builders.benchmark(3, name="Street")
    item = builders.item(made, 2)
    reference = builders.reference(item)
    answer = builders.answer(item, "model-a")
    for facet in ("answer", "hallucination", "divergence"):
        builders.rating(answer, facet, 4, reference=reference, words=WORDS)
    return made


def address(of, number=2, name="item"):
    return reverse(f"auditing:benchmark_{name}", args=[of.slug, builders.item(of, number).pk])


def page(visitor, of, number=2) -> str:
    reply = visitor.get(address(of, number))
    assert reply.status_code == 200
    return reply.content.decode()


def test_the_page_has_everything_of_an_item(visitor, rated):
    html = page(visitor, rated)
    answer, reference = ModelAnswer.objects.get(), builders.item(rated, 2).references.get()
    assert f'id="answer-{answer.pk}"' in html
    assert f'id="reference-{reference.pk}"' in html
    assert WORDS in html
    assert "2 of 3" in html
    assert f'rel="prev" href="{address(rated, 1)}"' in html
    assert f'rel="next" href="{address(rated, 3)}"' in html
    assert "It hears a whistle." in html
    clip = json.loads(re.search(r'<script id="item-clip" type="application/json">(.*?)</script>', html)[1])
    assert clip["reference"]["id"] == f"reference-{reference.pk}"
    assert [side["id"] for side in clip["answers"]] == [f"answer-{answer.pk}"]


def test_people_are_numbers_and_their_notes_are_not_shown(visitor, rated):
    person = make_user("physician")
    builders.rating(ModelAnswer.objects.get(), "answer", 2, user=person, words="A private note.")
    html = page(visitor, rated)
    assert "Rater 1" in html
    assert "A private note." not in html
    assert person.username not in html


def test_a_rater_sees_no_rating_before_rating_the_answer(visitor, researcher, rated):
    assert WORDS in page(visitor, rated)
    BenchmarkRater.objects.create(benchmark=rated, user=researcher)
    html = page(visitor, rated)
    assert WORDS not in html
    assert 'class="score-' not in html
    assert "hidden until you have rated" in html
    answer = ModelAnswer.objects.get()
    reference = builders.item(rated, 2).references.get()
    for facet in ("answer", "hallucination", "divergence"):
        builders.rating(answer, facet, 3, user=researcher, reference=reference)
    assert WORDS in page(visitor, rated)


def test_an_item_without_anything_says_so(visitor, rated):
    html = page(visitor, rated, 1)
    for said in (
        "No reference",
        "no reference “human” for this item",
        "No answer in the main setting",
        "No level yet",
        "came with the question",
    ):
        assert said in html, said


def test_a_clip_that_is_missing_is_named_with_its_reason(visitor, rated):
    Video.objects.update(state="refused", message="No picture can be decoded.")
    html = page(visitor, rated)
    assert "The clip of this item is missing: refused. No picture can be decoded." in html
    assert ".." not in re.sub(r"<[^>]*>", "", html.partition("<main")[0])
    assert 'data-island="grounded-video"' not in html


def test_warnings_stand_in_words_and_a_text_that_cannot_be_read_is_shown_as_it_came(visitor, rated):
    builders.answer(builders.item(rated, 2), "model-b", text="I <b>cannot</b> help.")
    html = page(visitor, rated)
    assert "Neither a visual nor an audio cue could be found." in html
    assert "I &lt;b&gt;cannot&lt;/b&gt; help." in html


def test_a_very_long_answer_is_cut_and_says_so(visitor, rated):
    builders.answer(builders.item(rated, 2), "model-b", text="word " * 30_000)
    assert re.search(r"the first 20,000 of 1\d\d,\d\d\d characters", page(visitor, rated))


def test_grounding_is_shown_with_reasons_and_not_at_all_of_an_earlier_version(visitor, rated):
    answer = ModelAnswer.objects.select_related("item__benchmark", "item__question__video").get()
    reference = answer.item.references.get()
    grounding.store(answer, reference, 0.5)
    html = page(visitor, rated)
    # Answer and reference cite the same times, and neither has a box.
    assert "The reference has no tracks." in html
    assert '<b class="num">1.00</b>' in html
    GroundingScore.objects.update(inputs_sha256="0" * 64)
    old = page(visitor, rated)
    assert "of an earlier version" in old
    assert '<b class="num">1.00</b>' not in old


def test_bare_answers_can_be_opened_by_their_anchor(visitor, rated):
    answer = builders.answer(builders.item(rated, 2), "r", role="rollout", text="")
    html = page(visitor, rated)
    assert f'id="answer-{answer.pk}"' in html
    assert "(empty, counts as a mismatch)" in html


def test_a_category_by_hand_is_in_force(visitor, researcher, rated):
    assert '<option value="Sports">Sports: Athletes' in page(visitor, rated)
    reply = visitor.post(
        address(rated, name="label"), {"category": "Sports", "subcategory": "action", "note": "A run."}
    )
    assert reply.url == f"{address(rated)}#category"
    item = builders.item(rated, 2)
    assert (item.category, item.subcategory, item.category_by) == ("Sports", "Action", "hand")
    assert "A run." in page(visitor, rated)


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"category": "", "subcategory": ""}, "category"),
        ({"category": "Weather", "subcategory": ""}, "category"),
        ({"category": "Sports", "subcategory": "No such"}, "subcategory"),
    ],
)
def test_a_category_that_is_not_known_is_refused_beside_its_field(visitor, rated, form, field):
    reply = visitor.post(address(rated, name="label"), form)
    assert reply.status_code == 422
    assert reply.context["label_form"].errors[field]
    assert not TaxonomyLabel.objects.exists()


def test_an_item_of_another_benchmark_is_not_found(visitor, rated):
    other = builders.benchmark(1)
    pk = builders.item(rated).pk
    for name in ("item", "label"):
        url = reverse(f"auditing:benchmark_{name}", args=[other.slug, pk])
        assert visitor.post(url).status_code in {404, 405}
    assert visitor.get(reverse("auditing:benchmark_item", args=[other.slug, pk])).status_code == 404
    assert visitor.get(reverse("auditing:benchmark_item", args=[rated.slug, 2**63])).status_code == 404


def test_the_queries_of_an_item_do_not_grow_with_its_answers(visitor, django_assert_num_queries):
    made = table.benchmark(3)
    table.references(made)
    item = made.items.first()
    for number in (1, 6):
        for model in range(number):
            if not ModelAnswer.objects.filter(item=item, model=f"m{model}").exists():
                table.answers(made, f"m{model}")
                said = {f"openai:judge-{judge}": 4 for judge in range(number)}
                table.rate(made, "answer", {f"m{model}": [said] * 3})
        with django_assert_num_queries(19):
            visitor.get(reverse("auditing:benchmark_item", args=[made.slug, item.pk]))
    assert Rating.objects.filter(answer__item=item).count() == 1 + 5 * 6
