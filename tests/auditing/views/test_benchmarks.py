"""Pages of benchmarks: the list, a new one, one with its statistics and items, settings, removal."""

import pytest
from django.urls import reverse

from auditing.models import Benchmark, BenchmarkRun, ModelAnswer, Rating, Reference
from auditing.services.anchor import changes, results
from reasonaudit.lib.models import Event
from tests.auditing import benchmark_rows as table
from tests.auditing.services.anchor import builders
from tests.auditing.views.rows import make_user
from tests.videos import factories
from videos.models import GeneratedDocument, Video, VideoSet

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


def address(name: str, of: Benchmark) -> str:
    return reverse(f"auditing:benchmark_{name}", args=[of.slug])


def page(visitor, of: Benchmark, **query) -> str:
    reply = visitor.get(address("detail", of), query)
    assert reply.status_code == 200
    return reply.content.decode()


@pytest.fixture
def filled(db) -> Benchmark:
    """Three items: one with reference, answer and ratings, one that is hard, one whose clip is refused."""
    made = builders.benchmark(3, name="Street")
    first, second, third = (builders.item(made, number) for number in (1, 2, 3))
    reference = builders.reference(first)
    answer = builders.answer(first, "model-a")
    builders.rating(answer, "answer", 4, reference=reference)
    builders.rating(answer, "divergence", None, reference=reference)
    second.difficulty = "hard"
    second.save()
    Video.objects.filter(pk=third.question.video_id).update(
        state="refused", message="No picture can be read."
    )
    changes.changed(made)
    return made


def test_the_list_says_what_one_is_for_and_then_shows_each(visitor):
    url = reverse("auditing:benchmark_list")
    empty = visitor.get(url).content.decode()
    assert "No benchmark yet" in empty
    assert reverse("videos:set_list") in empty
    made = builders.benchmark(2, name=HOSTILE)
    builders.rating(builders.answer(builders.item(made)), source="openai:judge-a")
    other = builders.benchmark(1, name="Another")
    html = visitor.get(url).content.decode()
    assert HOSTILE not in html
    assert 'title="judge-a"' in html
    assert "Rated" in html
    assert "No answer yet" in html
    only = visitor.get(url, {"video_set": other.video_set.slug}).content.decode()
    assert address("detail", other) in only
    assert address("detail", made) not in only


def test_those_who_only_label_see_no_benchmark(client, filled):
    client.force_login(make_user("physician"))
    for name in ("detail", "change", "delete", "remove", "import", "references"):
        for method in (client.get, client.post):
            assert method(address(name, filled)).status_code in {403, 405}
    assert client.get(reverse("auditing:benchmark_list")).status_code == 403
    assert Benchmark.objects.count() == 1


def test_a_new_benchmark_takes_every_question_of_the_set(visitor):
    question = factories.question(category="Sports")
    url = reverse("auditing:benchmark_new")
    suggested = visitor.get(url, {"video_set": question.video_set.slug}).content.decode()
    assert f'<option value="{question.video_set_id}" selected>' in suggested
    reply = visitor.post(
        url,
        {
            "name": "Street",
            "video_set": question.video_set_id,
            "setting": "no_audio",
            "reference": "gold",
            "pictures": "8",
            "rule_hard_mismatches": "12",
            "match_from": "0.3",
        },
    )
    made = Benchmark.objects.get()
    assert reply.url == address("detail", made)
    assert made.items.get().category == "Sports"
    parameters = made.parameters
    assert (parameters["setting"], parameters["reference"], parameters["pictures"]) == ("no_audio", "gold", 8)
    assert (parameters["rule"]["hard_mismatches"], parameters["match_from"]) == (12, 0.3)
    # What is left empty has the paper's value.
    assert (parameters["rule"]["medium_mismatches"], parameters["rollouts_each"]) == (5, 4)


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        ({"name": " "}, "name", "This field is required"),
        ({"video_set": ""}, "video_set", "This field is required"),
        ({"setting": "smell"}, "setting", "Select a valid choice"),
        ({"reference": "Two words"}, "reference", "valid"),
        ({"pictures": "65"}, "pictures", "less than or equal to 64"),
        ({"match_from": "0"}, "match_from", "IoU from which boxes match"),
        ({"rollouts_each": "3"}, "rollouts_each", "do not make up 16"),
        ({"rule_hard_mismatches": "4"}, "rule_hard_mismatches", "must ascend"),
        ({"rule_hard_similarity": "2"}, "rule_hard_similarity", "must ascend"),
        ({"seed": "x"}, "seed", "Enter a whole number"),
    ],
)
def test_a_form_that_cannot_be_used_comes_back_with_the_error_beside_its_field(visitor, values, field, said):
    question = factories.question()
    reply = visitor.post(
        reverse("auditing:benchmark_new"), {"name": "Street", "video_set": question.video_set_id, **values}
    )
    assert reply.status_code == 422
    assert said in str(reply.context["form"].errors[field])
    html = reply.content.decode()
    folded = field not in {"name", "video_set", "setting", "reference", "pictures"}
    assert ('<details class="mt-3" open>' in html) is folded
    assert not Benchmark.objects.exists()


def test_without_questions_the_new_page_leads_to_the_videos(visitor):
    VideoSet.objects.create(name="Empty", slug="empty")
    html = visitor.get(reverse("auditing:benchmark_new")).content.decode()
    assert "No set has questions yet" in html
    assert "<form method" not in html.partition("<main")[2]


def test_the_page_shows_what_is_in_it_and_every_number_opens_its_items(visitor, filled):
    html = page(visitor, filled)
    assert "3 questions about 3 videos" in html
    assert "1 refused" in html
    for link in (
        "?length=short#items",
        "?height=360#items",
        "?form=open#items",
        "?level=hard#items",
        "?by=human#items",
        "?category=-#items",
        "?model=model-a&amp;setting=full#items",
        "?reference=human#items",
    ):
        assert f'href="{link}"' in html, link
        shown = visitor.get(address("detail", filled) + link.replace("&amp;", "&").removesuffix("#items"))
        assert shown.context["page"].paginator.count > 0, link
    assert '<span class="chip outline">1 unreadable</span>' in html
    assert "Clip refused" in html


def test_filters_narrow_the_table_and_chips_take_those_of_links_away(visitor, filled):
    reply = visitor.get(address("detail", filled), {"level": "hard", "length": "short", "sort": "-number"})
    assert [row.item.number for row in reply.context["rows"]] == [2]
    assert reply.context["chips"] == [
        {"name": "Length", "words": "Under one minute", "without": "?level=hard&sort=-number#items"}
    ]
    html = reply.content.decode()
    assert "1 of 3 items" in html
    assert '<input type="hidden" name="length" value="short">' in html
    assert "No item fits" in page(visitor, filled, q="nothing like this")


def test_hostile_texts_of_questions_models_and_judges_are_escaped(visitor, filled):
    item = builders.item(filled)
    item.category = item.subcategory = HOSTILE
    item.save()
    item.question.text = item.question.question_type = item.question.difficulty = HOSTILE
    item.question.save()
    answer = builders.answer(item, HOSTILE)
    builders.rating(answer, source=HOSTILE)
    changes.changed(filled)
    html = page(visitor, filled, category=HOSTILE, q="<b>")
    assert HOSTILE not in html
    assert "<b>&lt;" not in html
    assert (
        HOSTILE
        not in visitor.get(reverse("auditing:benchmark_item", args=[filled.slug, item.pk])).content.decode()
    )


def test_results_of_an_earlier_state_are_shown_as_such(visitor, filled, monkeypatch):
    results.compute(filled, "collection")
    builders.answer(builders.item(filled, 2), "model-b")
    monkeypatch.setattr(results, "AT_ONCE", 0)
    asked = []
    monkeypatch.setattr("auditing.tasks.enqueue_benchmark_results", asked.append)
    html = page(visitor, filled)
    assert "The benchmark has changed since these results were computed" in html
    assert asked == [filled.pk]


def test_the_queries_of_the_page_do_not_grow_with_items_models_and_judges(visitor, django_assert_num_queries):
    for number, models, judges in ((3, 1, 1), (30, 4, 3)):
        made = table.benchmark(number)
        table.references(made)
        said = {f"openai:judge-{judge}": 4 for judge in range(judges)}
        for model in range(models):
            table.answers(made, f"m{model}")
            table.rate(made, "answer", {f"m{model}": [{"openai:judge-0": "invalid"}, *[said] * (number - 1)]})
        results.compute(made, "collection")
        with django_assert_num_queries(13):
            page(visitor, made)
        with django_assert_num_queries(13):
            page(visitor, made, missing="1", sort="-missing")
    with django_assert_num_queries(9):
        visitor.get(reverse("auditing:benchmark_list"))


# References


def take(visitor, of: Benchmark, how: str, **form):
    values = {f"{how}-{name}": value for name, value in form.items()}
    return visitor.post(address("references", of), {"how": how, **values})


def test_references_come_with_the_questions(visitor, filled):
    reply = take(visitor, filled, "questions", source="imported", kind="generated", writer="gem")
    assert reply.url == address("detail", filled)
    rows = Reference.objects.filter(source="imported")
    assert {(row.kind, row.writer) for row in rows} == {("generated", "gem")}
    assert rows.count() == 3
    assert "Taken: 3 references as “imported”" in page(visitor, filled)


def test_references_come_from_the_drafts_of_a_model(visitor, filled):
    item = builders.item(filled, 2)
    assert "From drafts of a model" not in page(visitor, filled)
    GeneratedDocument.objects.create(
        question=item.question,
        number=1,
        kind="reasoning",
        document=builders.document(),
        source={"model": "Writer 7B"},
    )
    assert "From drafts of a model" in page(visitor, filled)
    take(visitor, filled, "drafts", model="Writer 7B")
    row = Reference.objects.get(source="writer-7b")
    assert (row.item_id, row.kind, row.writer) == (item.pk, "generated", "Writer 7B")
    html = page(visitor, filled)
    assert "Without one: 2 items." in html
    assert "Items 1, 3:" in html


@pytest.mark.parametrize(
    ("how", "form", "field", "said"),
    [
        ("questions", {"source": "Not a slug", "kind": "generated"}, "source", "valid"),
        ("questions", {"source": "x", "kind": "no"}, "kind", "Select a valid choice"),
        ("questions", {"source": "x", "kind": "refined", "writer": "m"}, "writer", "people wrote it"),
        ("study", {"source": "human", "study": "999"}, "study", "Select a valid choice"),
        ("drafts", {"model": "nobody"}, "model", "Select a valid choice"),
    ],
)
def test_references_that_cannot_be_taken_come_back_with_the_reason(visitor, filled, how, form, field, said):
    reply = take(visitor, filled, how, **form)
    assert reply.status_code == 422
    refused = next(one for one in reply.context["reference_forms"] if one.how == how)
    assert said in str(refused.errors[field])
    assert "open><summary" in reply.content.decode()
    assert Reference.objects.count() == 1


def test_another_way_to_take_references_is_refused(visitor, filled):
    assert visitor.post(address("references", filled), {"how": "magic"}).status_code == 400
    assert visitor.get(address("references", filled)).status_code == 405


def test_new_questions_of_the_set_become_items(visitor, filled):
    factories.question(factories.video(filled.video_set))
    visitor.post(address("references", filled), {"how": "items"})
    assert filled.items.count() == 4
    assert "Taken: 1 new item." in page(visitor, filled)
    visitor.post(address("references", filled), {"how": "items"})
    assert "no question that is not here" in page(visitor, filled)


# Settings and removal


def test_settings_are_changed_and_results_are_of_an_earlier_state_then(visitor, filled):
    before = Benchmark.objects.get().revision
    shown = visitor.get(address("change", filled)).content.decode()
    assert 'value="Street"' in shown
    reply = visitor.post(address("change", filled), {"name": "Road", "reference": "gold"})
    assert reply.url == address("detail", filled)
    made = Benchmark.objects.get()
    assert (made.name, made.slug, made.parameters["reference"]) == ("Road", filled.slug, "gold")
    assert made.revision > before
    assert Event.objects.filter(action="benchmark.change").count() == 1
    assert visitor.post(address("change", filled), {"name": ""}).status_code == 422


def test_removal_names_what_goes_and_needs_the_name(visitor, filled):
    answer = ModelAnswer.objects.get()
    builders.rating(answer, user=make_user("physician"))
    html = visitor.get(address("delete", filled)).content.decode()
    assert "3 items with 1 reference, 1 answer of models, 2 ratings of judges, 0 runs" in html
    assert "<b>1 rating that people made</b>" in html
    reply = visitor.post(address("delete", filled), {"name": "street"})
    assert (reply.status_code, Benchmark.objects.count()) == (422, 1)
    reply = visitor.post(address("delete", filled), {"name": "Street"})
    assert reply.url == reverse("auditing:benchmark_list")
    assert (Benchmark.objects.count(), Rating.objects.count(), VideoSet.objects.count()) == (0, 0, 1)


def test_while_a_run_is_at_work_nothing_is_removed_and_the_page_follows_it(visitor, filled):
    run = BenchmarkRun.objects.create(benchmark=filled, step="rate", model="openai:judge-a", state="running")
    html = page(visitor, filled)
    assert f'data-src="{reverse("api:benchmark-run-detail", args=[run.pk])}"' in html
    reply = visitor.post(address("delete", filled), {"name": "Street"})
    assert reply.status_code == 422
    assert "Cancel it" in reply.content.decode()
    assert Benchmark.objects.exists()


def test_a_series_is_removed_once_it_was_asked_about(visitor, filled):
    url = address("remove", filled)
    html = visitor.get(url).content.decode()
    assert "?what=answers&amp;name=model-a" in html
    assert '<form method="post" class="form-page"' not in html
    asked = visitor.get(url, {"what": "answers", "name": "model-a"}).content.decode()
    assert "1 row with 2 ratings about them and the scores and audits" in asked
    reply = visitor.post(url, {"what": "answers", "name": "model-a", "people": "0"}, follow=True)
    assert "Answers with reasoning of model-a were removed: 1." in reply.content.decode()
    assert not ModelAnswer.objects.exists()
    gone = visitor.post(url, {"what": "answers", "name": "model-a", "people": "x"})
    assert gone.status_code == 404
    assert "nothing of this name" in gone.content.decode()


def test_what_people_rated_goes_only_with_its_name_typed(visitor, filled):
    person = make_user("physician")
    answer = ModelAnswer.objects.get()
    builders.rating(answer, "answer", 2, user=person, reference=Reference.objects.get())
    form = {"what": "references", "name": "human", "people": "1"}
    url = address("remove", filled)
    assert "<b>1 of them given by people</b>" in visitor.get(url, form).content.decode()
    refused = visitor.post(url, form)
    assert refused.status_code == 422
    assert "Type “human” to remove them." in refused.content.decode()
    assert visitor.post(url, {**form, "typed": "human"}).status_code == 302
    assert not Reference.objects.exists()
    assert not Rating.objects.exists()
    assert "has no references, answers or ratings" not in visitor.get(url).content.decode()
