"""What stands beside exported documents, and the report over all of them."""

import json
from typing import Any

import pytest

from auditing.services.video_export_files import accompanying_files, summary_of
from tests.annotation import video_factories
from tests.videos import factories as videos
from videos.models import Video, VideoSet


def question(dropped: Any = (), warnings: Any = (), **counts: tuple[int, int]) -> dict[str, Any]:
    return {
        "counts_in": {kind: before for kind, (before, _) in counts.items()},
        "counts_out": {kind: after for kind, (_, after) in counts.items()},
        "dropped": list(dropped),
        "warnings": list(warnings),
    }


def test_the_report_adds_up_all_questions() -> None:
    manifest = {
        "questions": [
            question(["2 links.", "1,200 boxes on pictures that the grid does not show."], tracks=(3, 2)),
            question(["5 links."], ["No frame rate."], tracks=(4, 4), cues=(0, 1)),
        ],
        "decisions": [question([], ["No frame rate."])],
        "undecided": [{}, {}],
        "refused": [{"reason": "Nothing for it."}, {"reason": "Nothing for it."}],
    }
    found = summary_of(manifest)
    assert (found.questions, found.decisions, found.undecided) == (2, 1, 2)
    assert found.counts == [("tracks", 7, 6), ("cues", 0, 1)]
    assert found.dropped == [(1200, "boxes on pictures that the grid does not show.", 1), (7, "links.", 2)]
    assert found.warnings == [("No frame rate.", 2)]
    assert found.refused == [("Nothing for it.", 2)]


@pytest.mark.django_db
def test_pr_04_clips_stand_with_their_licence_or_that_of_their_set_or_none() -> None:
    study = video_factories.study(questions=2)
    other = videos.video(study.video_set)
    video_factories.item(study, videos.question(other))
    unused = videos.video(study.video_set)
    clip = study.items.first().question.video
    Video.objects.filter(pk=clip.pk).update(licence="CC BY 4.0", attribution="Film | makers\n# heading")
    Video.objects.filter(pk=other.pk).update(licence="", attribution="")
    VideoSet.objects.filter(pk=study.video_set_id).update(licence="", attribution="")
    manifest = {
        "study": {"name": study.name},
        "format": {"name": "cvat", "title": "CVAT", "dense": True},
        "counts": {"questions": 2, "refused": 1, "decisions": 0, "undecided": 0},
    }
    files = accompanying_files(study, manifest)
    assert sorted(files) == ["README.md", "clips.jsonl", "manifest.schema.json"]
    rows = {row["sha256"]: row for row in map(json.loads, files["clips.jsonl"].splitlines())}
    assert set(rows) == {clip.sha256, other.sha256}
    assert unused.sha256 not in rows
    assert (rows[clip.sha256]["licence"], rows[other.sha256]["licence"]) == ("CC BY 4.0", None)
    card = files["README.md"].decode()
    assert f"| {clip.sha256} | CC BY 4.0 | Film \\| makers # heading |" in card
    assert f"| {other.sha256} | not stated | not stated |" in card
    assert "a box on every picture" in card
    VideoSet.objects.filter(pk=study.video_set_id).update(licence="CC0")
    native = accompanying_files(study, {**manifest, "format": {**manifest["format"], "name": "native"}})
    assert "native.schema.json" in native
    assert b'"CC0"' in native["clips.jsonl"]
