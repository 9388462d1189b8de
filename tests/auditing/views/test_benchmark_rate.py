"""Pages of people's ratings: who gets in, that a rater is told nothing of others, and the list of raters."""

import pytest
from django.test import Client

from auditing.models import BenchmarkRater, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_rating import queue
from auditing.services.anchor import rating_work
from reasonaudit.lib.models import Event
from tests.auditing import benchmark_rows as rows
from tests.auditing.views.rows import make_user
from tests.trust.worlds import seen
from videos.models import Video

pytestmark = pytest.mark.django_db


def client_of(user) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def scene():
    """Three items with answers of two models; Ann, a physician, rates."""
    made = rows.benchmark(items=3)
    rows.references(made)
    rows.answers(made, "model-one")
    rows.answers(made, "model-two")
    made.ann = make_user("physician", "ann")
    BenchmarkRater.objects.create(benchmark=made, user=made.ann)
    made.page = f"/benchmarks/{made.slug}/rate/"
    made.list = f"/benchmarks/{made.slug}/raters/"
    return made


def events():
    found = Event.objects.filter(stream__name__startswith="benchmark:").order_by("pk")
    return list(found.values_list("action", flat=True))


def rate(benchmark, user, facets=("answer", "hallucination", "divergence"), value=3):
    answers = ModelAnswer.objects.filter(item__benchmark=benchmark)
    for answer in answers:
        reference = Reference.objects.get(item=answer.item_id)
        for facet in facets:
            Rating.objects.create(
                answer=answer,
                reference=reference,
                facet=facet,
                value=value,
                status="given",
                answer_sha256=answer.sha256,
                reference_sha256=reference.sha256,
                **({"source": user} if isinstance(user, str) else {"user": user}),
            )


# The page of a rater


def test_a_rater_of_any_role_gets_the_queue_and_no_way_to_other_pages(scene) -> None:
    response = client_of(scene.ann).get(scene.page)
    text = response.content.decode()
    assert response.status_code == 200
    assert 'data-island="benchmark-rate"' in text
    assert response.context["payload"]["queue"] == [list(row) for row in queue(scene, scene.ann)]
    assert f"/benchmarks/{scene.slug}/raters/" not in text
    assert "model-one" not in text


def test_what_others_and_judges_gave_changes_nothing_that_a_rater_is_sent(scene) -> None:
    ann = client_of(scene.ann)
    api = f"/api/v1/benchmarks/{scene.slug}/ratings/"
    ids = ",".join(str(pk) for pk, _ in queue(scene, scene.ann))
    addresses = (scene.page, api, f"{api}?answers={ids}", "/my-cases/")
    before = [seen(ann.get(address)) for address in addresses]
    assert [status for status, *_ in before] == [200] * 4
    rate(scene, "openai:judge", value=1)
    ben = make_user("physician", "ben")
    BenchmarkRater.objects.create(benchmark=scene, user=ben)
    rate(scene, ben, value=5)
    assert [seen(ann.get(address)) for address in addresses] == before


def test_a_researcher_who_is_not_listed_is_told_how_one_comes_to_rate(scene) -> None:
    text = client_of(make_user("researcher")).get(scene.page).content.decode()
    assert "You are not among the raters" in text
    assert scene.list in text
    assert "benchmark-rate" not in text


@pytest.mark.parametrize("role", ["physician", "annotator", "adjudicator"])
def test_for_others_there_is_no_such_page(scene, role) -> None:
    stranger = client_of(make_user(role, f"not-{role}"))
    assert stranger.get(scene.page).status_code == 404
    assert stranger.get(scene.list).status_code == 403


def test_whoever_was_taken_off_the_list_gets_in_no_more(scene) -> None:
    BenchmarkRater.objects.update(active=False)
    assert client_of(scene.ann).get(scene.page).status_code == 404


def test_a_benchmark_without_references_says_what_is_missing(scene) -> None:
    Reference.objects.update(source="drafted")
    text = client_of(scene.ann).get(scene.page).content.decode()
    assert "There is nothing to rate yet" in text
    assert "reference of the source “human”" in text


def test_hostile_texts_stay_inside_the_payload(scene) -> None:
    ModelAnswer.objects.update(text="</script><script>alert(1)</script>")
    text = client_of(scene.ann).get(scene.page).content.decode()
    assert "</script><script>alert" not in text
    assert "\\u003C/script\\u003E\\u003Cscript\\u003Ealert(1)" in text


def test_the_page_takes_as_many_queries_for_many_answers(scene, django_assert_num_queries) -> None:
    large = rows.benchmark(items=30)
    rows.references(large)
    rows.answers(large, "model-one")
    BenchmarkRater.objects.create(benchmark=large, user=scene.ann)
    ann = client_of(scene.ann)
    ann.get(scene.page)
    for address in (scene.page, f"/benchmarks/{large.slug}/rate/"):
        with django_assert_num_queries(12):
            assert ann.get(address).status_code == 200


def test_the_page_of_work_leads_to_what_one_rates(scene) -> None:
    text = client_of(scene.ann).get("/my-cases/").content.decode()
    assert scene.page in text
    assert "No study yet" not in text
    other = client_of(make_user("physician", "dee")).get("/my-cases/").content.decode()
    assert "benchmarks/" not in other
    assert "No study yet" in other


# Clips


@pytest.mark.parametrize("part", ["", "play/", "index/", "playback/"])
def test_a_rater_is_let_to_the_clips_and_to_no_other_page_of_videos(scene, part) -> None:
    clip = Video.objects.get(questions__benchmark_items__benchmark=scene, questions__number=1)
    other = rows.benchmark().items.first().question.video
    ann = client_of(scene.ann)
    # The bytes of the made-up clip are nowhere: what counts is that the matrix lets the request through.
    assert (ann.get(f"/api/v1/videos/{clip.public_id}/{part}").status_code == 403) is False
    allowed = ann.get(f"/api/v1/videos/{clip.public_id}/playback/")
    assert allowed.json()["state"] == "original"
    assert ann.get(f"/api/v1/videos/{other.public_id}/{part}").status_code == 404
    assert ann.get(f"/videos/{clip.public_id}/").status_code in {403, 404}
    BenchmarkRater.objects.update(active=False)
    assert ann.get(f"/api/v1/videos/{clip.public_id}/{part}").status_code == 404


# Who rates


def test_a_researcher_lists_people_and_takes_them_off(scene) -> None:
    lead = client_of(make_user("researcher", "lea"))
    ben = make_user("annotator", "ben")
    assert lead.post(scene.list, {"action": "add", "user": "ben"}).status_code == 302
    row = BenchmarkRater.objects.get(user=ben)
    text = lead.get(scene.list).content.decode()
    assert "Rater 1" in text
    assert "Rater 2" in text
    assert lead.post(scene.list, {"action": "remove", "rater": row.pk}).status_code == 302
    assert "Off the list" in lead.get(scene.list).content.decode()
    assert "Not blind throughout" not in lead.get(scene.list).content.decode()
    assert lead.post(scene.list, {"action": "add", "user": "ben"}).status_code == 302
    assert lead.get(scene.list).content.decode().count("Not blind throughout") == 1
    assert events() == [
        "benchmark.add_rater",
        "benchmark.remove_rater",
        "benchmark.add_rater",
    ]


def test_how_many_answers_are_sampled_is_chosen_for_all(scene) -> None:
    lead = client_of(make_user("researcher", "lea"))
    assert "6 of 6 answers are sampled" in lead.get(scene.list).content.decode()
    lead.post(scene.list, {"action": "sample", "number": 4})
    assert "4 of 6 answers are sampled" in lead.get(scene.list).content.decode()
    assert len(client_of(scene.ann).get(scene.page).context["payload"]["queue"]) == 4


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"action": "add", "user": "nobody"}, "There is no account of this name."),
        ({"action": "add", "user": "ann"}, "This person rates this benchmark already."),
        ({"action": "add", "user": ""}, "This field is required."),
        ({"action": "sample", "number": "0"}, "greater than or equal to 1"),
        ({"action": "sample", "number": "many"}, "Enter a whole number."),
        ({}, "This field is required."),
    ],
)
def test_what_cannot_be_done_stands_beside_the_field(scene, form, words) -> None:
    lead = client_of(make_user("researcher", "lea"))
    response = lead.post(scene.list, form)
    assert (response.status_code, words in response.content.decode()) == (422, True)
    assert events() == []


@pytest.mark.parametrize("rater", ["", "x", "999999", "9" * 40])
def test_a_rater_who_is_not_there_is_not_taken_off(scene, rater) -> None:
    lead = client_of(make_user("researcher", "lea"))
    response = lead.post(scene.list, {"action": "remove", "rater": rater}, follow=True)
    assert "There is no such rater in the list." in response.content.decode()
    assert BenchmarkRater.objects.filter(active=True).count() == 1


def test_progress_counts_answers_rated_on_every_facet(scene) -> None:
    rating = {"facet": "answer", "by": scene.ann, "base_version": 0, "value": 3, "benchmark": scene}
    first = ModelAnswer.objects.filter(item__benchmark=scene).first().pk
    lead = client_of(make_user("researcher", "lea"))
    for facet, done in (("answer", 0), ("hallucination", 0), ("divergence", 1)):
        rating_work.save(**{**rating, "answer_id": first, "facet": facet})
        assert f"{done} of 6" in lead.get(scene.list).content.decode()


def test_the_list_takes_as_many_queries_for_many_raters(scene, django_assert_num_queries) -> None:
    lead = client_of(make_user("researcher", "lea"))
    lead.get(scene.list)

    def count() -> int:
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(connection) as asked:
            assert lead.get(scene.list).status_code == 200
        return len(asked)

    before = count()
    for number in range(5):
        BenchmarkRater.objects.create(benchmark=scene, user=make_user("physician", f"p{number}"))
    assert count() == before


def test_a_listed_researcher_rates_and_is_led_to_pages_of_items(scene) -> None:
    lea = make_user("researcher", "lea")
    rating_work.add_rater(scene, "lea", lea)
    payload = client_of(lea).get(scene.page).context["payload"]
    assert payload["urls"]["items"] == f"/benchmarks/{scene.slug}/items/0/"
