"""Segmentation: clinical writing, lists, and properties on any text."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.segmentation import Span, split


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


# One segment each: the stops inside do not end a sentence.
WHOLE = [
    "He was given ceftriaxone 2 g i.v. and improved.",
    "Dr. Okafor and Prof. Lind agreed on b.i.d. dosing.",
    "Stone on the left vs. the right side, approx. 4.5 mm. in width.",
    "Cultures grew S. aureus and E. coli.",
    "See Fig. 2 and No. 7 for the trend.",
    "PSA was 4.5 ng/mL on 12.03.2024, i.e. within range.",
    "The dose (5 mg. at night. Never more.) was kept.",
    "Symptoms, e.g. fever, were absent.",
    "Haemoglobin of 13.2 g/dL... still normal.",
    "J. R. Vance reported this earlier.",
    "Creatinine rose to 1.4 mg/dL (ref. 0.7 to 1.2).",
    "Tamsulosin 0.4 mg p.o. q.d. was continued.",
    "Measured at 8 a.m. before breakfast.",
    "Described by Hill et al. (2019) in detail.",
    "On 3. March the scan was repeated.",
]


@pytest.mark.parametrize("text", WHOLE)
def test_stops_that_do_not_end_a_sentence(text: str) -> None:
    assert pieces(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pain is mild. No fever.", ["Pain is mild.", "No fever."]),
        ("Is it torsion? No! It is not.", ["Is it torsion?", "No!", "It is not."]),
        ("Give it i.v. The fever settles.", ["Give it i.v.", "The fever settles."]),
        ("It measured 4 mm. The duct is normal.", ["It measured 4 mm.", "The duct is normal."]),
        ("Low vitamin C. The diet is poor.", ["Low vitamin C.", "The diet is poor."]),
        ("pH fell. pH then rose.", ["pH fell.", "pH then rose."]),
        ('She said "stop." Then it eased.', ['She said "stop."', "Then it eased."]),
        ("It was normal (see above). It stays so.", ["It was normal (see above).", "It stays so."]),
        ("Wait... Then operate.", ["Wait...", "Then operate."]),
        ("5 mg daily. 10 mg later.", ["5 mg daily.", "10 mg later."]),
        ("No. The test is negative.", ["No.", "The test is negative."]),
        ("Step 1: look. Step 2: treat.", ["Step 1: look.", "Step 2: treat."]),
        ("他来了。他走了！", ["他来了。", "他走了！"]),  # noqa: RUF001
        ("A wrapped\nline goes on. Next\none too.", ["A wrapped\nline goes on.", "Next\none too."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


@pytest.mark.parametrize(
    "markers",
    [
        ("1.", "2.", "3."),
        ("1)", "2)", "3)"),
        ("(1)", "(2)", "(3)"),
        ("Step 1:", "Step 2:", "Step 3:"),
        ("- ", "- ", "- "),
        ("* ", "* ", "* "),
        ("• ", "• ", "• "),
        ("**Step 1**:", "**Step 2**:", "**Step 3**:"),
        ("## Step 1", "## Step 2", "## Step 3"),
    ],
)
def test_list_items_are_segments(markers: tuple[str, str, str]) -> None:
    items = [f"{marker} One thing. And more." for marker in markers]
    assert pieces("\n".join(items)) == items
    assert pieces("\r\n\r\n".join(items)) == items


def test_text_around_a_list_and_nested_bullets() -> None:
    item = "1. Scan.\n   - kidneys\n   - bladder\n\n   Both sides."
    text = f"Plan:\n\n{item}\n2. Wait\nfor results.\n\nThis is all. Done."
    assert pieces(text) == [
        "Plan:",
        item,
        "2. Wait\nfor results.",
        "This is all. Done.",
    ]


def test_paragraphs_are_segments() -> None:
    assert pieces("One. Two.\n\n \nThree.\n") == ["One. Two.", "Three."]


def test_one_marker_is_no_list() -> None:
    assert pieces("1. Only this. And that.") == ["1. Only this.", "And that."]


@pytest.mark.parametrize("text", ["", " \n\t ", "\u3000"])
def test_blank_text_has_no_segment(text: str) -> None:
    assert split(text) == []


@pytest.mark.parametrize("text", ["...", "-", "\x00", "?!"])
def test_marks_alone_are_one_segment(text: str) -> None:
    assert pieces(text) == [text]


def test_stray_marks_join_a_neighbour() -> None:
    assert pieces("--\n\nA finding.\n\n***\n\nAnother.") == ["--\n\nA finding.\n\n***", "Another."]


TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=string.ascii_letters[:6] + "ABS .!?\n\r\t0123()[]\"'*-…“”。\x00"),
    st.lists(st.sampled_from([*WHOLE, "\n", "\n\n", "1. ", "- ", " ", "Step 2: ", "No. ", "("])).map("".join),
)


@given(TEXTS)
def test_spans_are_in_order_and_cover_every_character(text: str) -> None:
    spans = split(text)
    position = 0
    for start, end in spans:
        assert start >= position
        assert not text[position:start].strip()
        assert start < end
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()
    assert split(text) == spans


@given(st.lists(st.sampled_from(WHOLE), min_size=1, max_size=6))
def test_splitting_again_changes_nothing(sentences: list[str]) -> None:
    parts = pieces(" ".join(sentences))
    assert parts == sentences
    assert [again for part in parts for again in pieces(part)] == parts


HOSTILE = [
    "a. ",
    "(",
    "“",
    ".",
    "A. B ",
    "\n ",
    "- ",
    "1. ",
    "\t",
    "Step ",
    "*",
    "“”",
    "i.v. ",
    "(a. B)",
    "a" * 50,
    "\n\n",
    "#",
    "1.",
    "- \t",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_grows_in_proportion_to_the_text(unit: str) -> None:
    """Counts characters read through the slow paths instead of timing: ten times the text, ten times the work."""

    class Counting(str):
        reads = 0

        def __getitem__(self, key: object) -> str:
            piece = str.__getitem__(self, key)  # type: ignore[arg-type, index]
            Counting.reads += len(piece)
            return piece

    def work(length: int) -> int:
        Counting.reads = 0
        split(Counting((unit * length)[:length]))
        return Counting.reads

    small, large = work(2_000), work(20_000)
    assert large <= 12 * small + 2_000


def test_a_segment_of_20000_characters_survives() -> None:
    text = "word " * 4000
    assert split(text) == [Span(0, len(text) - 1)]
