"""Words and figures of the pages of benchmarks."""

import pytest

from auditing.selectors import benchmark_words as words
from auditing.templatetags import benchmarks as tags


def test_why_items_got_nothing_is_said_once_for_each_reason():
    left_out = [(number, "It is empty.") for number in range(1, 6)] + [(9, "It is broken.")]
    assert words.left_out_words(left_out) == ("Items 1, 2, 3 and 2 more: It is empty. Item 9: It is broken.")
    many = [(number, f"Reason {number}.") for number in range(1, 6)]
    assert words.left_out_words(many).endswith("Item 3: Reason 3. 2 other reasons are left out here.")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("level", "hard", "Hard"),
        ("level", "-", "Without a level"),
        ("length", "middle", "One to ten minutes"),
        ("height", "0", "Under 240p"),
        ("height", "480", "480p to 719p"),
        ("height", "1440", "1440p and more"),
        ("setting", "no_audio", "Without sound"),
        ("warning", "one_cue", "cue of one kind only"),
        ("category", "Anything", "Anything"),
    ],
)
def test_a_filter_says_what_it_is_about(name, value, said):
    assert words.filter_words(name, value) == said


def test_raters_and_missing_ratings_in_words():
    assert words.rater_words("openai:judge-a") == "judge-a"
    assert words.rater_words("rule:option") == "rule of options"
    assert words.missing_words({"stale": 1200, "new_reason": 1}) == (
        "1,200 of an earlier version of answer or reference, 1 new_reason"
    )


@pytest.mark.parametrize(
    ("microseconds", "said"),
    [
        (None, "\u2013"),
        (4_900_000, "4.9 s"),
        (59_990_000, "1 min"),
        (60_000_000, "1 min 0 s"),
        (321_450_000, "5 min 21 s"),
        (745_443_000_000, "207 h 4 min"),
    ],
)
def test_lengths_are_written_as_people_say_them(microseconds, said):
    assert tags.long_time(microseconds) == said


@pytest.mark.parametrize(
    ("timeframe", "said"),
    [
        (None, "\u2013"),
        ({"whole": False, "intervals": [], "raw": ""}, "\u2013"),
        ({"whole": False, "intervals": [], "raw": "at the end"}, "at the end"),
        ({"whole": True, "intervals": [], "raw": "throughout"}, "the whole clip"),
        (
            {"whole": False, "intervals": [[1_000_000, 2_500_000], [4_000_000, 4_000_000]], "raw": "x"},
            "00:01.0 to 00:02.5, 00:04.0",
        ),
    ],
)
def test_times_of_a_cue_as_they_were_read(timeframe, said):
    assert tags.spans(timeframe) == said


def test_a_number_opens_its_items_and_none_is_no_link():
    assert 'href="?category=A+%26+B&amp;level=-#items"' in tags.items_link(
        3, "Items", category="A & B", level=""
    )
    assert "<a" not in tags.items_link(0, "Items", category="x")
    assert "\u2013" in tags.items_link(None, "Items")
