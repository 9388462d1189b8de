"""Addresses made from names."""

import pytest

from annotation.models import Dataset
from reasonaudit.lib.slugs import free_slug

pytestmark = pytest.mark.django_db


def slug_of(name: str, **more: object) -> str:
    return free_slug(Dataset.objects.all(), name, instead="data-set", **more)  # type: ignore[arg-type]


def test_the_next_number_is_taken_whatever_begins_alike() -> None:
    for slug in ("ward", "ward-2", "ward-round"):
        Dataset.objects.create(name=slug, slug=slug)
    assert slug_of("Ward!") == "ward-3"
    assert slug_of("Ward round") == "ward-round-2"
    assert slug_of("War") == "war"


def test_a_reserved_address_is_taken_and_a_name_without_letters_has_one() -> None:
    assert slug_of("New", reserved=frozenset({"new"})) == "new-2"
    assert slug_of("病例") == "data-set"
    assert slug_of("病例", reserved=frozenset({"data-set"})) == "data-set-2"


def test_it_fits_the_field_and_ends_in_no_hyphen() -> None:
    name = "a" * 71 + " " + "b" * 100
    assert slug_of(name) == "a" * 71
    Dataset.objects.create(name="one", slug="a" * 71)
    assert slug_of(name) == "a" * 71 + "-2"
    assert len(slug_of("c" * 500)) == 72
