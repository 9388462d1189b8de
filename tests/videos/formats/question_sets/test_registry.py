"""Which shape a file is read as, what happens when somebody says another, and values that nobody expects."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.videos.formats.question_sets import samples
from videos.core.document import empty_document, validate
from videos.formats.question_sets import registry
from videos.formats.question_sets.registry import SHAPES, read

OWN = {"id": "q", "video": "walk", "question": "Who?", "answer": "She."}
FILES: dict[str, Any] = {
    "video-mme": [samples.video_mme()],
    "lvbench": [samples.lvbench()],
    "moviechat": samples.moviechat(),
    "avqa": [samples.avqa()],
    "ego4d-clips": samples.ego4d(samples.query()),
    "animal-bench": [samples.candidates()],
    "own": [OWN],
}


@pytest.mark.parametrize("shape", FILES)
def test_each_set_is_recognised_by_what_is_in_the_file(shape: str) -> None:
    found = read(samples.data(FILES[shape]))
    assert (found.shape, found.problems) == (shape, [])
    assert found.items


@pytest.mark.parametrize("shape", FILES)
def test_what_is_read_may_be_stored(shape: str) -> None:
    for item in read(samples.data(FILES[shape])).items:
        validate({**empty_document(item.target_label), "cot": item.cot})
        json.dumps([item.meta, item.options], allow_nan=False)


@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "own"])
def test_a_file_that_cannot_be_what_somebody_says_is_refused(shape: str) -> None:
    found = read(samples.data([OWN]), shape=shape)
    assert (found.items, found.shape) == ([], shape)
    assert [str(problem) for problem in found.problems] == [
        f"Nothing in the file looks like {SHAPES[shape].title}. Read it as something else."
    ]


def test_a_public_file_may_be_read_as_ours_and_says_what_it_lacks() -> None:
    found = read(samples.data(FILES["avqa"]), shape="own")
    assert samples.fields_of(found) == [(1, "question")]


def test_a_broken_first_row_does_not_hide_the_set() -> None:
    found = read(samples.data([{}, samples.video_mme()]))
    assert found.shape == "video-mme"
    assert [problem.item for problem in found.problems] == [1]


def test_an_item_with_a_problem_is_in_no_note() -> None:
    found = read(samples.data([samples.video_mme(answer=None, url={"a": float(1)}, question="")]))
    assert (found.notes, len(found.problems)) == ([], 1)


def test_ids_are_once_in_a_file_of_a_set_too() -> None:
    found = read(samples.data([samples.avqa(), samples.avqa()]))
    assert [str(problem) for problem in found.problems] == [
        "Item 2, field id: 'avqa:4' is the id of item 1 as well. Give each question an id of its own."
    ]


def test_questions_are_counted_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "MAX_ITEMS", 2)
    found = read(samples.data(samples.moviechat()))
    assert [str(problem) for problem in found.problems] == ["The file holds more than 2 items. Split it."]
    assert found.items == []


def test_a_film_without_questions_holds_no_item() -> None:
    found = read(samples.data(samples.moviechat(**{"global": [], "breakpoint": None})))
    assert [problem.message for problem in found.problems] == ["the file holds no item"]


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.text()
    | st.integers()
    | st.just(10**400)
    | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] + [leaf for key, each in inner for leaf in _leaves(each, (*path, key))]


@pytest.mark.parametrize("shape", FILES)
@settings(max_examples=60)
@given(draw=st.data())
def test_ih_16_whatever_stands_anywhere_is_a_value_a_problem_or_a_note(
    shape: str, draw: st.DataObject
) -> None:
    whole = json.loads(json.dumps(FILES[shape]))
    path = draw.draw(st.sampled_from([leaf for leaf in _leaves(whole) if leaf]))
    target = whole
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = draw.draw(ANY)
    content = json.dumps(whole).encode()
    for how in ("", shape):
        found = read(content, shape=how)
        assert found.items or found.problems or found.notes
        for item in found.items:
            json.dumps([item.meta, item.options, item.cot], allow_nan=False, ensure_ascii=False).encode()
            assert len(item.id) <= 200
            assert len(item.question_type) <= 60
        for problem in found.problems:
            str(problem).encode()


@given(st.binary(max_size=200))
def test_ih_16_any_bytes_give_a_problem_or_items(content: bytes) -> None:
    found = read(content)
    assert found.items or found.problems
