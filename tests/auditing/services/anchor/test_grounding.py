"""Boxes and times of an answer against a reference, as rows: what counts, what is missing and why, the run."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from auditing.models import BenchmarkRun, BenchmarkRunItem, GroundingScore, ModelAnswer, Reference
from auditing.services import call_store, work
from auditing.services.anchor.grounding import carry_out, score
from reasonaudit.lib.models import RunState
from tests.auditing import benchmark_rows as made
from videos.core.document import validate
from videos.core.geometry import Box
from videos.core.tracks import from_dense
from videos.models import Video

pytestmark = pytest.mark.django_db

WHOLE, HALF = (0.0, 0.0, 10.0, 10.0), (5.0, 0.0, 10.0, 10.0)
KIND = work.RunKind(BenchmarkRun, BenchmarkRunItem, call_store)


def with_tracks(document: dict[str, Any], *boxes: dict[int, Box]) -> dict[str, Any]:
    """The document with a track for each mapping of picture to box."""
    tracks = [from_dense(frames, id=str(uuid.uuid4()), label="dog").to_json() for frames in boxes]
    return {**document, "tracks": {track["id"]: track for track in tracks}}


def with_sounds(document: dict[str, Any], *spans: tuple[int, int], linked: int = 0) -> dict[str, Any]:
    """The document with sounds, of which the first ones are named by links."""
    events = [
        {
            "id": str(uuid.uuid4()),
            "label": "whistle",
            "start_us": start,
            "end_us": end,
            "note": "",
            "source": "human",
            "run": None,
        }
        for start, end in spans
    ]
    links = [
        {
            "id": str(uuid.uuid4()),
            "step": "audio",
            "kind": "event",
            "target": event["id"],
            "frames": None,
            "relation": "supports",
        }
        for event in events[:linked]
    ]
    return {
        **document,
        "events": {event["id"]: event for event in events},
        "links": {link["id"]: link for link in links},
    }


def cues(visual: str, audio: str) -> dict[str, Any]:
    """The document of a rationale with these timeframes."""
    return made.document(
        f"Visual Cue:\n- Timeframe: {visual}\n- Description: a\n- Analysis: b\n"
        f"Audio Cue:\n- Timeframe: {audio}\n- Description: c\n- Analysis: d\nFinal Answer: e\n"
    )


def pair(answer: Any, reference: Any) -> tuple[ModelAnswer, Reference]:
    """An answer and a reference of one item with these documents; the clip lasts four seconds."""
    benchmark = made.benchmark(items=1)
    made.references(benchmark)
    made.answers(benchmark, "model")
    for document in (answer, reference):
        if document is not None:
            validate(document)
    Reference.objects.update(document=reference)
    ModelAnswer.objects.update(document=answer)
    return ModelAnswer.objects.get(), Reference.objects.get()


def test_boxes_times_and_sounds_by_hand():
    # Boxes on pictures 1, 2, 3 against 2, 3, 4, 5: IoU 1 on picture 2, 1/3 on picture 3.
    answer = with_tracks(cues("0:00 - 0:02", "throughout"), {1: WHOLE, 2: WHOLE, 3: HALF})
    reference = with_tracks(cues("0:01 - 0:03", "0:01 - 0:02"), dict.fromkeys(range(2, 6), WHOLE))
    # The second sound is named by no link.
    reference = with_sounds(reference, (0, 500_000), (3_000_000, 4_000_000), linked=1)
    found = score(*pair(answer, reference))
    boxes = found["boxes"]
    assert boxes["why"] == ""
    assert boxes["pictures"] == {
        "matched_frames": 2,
        "mean_iou": pytest.approx(2 / 3),
        "union_iou": pytest.approx(4 / 15),
        "precision": pytest.approx(2 / 3),
        "recall": pytest.approx(1 / 2),
        "f1": pytest.approx(4 / 7),
    }
    single = boxes["single"]
    assert (single["matches"], single["predicted"], single["reference"]) == (1, 3, 4)
    assert single["f1"] == pytest.approx(2 / 7)
    visual, audio, sounds = (found[name] for name in ("visual", "audio", "sounds"))
    assert [visual[name] for name in ("tiou", "precision", "recall", "f1")] == pytest.approx(
        [1 / 3, 0.5, 0.5, 0.5]
    )
    assert visual["cited"] == [[0, 2_000_000]]
    # "Throughout" is the clip of four seconds.
    assert audio["cited"] == [[0, 4_000_000]]
    assert [audio[name] for name in ("precision", "recall", "f1")] == pytest.approx([0.25, 1.0, 0.4])
    assert sounds["reference"] == [[0, 500_000]]
    assert (sounds["precision"], sounds["recall"]) == (0.125, 1.0)


def test_every_sound_counts_where_no_link_names_one():
    reference = with_sounds(cues("0:01", "0:01 - 0:02"), (0, 500_000), (3_000_000, 4_000_000))
    found = score(*pair(cues("0:01", "0:03 - 0:04"), reference))["sounds"]
    assert found["reference"] == [[0, 500_000], [3_000_000, 4_000_000]]
    assert (found["precision"], found["recall"]) == (1.0, pytest.approx(2 / 3))


def test_the_limit_of_a_pair_is_the_benchmarks():
    documents = (with_tracks(cues("", ""), {1: HALF}), with_tracks(cues("", ""), {1: WHOLE}))
    answer, reference = pair(*documents)
    assert score(answer, reference)["boxes"]["single"]["matches"] == 0
    benchmark = answer.item.benchmark
    benchmark.parameters["match_from"] = 0.3
    assert score(answer, reference)["boxes"]["single"]["matches"] == 1


@pytest.mark.parametrize(
    ("answer", "reference", "part", "why"),
    [
        (cues("0:01", "0:01"), with_tracks(cues("", ""), {1: WHOLE}), "boxes", "no_boxes"),
        (with_tracks(cues("", ""), {1: WHOLE}), cues("", ""), "boxes", "no_tracks"),
        (None, with_tracks(cues("0:01 - 0:02", ""), {1: WHOLE}), "boxes", "unreadable"),
        (None, cues("0:01 - 0:02", ""), "visual", "unreadable"),
        (cues("soon", ""), cues("0:01 - 0:02", ""), "visual", "no_times"),
        (cues("0:01 - 0:02", ""), cues("", ""), "visual", "no_reference_times"),
        (cues("0:01", ""), cues("0:01 - 0:02", ""), "visual", "points_only"),
        (cues("0:01 - 0:02", ""), cues("0:01", ""), "visual", "points_only"),
        (cues("0:05 - 0:06, 0:09", ""), cues("0:01 - 0:02", ""), "visual", "beyond_clip"),
        (cues("", "0:01 - 0:02"), cues("", "0:01 - 0:02"), "sounds", "no_sounds"),
        (cues("", ""), with_sounds(cues("", ""), (0, 500_000)), "sounds", "no_times"),
    ],
)
def test_what_is_missing_is_named_and_never_a_number(answer, reference, part, why):
    found = score(*pair(answer, reference))[part]
    assert found["why"] == why
    parts = (found["pictures"], found["single"]) if part == "boxes" else (found["tiou"], found["f1"])
    assert parts == (None, None)


def test_a_cited_time_that_goes_beyond_the_clip_is_cut_and_counted():
    found = score(*pair(cues("0:03 - 0:09", ""), cues("0:02 - 0:04", "")))["visual"]
    # One second of the four is left, all of it inside; half of the reference is met.
    assert (found["why"], found["beyond"], found["precision"], found["recall"]) == ("", 1, 1.0, 0.5)


def test_nothing_is_compared_on_a_clip_that_is_not_prepared():
    document = with_sounds(with_tracks(cues("0:01 - 0:02", "0:01 - 0:02"), {1: WHOLE}), (0, 500_000))
    answer, reference = pair(document, document)
    Video.objects.update(state=Video.State.FAILED)
    answer = ModelAnswer.objects.get()
    found = score(answer, reference)
    assert {found[name]["why"] for name in ("boxes", "visual", "audio", "sounds")} == {"no_video"}
    assert found["visual"]["f1"] is None


def mot_tracks(path: Path) -> dict[str, Any]:
    """A MOT file as the document of a question, each box a keyframe."""
    tracks: dict[str, dict[int, Box]] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        frame, name, x, y, w, h = line.split(",")[:6]
        tracks.setdefault(name, {})[int(frame)] = (float(x), float(y), float(w), float(h))
    return with_tracks(made.document(""), *tracks.values())


@pytest.mark.parametrize(
    ("name", "matches", "iou", "precision", "recall", "f1"),
    [("TUD-Campus", 209, 0.7296, 0.941, 0.582, 0.719), ("TUD-Stadtmitte", 704, 0.6566, 0.940, 0.609, 0.739)],
)
def test_a_tracker_against_gold_through_stored_documents(
    shared_data, name, matches, iou, precision, recall, f1
):
    # Expected: the figures that the issue of this feature names. Each box is a keyframe: nothing is interpolated.
    folder = shared_data / "reasoning" / "mot_tud"
    if not folder.is_dir():
        pytest.skip("the TUD tracks are not there")
    found = score(*pair(mot_tracks(folder / f"{name}_test.txt"), mot_tracks(folder / f"{name}_gt.txt")))
    single = found["boxes"]["single"]
    assert single["matches"] == matches
    assert single["mean_iou"] == pytest.approx(iou, abs=5e-5)
    assert [single[key] for key in ("precision", "recall", "f1")] == pytest.approx(
        [precision, recall, f1], abs=5e-4
    )


def ground_run(benchmark, **choices: Any) -> BenchmarkRun:
    run = BenchmarkRun.objects.create(
        benchmark=benchmark, step=BenchmarkRun.Step.GROUND, choices=choices, state=RunState.QUEUED
    )
    BenchmarkRunItem.objects.bulk_create(
        BenchmarkRunItem(run=run, item=item) for item in benchmark.items.all()
    )
    return run


def carried_out(run: BenchmarkRun, should_stop=lambda: False):
    lease = work.claim(run.pk, "worker", KIND)
    assert lease is not None
    ending = carry_out(lease, BenchmarkRun.objects.get(pk=run.pk), should_stop)
    work.finish(lease, ending.state, ending.message)
    return BenchmarkRun.objects.get(pk=run.pk)


def test_a_run_compares_every_answer_once_and_again_only_what_has_changed():
    benchmark = made.benchmark(items=3)
    made.references(benchmark, items=[1, 2])
    for model in ("a", "b"):
        made.answers(benchmark, model)
    run = carried_out(ground_run(benchmark))
    # The third item has no reference, so there is nothing to compare.
    assert (run.state, run.total, run.done, run.cached) == ("done", 4, 4, 0)
    assert GroundingScore.objects.count() == 4
    benchmark.refresh_from_db()
    assert benchmark.revision == 3
    before = dict(GroundingScore.objects.values_list("pk", "created_at"))
    assert carried_out(ground_run(benchmark)).cached == 4
    benchmark.refresh_from_db()
    assert benchmark.revision == 3
    Reference.objects.filter(item__number=1).update(sha256="f" * 64)
    assert carried_out(ground_run(benchmark, models=["a"])).cached == 1
    assert GroundingScore.objects.count() == 4
    assert set(before) == set(GroundingScore.objects.values_list("pk", flat=True))
    # Both models say the same, so that there are two inputs; the third is the new one of model a.
    assert GroundingScore.objects.values("inputs_sha256").distinct().count() == 3


def test_a_run_stops_where_it_is_told_to_and_keeps_what_it_has():
    benchmark = made.benchmark(items=3)
    made.references(benchmark)
    made.answers(benchmark, "a")
    run = ground_run(benchmark)
    turns = iter([False, True])
    lease = work.claim(run.pk, "worker", KIND)
    assert carry_out(lease, run, lambda: next(turns)).state == RunState.QUEUED
    assert GroundingScore.objects.count() == 1
    BenchmarkRun.objects.update(cancel_requested_at=timezone.now())
    ending = carry_out(lease, run, lambda: False)
    assert ending.state == RunState.CANCELLED
    assert "keep their scores" in ending.message
    assert GroundingScore.objects.count() == 1
