"""Transcripts from files of cues."""

import hashlib
from pathlib import Path

import pytest

from reasonaudit.lib.errors import UserError
from tests.videos import factories
from videos.selectors.transcripts import newest_transcript, transcript_of, transcript_state
from videos.services.transcript_files import MAX_FILE_BYTES, from_file

pytestmark = pytest.mark.django_db

VTT = b"""WEBVTT

00:00:00.500 --> 00:00:01.250
<v Ann>How <i>are</i>
you?

00:00:02.000 --> 00:00:03.000
Fine &amp; well

00:00:03.100 --> 00:00:03.200

00:01:00.000 --> 00:01:01.000
After the clip of 4 s
"""


def test_ft_09_cues_become_pieces_with_their_speakers() -> None:
    video = factories.video()
    row, notes = from_file(video=video, data=VTT, file_name="../a/b.vtt", by=None)
    assert transcript_of(video) == [
        {"start_us": 500_000, "end_us": 1_250_000, "text": "Ann: How are you?"},
        {"start_us": 2_000_000, "end_us": 3_000_000, "text": "Fine & well"},
    ]
    assert transcript_state(video)["pieces"] == [
        (500_000, 1_250_000, "Ann: How are you?"),
        (2_000_000, 3_000_000, "Fine & well"),
    ]
    assert (row.source, row.language, row.words[0][3]) == ("file", "", None)
    assert row.version == {"file_name": "a/b.vtt", "sha256": hashlib.sha256(VTT).hexdigest()}
    assert any("1 cues begin after the end" in note for note in notes)
    assert not any("cues without a voice" in note for note in notes)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"PNG and other bytes", "not a subtitle file"),
        (b"WEBVTT\n\n", "no cue with text"),
        (b"WEBVTT\n\n00:05:00.000 --> 00:05:01.000\nlate\n", "no cue with text"),
        (b"WEBVTT\n" + b" " * MAX_FILE_BYTES, "the limit is"),
    ],
)
def test_a_file_that_is_no_transcript_of_the_clip_is_refused(data: bytes, words: str) -> None:
    video = factories.video()
    with pytest.raises(UserError, match=words) as refused:
        from_file(video=video, data=data, file_name="x", by=None)
    assert (refused.value.code, refused.value.status) == ("bad_transcript", 422)
    assert newest_transcript(video) is None


def test_a_clip_that_is_not_prepared_takes_no_transcript() -> None:
    video = factories.video(state="preparing", picture_index=None)
    with pytest.raises(UserError, match="not prepared"):
        from_file(video=video, data=VTT, file_name="x.vtt", by=None)


def test_a_real_caption_file(shared_data: Path) -> None:
    path = shared_data / "media" / "real" / "friday_dialogue.vtt"
    if not path.is_file():
        pytest.skip("the real captions are not there")
    video = factories.video(n=154)
    from_file(video=video, data=path.read_bytes(), file_name=path.name, by=None)
    words = transcript_of(video)
    assert len(words) == 5
    assert words[2] == {
        "start_us": 1_500_000,
        "end_us": 2_999_000,
        "text": "Tell me, is the lord of the universe in?",
    }
