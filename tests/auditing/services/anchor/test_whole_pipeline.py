"""The 8 real items from file to ratings, with scripted models and judges; every count is done by hand.

Items stand in the order of their clips: 1 band, 2 bunny, 3 dog, 4 football, 5 friday, 6 modular synth, 7 sintel,
8 tears of steel. Items 1, 4 and 7 have options. Two models answer. ``grounded`` says what the item itself says, with
the item's rough box where it has one. ``blunt`` says little and wrong, and each of its answers lacks something. The
tables below are the judges' ratings in the order of the items: None is a reply in prose, 6 is off the scale.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditing.models import Benchmark, ModelAnswer, Rating, Reference
from auditing.selectors import benchmark_ratings
from auditing.services.anchor import benchmarks, imports, references
from tests.videos import factories as videos
from videos.core.cot import format_cot
from videos.core.timebase import PictureIndex
from videos.models import VideoSet
from videos.services import question_imports

pytestmark = pytest.mark.django_db

JUDGES = ("judge-a", "judge-b", "judge-c")
Table = Mapping[str, Mapping[str, Sequence[Sequence[int | None]]]]

RATINGS: Table = {
    "grounded": {
        "answer": ([5, 5, 5, 5, 5, 5, 5, 5], [5, 5, 4, 5, 5, 5, 5, 5], [5, 5, 5, 5, 4, 5, 5, None]),
        "hallucination": ([5, 4, 5, 5, 5, 3, 5, 5], [5, 4, 4, 5, 5, 4, 5, 5], [4, 4, 5, 5, 5, 4, 5, 5]),
        "divergence": ([5, 5, 5, 5, 5, 5, 5, 5], [5, 5, 5, 5, 5, 5, 5, 5], [4, 5, 5, 5, 5, 5, 5, 5]),
    },
    "blunt": {
        "answer": ([1, 2, 1, 5, 2, 1, 1, 2], [1, 2, 2, 5, 2, 1, 1, 2], [2, 2, 1, 4, 3, 6, 1, 2]),
        "hallucination": ([2, 2, 3, 4, 2, 1, 3, 3], [2, 3, 3, 4, 2, 1, 3, 2], [1, 2, 3, 5, 2, 1, None, 3]),
        "divergence": ([1, 2, 2, 3, 1, 1, 2, 2], [1, 2, 2, 4, 1, 1, 2, 2], [1, 1, 2, 3, 1, 1, 2, 2]),
    },
}
"""Model -> facet -> ratings of each judge."""

PERSON = {"grounded": [5, 5, 4, 5, 5, 4, 5, 5], "blunt": [1, 1, 2, 5, 2, 1, 1, 2]}
"""Kim's ratings of the answers, who is no user here."""

GENERATED = {"grounded": [5, 5, 5, 5, 5, 5, 5, 5], "blunt": [1, 1, 2, 3, 1, 1, 2, 1]}
"""Judge A's divergence from the references that ``grounded`` wrote."""

WITHOUT_SOUND = {1: "C. at the same moment", 4: "B", 7: "A. the old bearded man"}
"""What ``grounded`` answers to the items with options where the sound is taken away: right on one of three."""

BLUNT = {
    1: "Visual Cue:\n- Timeframe: 00:00 - 00:05\n- Description: A band.\n- Analysis: Loud.\nFinal Answer: C",
    2: "Visual Cue:\n- Timeframe: 01:00 - 02:00\n- Description: A rabbit.\n- Analysis: It sleeps.\nAudio Cue:\n"
    "- Timeframe: 00:01\n- Description: A snore.\n- Analysis: It sleeps.\nFinal Answer: sleeping",
    3: "It barks once.",
    4: "Visual Cue:\n- Timeframe: now\n- Description: A ball.\n- Analysis: A kick.\n"
    "Final Answer: he swings his foot around the ball in the air; the file has no sound",
    5: "Visual Cue:\n- Timeframe: throughout\n- Description: Women.\n- Analysis: They talk.\nAudio Cue:\n"
    "- Timeframe: throughout\n- Description: Talk.\n- Analysis: Of a crown.\nFinal Answer: a crown\nBoxes:\n"
    "- woman in the middle",
    6: "",
    7: "Visual Cue:\n- Timeframe: 00:12 - 00:15\n- Description: Faces.\n- Analysis: Two of them.\nAudio Cue:\n"
    "- Timeframe: 00:13\n- Description: A word.\n- Analysis: It ends late.\nFinal Answer: A or B",
    8: "Visual Cue:\n- Timeframe: 00:30\n- Description: A hall.\n- Analysis: It is quiet.\nAudio Cue:\n"
    "- Timeframe: 00:30\n- Description: Silence.\nFinal Answer: a hall\nBoxes:\n- person @ 09:00: 1 1 1 1",
}
WARNINGS = {
    1: ["one_cue"],
    2: ["times_beyond_clip"],
    3: ["no_cues", "no_final_answer", "no_times"],
    4: ["one_cue", "no_times"],
    5: ["unreadable_boxes"],
    6: ["no_cues", "no_final_answer", "no_times"],
    7: [],
    8: ["missing_fields", "boxes_beyond_clip"],
}


@pytest.fixture
def study(shared_data: Path) -> Benchmark:
    """The benchmark with everything in it."""
    items, clips = _given(shared_data)
    of = _video_set(items, clips)
    found = question_imports.preview(video_set=of, data=json.dumps(items).encode())
    assert found.problems == []
    question_imports.commit(video_set=of, found=found)
    made = benchmarks.create(name="Eight items", video_set=of)
    references.take_questions(made, source="human", kind="refined", by=None)
    rows = _rows(made, items, clips)
    read = imports.read("".join(json.dumps(row) + "\n" for row in rows).encode(), "scripted.jsonl")
    report = imports.commit(made, read)
    assert report.left_out == 0
    made.refresh_from_db()
    return made


def _given(shared_data: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    media = shared_data / "media"
    if not (media / "qa" / "items.json").is_file() or not (media / "real" / "manifest.json").is_file():
        pytest.skip("the real items are not there")
    clips = json.loads((media / "real" / "manifest.json").read_text("utf-8"))
    return json.loads((media / "qa" / "items.json").read_text("utf-8")), {
        clip["file"]: clip for clip in clips
    }


def _video_set(items: Sequence[Mapping[str, Any]], clips: Mapping[str, Mapping[str, Any]]) -> VideoSet:
    """Clips with the facts of the real ones; nobody decodes them here."""
    of = videos.video_set("Real clips")
    for name in sorted({Path(item["video"]).name for item in items}):
        clip = clips[name]
        n, length = clip["frames"], clip["duration_s"]
        ticks = np.array([round(frame * length * 1_000_000 / n) for frame in range(n)], dtype=np.int64)
        index = PictureIndex(ticks, 1, 1_000_000, round(length * 1_000_000))
        videos.video(
            of,
            title=Path(name).stem,
            file_name=name,
            sha256=clip["sha256"],
            facts={"width": clip["width"], "height": clip["height"], "has_audio": bool(clip["audio"])},
            picture_index=index.to_bytes(),
            picture_count=n,
            duration_us=index.duration_us,
        )
    return of


def _rows(
    made: Benchmark, items: Sequence[Mapping[str, Any]], clips: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    by_id = {item["id"]: item for item in items}
    rows: list[dict[str, Any]] = []
    for item in made.items.select_related("question"):
        name, number = item.question.external_id, item.number
        given = by_id[name]
        trace = given["trace_text"]
        rows.append({"kind": "answer", "item": name, "model": "grounded", "text": _boxed(given, clips)})
        rows.append({"kind": "answer", "item": name, "model": "blunt", "text": BLUNT[number]})
        if number in WITHOUT_SOUND:
            text = trace.replace(f"Final Answer: {given['answer']}", f"Final Answer: {WITHOUT_SOUND[number]}")
            row = {"kind": "answer", "item": name, "model": "grounded", "setting": "no_audio", "text": text}
            rows.append(row)
        rows.append(
            {
                "kind": "reference", "item": name, "source": "generated", "reference_kind": "generated",
                "writer": "grounded", "text": trace,
            }
        )  # fmt: skip
        rows += _rollouts(name, number, given["answer"])
        for model, facets in RATINGS.items():
            about = {"kind": "rating", "item": name, "model": model}
            for facet, tables in facets.items():
                for judge, table in zip(JUDGES, tables, strict=True):
                    rows.append({**about, "facet": facet, "judge": judge, **_said(table[number - 1])})
            rows.append({**about, "facet": "answer", "person": "Kim", "rating": PERSON[model][number - 1]})
            generated = {"judge": "judge-a", "rating": GENERATED[model][number - 1], "reference": "generated"}
            rows.append({**about, "facet": "divergence", **generated})
    return rows


def _boxed(item: Mapping[str, Any], clips: Mapping[str, Mapping[str, Any]]) -> str:
    """The item's own reasoning, with its rough boxes in percent as a model writes them."""
    clip = clips[Path(item["video"]).name]
    lines = []
    for seed in item["seed_boxes"]:
        sizes = (clip["width"], clip["height"]) * 2
        x, y, w, h = (100 * value / size for value, size in zip(seed["box"], sizes, strict=True))
        lines.append(f"- {item['target_label']} @ 00:{seed['time']:04.1f}: {x:.4f} {y:.4f} {w:.4f} {h:.4f}")
    return item["trace_text"] + ("\nBoxes:\n" + "\n".join(lines) if lines else "")


def _rollouts(name: str, number: int, answer: str) -> list[dict[str, Any]]:
    """16 bare answers of four models; of item N the first 2 N - 2 are wrong."""
    return [
        {
            "kind": "rollout", "item": name, "model": f"roller-{place // 4 + 1}", "take": place % 4 + 1,
            "text": "something else" if place < 2 * number - 2 else answer,
        }
        for place in range(16)
    ]  # fmt: skip


def _said(rating: int | None) -> dict[str, Any]:
    return {"reply": "It is hard to tell."} if rating is None else {"rating": rating, "words": "Scripted."}


def test_items_are_those_of_the_file_with_their_references(study: Benchmark) -> None:
    rows = study.items.values_list("number", "question__external_id", "category", "annotation_source")
    assert list(rows) == [
        (1, "own-004", "Information Query", "human"),
        (2, "own-005", "Sentiment", "human"),
        (3, "own-007", "Sports", "human"),
        (4, "own-008", "Sports", "human"),
        (5, "own-001", "Social Interaction", "human"),
        (6, "own-006", "Information Query", "human"),
        (7, "own-002", "Information Query", "human"),
        (8, "own-003", "Information Query", "human"),
    ]
    human = {row.item.number: row for row in Reference.objects.filter(source="human").select_related("item")}
    assert len(human) == 8
    assert human[5].document["cot"]["audio"]["timeframe"]["intervals"] == [[1_310_000, 6_090_000]]
    assert human[7].document["cot"]["final_answer"] == "B. the red-haired young woman"
    assert "Final Answer: B. the red-haired young woman" in format_cot(human[7].document["cot"])
    assert Reference.objects.filter(source="generated", writer="grounded").count() == 8


def test_everything_of_the_file_is_stored(study: Benchmark) -> None:
    # 8 items: 2 models; 3 more without sound; 16 rollouts each.
    assert ModelAnswer.objects.filter(role="chain").count() == 8 * 2 + 3
    assert ModelAnswer.objects.filter(role="rollout").count() == 8 * 16
    counts = benchmarks.counts(study)
    assert counts["answers"] == {"blunt, full": 8, "grounded, full": 8, "grounded, no_audio": 3}
    assert counts["rollouts"] == {f"roller-{number}": 32 for number in (1, 2, 3, 4)}
    # Judge C: one reply in prose on each of two facets, one 6. Judge A rated divergence twice, by two references.
    assert counts["ratings"] == {
        "judge-a, answer": 16,
        "judge-a, divergence": 32,
        "judge-a, hallucination": 16,
        "judge-b, answer": 16,
        "judge-b, divergence": 16,
        "judge-b, hallucination": 16,
        "judge-c, answer": 14,
        "judge-c, answer, missing": 2,
        "judge-c, divergence": 16,
        "judge-c, hallucination": 15,
        "judge-c, hallucination, missing": 1,
        "people, answer": 16,
        "rule:option, correct": 8,
    }


def test_what_each_answer_lacks_is_named(study: Benchmark) -> None:
    answers = ModelAnswer.objects.filter(role="chain", setting="full").select_related("item")
    blunt = {row.item.number: [one["code"] for one in row.warnings] for row in answers.filter(model="blunt")}
    assert blunt == WARNINGS
    # The items whose sound track holds nothing name the whole of it, or a point, all the same.
    grounded = {row.item.number: row.warnings for row in answers.filter(model="grounded")}
    assert grounded == {number: [] for number in range(1, 9)}
    beyond = answers.get(model="blunt", item__number=2).warnings[0]["message"]
    assert beyond == "1 of 2 times go beyond the end of the clip, 00:05.312."


def test_boxes_of_the_answers_lie_on_the_pictures_of_their_times(study: Benchmark) -> None:
    answers = ModelAnswer.objects.filter(model="grounded", setting="full").select_related("item")
    boxes = {
        row.item.number: [
            (track["label"], frame, [round(value) for value in keyframe["box"]])
            for track in row.document["tracks"].values()
            for frame, keyframe in track["keyframes"].items()
        ]
        for row in answers
    }
    # Pictures: 3.2 s x 132 / 5.312 s = 79.5, whose neighbours start at 3.179 and 3.219 s; 0.6 x 289 / 9.664 = 17.9;
    # 8.8 x 247 / 10.292 = 211.2; 1.0 x 185 / 6.166 = 30.0; 14.4 x 386 / 16.084 = 345.6.
    assert boxes == {
        1: [],
        2: [("rabbit", "80", [150, 72, 470, 555])],
        3: [("dog", "18", [465, 312, 236, 218])],
        4: [("football", "211", [844, 386, 82, 82])],
        5: [("woman", "30", [385, 15, 195, 250])],
        6: [],
        7: [("woman", "346", [150, 88, 690, 545])],
        8: [],
    }


def test_right_and_wrong_of_the_items_with_options(study: Benchmark) -> None:
    rows = Rating.objects.filter(source="rule:option").order_by(
        "answer__model", "answer__setting", "answer__item"
    )
    found = rows.values_list("answer__model", "answer__setting", "answer__item__number", "value")
    # Blunt names two options of item 7, so the rule leaves it to a judge.
    assert list(found) == [
        ("blunt", "full", 1, 0),
        ("blunt", "full", 4, 1),
        ("grounded", "full", 1, 1),
        ("grounded", "full", 4, 1),
        ("grounded", "full", 7, 1),
        ("grounded", "no_audio", 1, 0),
        ("grounded", "no_audio", 4, 1),
        ("grounded", "no_audio", 7, 0),
    ]


@pytest.mark.parametrize("facet", ["answer", "hallucination", "divergence"])
def test_the_table_of_a_facet_is_what_the_judges_said(study: Benchmark, facet: str) -> None:
    table = benchmark_ratings.tables(study)[facet]
    assert table.raters == list(JUDGES)
    for model, facets in RATINGS.items():
        rows = list(table.by_model[model].values())
        for judge, said in zip(JUDGES, facets[facet], strict=True):
            assert [row[judge] for row in rows] == [None if value == 6 else value for value in said]
    missing = {"answer": {"invalid": 2}, "hallucination": {"invalid": 1}, "divergence": {}}
    assert table.missing == missing[facet]


def test_the_person_and_the_second_reference_have_tables_of_their_own(study: Benchmark) -> None:
    people = benchmark_ratings.tables(study, people=True)["answer"]
    assert people.raters == ["Rater 1 (imported)"]
    for model, said in PERSON.items():
        assert [row["Rater 1 (imported)"] for row in people.by_model[model].values()] == said
    generated = benchmark_ratings.tables(study, reference="generated")["divergence"]
    for model, said in GENERATED.items():
        assert [row["judge-a"] for row in generated.by_model[model].values()] == said
