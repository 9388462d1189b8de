"""The table of a benchmark's items: filters, order, counts, what judges owe."""

import pytest

from auditing.models import ModelAnswer
from auditing.selectors import benchmark_items
from auditing.selectors.benchmark_items import ItemFilters
from tests.auditing import benchmark_rows as table
from tests.auditing.services.anchor import builders
from videos.models import Video

pytestmark = pytest.mark.django_db


def numbers(of, **filters):
    found, _ = benchmark_items.filtered(of, ItemFilters(**filters))
    return [item.number for item in found]


def rows(of, **filters):
    found, counts = benchmark_items.filtered(of, ItemFilters(**filters))
    return benchmark_items.rows_of(of, list(found), counts)


def change(of, number, question=None, video=None, **fields):
    item = builders.item(of, number)
    for row, given in ((item, fields), (item.question, question), (item.question.video, video)):
        for name, value in (given or {}).items():
            setattr(row, name, value)
        row.save()
    return item


@pytest.fixture
def mixed(db):
    """Four items that differ in everything that can be filtered."""
    made = builders.benchmark(4)
    change(
        made,
        1,
        {"text": "Who RUNS away?", "question_type": "reasoning"},
        category="Sports",
        subcategory="Action",
    )
    change(
        made,
        2,
        {"options": ["A. x", "B. y"], "difficulty": "hard"},
        {"duration_us": 60_000_000, "facts": {"width": 640, "height": 480}},
        difficulty="hard",
    )
    change(made, 3, None, {"duration_us": 600_000_001, "facts": {}}, difficulty="hard", decision="confirmed")
    change(made, 4, None, {"state": Video.State.REFUSED}, difficulty="easy")
    first, second = builders.item(made, 1), builders.item(made, 2)
    builders.reference(first)
    builders.reference(second, "generated", kind="generated", writer="writer")
    builders.answer(first, "m")
    builders.answer(second, "m", setting="no_audio", text="Nothing at all.")
    builders.answer(second, "n", role="rollout", text="Yes.")
    return made


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [1, 2, 3, 4]),
        ({"q": "runs AWAY"}, [1]),
        ({"q": "q3"}, [3]),
        ({"q": "100%"}, []),
        ({"category": "Sports"}, [1]),
        ({"category": "-"}, [2, 3, 4]),
        ({"subcategory": "Action"}, [1]),
        ({"level": "hard"}, [2, 3]),
        ({"level": "-"}, [1]),
        ({"level": "no such"}, []),
        ({"imported": "hard"}, [2]),
        ({"decision": "open"}, [2]),
        ({"decision": "confirmed"}, [3]),
        ({"by": "human"}, [1]),
        ({"by": "-"}, [2, 3, 4]),
        ({"type": "reasoning"}, [1]),
        ({"form": "options"}, [2]),
        ({"form": "open"}, [1, 3, 4]),
        ({"reference": "generated"}, [2]),
        ({"reference": "-"}, [3, 4]),
        ({"model": "m"}, [1, 2]),
        ({"model": "n"}, []),
        ({"model": "m", "setting": "full"}, [1]),
        ({"setting": "no_audio"}, [2]),
        ({"model": "m", "warning": "no_cues"}, [2]),
        ({"model": "m", "setting": "full", "warning": "no_cues"}, []),
        ({"length": "short"}, [1]),
        ({"length": "middle"}, [2]),
        ({"length": "long"}, [3]),
        ({"length": "endless"}, []),
        ({"height": "360"}, [1]),
        ({"height": "480"}, [2]),
        ({"height": "0"}, []),
        ({"height": "-1"}, []),
        ({"video": "missing"}, [4]),
        ({"video": "ready"}, [1, 2, 3]),
        ({"level": "hard", "decision": "confirmed"}, [3]),
    ],
)
def test_each_filter(mixed, filters, expected):
    assert numbers(mixed, **filters) == expected


def test_filters_are_read_out_of_an_address():
    found = ItemFilters.of(
        {"q": " a\0b ", "level": "hard", "page": "3", "sort": "-level", "model": "x" * 900}
    )
    assert found.given == {"q": "ab", "level": "hard", "model": "x" * 200}
    assert found.sort == "-level"


def test_orders_put_what_is_missing_last_both_ways(mixed):
    assert numbers(mixed, sort="level") == [4, 2, 3, 1]
    assert numbers(mixed, sort="-level") == [2, 3, 4, 1]
    assert numbers(mixed, sort="-number") == [4, 3, 2, 1]
    assert numbers(mixed, sort="-length")[:2] == [3, 2]
    assert numbers(mixed, sort="-answers") == [1, 2, 3, 4]
    assert numbers(mixed, sort="answers") == [2, 3, 4, 1]
    assert numbers(mixed, sort="no such") == [1, 2, 3, 4]
    assert numbers(mixed, sort="-video") == [4, 3, 2, 1]


@pytest.fixture
def rated(db):
    """Two models, two judges of one facet: item 1 has all, item 2 an invalid and a stale one, item 3 nothing."""
    made = table.benchmark(4)
    table.references(made)
    table.answers(made, "m")
    table.answers(made, "n")
    ModelAnswer.objects.filter(item__number=4).delete()
    both = {"openai:a": 5, "openai:b": 4}
    table.rate(
        made,
        "answer",
        {
            "m": [both, {"openai:a": "invalid", "openai:b": 3}, {}],
            "n": [both, {"openai:a": 2, "openai:b": "stale"}, {}],
        },
    )
    return made


def test_what_judges_owe_by_hand(rated):
    assert [(row.answers, row.given, row.missing) for row in rows(rated)] == [
        (2, 4, 0),
        (2, 2, 2),
        (2, 0, 4),
        (0, 0, 0),
    ]
    assert numbers(rated, missing="1") == [2, 3]
    assert numbers(rated, sort="-missing") == [3, 2, 1, 4]
    assert [row.missing for row in rows(rated, missing="1", sort="-missing")] == [4, 2]


def test_only_judges_of_the_main_setting_and_reference_owe_anything(rated):
    table.references(rated, "generated", writer="w")
    table.answers(rated, "p", setting="no_audio")
    table.rate(rated, "answer", {"m": [{"openai:c": 1}]}, reference="generated")
    table.rate(rated, "answer", {"p": [{"openai:d": 1}]}, setting="no_audio")
    table.rate(rated, "correct", {"m": [{"rule:option": 1}]}, reference="")
    table.rate(rated, "answer", {"m": [{"imported:Ann": 2}]})
    assert [row.missing for row in rows(rated)] == [0, 2, 4, 0]


def test_the_items_beside_one(mixed):
    assert benchmark_items.neighbours(builders.item(mixed, 1)) == {
        "previous": None,
        "next": builders.item(mixed, 2).pk,
        "place": 1,
        "of": 4,
    }
    last = benchmark_items.neighbours(builders.item(mixed, 4))
    assert (last["previous"], last["next"], last["place"]) == (builders.item(mixed, 3).pk, None, 4)
