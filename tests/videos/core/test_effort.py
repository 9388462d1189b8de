import copy
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.videos.core.documents import BARK, CUP, DOG, bark, box_track, question
from videos.core.document import empty_document
from videos.core.effort import effort, text_change


def test_nothing_to_compare_is_missing_not_zero() -> None:
    found = effort(empty_document(), empty_document(), None)
    assert (found.box_iou, found.event_tiou, found.seconds) == (None, None, None)
    assert set(found.timeframe_tiou.values()) | set(found.text_change.values()) == {None}


def test_nothing_changed() -> None:
    document = question("00:03 - 00:06", "00:04 - 00:05", "A dog runs.")
    found = effort(document, copy.deepcopy(document), 83.0)
    assert (found.box_iou, found.event_tiou, found.seconds) == (1.0, 1.0, 83.0)
    assert found.timeframe_tiou == {"visual": 1.0, "audio": 1.0}
    assert found.text_change["visual.description"] == 0.0


def test_boxes_over_the_union_of_visible_pictures() -> None:
    # Proposed on 30 to 59; final on 40 to 69, moved by half a box: IoU 1/3 on the 20 common of 40 pictures.
    before, after = question(), question(tracks=[box_track(visible=[(40, 70)], x=5.0)])
    assert effort(before, after, None).box_iou == pytest.approx(20 / 3 / 40)


def test_removed_and_added_tracks_have_no_overlap() -> None:
    before, after = question(), question(tracks=[box_track(CUP, "cup")], events=[])
    found = effort(before, after, None)
    assert [(part.id, part.label, part.change, part.overlap) for part in found.tracks] == [
        (DOG, "dog", "removed", 0.0),
        (CUP, "cup", "added", 0.0),
    ]
    assert [(part.id, part.change) for part in found.events] == [(BARK, "removed")]
    assert (found.box_iou, found.event_tiou) == (0.0, 0.0)


def test_spans() -> None:
    # Event 4 to 5 becomes 4.5 to 6: 0.5 of 2 s. Timeframe 3 to 6 becomes 3 to 9: a half.
    before, after = question("00:03 - 00:06"), question("00:03 - 00:09", events=[bark(4_500_000, 6_000_000)])
    found = effort(before, after, None)
    assert found.event_tiou == pytest.approx(0.25)
    assert found.timeframe_tiou == {"visual": 0.5, "audio": None}
    assert found.to_json()["events"][0]["overlap"] == pytest.approx(0.25)


def test_text_by_hand() -> None:
    # "abcd" and "bcde" have bcd in common: 1 - 2 * 3 / 8.
    assert text_change("abcd", "bcde") == 0.25
    assert text_change("", "new") == 1.0
    assert text_change("same", "same") == 0.0
    assert text_change("", "") is None


@given(st.text("abc ", max_size=40), st.text("abc ", max_size=40))
def test_text_is_close_to_difflib_and_bounded(a: str, b: str) -> None:
    found = text_change(a, b)
    if found is None:
        assert a == b == ""
        return
    assert 0 <= found <= 1
    assert (found == 0) == (a == b)
    # Where nothing is common at the ends, it is difflib's ratio itself.
    if a and b and a[0] != b[0] and a[-1] != b[-1]:
        assert found == pytest.approx(1 - SequenceMatcher(None, a, b, autojunk=False).ratio())


def test_long_texts_are_compared_by_words() -> None:
    words = [f"word{number}" for number in range(2000)]
    before = " ".join(["first", *words, "last"])
    after = " ".join(["begin", *words[:1000], "between", *words[1000:], "end"])
    found = text_change(before, after)
    # Words changed: first, last; begin, between and one space, end.
    assert found == pytest.approx((5 + 4 + 5 + 8 + 3) / (len(before) + len(after)), abs=1e-4)
    assert text_change("ab" * 10_000, "ba" * 10_000) is not None
