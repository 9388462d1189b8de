"""What stands beside the documents of an exported study of videos, and its report in short.

The clips themselves are not exported: each is named with its hash, its licence and whom to name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.models import Study
from auditing import formats
from auditing.formats.canonical import json_lines
from videos.formats import native
from videos.models import Video

NOT_STATED = "not stated"
NATIVE = "native"
_NUMBERED = re.compile(r"([\d,]+) (.+)", re.DOTALL)
_SCHEMAS = {
    "manifest.schema.json": Path(formats.__file__).with_name("video_study.schema.json"),
    "native.schema.json": Path(native.__file__).with_name("native.schema.json"),
}


@dataclass(slots=True)
class Summary:
    """A manifest in short: counts of documents and of files by kind, and what was lost, with in how many documents."""

    questions: int = 0
    decisions: int = 0
    undecided: int = 0
    counts: list[tuple[str, int | None, int | None]] = field(default_factory=list)
    dropped: list[tuple[int, str, int]] = field(default_factory=list)
    warnings: list[tuple[str, int]] = field(default_factory=list)
    refused: list[tuple[str, int]] = field(default_factory=list)


def clips_of(study: Study) -> Iterator[dict[str, Any]]:
    """Every clip of the study's questions: what it is, and under which licence. Empty fields are those of its set."""
    rows = Video.objects.filter(questions__study_items__study=study).select_related("video_set").distinct()
    for row in rows.defer("picture_index").order_by("title", "pk"):
        yield {
            "title": row.title,
            "file_name": row.file_name,
            "sha256": row.sha256,
            "bytes": row.bytes,
            "width": row.facts.get("width"),
            "height": row.facts.get("height"),
            "pictures": row.picture_count,
            "duration_us": row.duration_us,
            "licence": row.licence or row.video_set.licence or None,
            "attribution": row.attribution or row.video_set.attribution or None,
        }


def accompanying_files(study: Study, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Clips with their licences, schemas and a card, by name; for the export that this manifest is of."""
    clips = list(clips_of(study))
    files = {"clips.jsonl": json_lines(clips), "README.md": _card(manifest, clips).encode("utf-8")}
    for name, path in _SCHEMAS.items():
        if name != "native.schema.json" or manifest["format"]["name"] == NATIVE:
            files[name] = path.read_bytes()
    return files


def summary_of(manifest: Mapping[str, Any]) -> Summary:
    """The report of an export over all its documents."""
    documents = [*manifest["questions"], *manifest["decisions"]]
    counts_in, counts_out = Counter[str](), Counter[str]()
    dropped, where = Counter[str](), Counter[str]()
    for row in documents:
        counts_in.update(row["counts_in"])
        counts_out.update(row["counts_out"])
        for sentence in row["dropped"]:
            number, what = _numbered(sentence)
            dropped[what] += number
            where[what] += 1
    kinds = [*counts_in, *(kind for kind in counts_out if kind not in counts_in)]
    return Summary(
        len(manifest["questions"]),
        len(manifest["decisions"]),
        len(manifest["undecided"]),
        [(kind, counts_in.get(kind), counts_out.get(kind)) for kind in kinds],
        [(number, what, where[what]) for what, number in dropped.most_common()],
        _counted(sentence for row in documents for sentence in row["warnings"]),
        _counted(row["reason"] for row in manifest["refused"]),
    )


def _numbered(sentence: str) -> tuple[int, str]:
    """A sentence of a report as its number and the rest."""
    found = _NUMBERED.fullmatch(sentence)
    return (int(found[1].replace(",", "")), found[2]) if found else (1, sentence)


def _counted(sentences: Iterable[str]) -> list[tuple[str, int]]:
    return Counter(sentences).most_common()


def _card(manifest: Mapping[str, Any], clips: list[dict[str, Any]]) -> str:
    """The card as Markdown; every number in it is counted."""
    study, entry, counts = manifest["study"], manifest["format"], manifest["counts"]
    boxes = "a box on every picture" if entry["dense"] else "keyframes, where the format knows them"
    rows = "\n".join(
        f"| {_cell(clip['title'])} | {clip['sha256']} | {_cell(clip['licence'])} | {_cell(clip['attribution'])} |"
        for clip in clips
    )
    return f"""# {_cell(study["name"])}

Refined answers to questions about videos as {entry["title"]} ({boxes}): {counts["questions"]:,} as they were handed in,
{counts["decisions"]:,} as they were decided where several people refined the same question, and {counts["refused"]:,}
of which the format can hold nothing. {counts["undecided"]:,} questions of several people are not decided. People are
named by pseudonyms.

`manifest.json` says of each file which question, clip, guideline and submission it is of, what the format could not
hold, and which picture each frame number means; `manifest.schema.json` describes it. Check the folder with
`python verify.py` (standard library only) or `sha256sum -c SHA256SUMS`.

Texts are what people wrote: whoever passes this folder on must have checked that nobody can be recognised in them.

## Clips

They are not in this folder. Whoever publishes the annotations needs these licences and has to name these people
(`clips.jsonl` has the same with sizes and lengths).

| clip | SHA-256 | licence | to be named |
|---|---|---|---|
{rows}
"""


def _cell(text: str | None) -> str:
    """Text of people on one line, so that it cannot pose as a heading or a table of the card."""
    return " ".join((text or NOT_STATED).split()).replace("|", "\\|").replace("<", "&lt;").lstrip("#-*> ")
