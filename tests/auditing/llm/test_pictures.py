"""Pictures in a request: their captions, what a key holds of them, and what the record keeps."""

import hashlib

from auditing.llm.pictures import Frame, announcement, characters_of, for_the_record, key_of, pictures_of
from auditing.llm.protocol import ChatRequest, Message

FRAMES = [Frame(3, 61_250_000, b"one"), Frame(9, 75_000_000, b"two"), Frame(12, 90_000_000, b"one")]


def test_each_picture_stands_after_its_number_and_its_time() -> None:
    pictures = pictures_of(FRAMES)
    assert [picture.caption for picture in pictures] == [
        "Picture 1 of 3, at 01:01.250:",
        "Picture 2 of 3, at 01:15.000:",
        "Picture 3 of 3, at 01:30.000:",
    ]
    assert announcement(FRAMES).startswith("3 pictures of the clip follow")


def test_a_key_holds_ordinal_time_and_hash() -> None:
    assert key_of(FRAMES[:1]) == [[3, 61_250_000, hashlib.sha256(b"one").hexdigest()]]


def test_an_estimate_counts_captions_and_pictures() -> None:
    # "Picture 1 of 1, at 01:01.250:" has 29 characters; 425 tokens are 1,700 of 4 each.
    assert characters_of(pictures_of(FRAMES[:1])) == 29 + 1_700
    assert characters_of(()) == 0


def test_the_record_names_a_picture_by_its_hash_and_keeps_all_else() -> None:
    message = Message("user", "data:image/jpeg;base64,b25l is no picture", pictures_of(FRAMES))
    request = ChatRequest("m", (Message("system", "Rules"), message))
    kept = for_the_record(request, request.body()).decode()
    # The text above is the picture "one" in base 64: it is replaced as well, by what says the same.
    assert "base64" not in kept
    assert kept.count(hashlib.sha256(b"one").hexdigest()) == 3
    assert kept.count(hashlib.sha256(b"two").hexdigest()) == 1
    assert "Picture 3 of 3, at 01:30.000:" in kept
    assert for_the_record(ChatRequest("m", (Message("user", "x"),)), b"as it is") == b"as it is"
