"""Edit effort of a document and of a person, by hand."""

import copy

import pytest

from annotation.core.edit_effort import compared, summary, texts_of, word_change
from tests.videos.core.documents import CUP, bark, box_track, question
from videos.core.document import empty_document


def test_e4_boxes_spans_words_and_seconds_by_hand():
    """The dog's box moves by half of its width on all 30 pictures: IoU 1/3. The bark 4 to 5 s becomes 4 to 6 s: 1/2.

    The timeframe 3 to 6 s becomes 3 to 9 s: 1/2. Of 4 + 4 words, 3 stay: 1 - 6/8.
    """
    before = question("00:03 - 00:06", description="A dog runs home.")
    after = question(
        "00:03 - 00:09",
        description="A dog walks home.",
        tracks=[box_track(x=5.0)],
        events=[bark(4_000_000, 6_000_000)],
    )
    after["cot"]["final_answer"] = "It is late."
    row = compared(before, after, 83_000)
    assert row["seconds"] == 83.0
    assert row["box_iou"] == pytest.approx(1 / 3)
    assert row["event_tiou"] == pytest.approx(1 / 2)
    assert row["timeframe_tiou"] == {"visual": pytest.approx(1 / 2), "audio": None}
    assert row["texts"].keys() == {"visual.description"}
    assert row["texts"]["visual.description"]["words"] == pytest.approx(0.25)
    assert row["written"] == ["final_answer"]
    assert row["tracks"] == {"kept": 1, "added": 0, "removed": 0}


def test_nothing_changed_is_0_and_nothing_proposed_is_missing():
    same = compared(question(description="A dog."), question(description="A dog."), 0)
    assert (same["box_iou"], same["event_tiou"], same["seconds"]) == (1.0, 1.0, None)
    assert same["texts"] == {"visual.description": {"characters": 0.0, "words": 0.0}}
    drawn = compared(empty_document(), question("00:03 - 00:06", description="A dog."), 0)
    assert (drawn["box_iou"], drawn["event_tiou"], drawn["texts"]) == (None, None, {})
    assert drawn["timeframe_tiou"] == {"visual": None, "audio": None}
    assert (drawn["tracks"]["added"], drawn["events"]["added"], drawn["written"]) == (
        1,
        1,
        ["visual.description"],
    )


def test_what_was_thrown_away_counts_as_0():
    after = question(tracks=[box_track(CUP, "cup")], events=[], description="")
    row = compared(question("00:03 - 00:06", description="A dog."), after, 1)
    assert (row["box_iou"], row["event_tiou"], row["timeframe_tiou"]["visual"]) == (0.0, 0.0, 0.0)
    assert row["texts"]["visual.description"] == {"characters": 1.0, "words": 1.0}
    assert row["tracks"] == {"kept": 0, "added": 1, "removed": 1}


def test_neither_document_is_changed_by_looking():
    before, after = question(description="A"), question(description="B")
    kept = copy.deepcopy((before, after))
    compared(before, after, 5)
    assert (before, after) == kept


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ("", "", None),
        ("…", "!", None),
        ("one two", "", 1.0),
        ("one two three four", "one three four", 1 - 2 * 3 / 7),
        ("The dog.", "the dog", 0.5),
        ("a b c d", "a, b; c: d!", 0.0),
    ],
)
def test_share_of_words_changed(before, after, share):
    assert word_change(before, after) == share


def test_a_person_is_put_together_with_n_and_what_is_missing():
    """By hand: IoU 1 and 1/3 of two documents with boxes: 2/3. Texts: 1 of 2 changed; words 0 and 1/4: 1/8."""
    text = "A dog runs home."
    rows = [
        compared(question(description=text), question(description=text), 10),
        compared(
            question(description=text),
            question(description="A dog walks home.", tracks=[box_track(x=5.0)]),
            10,
        ),
        compared(empty_document(), question(), 10),
        None,
    ]
    found = summary(rows)
    assert (found.n, found.missing) == (3, 1)
    assert (found.box_iou.value, found.box_iou.n) == (pytest.approx(2 / 3), 2)
    assert (found.timeframe_tiou.value, found.timeframe_tiou.n) == (None, 0)
    assert (found.changed, found.texts, found.changed_share) == (1, 2, 0.5)
    assert (found.words.value, found.words.n) == (pytest.approx(1 / 8), 2)


def test_nobody_and_nothing_is_missing_not_zero():
    found = summary([])
    assert (found.n, found.box_iou.value, found.changed_share, found.words.value) == (0, None, None, None)
    assert texts_of(empty_document()) == dict.fromkeys(
        ("visual.description", "visual.analysis", "audio.description", "audio.analysis", "final_answer"), ""
    )
