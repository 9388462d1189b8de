"""Comparing several people's documents; expected values are by hand."""

import uuid
from typing import Any

import pytest

from tests.videos.factories import keyframe, track
from videos.core.comparison import Comparison
from videos.core.document import empty_document, validate
from videos.core.word_overlap import longest_common, word_overlap

A_TRACK, B_TRACK, C_TRACK = (str(uuid.UUID(int=number)) for number in (1, 2, 3))


def still(
    id: str, x: float = 0.0, width: float = 10.0, label: str = "dog", frames: int = 10
) -> dict[str, Any]:
    """An object that stands still, 10 high, on the first pictures."""
    return track(label, (0,), id=id, keyframes={"0": keyframe([x, 0.0, width, 10.0])}, visible=[[0, frames]])


def event(id: str, start: int, end: int, label: str = "bark") -> dict[str, Any]:
    return {
        "id": id, "label": label, "start_us": start, "end_us": end, "note": "", "source": "human", "run": None,
    }  # fmt: skip


def link(target: str, *, step: str = "visual", kind: str = "track", frames: Any = None) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()), "step": step, "kind": kind, "target": target, "frames": frames,
        "relation": "supports",
    }  # fmt: skip


def document(*tracks: Any, events: Any = (), links: Any = (), **texts: str) -> dict[str, Any]:
    made = empty_document("dog")
    for name, entries in (("tracks", tracks), ("events", events), ("links", links)):
        made[name] = {entry["id"]: entry for entry in entries}
    made["cot"]["visual"]["description"] = texts.get("description", "")
    made["cot"]["final_answer"] = texts.get("answer", "")
    return made


def framed(*intervals: list[int], whole: bool = False) -> dict[str, Any]:
    made = document()
    made["cot"]["audio"]["timeframe"] = {"whole": whole, "intervals": list(intervals), "raw": "?"}
    return made


def ids(comparison: Comparison) -> list[str]:
    return [place.id for place in comparison.differences]


def only(comparison: Comparison) -> Any:
    (place,) = comparison.differences
    return place


def test_equal_documents_agree_and_are_the_seed():
    one = document(still(A_TRACK), events=[event(B_TRACK, 0, 10)], links=[link(A_TRACK)], answer="It barks.")
    comparison = Comparison({"B": one, "A": one})
    assert ids(comparison) == []
    assert comparison.seed() == one
    assert comparison.agreement == 1.0
    assert comparison.measures() == {
        "boxes": 1.0, "boxes_unmatched": 0, "events": 1.0, "events_unmatched": 0, "timeframes": None, "texts": 1.0,
    }  # fmt: skip


def test_what_nobody_has_is_missing_and_not_nought():
    assert Comparison({"A": document(), "B": document()}).measures() == {
        "boxes": None, "boxes_unmatched": 0, "events": None, "events_unmatched": 0, "timeframes": None, "texts": None,
    }  # fmt: skip


def test_texts_differ_by_words_and_agree_but_for_white_space_at_the_ends():
    # Words and signs: the brown dog barks . / the dog barks . -> 4 of 5 and 4 in common: 2 x 4 / 9.
    comparison = Comparison(
        {"A": document(answer="the brown dog barks."), "B": document(answer="the dog barks.")}
    )
    place = only(comparison)
    assert (place.id, place.kind, place.step, place.field) == (
        "final_answer",
        "text",
        "final",
        "final_answer",
    )
    assert place.agreement == pytest.approx(8 / 9)
    assert place.sides == {"A": "the brown dog barks.", "B": "the dog barks."}
    assert ids(Comparison({"A": document(answer=" yes\n"), "B": document(answer="yes")})) == []
    assert (
        Comparison({"A": document(answer=" yes\n"), "B": document(answer="yes")}).seed()["cot"][
            "final_answer"
        ]
        == " yes\n"
    )
    missing = only(Comparison({"A": document(description="A dog."), "B": document()}))
    assert (missing.title, missing.agreement, missing.sides["B"]) == ("Visual cue, description", 0.0, "")


def test_longest_common_subsequence():
    # The textbook pair: four letters in common (BCBA).
    assert longest_common(list("ABCBDAB"), list("BDCABA")) == 4
    assert longest_common([], ["a"]) == 0
    assert word_overlap("", " ") is None
    assert word_overlap("a b c", "c b a") == pytest.approx(2 / 6)


def test_target_labels_agree_or_do_not():
    one, other = document(), document()
    other["target_label"] = "cat"
    place = only(Comparison({"A": one, "B": other}))
    assert (place.kind, place.agreement) == ("target_label", 0.0)
    other["target_label"] = " dog "
    assert ids(Comparison({"A": one, "B": other})) == []


@pytest.mark.parametrize(
    ("a", "b", "agreement", "agrees"),
    [
        # 9 of 10 seconds in common, 8 of 10, none.
        (framed([0, 10]), framed([0, 9]), 0.9, True),
        (framed([0, 10]), framed([0, 8]), 0.8, False),
        (framed([0, 10]), framed(), 0.0, False),
        (framed(whole=True), framed(whole=True), 1.0, True),
        # How long the clip is, is not known here.
        (framed(whole=True), framed([0, 10]), None, False),
        # Points have no length.
        (framed([3, 3]), framed([3, 3]), None, True),
        (framed([3, 3]), framed([4, 4]), None, False),
    ],
)
def test_timeframes(a, b, agreement, agrees):
    comparison = Comparison({"A": a, "B": b})
    place = next(place for place in comparison.places if place.id == "audio.timeframe")
    assert (place.agreement, place.agrees) == (agreement, agrees)
    taken = comparison.seed()["cot"]["audio"]["timeframe"]
    assert taken == (
        a["cot"]["audio"]["timeframe"] if agrees else empty_document()["cot"]["audio"]["timeframe"]
    )


def test_tracks_belong_together_by_their_boxes_whatever_ids_and_labels_say():
    # 10 wide against 8 wide at the same place: 80 of 100 square pixels.
    comparison = Comparison(
        {"A": document(still(A_TRACK)), "B": document(still(B_TRACK, width=8.0, label="cat"))}
    )
    place = only(comparison)
    assert (place.id, place.agreement) == (f"track:A:{A_TRACK}", 0.8)
    assert place.title == 'Boxes of "dog" / "cat"'
    assert place.sides == {"A": A_TRACK, "B": B_TRACK}
    assert comparison.measures()["boxes"] == 0.8
    assert comparison.seed()["tracks"] == {}


def test_nine_tenths_agree_with_the_same_label_only():
    nine = document(still(B_TRACK, width=9.0, label=" dog"))
    comparison = Comparison({"A": document(still(A_TRACK)), "B": nine})
    assert ids(comparison) == []
    assert list(comparison.seed()["tracks"]) == [A_TRACK]
    other = document(still(B_TRACK, width=9.0, label="cat"))
    assert only(Comparison({"A": document(still(A_TRACK)), "B": other})).agreement == 0.9


def test_pictures_on_which_only_one_is_visible_count_as_no_overlap():
    # The same box on 5 of 10 pictures: 5 of 10.
    comparison = Comparison({"A": document(still(A_TRACK)), "B": document(still(B_TRACK, frames=5))})
    assert only(comparison).agreement == 0.5


def test_matching_is_one_to_one_and_best_in_sum():
    # A has boxes at 0 and 4; B at 3 and at -5. Overlaps: 0-3: 7/13, 0-(-5): 5/15, 4-3: 9/11, 4-(-5): 1/19.
    # The greedy choice 9/11 + 5/15 is also the best sum here: 1.15 against 7/13 + 0 (1/19 is below a tenth).
    a = document(still(A_TRACK), still(B_TRACK, x=4.0))
    b = document(still(C_TRACK, x=3.0), still(B_TRACK, x=-5.0))
    comparison = Comparison({"A": a, "B": b})
    pairs = {(place.sides["A"], place.sides["B"]) for place in comparison.places if place.kind == "track"}
    assert pairs == {(A_TRACK, B_TRACK), (B_TRACK, C_TRACK)}
    assert comparison.measures()["boxes"] == pytest.approx((9 / 11 + 5 / 15) / 2)


def test_below_a_tenth_two_tracks_are_two_objects():
    # 1 of 19 pixels in common a row.
    comparison = Comparison({"A": document(still(A_TRACK)), "B": document(still(A_TRACK, x=9.0))})
    assert ids(comparison) == [f"track:A:{A_TRACK}", f"track:B:{A_TRACK}"]
    assert [place.agreement for place in comparison.differences] == [0.0, 0.0]
    assert [dict(place.sides) for place in comparison.differences] == [
        {"A": A_TRACK, "B": None},
        {"A": None, "B": A_TRACK},
    ]
    measures = comparison.measures()
    assert (measures["boxes"], measures["boxes_unmatched"]) == (None, 2)


def test_events_overlap_in_time():
    one = document(events=[event(A_TRACK, 0, 10)])
    close = document(events=[event(B_TRACK, 0, 9)])
    far = document(events=[event(B_TRACK, 5, 15)])
    assert ids(Comparison({"A": one, "B": close})) == []
    # 5 of 15 in common.
    place = only(Comparison({"A": one, "B": far}))
    assert (place.kind, place.title) == ("event", 'Audio event "bark"')
    assert place.agreement == pytest.approx(1 / 3)
    named = document(events=[event(B_TRACK, 0, 10, label="growl")])
    assert only(Comparison({"A": one, "B": named})).agreement == 1.0


def test_of_three_people_the_two_farthest_apart_count():
    # 10, 9 and 8 wide: 0.9, 0.8 and 8/9.
    sides = {
        "A": document(still(A_TRACK)),
        "B": document(still(B_TRACK, width=9.0)),
        "C": document(still(C_TRACK, width=8.0)),
    }
    comparison = Comparison(sides)
    assert only(comparison).agreement == 0.8
    assert comparison.measures()["boxes"] == pytest.approx((0.9 + 0.8 + 8 / 9) / 3)
    without = Comparison({**sides, "C": document()})
    assert only(without).agreement == 0.0
    assert only(without).sides == {"A": A_TRACK, "B": B_TRACK, "C": None}
    # Whom A lacks is matched with the first who has it.
    later = Comparison({"A": document(), "B": sides["B"], "C": sides["C"]})
    assert only(later).id == f"track:B:{B_TRACK}"
    assert only(later).sides == {"A": None, "B": B_TRACK, "C": C_TRACK}


def test_the_seed_holds_what_is_agreed_and_is_valid():
    a = document(
        still(A_TRACK), still(C_TRACK, x=100.0), links=[link(A_TRACK), link(C_TRACK)], description="It turns.",
        answer="It barks.",
    )  # fmt: skip
    b = document(
        still(B_TRACK, width=9.5),
        links=[link(B_TRACK, frames=[0, 5])],
        description="It turns.",
        answer="It sits.",
    )
    seed = Comparison({"A": a, "B": b}).seed()
    validate(seed)
    assert list(seed["tracks"]) == [A_TRACK]
    assert seed["cot"]["visual"]["description"] == "It turns."
    assert seed["cot"]["final_answer"] == ""
    # Both linked the dog, under ids of their own; only A linked the other object, which is not there.
    assert list(seed["links"].values()) == [next(iter(a["links"].values()))]


def test_a_link_that_one_of_two_made_is_left_out():
    a, b = document(still(A_TRACK), links=[link(A_TRACK)]), document(still(A_TRACK))
    assert Comparison({"A": a, "B": b}).seed()["links"] == {}
    other_step = document(still(A_TRACK), links=[link(A_TRACK, step="audio")])
    assert Comparison({"A": a, "B": other_step}).seed()["links"] == {}


def test_whom_a_decision_matches():
    a = document(still(A_TRACK), answer="It barks.", description="Same.")
    b = document(still(B_TRACK, width=5.0), answer="It sits.", description="Same.")
    comparison = Comparison({"A": a, "B": b})
    dog = f"track:A:{A_TRACK}"
    assert comparison.matches(a).overall == "A"
    assert comparison.matches(a).differences == {"final_answer": "A", dog: "A"}
    mixed = document(still(A_TRACK), answer="It sits. ", description="Same.")
    assert comparison.matches(mixed).overall == ""
    assert comparison.matches(mixed).differences == {"final_answer": "B", dog: "A"}
    own = document(still(C_TRACK, width=7.0), answer="It runs.", description="Same.")
    assert comparison.matches(own).differences == {"final_answer": "", dog: ""}
    changed = document(still(A_TRACK), answer="It barks.", description="Other.")
    assert comparison.matches(changed).overall == "", "what all agreed on was changed"
    more = document(still(A_TRACK), still(B_TRACK, x=200.0), answer="It barks.", description="Same.")
    assert comparison.matches(more).overall == "", "nobody had the second object"


def test_leaving_out_matches_those_who_lack_it_and_a_box_of_ones_own_does_not():
    comparison = Comparison({"A": document(still(A_TRACK)), "B": document()})
    (dog,) = ids(comparison)
    assert comparison.matches(document()).differences == {dog: "B"}
    assert comparison.matches(document(still(B_TRACK, width=9.5))).differences == {dog: "A"}
    # 5 of 10: it is about this object, and nobody's.
    assert comparison.matches(document(still(B_TRACK, width=5.0))).differences == {dog: ""}


def test_a_track_belongs_where_it_overlaps_most():
    # Two objects close together, of which B lacks the second; the decision has the first only.
    a = document(still(A_TRACK), still(C_TRACK, x=6.0))
    b = document(still(B_TRACK))
    comparison = Comparison({"A": a, "B": b})
    assert comparison.matches(document(still(A_TRACK))).differences == {f"track:A:{C_TRACK}": "B"}


def test_one_person_alone_agrees():
    one = document(still(A_TRACK), answer="It barks.")
    comparison = Comparison({"A": one})
    assert (ids(comparison), comparison.seed(), comparison.matches(one).overall) == ([], one, "A")
