from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.videos.core.documents import BARK, CUP, DOG, LINK, OTHER_LINK, bark, box_track, link, question
from videos.core.checks import ClipFacts, Finding, Speech, check
from videos.core.document import apply, empty_document, validate
from videos.core.timebase import PictureIndex

INDEX = PictureIndex.constant(100, Fraction(10))
CLIP = ClipFacts(INDEX)
OPERATION = "00000000-0000-4000-8000-000000000099"


def codes(document: Any, facts: ClipFacts = CLIP) -> list[str]:
    return [finding.code for finding in check(document, facts)]


def only(document: Any, facts: ClipFacts = CLIP) -> Finding:
    validate(document)
    findings = check(document, facts)
    assert len(findings) == 1, findings
    assert findings[0].sentence.endswith((".", "…"))
    return findings[0]


def remedied(document: Any, finding: Finding) -> Any:
    """The document after the one click, which must be a valid operation."""
    assert finding.remedy is not None
    result = apply(document, {"id": OPERATION, **finding.remedy})
    validate(result)
    return result


def sound(silent_from: int = 100_000) -> ClipFacts:
    """Ten seconds that are loud until a point, 10 ms each."""
    loudness = np.full(1000, 60, dtype=np.uint8)
    loudness[silent_from:] = 0
    return ClipFacts(INDEX, loudness=loudness)


def test_nothing_said_nothing_found() -> None:
    assert codes(empty_document()) == []
    assert codes(empty_document(), ClipFacts(INDEX, has_audio=False)) == []


def test_a_sound_question_has_no_finding() -> None:
    document = question(
        "00:03 - 00:06", "00:04 - 00:05", "The dog runs.", [link("visual", DOG)], target_label="dog"
    )
    document["links"][OTHER_LINK] = link("audio", BARK, id=OTHER_LINK)
    assert codes(document, sound()) == []


@pytest.mark.parametrize("text", ["when the dog barks", "1:75", "0:10 - 0:05"])
def test_unparsable_timeframe(text: str) -> None:
    finding = only(question(text, links=[link("visual", DOG)]))
    assert finding.code == "timeframe_unparsable"
    assert text in finding.sentence


def test_timeframe_beyond_the_clip() -> None:
    document = question("00:03 - 00:06, 00:09 - 00:12", links=[link("visual", DOG)])
    document["tracks"][DOG]["visible"] = [[30, 100]]
    finding = only(document)
    assert (finding.code, finding.remedy and finding.remedy["words"]) == (
        "timeframe_beyond_clip",
        "Cut to 00:10.0",
    )
    after = remedied(document, finding)
    assert after["cot"]["visual"]["timeframe"]["intervals"] == [
        [3_000_000, 6_000_000],
        [9_000_000, 10_000_000],
    ]
    assert after["cot"]["visual"]["timeframe"]["raw"] == "00:03.000 - 00:06.000, 00:09.000 - 00:10.000"
    assert codes(after) == []


def test_an_interval_wholly_beyond_the_clip_is_removed() -> None:
    document = question("00:03 - 00:06, 00:12 - 00:14", links=[link("visual", DOG)])
    finding = only(document)
    assert codes(remedied(document, finding)) == []
    assert codes(question("00:03 - 00:06.05", links=[link("visual", DOG)])) == []


def test_sound_that_goes_on_after_the_last_picture_belongs_to_the_clip() -> None:
    facts = ClipFacts(INDEX, loudness=np.full(1000, 60, dtype=np.uint8), audio_offset_us=2_000_000)
    document = question(
        audio="00:11 - 00:12", links=[link("audio", BARK)], events=[bark(11_000_000, 12_000_000)]
    )
    assert codes(document, facts) == []
    assert codes(document) == ["timeframe_beyond_clip"]


def test_cue_without_evidence_offers_the_only_candidate() -> None:
    document = question("00:03 - 00:06")
    finding = only(document)
    assert finding.code == "cue_without_evidence"
    assert finding.remedy is not None
    assert finding.remedy["words"] == 'Link "dog"'
    assert codes(remedied(document, finding)) == []
    # Two that fit are a choice for a person; one at another time does not fit.
    two = question("00:03 - 00:06", tracks=[box_track(), box_track(CUP, "cup")])
    assert only(two).remedy is None
    later = question("00:03 - 00:06", tracks=[box_track(), box_track(CUP, "cup", [(80, 90)])])
    assert codes(remedied(later, only(later))) == []


def test_timeframe_partly_outside_the_visible_interval() -> None:
    # Visible from 3.0 to 6.0 s.
    document = question("00:05 - 00:08", links=[link("visual", DOG)])
    finding = only(document)
    assert finding.code == "timeframe_outside_visible"
    assert "nothing is boxed at 00:06.0 - 00:08.0" in finding.sentence
    assert finding.remedy is not None
    assert finding.remedy["words"] == "Set to 00:05.0 - 00:06.0"
    assert codes(remedied(document, finding)) == []


def test_a_gap_between_two_visible_intervals_has_no_one_click_remedy() -> None:
    document = question(
        "00:03 - 00:09", links=[link("visual", DOG)], tracks=[box_track(visible=[(30, 40), (60, 90)])]
    )
    finding = only(document)
    assert finding.code == "timeframe_outside_visible"
    assert "00:04.0 - 00:06.0" in finding.sentence
    assert finding.remedy is None


def test_two_linked_objects_are_looked_at_together() -> None:
    both = [link("visual", DOG), link("visual", CUP, id=OTHER_LINK)]
    document = question("00:03 - 00:09", links=both, tracks=[box_track(), box_track(CUP, "cup", [(60, 90)])])
    assert codes(document) == []
    early = question("00:03 - 00:06", links=both, tracks=[box_track(), box_track(CUP, "cup", [(60, 90)])])
    finding = only(early)
    assert finding.code == "object_never_in_timeframe"
    assert finding.sentence.startswith('"cup" is visible at 00:06.0 - 00:09.0')


def test_a_point_must_be_seen_too() -> None:
    assert codes(question("00:04", links=[link("visual", DOG)])) == []
    assert codes(question("00:08", links=[link("visual", DOG)])) == ["object_never_in_timeframe"]


def test_link_to_pictures_on_which_the_object_is_not_visible() -> None:
    document = question("00:05 - 00:06", links=[link("visual", DOG, [50, 65])])
    finding = only(document)
    assert finding.code == "link_outside_visible"
    assert "pictures 50 to 64, but it is not visible on 5 of them" in finding.sentence
    after = remedied(document, finding)
    assert after["links"][LINK]["frames"] == [50, 60]
    assert codes(after) == []


def test_stated_time_far_from_the_evidence() -> None:
    # 3.0 to 6.0 stated, 5.0 to 6.0 linked: a third of both together.
    finding = only(question("00:03 - 00:06", links=[link("visual", DOG, [50, 60])]))
    assert finding.code == "timeframe_far_from_evidence"
    assert "33%" in finding.sentence


def test_audio_cue_on_silence() -> None:
    document = question(
        audio="00:07 - 00:08", links=[link("audio", BARK)], events=[bark(7_000_000, 8_000_000)]
    )
    assert codes(document, sound(silent_from=650)) == ["audio_cue_on_silence", "event_on_silence"]
    assert codes(document, sound()) == []
    assert codes(document) == [], "nothing is said where loudness is unknown"


def test_a_hundredth_of_the_points_may_be_loud() -> None:
    document = question(
        audio="00:07 - 00:08", links=[link("audio", BARK)], events=[bark(7_000_000, 8_000_000)]
    )
    facts = sound(silent_from=650)
    assert facts.loudness is not None
    facts.loudness[700:800] = 1
    facts.loudness[710] = 90
    assert "audio_cue_on_silence" in codes(document, facts)
    facts.loudness[711] = 90
    assert codes(document, facts) == []


def test_the_start_of_the_sound_counts() -> None:
    # The sound starts at 2 s: point 500 is at 7 s.
    loudness = np.zeros(1000, dtype=np.uint8)
    loudness[500:600] = 90
    facts = ClipFacts(INDEX, loudness=loudness, audio_offset_us=2_000_000)
    document = question(
        audio="00:07 - 00:08", links=[link("audio", BARK)], events=[bark(7_000_000, 8_000_000)]
    )
    assert codes(document, facts) == []
    moved = ClipFacts(INDEX, loudness=loudness)
    assert codes(document, moved) == ["audio_cue_on_silence", "event_on_silence"]


def test_before_the_sound_starts_it_is_silent() -> None:
    facts = ClipFacts(INDEX, loudness=np.full(800, 90, dtype=np.uint8), audio_offset_us=2_000_000)
    document = question(
        audio="00:00.5 - 00:01", links=[link("audio", BARK)], events=[bark(500_000, 1_000_000)]
    )
    assert codes(document, facts) == ["audio_cue_on_silence", "event_on_silence"]


def test_a_clip_without_sound() -> None:
    document = question(audio="00:04 - 00:05", links=[link("audio", BARK)])
    assert codes(document, ClipFacts(INDEX, has_audio=False)) == ["audio_cue_without_sound"]


@pytest.mark.parametrize(
    ("description", "label", "tracks", "found"),
    [
        ("A dog runs.", "dog", ["cup"], True),
        ("Two DOGS run.", "dog", ["cup"], True),
        ("A dog runs.", "dog", ["Brown dogs"], False),
        ("A brown dog runs.", "brown dog", ["dog"], False),
        ("A hotdog stand.", "dog", ["cup"], False),
        ("A dog, brown, runs.", "brown dog", ["cup"], False),
        ("A cat runs.", "dog", ["cup"], False),
        ("A dog house.", "dog", ["dog house"], True),
        ("A gas cooker.", "gas cooker", ["cup"], True),
    ],
)
def test_object_named_but_not_boxed(description: str, label: str, tracks: list[str], found: bool) -> None:
    made = [box_track(DOG, tracks[0])]
    document = question(description=description, target_label=label, tracks=made, links=[link("visual", DOG)])
    assert codes(document) == (["object_not_boxed"] if found else [])


def test_labels_of_the_project_are_looked_for_too() -> None:
    document = question(description="A dog and a spoon.", links=[link("visual", DOG)])
    facts = ClipFacts(INDEX, vocabulary=("dog", "spoon", "fork"))
    assert '"spoon"' in only(document, facts).sentence


@pytest.mark.parametrize(
    ("stated", "words", "intervals"),
    [
        ("00:04 - 00:04.5", "Extend to 00:05.0", [[4_000_000, 5_000_000]]),
        ("00:04.5 - 00:05", "Extend to 00:04.0", [[4_000_000, 5_000_000]]),
        ("00:04.2 - 00:04.8", "Extend to 00:04.0 - 00:05.0", [[4_000_000, 5_000_000]]),
        ("00:01 - 00:02", "Add 00:04.0 - 00:05.0", [[1_000_000, 2_000_000], [4_000_000, 5_000_000]]),
        ("00:01, 00:04 - 00:04.5", "Extend to 00:05.0", [[1_000_000, 1_000_000], [4_000_000, 5_000_000]]),
    ],
)
def test_event_partly_outside_the_stated_time(stated: str, words: str, intervals: Any) -> None:
    document = question(audio=stated, links=[link("audio", BARK)])
    finding = next(found for found in check(document, CLIP) if found.code == "event_outside_timeframe")
    assert finding.remedy is not None
    assert finding.remedy["words"] == words
    after = remedied(document, finding)
    assert after["cot"]["audio"]["timeframe"]["intervals"] == intervals
    assert "event_outside_timeframe" not in codes(after)


def test_an_edge_within_a_tenth_of_a_second_is_no_matter() -> None:
    assert codes(question(audio="00:04 - 00:04.9", links=[link("audio", BARK)])) == []


def test_voice_that_is_cut_off() -> None:
    facts = ClipFacts(
        INDEX, speech=(Speech(4_500_000, 5_800_000, "Come here!"), Speech(7_000_000, 8_000_000, "No."))
    )
    document = question(audio="00:04 - 00:05", links=[link("audio", BARK)])
    finding = only(document, facts)
    assert finding.code == "voice_outside_timeframe"
    assert (
        finding.sentence
        == 'The voice "Come here!" lies at 00:04.5 - 00:05.8, partly outside 00:04.0 - 00:05.0.'
    )
    assert finding.remedy is not None
    assert finding.remedy["words"] == "Extend to 00:05.8"
    assert codes(remedied(document, finding), facts) == []


def test_the_whole_clip_holds_everything() -> None:
    document = question("throughout", "throughout, 00:01 - 00:02", links=[link("visual", DOG)])
    document["links"][OTHER_LINK] = link("audio", BARK, id=OTHER_LINK)
    assert codes(document) == []


def test_findings_are_json() -> None:
    document = question("00:05 - 00:08", links=[link("visual", DOG)])
    assert only(document).to_json().keys() == {"code", "step", "sentence", "remedy"}


def test_tracks_longer_than_the_clip_do_no_harm() -> None:
    document = question(
        "00:09 - 00:10", links=[link("visual", DOG, [95, 200])], tracks=[box_track(visible=[(90, 150)])]
    )
    assert "link_outside_visible" in codes(document)
