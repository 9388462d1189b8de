"""The demonstration's benchmark: invented answers of invented models to the questions about the clip drawn by code.

The references are exact, since the clip is: the boxes of dog, child and ball, and the two whistles.
"""

import uuid
from dataclasses import replace
from typing import Any

from django.core.management import CommandError

from auditing import tasks
from auditing.formats.benchmark_rows import AnyRow, ReferenceRow
from auditing.models import Benchmark, ModelAnswer, Setting
from auditing.services.anchor import benchmarks, imports, rationales, references
from reasonaudit import demo_clip, demo_video
from reasonaudit.accounts.models import User
from reasonaudit.lib import embedded
from videos.models import VideoSet

FILE = embedded.ROOT / "fixtures" / "demo" / "benchmark.jsonl"
NAME = "Dog, ball and whistle (demo)"
STEP = 5
"""Pictures between two keyframes of the dog: few enough that what lies between them is right to a pixel."""

STILL = {"child beside a bench": (514.0, 146.0, 46.0, 96.0), "red ball": (60.0, 276.0, 18.0, 18.0)}
"""What stands or lies still through the clip: x, y, width and height in pixels."""

SEEN = {
    "dog": ("brown dog", "child beside a bench", "red ball"),
    "child": ("child beside a bench",),
    "ball": ("red ball",),
}
"""What is boxed for a question, by its target."""


def load(owner: User) -> Benchmark:
    """Make the benchmark over the demonstration's clips, take in its rows, and queue audits of rationales."""
    benchmark = benchmarks.create(
        name=NAME,
        video_set=VideoSet.objects.get(name=demo_video.SET),
        description="Invented models and judges; the clip and what is in it are known exactly.",
        by=owner,
    )
    rows = imports.read(FILE.read_bytes(), FILE.name)
    if rows.problems:
        raise CommandError(f"The demonstration's benchmark cannot be read: {rows.problems[0]}")
    # References first and whole: what is rated against an earlier version of one counts as missing.
    written: list[AnyRow] = [row for row in rows.rows if isinstance(row, ReferenceRow)]
    imports.commit(benchmark, replace(rows, rows=written), owner)
    _boxes_and_sounds(benchmark)
    others: list[AnyRow] = [row for row in rows.rows if not isinstance(row, ReferenceRow)]
    imports.commit(benchmark, replace(rows, rows=others), owner)
    tasks.enqueue_benchmark_run(benchmark=benchmark, step="ground", by=owner)
    _audits(benchmark, owner)
    return benchmark


def _audits(benchmark: Benchmark, owner: User) -> None:
    """Queue the audits of the first item's rationales: the reference's own, and what both models say."""
    item = benchmark.items.select_related("benchmark", "question__video").get(number=1)
    reference = item.references.get(source="human")
    for answer in (None, *item.answers.filter(role=ModelAnswer.Role.CHAIN, setting=Setting.FULL)):
        trace = rationales.make(item, answer=answer, reference=reference, by=owner).trace
        tasks.enqueue_audit_run(
            dataset=trace.case.dataset,
            traces=[trace],
            labeller="local",
            parameters=rationales.PAIRS,
            by=owner,
            name=f"Rationale of {answer.model if answer else 'the reference'}",
        )


def _boxes_and_sounds(benchmark: Benchmark) -> None:
    """Add to the refined references where things are, and when the child whistles."""
    whistles = [_whistle(start, length) for start, length in demo_clip.WHISTLES]
    for item in benchmark.items.order_by("number"):
        target = item.question.target_label
        seen = [_track(label) for label in SEEN[target]]
        heard = whistles if target != "ball" else []
        links = [_link("visual", "track", track) for track in seen]
        links += [_link("audio", "event", event) for event in heard]
        row = item.references.get(source="human")
        references.put(
            item,
            source="human",
            kind="refined",
            version="2",
            document={
                **row.document,
                "tracks": _by_id(seen),
                "events": _by_id(heard),
                "links": _by_id(links),
            },
            origin={"annotation_source": "human_ai"},
        )


def _track(label: str) -> dict[str, Any]:
    last = demo_clip.RATE * demo_clip.SECONDS
    boxes = {frame: demo_clip.dog_box(frame) for frame in range(0, last, STEP)}
    return {
        "id": _id("track", label),
        "label": label,
        "color": None,
        "attributes": {},
        "source": "human",
        "run": None,
        "keyframes": {
            str(frame): {
                "box": [round(value, 2) for value in box],
                "occluded": False,
                "source": "human",
                "run": None,
            }
            for frame, box in (boxes if label not in STILL else {0: STILL[label]}).items()
        },
        "visible": [[0, last]],
        "external": {},
    }


def _whistle(start: float, length: float) -> dict[str, Any]:
    return {
        "id": _id("whistle", str(start)),
        "label": "whistle",
        "start_us": round(start * 1_000_000),
        "end_us": round((start + length) * 1_000_000),
        "note": "",
        "source": "human",
        "run": None,
    }


def _link(step: str, kind: str, target: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": _id("link", target["id"]),
        "step": step,
        "kind": kind,
        "target": target["id"],
        "frames": None,
        "relation": "supports",
    }


def _by_id(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {entry["id"]: entry for entry in entries}


def _id(*names: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(("reasonaudit-demo", *names))))
