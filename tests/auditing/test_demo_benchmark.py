"""The demonstration's benchmark shows what its rows say, worked out by hand."""

import json
from typing import Any

import jsonschema
import pytest

from auditing.formats import benchmark_files
from auditing.models import Benchmark, BenchmarkRun
from auditing.services.anchor import execution, results
from reasonaudit import demo_benchmark, demo_clip, demo_video
from reasonaudit.accounts.models import User
from tests.videos import factories as videos
from videos.services import question_imports

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    into = videos.video_set(demo_video.SET)
    videos.video(into, n=demo_clip.RATE * demo_clip.SECONDS, title=demo_video.CLIP)
    owner = User.objects.create_user("owner", role="researcher")
    found = question_imports.preview(video_set=into, data=demo_video.FILE.read_bytes())
    question_imports.commit(video_set=into, found=found, by=owner)
    return demo_benchmark.load(owner)


def part(benchmark: Benchmark, name: str) -> Any:
    """A part of the results as it stands in the database."""
    return json.loads(json.dumps(results.compute(Benchmark.objects.get(pk=benchmark.pk), name)))


def test_the_file_follows_its_schema() -> None:
    with open(benchmark_files.__file__.replace(".py", ".schema.json"), encoding="utf-8") as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    for line in demo_benchmark.FILE.read_text(encoding="utf-8").splitlines():
        validator.validate(json.loads(line))


def test_levels_and_scores_by_hand(benchmark: Benchmark) -> None:
    levels = list(benchmark.items.order_by("number").values_list("difficulty", flat=True))
    # Item 1: similarities 4, 5, 5, 4 have the median 4.5, which rounds up to 5. Item 2: 3, 3, 3, 2. Item 3: all 1.
    assert levels == ["hard", "medium", "easy"]

    scores = {
        row["model"]: {facet: row["facets"][facet]["estimate"]["value"] for facet in row["facets"]}
        for row in part(benchmark, "panel")["models"]
    }
    mean = pytest.approx
    assert scores["invented-large"] == {
        "answer": mean((5 + 5 + 14 / 3) / 3),
        "hallucination": mean((14 / 3 + 13 / 3 + 5) / 3),
        "divergence": mean((14 / 3 + 13 / 3 + 8 / 3) / 3),
    }
    assert scores["invented-small"] == {
        "answer": mean((4 / 3 + 4 / 3 + 5) / 3),
        "hallucination": mean((1 + 7 / 3 + 8 / 3) / 3),
        "divergence": mean((4 / 3 + 7 / 3 + 11 / 3) / 3),
    }


def test_the_cues_that_a_model_needs(benchmark: Benchmark) -> None:
    found = part(benchmark, "ablation")["sources"]["invented-judge-1"]
    drops = {
        model["model"]: [round(row["drop_pp"], 3) for row in model["settings"] if row["setting"] != "full"]
        for model in found["models"]
    }
    # Without boxes, pictures and sound; of three items. The small one gets better without what misleads it.
    assert drops == {"invented-large": [0, 33.333, 66.667], "invented-small": [-33.333, -33.333, 0]}


def test_boxes_of_what_is_there_and_of_what_is_not(benchmark: Benchmark) -> None:
    run = BenchmarkRun.objects.get()
    assert execution.execute(run.pk) == "done"
    scores = {
        score.answer.model: score.document
        for item in benchmark.items.filter(number=1)
        for answer in item.answers.filter(role="chain", setting="full")
        for score in answer.grounding_scores.all()
    }
    # Cited from 0:06 to 0:09.2, 81 of the 350 pictures. Of three boxes one is cited: a picture gives a third at most.
    boxes = scores["invented-large"]["boxes"]["pictures"]
    assert (boxes["matched_frames"], boxes["precision"], boxes["recall"]) == (
        81,
        1.0,
        pytest.approx(81 / 350),
    )
    assert 0.5 / 3 < boxes["mean_iou"] <= 1 / 3
    # The man in a hat is nowhere near the dog, and 0:02 to 0:04 is before it runs.
    assert scores["invented-small"]["boxes"]["pictures"]["mean_iou"] == 0
    assert scores["invented-small"]["visual"]["f1"] == 0
    # 0:05 to 0:06 holds both whistles, which sound for 0.6 s of it.
    sounds = scores["invented-large"]["sounds"]
    assert (sounds["precision"], sounds["recall"]) == (pytest.approx(0.6), pytest.approx(1.0))


def test_people_who_rated_elsewhere_are_compared_with_the_panel(benchmark: Benchmark) -> None:
    found = part(benchmark, "people")
    assert found["raters"] == ["Rater 1 (imported)", "Rater 2 (imported)"]
    # Each of the two rated both models on all three items, on three facets.
    assert found["comparisons"][0]["n"] == 3 * 6
