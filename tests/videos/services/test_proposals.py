"""Boxes proposed for the demonstration's clip, whose dog is known on every picture."""

import dataclasses
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from reasonaudit import demo_clip
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from tests.videos import factories
from tests.videos.app_fixtures import a_set, brought_in, in_thread
from videos import tasks
from videos.core.geometry import iou
from videos.core.tracks import Track, box_at
from videos.core.values import check_track
from videos.media import client, sandbox
from videos.models import ProposalRun, Video, VideoQuestion
from videos.proposals.opencv_tracker import OpenCVTracker
from videos.selectors.proposals import proposal_json, proposers
from videos.services import proposals, runs
from videos.services.proposal_results import CannotRead, merged, passes_of
from videos.services.proposals import Asked

pytestmark = pytest.mark.django_db(transaction=True)

# The dog runs from picture 150 to 230.
FIRST = 170


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("walk") / "walk.mp4"
    demo_clip.draw(path)
    return path


@pytest.fixture(scope="module")
def index(walk: Path) -> Any:
    return client.read_index(walk).index


@pytest.fixture
def question(walk: Path, index: Any) -> VideoQuestion:
    video = brought_in(walk, into=a_set(f"Set {uuid.uuid4().hex[:6]}"))
    Video.objects.filter(pk=video.pk).update(
        state=Video.State.READY,
        facts={"width": demo_clip.WIDTH, "height": demo_clip.HEIGHT, "has_audio": True},
        picture_index=index.to_bytes(),
        picture_count=index.n,
        duration_us=index.duration_us,
    )
    return factories.question(Video.objects.get(pk=video.pk))


def asked(**fields: Any) -> Asked:
    """The dog of picture `FIRST`, followed through 25 more."""
    given: dict[str, Any] = {
        "proposer": "opencv",
        "label": "dog",
        "track": None,
        "frame": FIRST,
        "box": list(demo_clip.dog_box(FIRST)),
        "box_end": None,
        "text": "",
        "start": FIRST,
        "end": FIRST + 26,
        "direction": "forward",
    }
    return Asked(**{**given, **fields})


def of(question: VideoQuestion, **fields: Any) -> ProposalRun:
    return proposals.create(question=question, asked=asked(**fields), by=None, asked_in=uuid.uuid4())


def overlap(run: ProposalRun, frames: range) -> float:
    """Mean overlap of the run's one track with the dog."""
    (track,) = map(Track.from_json, run.result["tracks"])
    boxes = [box_at(track, frame) for frame in frames]
    return sum(
        iou(box, demo_clip.dog_box(frame)) for frame, box in zip(frames, boxes, strict=True) if box
    ) / len(frames)


def test_a_drawn_box_is_followed_through_25_pictures(question) -> None:
    run = of(question)
    assert (run.total, proposal_json(run)["tracks"]) == (26, None)
    assert proposals.execute(run.pk) == RunState.DONE
    run.refresh_from_db()
    assert (run.done, run.message, run.lease_owner) == (26, "", "")
    assert overlap(run, range(FIRST + 1, FIRST + 26)) > 0.6
    assert run.version["name"] == "opencv"
    shown = proposal_json(run)
    (track,) = shown["tracks"]
    check_track(("tracks", track["id"]), track, proposals.limits_of(question.video))
    assert (track["source"], track["run"], track["label"]) == ("model", str(run.public_id), "dog")
    assert track["visible"][0][0] == FIRST, "there is no hole where the box was drawn"
    own = track["keyframes"].pop(str(FIRST))
    assert (own["source"], own["run"]) == ("human", None)
    assert own["box"] == list(demo_clip.dog_box(FIRST))
    assert {(one["source"], one["run"]) for one in track["keyframes"].values()} == {
        ("model", str(run.public_id))
    }
    assert set(run.boxes["1"]["frames"]) == set(range(FIRST + 1, FIRST + 26))


def test_both_ways_and_a_gap_between_two_boxes(question) -> None:
    start, end = FIRST - 6, FIRST + 7
    run = of(question, start=start, end=end, direction="both", track=str(uuid.uuid4()))
    assert run.total == 14
    assert proposals.execute(run.pk) == RunState.DONE
    run.refresh_from_db()
    assert overlap(run, range(start, end)) > 0.6
    assert {one["source"] for one in run.result["tracks"][0]["keyframes"].values()} == {"model"}, (
        "in a track that was there the page knows which boxes are a person's"
    )

    last = FIRST + 12
    gap = of(question, end=last, box_end=list(demo_clip.dog_box(last)), direction="gap")
    assert proposals.execute(gap.pk) == RunState.DONE
    gap.refresh_from_db()
    assert (gap.done, gap.total) == (13, 13)
    assert gap.boxes["1"]["frames"] == list(range(FIRST + 1, last))
    assert overlap(gap, range(FIRST, last + 1)) > 0.7
    (track,) = map(Track.from_json, gap.result["tracks"])
    assert box_at(track, last) == demo_clip.dog_box(last), "it meets what was drawn exactly"


def test_lj_04_a_run_whose_worker_died_goes_on_behind_its_last_window(question, monkeypatch) -> None:
    run = of(question, start=105, frame=105, box=list(demo_clip.dog_box(105)), end=171)

    class Killed(BaseException):
        pass

    def dies(self, _take=proposals._Watch.take) -> None:
        _take(self)
        if self._boxes:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(proposals._Watch, "take", dies)
        with pytest.raises(Killed):
            proposals.execute(run.pk)
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert run.boxes["1"]["frames"] == list(range(106, 165)), "the first window of 60 pictures"
    assert run.carry["carry"]["done"] == 60
    assert proposals.execute(run.pk) is None, "its lease is still alive"
    ProposalRun.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    given: list[Any] = []
    run_child = sandbox.run
    monkeypatch.setattr(
        sandbox, "run", lambda *names, **more: (given.append(more["state"]), run_child(*names, **more))[1]
    )
    assert proposals.execute(run.pk) == RunState.DONE
    before = run.boxes["1"]["boxes"]
    run.refresh_from_db()
    assert [(state["pass"], state["carry"]["done"]) for state in given] == [(0, 60)]
    assert run.boxes["1"]["frames"] == list(range(106, 171))
    assert run.boxes["1"]["boxes"][: len(before)] == before
    assert overlap(run, range(165, 171)) > 0.6, "the dog runs while the second worker follows it"
    assert any("Taken up again" in line for _, line in run.log)


def test_boxes_of_another_version_are_thrown_away_and_made_anew(question) -> None:
    run = of(question, end=FIRST + 4)
    old = {"frames": [FIRST + 1], "boxes": [[0, 0, 1, 1]], "scores": [1.0], "flags": [[]]}
    carry = {"version": {"name": "opencv", "method": 0}, "pass": 0, "carry": {"done": 2}}
    ProposalRun.objects.filter(pk=run.pk).update(boxes={"1": old}, carry=carry)
    assert proposals.execute(run.pk) == RunState.DONE
    run.refresh_from_db()
    assert run.boxes["1"]["frames"] == [FIRST + 1, FIRST + 2, FIRST + 3]
    assert run.boxes["1"]["boxes"][0] != [0, 0, 1, 1]


@pytest.fixture
def working(question) -> Iterator[tuple[ProposalRun, threading.Thread]]:
    """A long run that a worker is busy with, both ways."""
    run = of(question, start=0, end=350, direction="both")

    def work() -> None:
        try:
            proposals.execute(run.pk)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield run, thread
    thread.join(20)


def test_lj_05_a_run_is_stopped_within_two_seconds_and_what_it_found_is_kept(working) -> None:
    run, thread = working
    deadline = time.monotonic() + 20
    while not run.boxes and time.monotonic() < deadline:
        time.sleep(0.05)
        run.refresh_from_db()
    asked_at = time.monotonic()
    assert proposals.cancel(run=run).state == RunState.RUNNING
    thread.join(10)
    assert time.monotonic() - asked_at < 2
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == (RunState.CANCELLED, "")
    assert 0 < run.done < run.total
    assert overlap(run, range(FIRST + 1, FIRST + 20)) > 0.6
    assert proposals.execute(run.pk) is None
    assert proposals.cancel(run=run).state == RunState.CANCELLED


def test_a_run_that_waits_is_stopped_at_once_and_a_stopped_worker_gives_it_back(question) -> None:
    run = of(question)
    assert proposals.execute(run.pk, should_stop=lambda: True) == RunState.QUEUED
    run.refresh_from_db()
    assert (run.deliveries, run.result) == (0, {})
    assert proposals.cancel(run=run).state == RunState.CANCELLED
    run.refresh_from_db()
    assert run.result == {"tracks": [], "flags": {}}


def test_what_goes_wrong_ends_the_run_with_a_sentence(question, monkeypatch) -> None:
    run = of(question, end=FIRST + 3)
    proposals.files.path_of(question.video.sha256).unlink()
    assert proposals.execute(run.pk) == RunState.FAILED
    run.refresh_from_db()
    assert "file is gone" in run.message
    other = of(question, end=FIRST + 3)
    monkeypatch.setattr(proposals, "_propose", lambda *_: 1 / 0)
    assert proposals.execute(other.pk) == RunState.FAILED
    other.refresh_from_db()
    assert "fault of the program (ZeroDivisionError)" in other.message
    last = of(question, end=FIRST + 3)
    for _ in range(runs.MAX_DELIVERIES):
        assert runs.claim(last.pk, "killed", ProposalRun) is not None
        ProposalRun.objects.filter(pk=last.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert proposals.execute(last.pk) is None
    last.refresh_from_db()
    assert (last.state, "died 3 times" in last.message) == (RunState.FAILED, True)


def test_a_picture_without_the_object_gives_no_track(question) -> None:
    run = of(question, end=FIRST + 3)
    for box, flag in ((None, "lost"), ([50, 50, 30, 30], "lost"), ([0, 0, 640, 360], "large")):
        run.boxes = {"1": {"frames": [FIRST + 1], "boxes": [box], "scores": [0.0], "flags": [[flag]]}}
        assert proposals.result_of(run) == {"tracks": [], "flags": {str(FIRST + 1): [flag]}}
    # Between two boxes of a person the straight line is a better guess than a hole.
    gap = of(question, direction="gap", end=FIRST + 2, box_end=[60, 50, 30, 30])
    gap.boxes = {
        "1": {"frames": [FIRST + 1], "boxes": [[55, 50, 30, 30]], "scores": [0.0], "flags": [["lost"]]}
    }
    (track,) = proposals.result_of(gap)["tracks"]
    assert track["visible"] == [[FIRST, FIRST + 3]]


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"proposer": "yolo"}, "proposer", "no proposer 'yolo'"),
        ({"box": [0, 0, 0, 5]}, "box", "must be above 0"),
        ({"box": [float("nan"), 0, 5, 5]}, "box", "four finite numbers"),
        ({"box": [700, 0, 5, 5]}, "box", "inside the picture"),
        ({"frame": 400}, "box", "no picture 400"),
        ({"end": 351}, "end", "not in the clip"),
        ({"start": 200, "end": 190}, "end", "wrong order"),
        ({"start": 171, "end": 190}, "frame", "outside the pictures 171 to 189"),
        ({"end": 171}, "frame", "no picture beside"),
        ({"start": 170, "end": 190, "direction": "backward"}, "frame", "no picture beside"),
        ({"box": None}, "box", "either a box or words"),
        ({"text": "dog"}, "box", "either a box or words"),
        ({"box": None, "text": "dog"}, "text", "cannot look for words"),
        ({"label": "\0"}, "label", "cannot be stored"),
        ({"direction": "gap"}, "box_end", "a gap needs both"),
        ({"box_end": [1, 1, 5, 5]}, "box_end", "a gap needs both"),
        ({"direction": "gap", "box_end": [1, 1, 5, 5], "end": 171}, "end", "no picture between"),
    ],
)
def test_ih_16_a_request_that_cannot_be_meant_is_refused_with_its_field(
    question, fields: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(UserError, match=words) as refused:
        of(question, **fields)
    assert (refused.value.status, list(refused.value.fields)) == (422, [field])
    assert ProposalRun.objects.count() == 0


def test_what_cannot_work_here_says_why(question, settings, monkeypatch) -> None:
    settings.SAM3_WEIGHTS = ""
    tracker, model = proposers()
    assert (tracker["available"], tracker["why_not"]) == (True, "")
    assert (tracker["text"], tracker["box"]) == (
        OpenCVTracker.capabilities.text,
        OpenCVTracker.capabilities.box,
    )
    assert tracker["name"] == OpenCVTracker.name
    assert (model["available"], model["text"]) == (False, True)
    assert "SAM 3" in model["why_not"]
    with pytest.raises(UserError, match="SAM 3") as refused:
        of(question, proposer="sam3", box=None, text="dog")
    assert refused.value.code == "proposer_unavailable"
    # The same sentence comes from the child, where the weights went away between request and work.
    run = of(question, end=FIRST + 3)
    ProposalRun.objects.filter(pk=run.pk).update(proposer="sam3")
    assert proposals.execute(run.pk) == RunState.FAILED
    run.refresh_from_db()
    assert run.message == model["why_not"]


def test_a_person_has_a_few_runs_at_once(question) -> None:
    work = uuid.uuid4()
    made = [
        proposals.create(question=question, asked=asked(), by=None, asked_in=work)
        for _ in range(proposals.MOST_WAITING)
    ]
    with pytest.raises(UserError, match="5 proposals of yours"):
        proposals.create(question=question, asked=asked(), by=None, asked_in=work)
    proposals.cancel(run=made[0])
    proposals.create(question=question, asked=asked(), by=None, asked_in=work)


async def test_the_reaper_gives_a_job_to_a_run_that_has_none(clean_queue, question) -> None:
    from procrastinate.contrib.django.models import ProcrastinateJob

    run = await in_thread(lambda: of(question))
    made = await in_thread(
        lambda: tasks.enqueue_proposal(question=question, asked=asked(), by=None, asked_in=uuid.uuid4())
    )
    assert await tasks.reap() == [run.pk]
    assert await tasks.reap() == []
    jobs = await in_thread(lambda: sorted(job.args["run_id"] for job in ProcrastinateJob.objects.all()))
    assert jobs == [run.pk, made.pk]


def test_passes_begin_with_the_drawn_box_and_words_go_one_way() -> None:
    def ways(**fields: Any) -> list[tuple[int, int, str]]:
        found = passes_of(dataclasses.asdict(asked(start=160, end=190, **fields)))
        return [(one["start"], one["end"], one["direction"]) for one in found]

    assert ways(direction="both") == [(170, 190, "forward"), (160, 171, "backward")]
    assert ways(direction="both", frame=160) == [(160, 190, "forward")]
    assert ways(direction="both", frame=189) == [(160, 190, "backward")]
    assert ways(direction="backward") == [(160, 171, "backward")]
    assert ways(direction="both", box=None, text="dog") == [(160, 190, "forward")]
    assert ways(direction="gap") == [(160, 191, "gap")]


@pytest.mark.parametrize(
    "window",
    [
        {"frames": [1], "boxes": [], "scores": [], "flags": []},
        {"frames": ["1"], "boxes": [[1, 2, 3, 4]], "scores": [1.0], "flags": [[]]},
        {"frames": [1], "boxes": [[1, 2, 3]], "scores": [1.0], "flags": [[]]},
        {"frames": [1], "boxes": [[1, 2, 3, float("nan")]], "scores": [1.0], "flags": [[]]},
        {"frames": [1], "boxes": [[1, 2, 3, 4]], "scores": [1.0], "flags": [["<script>"]]},
    ],
)
def test_ih_16_a_child_that_writes_nonsense_is_not_believed(window: dict[str, Any]) -> None:
    with pytest.raises(CannotRead):
        merged({}, {"1": window})
