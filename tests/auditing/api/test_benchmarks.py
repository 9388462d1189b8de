"""Benchmarks over the API: the list, one with what is in it, its items with filters and pages."""

import pytest
from django.urls import reverse

from tests.auditing.services.anchor import builders

pytestmark = pytest.mark.django_db


def items(client, of, **query):
    reply = client.get(reverse("api:benchmark-items", args=[of.slug]), query)
    assert reply.status_code == 200
    return reply.json()


def test_the_list_and_one_benchmark(client):
    made = builders.benchmark(2, name="Street")
    first = builders.item(made)
    builders.rating(builders.answer(first), reference=builders.reference(first), source="openai:judge-a")
    builders.benchmark(1, name="Another")
    rows = client.get(reverse("api:benchmark-list")).json()
    assert [row["name"] for row in rows["results"]] == ["Another", "Street"]
    row = rows["results"][1]
    assert (row["items"], row["models"], row["judges"], row["answers"], row["running"]) == (
        2,
        ["model-a"],
        ["openai:judge-a"],
        1,
        0,
    )
    found = client.get(reverse("api:benchmark-detail", args=[made.slug])).json()
    assert found["video_set"] == made.video_set.slug
    assert found["parameters"]["reference"] == "human"
    assert found["collection"]["items"] == 2
    assert found["collection_behind"] is False
    assert client.get(reverse("api:benchmark-detail", args=["none"])).status_code == 404


def test_items_come_in_pages_and_are_filtered_as_on_the_page(client):
    made = builders.benchmark(3)
    second = builders.item(made, 2)
    second.category, second.difficulty = "Sports", "hard"
    second.save()
    builders.reference(second)
    builders.answer(second, "model-b")
    assert items(client, made, page_size=2)["count"] == 3
    assert [row["number"] for row in items(client, made, page_size=2, page=2)["results"]] == [3]
    for query in ({"category": "Sports"}, {"level": "hard"}, {"model": "model-b"}, {"reference": "human"}):
        found = items(client, made, **query)["results"]
        assert [row["number"] for row in found] == [2], query
    row = items(client, made, level="hard")["results"][0]
    assert (row["references"], row["answers"], row["ratings"], row["missing_ratings"]) == (["human"], 1, 0, 0)
    assert row["video"]["state"] == "ready"
    assert [row["number"] for row in items(client, made, category="-")["results"]] == [1, 3]
    assert [row["number"] for row in items(client, made, sort="-number")["results"]] == [3, 2, 1]


def test_those_who_only_label_see_nothing(as_role):
    made, physician = builders.benchmark(1), as_role("physician")
    for name, args in (("list", []), ("detail", [made.slug]), ("items", [made.slug])):
        reply = physician.get(reverse(f"api:benchmark-{name}", args=args))
        assert reply.status_code == 403
