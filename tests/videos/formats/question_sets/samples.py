"""One small file of each public set: fields as their documentation names them, values made up."""

import json
from typing import Any

from videos.formats.question_sets.registry import read
from videos.formats.question_sets.values import Item, Items


def data(value: Any) -> bytes:
    return json.dumps(value).encode()


def lines(*values: Any) -> bytes:
    return "\n".join(json.dumps(value) for value in values).encode()


def only(content: bytes, **how: str) -> Item:
    """The one item of a file without problems."""
    found = read(content, **how)
    assert found.problems == []
    (item,) = found.items
    return item


def fields_of(found: Items) -> list[tuple[int | None, str]]:
    return [(problem.item, problem.field) for problem in found.problems]


def video_mme(**changes: Any) -> dict[str, Any]:
    row = {
        "video_id": "017",
        "duration": "short",
        "domain": "Life Record",
        "sub_category": "Pets",
        "url": "https://www.youtube.com/watch?v=aB3_-dEfGhi",
        "videoID": "aB3_-dEfGhi",
        "question_id": "017-2",
        "task_type": "Counting Problem",
        "question": "How many dogs run to the bench?",
        "options": ["A. One.", "B. Two.", "C. Three.", "D. None."],
        "answer": "B",
    }
    return {**row, **changes}


def film_of_video_mme(**changes: Any) -> dict[str, Any]:
    film = {
        "video_id": "017",
        "duration_category": "short",
        "video_category": "Life Record",
        "video_sub_category": "Pets",
        "url": "https://youtu.be/aB3_-dEfGhi?t=1",
        "questions": [
            {
                "question_id": "017-1",
                "task_type": "Action Recognition",
                "question": "What does the child do?",
                "choices": ["A. Whistles.", "B. Sings."],
                "answer": "A",
            },
            {
                "question_id": "017-2",
                "task_type": "Counting Problem",
                "question": "How many dogs?",
                "choices": ["A. One.", "B. Two."],
                "answer": "",
            },
        ],
    }
    return {**film, **changes}


def lvbench(**changes: Any) -> dict[str, Any]:
    film = {
        "key": "Zy9xW8vU7ts",
        "type": "live",
        "video_info": {"duration_minutes": 61, "resolution": {"width": 640, "height": 360}, "fps": 25},
        "qa": [
            {
                "uid": "31",
                "question": "What is on the table?\n(A) A cup\n(B) A lamp (broken)\n(C) Two cups",
                "answer": "C",
                "question_type": ["entity recognition", "key information retrieval"],
                "time_reference": "60:59-61:02",
            }
        ],
    }
    return {**film, **changes}


def moviechat(**changes: Any) -> dict[str, Any]:
    film = {
        "info": {
            "num_frame": 300,
            "fps": 25,
            "url": "",
            "h": 432,
            "w": 1024,
            "video_path": "7.mp4",
            "class": "animation",
        },
        "caption": "A dog and a child meet in a park.",
        "global": [{"question": "Is there a dog?", "answer": "yes"}],
        "breakpoint": [
            {"question": "Where is the dog?", "answer": "On the bench.", "time": 125},
            {"question": "Who is beside it?", "answer": "A child.", "time": 250},
        ],
    }
    return {**film, **changes}


def avqa(**changes: Any) -> dict[str, Any]:
    row = {
        "id": 4,
        "video_name": "aB3_-dEfGhi_30",
        "video_id": 12,
        "question_text": "What makes the sound?",
        "multi_choice": ["dog", "car", "kettle", "rain"],
        "answer": 2,
        "question_relation": "Both",
        "question_type": "Come From",
    }
    return {**row, **changes}


def query(**changes: Any) -> dict[str, Any]:
    given = {
        "clip_start_sec": 12.5,
        "clip_end_sec": 14.0,
        "video_start_sec": 112.5,
        "video_end_sec": 114.0,
        "video_start_frame": 3375,
        "template": "Objects: Where is object X before / after event Y?",
        "query": "Where was the pan before I cooked?",
        "slot_x": "pan",
        "verb_x": "[verb_not_applicable]",
    }
    return {**given, **changes}


def ego4d(*queries: Any, **clip: Any) -> dict[str, Any]:
    clips = {
        "clip_uid": "clip-1",
        "video_start_sec": 100.0,
        "video_end_sec": 180.0,
        "annotations": [{"annotation_uid": "note-1", "language_queries": list(queries)}],
        **clip,
    }
    return {
        "version": "1",
        "description": "NLQ",
        "videos": [{"video_uid": "video-1", "split": "val", "clips": [clips]}],
    }


def candidates(**changes: Any) -> dict[str, Any]:
    row = {
        "video": "fox_12.mp4",
        "question": "How many times does the fox jump?",
        "candidates": ["3", "1", "2"],
        "answer": "2",
    }
    return {**row, **changes}


def coin() -> dict[str, Any]:
    segments = [{"id": "7", "label": "cut the tape", "segment": [1.0, 4.5]}] * 2
    film = {"class": "WrapGift", "recipe_type": 3, "subset": "training", "duration": 60.0}
    return {"database": {"aB3_-dEfGhi": {**film, "annotation": segments}}}


def thumos() -> dict[str, Any]:
    labels = [{"segment": [0.2, 1.5], "label": "HighJump"}]
    return {
        "version": "Thumos14-30fps",
        "database": {"video_validation_0000999": {"subset": "Validation", "annotations": labels}},
    }
