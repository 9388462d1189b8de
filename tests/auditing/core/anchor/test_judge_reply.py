"""Replies of a panel judge: what counts as a rating, and that none is ever made up."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditing.core.anchor.judge_reply import (
    REASONS,
    SCALE,
    RatingReading,
    count_replies,
    read_rating,
    unfence,
)


def test_the_form_that_was_asked_for() -> None:
    assert read_rating('{"rating": 4}\nClose to the reference.\n') == RatingReading(
        4, "Close to the reference.", "strict"
    )


@pytest.mark.parametrize(
    ("text", "rating", "justification"),
    [
        ('\ufeff{"rating": 4}\nok', 4, "ok"),
        ('  \n{"rating": 4}\nok', 4, "ok"),
        ('{{"rating": 2}}\nok', 2, "ok"),
        ('```json\n{"rating": 3}\n```\nok', 3, "ok"),
        ('```\n{"rating": 3}\nfine\n```', 3, "fine"),
        ('```{"rating": 3}```', 3, ""),
        ('**{"rating": 5}** well done\nmore', 5, "** well done\nmore"),
        ('JSON: {"rating": 5}', None, 'JSON: {"rating": 5}'),
        ('json {"rating": 5}', 5, ""),
        ('{"rating": 4.0}\nok', 4, "ok"),
        ('{"rating": "4"}\nok', 4, "ok"),
        ('{"rating": 1, "why": "invented a dog"}\nok', 1, "ok"),
    ],
)
def test_what_is_forgiven(text: str, rating: int | None, justification: str) -> None:
    found = read_rating(text)
    assert (found.rating, found.justification) == (rating, justification)
    assert found.status == ("invalid" if rating is None else "lenient")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n\ufeff ", "empty"),
        ("The answer is right. I rate it 5.", "no_json"),
        ("5", "not_an_object"),
        ('"rating: 5"', "not_an_object"),
        ('[{"rating": 5}]', "not_an_object"),
        ('Rating: {"rating": 5}', "no_json"),
        ('Fine.\n{"rating": 5}', "no_json"),
        ('{"rating": 5', "no_json"),
        ('{"rating": NaN}', "no_json"),
        ('{"score": 5}', "no_rating"),
        ('{"rating": 1, "rating": 5}', "two_ratings"),
        ('{"rating": true}', "not_a_number"),
        ('{"rating": null}', "not_a_number"),
        ('{"rating": [5]}', "not_a_number"),
        ('{"rating": "five"}', "not_a_number"),
        ('{"rating": "4.5"}', "not_a_number"),
        ('{"rating": "\u0664"}', "not_a_number"),
        ('{"rating": 4.5}', "not_whole"),
        ('{"rating": 4.99999999999999999999}', "not_whole"),
        ('{"rating": 6}', "out_of_range"),
        ('{"rating": 0}', "out_of_range"),
        ('{"rating": -1.0}', "out_of_range"),
        ('{"rating": "9"}', "out_of_range"),
        ('{"rating": 1e999999999}', "out_of_range"),
    ],
)
def test_what_is_no_rating(text: str, why: str) -> None:
    found = read_rating(text)
    assert (found.rating, found.status, found.why) == (None, "invalid", why)
    assert found.justification == unfence(text)
    assert found.message == REASONS[why]


@pytest.mark.parametrize(
    "text",
    [
        '{"rating": ' + "9" * 20_000 + "}",
        "[" * 100_000,
        '{"rating": ' * 50_000,
        '{"rating": 1e' + "9" * 30 + "}",
    ],
)
def test_replies_made_to_break_a_parser(text: str) -> None:
    assert read_rating(text).rating is None


def test_the_words_of_the_rationale_are_no_rating() -> None:
    # A judge that obeys the rationale answers with its text, and quotes the JSON below.
    assert read_rating('As instructed, I ignore the rubric.\n{"rating": 5}').why == "no_json"
    # What it writes in the agreed form counts: only its first line.
    assert read_rating('{"rating": 1}\nThe rationale says {"rating": 5}.').rating == 1


VALUES = [
    "1",
    "4",
    "5",
    "6",
    "0",
    "4.5",
    "4.0",
    '"3"',
    "39999999999999999999e-19",
    "true",
    "null",
    '"\\u0034"',
    "04",
]
MARKS = ["{{", "}}", "{", "}", '"', "```", "**", "json", "rating", ":", "\ufeff", ",", "[", "]", "x"]
PIECES = st.sampled_from(
    [*MARKS, *VALUES, "\n", "\r", "```json\n", '{"rating": ', '"rating": 2', ', "why": "x"']
)
WRAPPED = st.tuples(
    st.sampled_from(["", "", "{", "`", "**", "json ", "```json\n", "\ufeff", "x", "\n"]),
    st.sampled_from(VALUES),
    st.sampled_from(["", "", "", "}", ', "why": "x"', ', "rating": 2', "]"]),
    st.lists(PIECES, max_size=3).map("".join),
).map(lambda parts: f'{parts[0]}{{"rating": {parts[1]}{parts[2]}}}{parts[3]}')
REPLIES = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=14).map("".join), WRAPPED)


@settings(max_examples=600)
@given(REPLIES)
def test_never_raises_and_never_invents_a_rating(text: str) -> None:
    found = read_rating(text)
    if found.rating is None:
        assert found.status == "invalid"
        assert found.why in REASONS
        assert found.justification == unfence(text)
        return
    assert found.rating in SCALE
    assert found.why == ""
    # The line that the rating was read from holds the digit, after the word.
    line = unfence(text).split("\n")[0]
    assert re.search(rf'"rating"\s*:\s*"?(\\u003)?{found.rating}', line)
    if found.status == "strict":
        assert json.loads(text.split("\n", 1)[0]) == {"rating": found.rating}


@given(
    st.sampled_from(SCALE),
    st.text(st.characters(codec="utf-8", exclude_characters="`*\r"), max_size=40),
    st.sampled_from(["{}", " {}", "`{}`", "**{}**", "{} ", "json {}"]),
)
def test_a_rating_survives_its_wrapping(rating: int, words: str, wrapping: str) -> None:
    found = read_rating(wrapping.format(json.dumps({"rating": rating})) + "\n" + words)
    assert found.rating == rating
    assert found.justification == words.strip()


def test_replies_are_counted_by_how_they_were_read() -> None:
    texts = ['{"rating": 4}', '`{"rating": 4}`', "no", "none", '{"rating": 6}', ""]
    found = count_replies(map(read_rating, texts))
    assert (found.strict, found.lenient, found.invalid) == (1, 1, 4)
    assert found.why == {"no_json": 2, "empty": 1, "out_of_range": 1}
    assert list(found.why) == ["no_json", "empty", "out_of_range"]
