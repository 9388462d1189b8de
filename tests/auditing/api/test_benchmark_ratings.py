"""People's ratings over the API: the queue, texts on demand, saves that may be sent again, and what is refused."""

import uuid

import pytest

from auditing.models import BenchmarkRater, ModelAnswer, Rating
from reasonaudit.lib.models import Event
from tests.auditing import benchmark_rows as rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(as_role):
    """A physician who is listed as a rater of a benchmark."""
    benchmark = rows.benchmark(items=2)
    rows.references(benchmark)
    rows.answers(benchmark, "m1")
    client = as_role("physician")
    from django.contrib.auth import get_user_model

    BenchmarkRater.objects.create(
        benchmark=benchmark, user=get_user_model().objects.get(username="a-physician")
    )
    address = f"/api/v1/benchmarks/{benchmark.slug}/ratings/"
    answers = list(ModelAnswer.objects.filter(item__benchmark=benchmark).order_by("item__number"))

    def save(key=None, headers=None, **changes):
        body = {"base_version": 0, "answer": answers[0].pk, "facet": "hallucination", "value": 4, **changes}
        return client.put(
            address,
            body,
            content_type="application/json",
            headers={"Idempotency-Key": str(key or uuid.uuid4()), **(headers or {})},
        )

    save.client, save.address, save.answers, save.benchmark = client, address, answers, benchmark
    return save


def test_a_rating_is_saved_once_however_often_it_is_sent(desk) -> None:
    key = uuid.uuid4()
    first = desk(key, note="Of a dog.")
    assert first.status_code == 200, first.content
    again = desk(key, note="Of a dog.")
    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["Idempotent-Replay"] == "true"
    row = Rating.objects.get()
    assert (row.user.username, row.value, row.words) == ("a-physician", 4, "Of a dog.")
    assert Event.objects.filter(action="rating.save").count() == 1


def test_null_takes_back(desk) -> None:
    version = desk().json()["version"]
    reply = desk(value=None, base_version=version)
    assert (reply.status_code, reply.json()["version"]) == (200, 0)
    assert not Rating.objects.exists()


def test_what_was_given_elsewhere_meanwhile_comes_back_with_the_refusal(desk) -> None:
    desk()
    refused = desk(value=1)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "version_conflict")
    assert refused.json()["current"]["value"] == 4


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"value": 0}, 400),
        ({"value": 6}, 400),
        ({"value": 4.5}, 400),
        ({"value": True}, 400),
        ({"value": "five"}, 400),
        ({"facet": "correct"}, 400),
        ({"answer": 10**15}, 404),
        ({"answer": -1}, 400),
        ({"colour": "red"}, 400),
        ({"note": "x" * 2001}, 422),
        ({"note": "a\u0000b"}, 400),
        ({"shown": "1" * 32}, 422),
        ({"shown": "x" * 65}, 400),
        ({"base_version": -1}, 400),
    ],
)
def test_what_cannot_be_stored_is_refused_in_words(desk, wrong, status) -> None:
    reply = desk(**wrong)
    assert (reply.status_code, bool(reply.json()["error"]["message"])) == (status, True)
    assert not Rating.objects.exists()


def test_a_rating_must_be_named(desk) -> None:
    body = {"base_version": 0, "answer": desk.answers[0].pk, "facet": "answer"}
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    reply = desk.client.put(desk.address, body, content_type="application/json", headers=headers)
    assert reply.status_code == 400


def test_a_save_without_a_key_or_for_somebody_else_is_refused(desk) -> None:
    body = {"base_version": 0, "answer": desk.answers[0].pk, "facet": "answer", "value": 3}
    missing = desk.client.put(desk.address, body, content_type="application/json")
    assert missing.json()["error"]["code"] == "no_idempotency_key"
    other = desk(headers={"X-Expected-User": "999999"})
    assert (other.status_code, other.json()["error"]["code"]) == (409, "other_user")


def test_the_queue_and_the_ratings_are_ones_own(desk, as_role) -> None:
    desk()
    payload = desk.client.get(desk.address).json()
    assert sorted(answer for answer, _ in payload["queue"]) == [answer.pk for answer in desk.answers]
    said = payload["said"]
    assert {pk: list(given) for pk, given in said.items()} == {str(desk.answers[0].pk): ["hallucination"]}
    assert said[str(desk.answers[0].pk)]["hallucination"]["value"] == 4


def test_texts_of_some_answers_are_given_and_nothing_else(desk) -> None:
    found = desk.client.get(f"{desk.address}?answers={desk.answers[1].pk}").json()
    assert set(found) == {"answers", "items"}
    assert set(found["answers"]) == {str(desk.answers[1].pk)}
    assert set(found["answers"][str(desk.answers[1].pk)]) == {"cues", "final_answer", "text", "shown"}


@pytest.mark.parametrize("query", ["", "a", "1,,2", "-1", ",".join("1" * 21), "9" * 30])
def test_a_query_that_cannot_be_read_is_refused(desk, query) -> None:
    reply = desk.client.get(f"{desk.address}?answers={query}")
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_answers")


@pytest.mark.parametrize("role", ["researcher", "manager", "admin", "annotator", "adjudicator"])
def test_whoever_is_not_listed_finds_nothing_there(desk, as_role, role) -> None:
    other = as_role(role)
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    body = {"base_version": 0, "answer": desk.answers[0].pk, "facet": "answer", "value": 3}
    assert other.get(desk.address).status_code == 404
    assert other.put(desk.address, body, content_type="application/json", headers=headers).status_code == 404
    assert not Rating.objects.exists()


def test_whoever_was_taken_off_the_list_saves_no_more(desk) -> None:
    BenchmarkRater.objects.update(active=False)
    assert desk().status_code == 404


def test_a_rater_of_one_benchmark_is_nothing_to_another(desk) -> None:
    other = rows.benchmark()
    assert desk.client.get(f"/api/v1/benchmarks/{other.slug}/ratings/").status_code == 404
