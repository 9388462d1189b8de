"""Accuracy without a cue, items lost and gained, and their tests, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.anchor.cue_ablation import cue_ablation, needed_cues

RESULTS = {
    "full": {"q1": True, "q2": True, "q3": True, "q4": False, "q5": True},
    "no_boxes": {"q1": True, "q2": False, "q3": True, "q4": False, "q5": None, "q6": True},
    "no_audio": {"q1": False, "q2": False, "q3": True, "q4": True},
}


def test_settings_by_hand() -> None:
    # q5 and q6 have no result somewhere. Of q1 to q4, all cues answer 3, without boxes 2, without sound 2.
    found = cue_ablation(RESULTS)
    assert (found.n, found.excluded, found.items) == (4, 2, ("q1", "q2", "q3", "q4"))
    full, boxes, audio = (found.settings[name] for name in ("full", "no_boxes", "no_audio"))
    assert [one.accuracy for one in (full, boxes, audio)] == [75.0, 50.0, 50.0]
    assert [one.drop_pp for one in (full, boxes, audio)] == [0.0, 25.0, 25.0]
    assert [one.missing for one in (full, boxes, audio)] == [1, 1, 2]
    assert (boxes.lost_items, boxes.gained_items) == (("q2",), ())
    assert (audio.lost_items, audio.gained_items) == (("q1", "q2"), ("q4",))
    # McNemar's exact p: 1 of 1 discordant pairs, doubled and cut at 1; 1 of 3: 2 (1 + 3) / 8 = 1.
    assert full.test is full.p_holm is None
    assert (boxes.test.p, audio.test.p, audio.p_holm) == (1.0, 1.0, 1.0)
    assert (boxes.drop.value, boxes.share.value) == (25.0, 0.5)


def test_many_lost_items_and_the_adjustment_for_several_settings() -> None:
    # Lost without pictures 8, none gained: p = 2 / 2^8; without sound 6: p = 2 / 2^6. Holm: twice the smaller one.
    full = {f"q{i}": 1 for i in range(10)}
    visual = {f"q{i}": int(i >= 8) for i in range(10)}
    audio = {f"q{i}": int(i >= 6) for i in range(10)}
    found = cue_ablation({"full": full, "no_visual": visual, "no_audio": audio}).settings
    assert [found[name].test.p for name in ("no_visual", "no_audio")] == [2 / 256, 2 / 64]
    assert [found[name].p_holm for name in ("no_visual", "no_audio")] == [4 / 256, 2 / 64]
    assert found["no_visual"].drop_pp == 80.0
    # By resamples of the items; that 4 or fewer of 10 draws are lost ones has a chance below 0.7 %.
    assert found["no_visual"].drop.low > 40


def test_no_common_item() -> None:
    found = cue_ablation({"full": {"q1": 1}, "no_audio": {"q2": 0}})
    assert (found.n, found.excluded) == (0, 2)
    audio = found.settings["no_audio"]
    assert audio.accuracy is audio.drop_pp is audio.drop.value is audio.p_holm is None
    assert (audio.lost, audio.gained, audio.missing) == (0, 0, 1)


def test_the_cues_that_an_item_needs() -> None:
    found = cue_ablation(RESULTS)
    cues = {"no_boxes": "boxes", "no_audio": "sound", "never_run": "pictures"}
    assert needed_cues(found, cues) == {"q1": ("sound",), "q2": ("boxes", "sound"), "q3": (), "q4": ()}


def test_what_cannot_be_used_is_refused() -> None:
    with pytest.raises(ValueError, match="no setting 'full'"):
        cue_ablation({"no_audio": {}})
    with pytest.raises(ValueError, match="no_audio: the result of q1 is 2"):
        cue_ablation({"full": {}, "no_audio": {"q1": 2}})
    assert cue_ablation({"all": {"q1": 1}}, full="all").settings["all"].accuracy == 100.0


@given(
    st.dictionaries(
        st.sampled_from(["full", "a", "b"]),
        st.dictionaries(st.sampled_from("pqrstu"), st.none() | st.booleans()),
        min_size=1,
    )
)
def test_a_drop_is_what_was_lost_less_what_was_gained(correct: dict[str, dict[str, bool | None]]) -> None:
    correct.setdefault("full", {})
    found = cue_ablation(correct, resamples=0)
    assert found.n + found.excluded == len({item for items in correct.values() for item in items})
    for setting in found.settings.values():
        if found.n:
            assert setting.drop_pp == pytest.approx(100 * (setting.lost - setting.gained) / found.n)
        else:
            assert setting.drop_pp is None
