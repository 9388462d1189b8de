"""From an exported benchmark to a benchmark: checked against its own checksums first, then line by line.

Clips are looked for in a video set by their SHA-256, then by their title; questions by the id under which they were
imported, and made where the set has none. Everything is stored in one transaction, or nothing. What people gave comes
in under their pseudonyms (``imported:rater-1``), without an account. Levels, categories in force and who wrote the
references follow anew from what was stored.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.formats.records import Problem
from auditing.formats import benchmark_bundle as bundle
from auditing.formats.benchmark_bundle import BundleReader
from auditing.formats.bundle import MANIFEST
from auditing.formats.canonical import sha256_hex
from auditing.models import Benchmark
from auditing.services.study_imports import check_folder, unpack
from reasonaudit.lib.errors import UserError
from videos.core.document import validate
from videos.core.values import InvalidChange, Limits
from videos.models import Video, VideoQuestion, VideoSet
from videos.selectors.documents import limits_of

from . import benchmarks, bundle_storing
from .bundle_storing import Place
from .changes import changed, event, many_stored

Row = dict[str, Any]
NAMED_IN_ERRORS = 20
_SAME = ("text", "answer", "options")
"""Fields of a question in which one that the set has must be like the bundle's."""
_KEPT = ("category", "question_type", "difficulty", "target_label", "source", "meta", "document")
"""Fields in which it may differ; the set's stay."""


@dataclass(slots=True)
class Found:
    """What a bundle holds for a video set. With any problem nothing can be imported.

    Attributes
    ----------
    head : dict or None
        Name, description and parameters.
    counts : dict of str to int
        Lines that fit, by what they are.
    places : list of Place
        Items with their clips, and with their questions where the set has them.
    problems : list of Problem
        Up to `annotation.formats.records.MAX_PROBLEMS` of them.
    problem_count : int
        Of all.
    notes : list of str
        Worth knowing; they stop nothing.
    """

    head: Row | None
    counts: dict[str, int] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    notes: list[str] = field(default_factory=list)


@contextmanager
def opened(data: bytes) -> Iterator[Path]:
    """Unpack an archive into a folder that lasts as long as the block, and check it. Raises `UserError` as `check`."""
    with tempfile.TemporaryDirectory(prefix="import-") as made:
        folder = Path(made)
        unpack(data, folder, "benchmark")
        check(folder)
        yield folder


def check(folder: Path) -> None:
    """Raise `UserError` for a folder that is not a whole export of a benchmark."""
    check_folder(folder, "benchmark")
    if not (folder / bundle.BENCHMARK).is_file():
        raise UserError(
            "no_benchmark",
            f"This is no exported benchmark: it has no {bundle.BENCHMARK}.",
            "Choose the archive that the export of a benchmark gave you.",
        )


def preview(folder: Path, video_set: VideoSet) -> Found:
    """Read a checked folder for a video set; stores nothing."""
    reader = BundleReader(folder)
    found = Found(reader.head)
    if reader.head is not None:
        _check_parameters(reader)
    limits = _place(reader, video_set, found)
    for name, line, row in reader.others():
        if row.get("document") is None or name == bundle.GROUNDING or row["item"] not in limits:
            continue
        try:
            validate(row["document"], limits[row["item"]])
        except InvalidChange as error:
            place = ".".join(("document", *error.path))[:80]
            remedy = "Check that the clip of the set is the one that the benchmark is about."
            reader.problem(name, line, place, error.sentence, remedy)
    found.counts = {name.removesuffix(".jsonl"): number for name, number in reader.counts.items()}
    found.problems, found.problem_count = reader.problems, reader.problem_count
    return found


def commit(folder: Path, video_set: VideoSet, *, name: str = "", by: Any = None) -> Benchmark:
    """Make the benchmark that a checked folder holds, over a video set.

    Parameters
    ----------
    name
        Of the new benchmark; by default as exported.

    Raises
    ------
    UserError
        400 ``import_has_problems`` with the lines in ``fields["files"]``; 400 ``bad_benchmark`` for a name.
    """
    with transaction.atomic():
        # One import into a set at a time: numbers and ids of questions stay unique without a failed write.
        VideoSet.objects.select_for_update().get(pk=video_set.pk)
        found = preview(folder, video_set)
        if found.problems or found.head is None:
            count = found.problem_count
            raise UserError(
                "import_has_problems",
                f"Nothing was imported: {'1 problem' if count == 1 else f'{count:,} problems'}. {found.problems[0]}",
                "Correct the files, or export the benchmark again.",
                fields={"files": [str(problem) for problem in found.problems[:NAMED_IN_ERRORS]]},
            )
        row = benchmarks.make(
            name=name.strip() or found.head["name"],
            video_set=video_set,
            description=found.head["description"],
            parameters=found.head["parameters"],
            by=by,
        )
        questions = bundle_storing.store(row, folder, found.places, by)
        changed(row)
        many_stored()
        about = {
            "slug": row.slug,
            "name": row.name,
            "video_set": video_set.slug,
            "questions_made": questions,
            "counts": found.counts,
            "manifest_sha256": sha256_hex((folder / MANIFEST).read_bytes()),
        }
        event(row, by, "benchmark.import_bundle", about)
    row.refresh_from_db()
    return row


def _check_parameters(reader: BundleReader) -> None:
    try:
        benchmarks.check_parameters((reader.head or {})["parameters"])
    except UserError as error:
        reader.problem(bundle.BENCHMARK, None, "parameters", error.message, "Import an unchanged export.")


def _place(reader: BundleReader, video_set: VideoSet, found: Found) -> dict[str, Limits]:
    """Find clips and questions of the items; returns the limits of each item's clip."""
    clips = list(Video.objects.filter(video_set=video_set).defer("picture_index", "spectrogram"))
    by_hash = {clip.sha256: clip for clip in clips}
    titles = Counter(clip.title for clip in clips)
    by_title = {clip.title: clip for clip in clips}
    of_clip = {clip.pk: limits_of(clip) for clip in clips}
    questions = {row.external_id: row for row in VideoQuestion.objects.filter(video_set=video_set)}
    limits: dict[str, Limits] = {}
    by_name, unlike = set(), 0
    for line, row in reader.items():
        wanted = row["video"]
        clip = by_hash.get(wanted["sha256"])
        if clip is None and titles[wanted["title"]] == 1:
            clip = by_title[wanted["title"]]
            by_name.add(clip.title)
        if clip is None:
            said = (
                f"{titles[wanted['title']]} clips of {video_set.name} are called {wanted['title'][:80]!r}"
                if titles[wanted["title"]]
                else f"{video_set.name} has no clip {wanted['title'][:80]!r}"
            )
            reader.problem(
                bundle.ITEMS, line, "video", said, "Bring the clip into the set, or choose another set."
            )
            continue
        question = questions.get(row["item"])
        if question is not None and (said := _other(question, row["question"], clip)):
            reader.problem(
                bundle.ITEMS,
                line,
                "question",
                f"the set has a question {row['item'][:80]!r} already, and {said}",
                "Choose another set, or import the questions into a new one.",
            )
            continue
        given = row["question"]
        if question is None:
            try:
                validate(given["document"], of_clip[clip.pk])
            except InvalidChange as error:
                place = ".".join(("question", "document", *error.path))[:80]
                reader.problem(bundle.ITEMS, line, place, error.sentence, "Import an unchanged export.")
                continue
        elif any(getattr(question, name) != given[name] for name in _KEPT):
            unlike += 1
        limits[row["item"]] = of_clip[clip.pk]
        found.places.append(Place(row, clip, question))
    new = sum(place.question is None for place in found.places)
    if new:
        found.notes.append(f"{new:,} questions that the set does not have will be made.")
    if by_name:
        found.notes.append(
            f"{len(by_name):,} clips were found by their title alone: their files are not those of the benchmark. "
            f"Boxes and times may not fit ({', '.join(sorted(by_name)[:5])})."
        )
    if unlike:
        found.notes.append(
            f"{unlike:,} questions of the set have another category, label or reasoning than the benchmark's; "
            "those of the set stay."
        )
    return limits


def _other(question: VideoQuestion, given: Mapping[str, Any], clip: Video) -> str:
    """In what a question of the set is another one than the bundle's, in words; "" where it is the same."""
    if question.video_id != clip.pk:
        return "it is about another clip"
    names = [name for name in _SAME if getattr(question, name) != given[name]]
    return f"it has another {names[0]}" if names else ""
