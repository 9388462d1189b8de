"""All shapes of question files by name, how a file is recognised, and reading it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from videos.formats.question_sets import (
    avqa,
    candidates,
    ego4d,
    lvbench,
    moviechat,
    own,
    video_mme,
    without_questions,
)
from videos.formats.question_sets.content import Content, content, no_json
from videos.formats.question_sets.values import (
    MAX_FILE_BYTES,
    MAX_ITEMS,
    Item,
    Items,
    Notes,
    Place,
    Problem,
    Wrong,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that a file of questions may have.

    `fits` says whether a file looks like it, `places` finds the questions in it, `read` makes an item of one, or None
    where it is to be left out with a note. `hint` is a sentence for whoever looks at what was read.
    """

    name: str
    title: str
    fits: Callable[[Content], bool]
    places: Callable[[Content], Iterable[Place]]
    read: Callable[[int, Place, Notes], Item | None]
    hint: str = ""


OWN = "own"
# In the order in which they are tried; two shapes of one set are told apart by a person only.
SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape("video-mme", "Video-MME", video_mme.fits, video_mme.places, video_mme.read),
        Shape("lvbench", "LVBench", lvbench.fits, lvbench.places, lvbench.read),
        Shape(
            "moviechat",
            "MovieChat-1K",
            moviechat.fits,
            moviechat.places,
            moviechat.read,
            "Captions of the films are left out: they say what the questions ask.",
        ),
        Shape("avqa", "AVQA", avqa.fits, avqa.places, avqa.read),
        Shape(
            "ego4d-clips",
            "Ego4D NLQ, videos are the clips",
            ego4d.fits,
            ego4d.places,
            ego4d.reader(whole=False),
            "A video is taken to be a clip, named by its clip_uid, and times count from the start of the clip. If you "
            "brought in the whole videos, read it as Ego4D NLQ with whole videos.",
        ),
        Shape(
            "ego4d-videos",
            "Ego4D NLQ, whole videos",
            ego4d.fits,
            ego4d.places,
            ego4d.reader(whole=True),
            "A video is taken to be whole, named by its video_uid, and times count from its start.",
        ),
        Shape(
            "animal-bench",
            "Animal-Bench",
            candidates.fits,
            candidates.places,
            candidates.reader("Animal-Bench"),
            "Files of MVBench look the same: if this is one, read it as MVBench.",
        ),
        Shape(
            "mvbench",
            "MVBench",
            candidates.fits,
            candidates.places,
            candidates.reader("MVBench"),
        ),
        Shape(OWN, "reasonaudit questions", own.fits, own.places, own.read),
    )
}


def detect(found: Content) -> str:
    """Return the name of the first shape that a file looks like; our own where it looks like no public set."""
    return next((shape.name for shape in SHAPES.values() if shape.fits(found)), OWN)


def read(data: bytes, *, name: str = "", shape: str = "") -> Items:
    """Read a file of questions.

    Parameters
    ----------
    data : bytes
        JSON (a list, or an object with a list under `items`, `questions`, `data` or `rows`), one JSON object a line, or
        a table with a header (CSV, TSV); at most `MAX_FILE_BYTES` bytes and `MAX_ITEMS` questions.
    name : str, optional
        Name of the file. Sets with a file a task say the task nowhere else.
    shape : str, optional
        A name of `SHAPES`; by default the file is recognised by what is in it.

    Returns
    -------
    Items
        Every question is an item, a problem that names it, or counted in a note. A problem without an item concerns the
        whole file.

    Raises
    ------
    KeyError
        For a shape that there is not.
    """
    chosen = SHAPES[shape] if shape else None
    if len(data) > MAX_FILE_BYTES:
        words = f"the file has {len(data):,} bytes; the limit is {MAX_FILE_BYTES:,}"
        return Items([], [Problem(None, "", words, "Split it.")])
    try:
        found = content(data, name)
        if refused := without_questions.problem(found):
            return Items([], [refused])
        if not found.top and not _is_empty_list(found.text):
            raise no_json(found.text)
    except Wrong as wrong:
        return Items([], [Problem(None, wrong.name, wrong.message, wrong.remedy)])
    if not found.rows:
        return Items([], [Problem(None, "", "the file holds no item", "Choose a file with questions.")])
    chosen = chosen or SHAPES[detect(found)]
    if not chosen.fits(found):
        words = f"nothing in the file looks like {chosen.title}"
        return Items([], [Problem(None, "", words, "Read it as something else.")], chosen.name)
    return _read(found, chosen)


def _is_empty_list(text: str) -> bool:
    return "".join(text.split()) == "[]"


def _read(found: Content, shape: Shape) -> Items:
    items: list[Item] = []
    problems: list[Problem] = []
    notes = Notes()
    seen: dict[str, int] = {}
    number = 0
    for number, place in enumerate(shape.places(found), 1):
        if number > MAX_ITEMS:
            words = f"the file holds more than {MAX_ITEMS:,} items"
            return Items([], [Problem(None, "", words, "Split it.")], shape.name)
        own_notes = Notes()
        try:
            item = shape.read(number, place, own_notes)
        except Wrong as wrong:
            problems.append(Problem(number, wrong.name, wrong.message, wrong.remedy))
            continue
        notes.take(own_notes)
        if item is None:
            continue
        if item.id in seen:
            words = f"{item.id!r} is the id of item {seen[item.id]} as well"
            problems.append(Problem(number, "id", words, "Give each question an id of its own."))
            continue
        seen[item.id] = number
        items.append(item)
    if not number:
        problems.append(Problem(None, "", "the file holds no item", "Choose a file with questions."))
    return Items(items, problems, shape.name, notes.sentences())
