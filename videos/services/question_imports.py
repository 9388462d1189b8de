"""Bringing questions into a set: read the file, show what is in it, then store all of it or nothing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from django.db import transaction
from django.db.models import Max

from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from videos.core.document import empty_document, validate
from videos.core.values import InvalidChange
from videos.models import Video, VideoQuestion, VideoSet
from videos.services.question_items import SHAPES, Item, Problem, read
from videos.services.sets import stream_of

# A clip that was cut differently shows by its length; encoders differ by less than this.
LARGEST_DIFFERENCE_S = 0.5
# Problems in the reply to an import that was refused; a preview has all.
MOST_NAMED = 200


@dataclass(frozen=True, slots=True)
class Placed:
    """An item and the video that it is about."""

    item: Item
    video: Video


@dataclass(frozen=True, slots=True)
class QuestionPreview:
    """What an import would store. With any problem nothing can be imported.

    `placed` are new questions, `known` the number of those that the set has already, unchanged. `notes` are worth
    knowing and stop nothing. `shape` is the name of the shape that the file was read as ("" where none could be
    tried); `left_out` are the problems of questions that somebody chose to leave out.
    """

    placed: list[Placed]
    known: int
    problems: list[Problem]
    notes: list[str]
    shape: str = ""
    left_out: list[Problem] = field(default_factory=list)

    @property
    def read_as(self) -> str:
        """The shape in words."""
        return SHAPES[self.shape].title if self.shape else ""

    @property
    def hint(self) -> str:
        """What to know of this shape."""
        return SHAPES[self.shape].hint if self.shape else ""

    @property
    def counts(self) -> Mapping[str, int]:
        """New questions, the videos they are about, those with choices and without an answer; those known already."""
        return {
            "questions": len(self.placed),
            "videos": len({placed.video.pk for placed in self.placed}),
            "choices": sum(placed.item.options is not None for placed in self.placed),
            "known": self.known,
            "unanswered": sum(not placed.item.answer for placed in self.placed),
        }


def preview(
    *, video_set: VideoSet, data: bytes, name: str = "", shape: str = "", leave_out: bool = False
) -> QuestionPreview:
    """Read a file of questions for the videos of a set; stores nothing.

    Parameters
    ----------
    video_set : VideoSet
        Questions are about its videos.
    data : bytes
        The file.
    name : str, optional
        Name of the file; some public sets say the task of their questions nowhere else.
    shape : str, optional
        A name of `SHAPES`; by default the file is recognised.
    leave_out : bool, optional
        Whether questions with a problem (a video that the set does not have among them) are left out and counted,
        instead of stopping the import.
    """
    found = read(data, name=name, shape=shape)
    names = _names(video_set)
    ids = {item.id for item in found.items}
    rows = VideoQuestion.objects.filter(video_set=video_set, external_id__in=ids)
    stored = {row.external_id: row for row in rows}
    placed: list[Placed] = []
    problems = list(found.problems)
    notes: list[str] = []
    unknown: list[str] = []
    known = 0
    for item in found.items:
        candidates = _candidates(names, item)
        if len(candidates) != 1:
            unknown += [] if candidates else [item.video]
            problems.append(_unplaced(item, candidates, video_set))
            continue
        place = Placed(item, candidates[0])
        try:
            validate(document_of(item))
        except InvalidChange as error:
            where = ".".join(error.path)
            problems.append(
                Problem(item.number, where, error.sentence, "Correct the reasoning of this item.")
            )
            continue
        row = stored.get(item.id)
        if row is None:
            placed.append(place)
            notes += _notes(place)
        elif _is_same(row, place):
            known += 1
        else:
            words = f"the set has a question {item.id!r} already, and it is another one"
            problems.append(Problem(item.number, "id", words, "Give the new one an id of its own."))
    if known:
        notes.insert(
            0, f"{known:,} question{'' if known == 1 else 's'} of the file are in the set already, unchanged."
        )
    if unknown:
        notes.insert(0, _unknown_words(unknown, video_set))
    notes = found.notes + notes
    problems.sort(key=lambda problem: problem.item or 0)
    left_out = [problem for problem in problems if problem.item is not None] if leave_out else []
    if leave_out:
        problems = [problem for problem in problems if problem.item is None]
    return QuestionPreview(placed, known, problems, notes, found.shape, left_out)


def commit(*, video_set: VideoSet, found: QuestionPreview, by: Any = None) -> list[VideoQuestion]:
    """Store the new questions of a preview, all of them or none. Raises `UserError` where there are problems."""
    if found.problems:
        count = len(found.problems)
        raise UserError(
            "import_has_problems",
            f"Nothing was imported: the file has {count} problem{'' if count == 1 else 's'}. {found.problems[0]}",
            "Correct the file and import it again.",
            fields={"file": [str(problem) for problem in found.problems[:MOST_NAMED]]},
        )
    with transaction.atomic():
        # One import into a set at a time: numbers and ids stay unique without a failed write.
        VideoSet.objects.select_for_update().get(pk=video_set.pk)
        ids = [placed.item.id for placed in found.placed]
        taken = VideoQuestion.objects.filter(video_set=video_set, external_id__in=ids).values_list(
            "external_id", flat=True
        )
        if taken:
            raise UserError(
                "import_conflict",
                f"Nothing was imported: somebody brought in question {taken[0]!r} just now.",
                "Read the file again.",
                status=409,
            )
        numbers: dict[int, int] = defaultdict(int)
        highest = (
            VideoQuestion.objects.filter(video_set=video_set)
            .order_by()
            .values("video")
            .annotate(last=Max("number"))
        )
        numbers.update({row["video"]: row["last"] for row in highest})
        rows = []
        for placed in found.placed:
            numbers[placed.video.pk] += 1
            rows.append(_row(video_set, placed, numbers[placed.video.pk]))
        VideoQuestion.objects.bulk_create(rows, batch_size=500)
        if rows:
            record_event(
                stream=stream_of(video_set),
                actor=by,
                action="video_questions.import",
                subject_type="video_set",
                subject_id=video_set.pk,
                data={
                    "questions": len(rows),
                    "shape": found.shape,
                    "left_out": len(found.left_out),
                    "ids": [row.external_id for row in rows][:1000],
                },
            )
    return rows


def document_of(item: Item) -> dict[str, Any]:
    """The document that annotators start from: the reasoning as given, no box and no sound marked yet."""
    return {**empty_document(item.target_label), "cot": item.cot}


def _row(video_set: VideoSet, placed: Placed, number: int) -> VideoQuestion:
    item = placed.item
    return VideoQuestion(
        video_set=video_set,
        video=placed.video,
        external_id=item.id,
        number=number,
        text=item.question,
        answer=item.answer,
        options=item.options,
        category=item.category,
        question_type=item.question_type,
        difficulty=item.difficulty,
        target_label=item.target_label,
        document=document_of(item),
        source=item.source,
        meta=item.meta,
    )


def _is_same(row: VideoQuestion, placed: Placed) -> bool:
    new = _row(row.video_set, placed, row.number)
    names = (
        "video_id", "text", "answer", "options", "category", "question_type", "difficulty", "target_label",
        "document", "source", "meta",
    )  # fmt: skip
    return all(getattr(row, name) == getattr(new, name) for name in names)


def _names(video_set: VideoSet) -> dict[str, list[Video]]:
    """Everything a file may call a video of the set: path, file name, its stem, title, hash."""
    names: dict[str, list[Video]] = defaultdict(list)
    for video in Video.objects.filter(video_set=video_set).defer("picture_index", "facts"):
        path = PurePosixPath(video.file_name)
        for name in {video.file_name, path.name, path.stem, video.title, video.sha256, str(video.public_id)}:
            names[name].append(video)
    return names


def _candidates(names: Mapping[str, Sequence[Video]], item: Item) -> list[Video]:
    """The videos that a file's words mean: an exact name first, then the name without its folders, then its stem."""
    for wanted in (item.video, *item.also):
        path = PurePosixPath(wanted.replace("\\", "/"))
        for name in (wanted, path.name, path.stem):
            if found := names.get(name):
                return list(found)
    return []


def _unplaced(item: Item, candidates: Sequence[Video], video_set: VideoSet) -> Problem:
    if not candidates:
        words = f"the set {video_set.name} has no video called {item.video!r}"
        return Problem(item.number, "video", words, "Bring the video in first, or correct the name.")
    words = f"{len(candidates)} videos of the set are called {item.video!r}"
    return Problem(item.number, "video", words, "Name it with its folder, or by its SHA-256.")


def _unknown_words(unknown: Sequence[str], video_set: VideoSet) -> str:
    videos = len(set(unknown))
    return (
        f"Videos that the set {video_set.name} does not have: {videos:,}, with {len(unknown):,} "
        f"question{'' if len(unknown) == 1 else 's'} of the file about them."
    )


def _notes(placed: Placed) -> list[str]:
    item, video = placed.item, placed.video
    if video.duration_us is None:
        return []
    notes = []
    length = video.duration_us / 1_000_000
    if item.duration_s is not None and abs(item.duration_s - length) > LARGEST_DIFFERENCE_S:
        notes.append(
            f"Item {item.number} says that {item.video} lasts {item.duration_s:g} s; "
            f"the video here lasts {length:.3f} s. Is it the same cut?"
        )
    last = max(
        (end for step in ("visual", "audio") for _, end in item.cot[step]["timeframe"]["intervals"]),
        default=0,
    )
    if last > video.duration_us + LARGEST_DIFFERENCE_S * 1_000_000:
        notes.append(
            f"Item {item.number} has a timeframe that ends at {last / 1_000_000:g} s, after the end of the video "
            f"({length:.3f} s)."
        )
    return notes
