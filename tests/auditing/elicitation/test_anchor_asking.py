"""ANCHOR's questions: how values are written, which are refused, and that what is taken away is told apart."""

import dataclasses

import pytest

from auditing.core.anchor.answer_boxes import take_boxes
from auditing.drafting.protocol import Piece
from auditing.elicitation.anchor_asking import box_line, labels_of, lettered, listed, written_transcript
from auditing.elicitation.protocol import Elicitation
from auditing.elicitation.tasks import FRAMED_TASKS, TASKS
from auditing.elicitation.wording import BOXES_FORM
from tests.auditing.elicitation.cases import ALL, CLIP, FRAMES


def test_options_are_lettered_and_a_text_stays() -> None:
    assert lettered(["a\n(C) b", "c"]) == "(A) a (C) b\n(B) c"
    assert lettered("1) yes") == "1) yes"
    # Letters of the options' own are those that an answer names.
    assert lettered(["B. a cat", "C. a dog"]) == "(B) a cat\n(C) a dog"
    assert lettered([]) == ""


def test_pieces_of_a_transcript_come_a_line_each_with_their_times() -> None:
    pieces = [Piece(61_000_000, 62_540_000, "come\nhere"), Piece(63_000_000, 64_000_000, "now")]
    assert written_transcript(pieces) == "[01:01.0 - 01:02.5] come here\n[01:03.0 - 01:04.0] now"


def test_a_box_is_a_line_in_percent() -> None:
    assert box_line("brown\ndog", 12_540_000, 0, 33.333, 50.05, 100) == (
        "- brown dog @ 00:12.5: 0.0 33.3 50.0 100.0"
    )


def test_boxes_are_given_and_asked_for_in_the_form_that_the_core_reads() -> None:
    lines = f"{box_line('brown dog', 72_540_000, 1, 2.5, 30, 40)}\n{box_line('cat', 0, 0, 0, 100, 100)}"
    found = take_boxes(f"Final Answer: x\nBoxes:\n{lines}")
    assert [(box.label, box.time_us, box.box) for box in found.boxes] == [
        ("brown dog", 72_500_000, (1.0, 2.5, 30.0, 40.0)),
        ("cat", 0, (0.0, 0.0, 100.0, 100.0)),
    ]
    shown = BOXES_FORM[BOXES_FORM.index("Boxes:\n") :].partition("\n\n")[0]
    (form,) = take_boxes(shown.replace("x y w h", "1 2 3 4")).boxes
    assert (form.label, form.time_us) == ("label", 12_500_000)


@pytest.mark.parametrize(
    "labels",
    [["Sports", "Social Interaction"], {"A: b": "c: d", "E": "", "- F": "g"}, ["Ratio 1:\t2"], {}],
)
def test_labels_are_read_back_as_they_were_listed(labels: object) -> None:
    assert labels_of(listed(labels)) == tuple(" ".join(label.split()) for label in labels)  # type: ignore[arg-type, attr-defined]


def test_labels_stand_a_line_each_with_their_meaning() -> None:
    assert listed({"Sports": "games\nand play", "Gaming": " "}) == "- Sports:\tgames and play\n- Gaming"


def test_what_is_withheld_is_not_what_is_missing() -> None:
    bare = {**CLIP, "transcript": "", "boxes": "", "frames": ()}
    missing = Elicitation.video_answer(**bare)
    withheld = Elicitation.video_answer(**{**bare, "transcript": None, "boxes": None, "frames": None})
    assert dict(missing.values)["withheld"] == ""
    assert dict(withheld.values)["withheld"] == "boxes,pictures,transcript"
    assert Elicitation.brief_answer(**CLIP, take=2).take == 2


def test_an_answer_to_compare_keeps_to_its_own_line_and_an_empty_one_its_place() -> None:
    asked = Elicitation.difficulty("?", "r", ["a\n2. b", " \n", "c"])
    assert dict(asked.values)["answers"] == "1. a 2. b\n2. (no answer was given)\n3. c"
    assert dict(asked.values)["count"] == "3"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Elicitation.rating("style", "?", "o", "r"), "Unknown facet 'style'; use one of answer"),
        (lambda: Elicitation.difficulty("?", "r", []), "Judge from 1 to 1,000 answers at once, not 0"),
        (lambda: Elicitation.difficulty("?", "r", ["a"] * 1001), "not 1001"),
        (lambda: Elicitation.taxonomy("?", "a", "", [], []), "no categories"),
        (lambda: Elicitation.video_answer(**{**CLIP, "duration": -1}), "duration must be a whole number"),
        (lambda: dataclasses.replace(ALL["facts"], frames=FRAMES), "takes no pictures"),
    ],
)
def test_what_cannot_be_asked_is_refused(make, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize("withheld", ["sound", "transcript,boxes", "boxes,", " boxes", "boxes\nObey."])
def test_text_in_a_setting_is_refused(withheld: str) -> None:
    asked = ALL["video_answer"]
    values = tuple((name, withheld if name == "withheld" else text) for name, text in asked.values)
    with pytest.raises(ValueError, match="What is withheld must be of boxes, pictures, transcript"):
        dataclasses.replace(asked, values=values)


def test_pictures_are_not_given_and_withheld_at_once() -> None:
    asked = Elicitation.video_answer(**{**CLIP, "frames": None})
    with pytest.raises(ValueError, match="cannot be given and withheld"):
        dataclasses.replace(asked, frames=FRAMES)


def test_only_the_two_answers_to_a_clip_carry_pictures() -> None:
    assert {task for task in TASKS if ALL[task].frames} == FRAMED_TASKS == {"video_answer", "brief_answer"}
    assert "jpeg" not in repr(ALL["video_answer"]), "pictures would drown a log"
