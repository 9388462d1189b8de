"""Documents of video questions: operations in memory, and saved on the database, at the size of a day's proposals.

50 tracks of 10,000 pictures with a keyframe every 10 pictures. The baseline writes the whole document at each save, as
a form that sends everything would.
"""

import json
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.benchmarks.bench_runs import prepare

TRACKS, PICTURES, EVERY = 50, 10_000, 10
OPERATIONS = 200


def document(tracks: int, every: int) -> dict[str, Any]:
    """A document of `tracks` tracks with a keyframe every so many pictures."""
    from videos.core.document import empty_document

    content = empty_document("object")
    for number in range(tracks):
        key = str(uuid.UUID(int=number + 1, version=4))
        content["tracks"][key] = {
            "id": key,
            "label": f"object {number}",
            "color": None,
            "attributes": {},
            "source": "model",
            "run": "bench",
            "keyframes": {
                str(frame): {
                    "box": [float(frame % 500), float(number), 40.0, 30.0],
                    "occluded": False,
                    "source": "model",
                    "run": "bench",
                }
                for frame in range(0, PICTURES, every)
            },
            "visible": [[0, PICTURES]],
            "external": {},
        }
    return content


def move(content: dict[str, Any], number: int) -> dict[str, Any]:
    """An operation that moves one keyframe of one track by hand."""
    keys = list(content["tracks"])
    key = keys[number % len(keys)]
    frame = str((number * 370) % PICTURES // EVERY * EVERY)
    before = content["tracks"][key]["keyframes"][frame]
    after = {**before, "box": [number + 0.5, 10.0, 40.0, 30.0], "source": "human", "run": None}
    return {
        "id": str(uuid.uuid4()),
        "words": "Move box",
        "changes": [{"path": ["tracks", key, "keyframes", frame], "before": before, "after": after}],
    }


def timed(work: Callable[[], Any]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def run() -> list[dict[str, Any]]:
    """Measure in memory, then on the database of the tests."""
    prepare()
    return [*_in_memory(), *_stored()]


def _in_memory() -> list[dict[str, Any]]:
    from videos.core.document import apply
    from videos.core.tracks import Track, box_at

    content = document(TRACKS, EVERY)
    state: Any = content
    start = time.perf_counter()
    for number in range(1000):
        state = apply(state, move(state, number))
    spent = 1000 * (time.perf_counter() - start)
    whole = timed(lambda: json.loads(json.dumps(content)))
    track = Track.from_json(next(iter(content["tracks"].values())))
    start = time.perf_counter()
    for frame in range(PICTURES):
        box_at(track, frame)
    each = 1e6 * (time.perf_counter() - start) / PICTURES
    name = f"{TRACKS} tracks of {PICTURES // EVERY:,} keyframes"
    return [
        _row(f"1,000 operations in memory, {name}", spent, 1000, f"one copy of the whole: {whole:.0f} ms"),
        _row(f"box at a picture, {PICTURES // EVERY:,} keyframes (microseconds)", each, None, None),
    ]


def _stored() -> list[dict[str, Any]]:
    from tests.videos import factories
    from videos.models import DocumentPart
    from videos.services.documents import document_create, operation_apply

    rows = []
    for tracks in (1, TRACKS):
        content = document(tracks, EVERY)
        question = factories.question(factories.video(n=PICTURES), document=content)
        stored = document_create(question=question)
        spent = []
        for number in range(OPERATIONS):
            operation = move(content, number)
            spent.append(timed(partial(operation_apply, document=stored, operation=operation, by=None)))
            (change,) = operation["changes"]
            _, key, _, frame = change["path"]
            content["tracks"][key]["keyframes"][frame] = change["after"]
        spent.sort()
        part = DocumentPart.objects.filter(document=stored, place="tracks").first()
        assert part is not None

        def write_all(of: Any = stored) -> None:
            parts = list(DocumentPart.objects.filter(document=of))
            DocumentPart.objects.bulk_update(parts, ["data"])

        whole = timed(write_all)
        rows.append(
            _row(
                f"save of one moved box, {tracks} track{'' if tracks == 1 else 's'}: p95 of {OPERATIONS} "
                f"(p50 {spent[len(spent) // 2]:.1f} ms)",
                spent[int(len(spent) * 0.95)],
                100,
                f"reading and writing the whole document: {whole:.0f} ms",
            )
        )
    return rows


def _row(name: str, measured: float, target: float | None, baseline: str | None) -> dict[str, Any]:
    return {
        "name": name,
        "measured": f"{measured:.1f}",
        "target": None if target is None else f"<= {target:g}",
        "baseline": baseline,
        "ratio": None,
    }


if __name__ == "__main__":
    from tests.benchmarks.__main__ import print_table

    print_table(run())
