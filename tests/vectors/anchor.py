"""ANCHOR's vector files as thin calls of the product's public functions; `adapter` takes them in."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from auditing.core.anchor import (
    conciseness,
    cue_ablation,
    difficulty,
    panel,
    rating_agreement,
    reference_sources,
)
from auditing.core.anchor.judge_reply import read_rating
from auditing.core.grounding import grounding
from videos.core.cot import parse, parse_timeframe
from videos.core.geometry import iou
from videos.core.tracks import Keyframe, Track, box_at, from_outside

Json = dict[str, Any]


def anchor_interpolate(data: Json, params: Json) -> Json:
    del params
    keyframes = [
        (Keyframe(entry["frame"], tuple(entry["box"])), entry.get("outside", False))
        for entry in data["keyframes"]
    ]
    track = from_outside(Track("track"), keyframes)
    boxes = [(frame, box_at(track, frame)) for frame in data["frames"]]
    return {"boxes": [[frame, list(box)] for frame, box in boxes if box is not None]}


def anchor_iou(data: Json, params: Json) -> Json:
    del params
    return {"iou": iou(tuple(data["a"]), tuple(data["b"]))}


def anchor_grounding(data: Json, params: Json) -> Json:
    del params
    return asdict(grounding(dict(data["pred"]), dict(data["ref"])))


def anchor_timeframe(data: Json, params: Json) -> Json:
    del params
    return asdict(parse_timeframe(data["text"]))


def anchor_cot_parse(data: Json, params: Json) -> Json:
    del params
    return asdict(parse(data["text"]))


def anchor_difficulty(data: Json, params: Json) -> Json:
    rule = difficulty.DifficultyRule(**params)
    return {"difficulty": difficulty.level(data["mismatches"], data["similarity"], rule)}


def anchor_difficulty_json(data: Json, params: Json) -> Json:
    found = difficulty.read_judgement(data["text"], **params).judgement
    return {"parsed": None if found is None else asdict(found)}


def anchor_difficulty_judges(data: Json, params: Json) -> Json:
    judges = [
        difficulty.Judgement(tuple(judge["matches"]), judge["similarity_rating"]) for judge in data["judges"]
    ]
    return asdict(difficulty.assess(judges, difficulty.DifficultyRule(**params)))


def anchor_judge_parse(data: Json, params: Json) -> Json:
    del params
    return asdict(read_rating(data["text"]))


def anchor_panel(data: Json, params: Json) -> Json:
    del params
    return asdict(panel.panel_scores(data["ratings"]))


def anchor_pairwise_kappa(data: Json, params: Json) -> Json:
    found = rating_agreement.pairwise(data["ratings"], data["judges"], **params)
    return {f"{pair.a}|{pair.b}": asdict(pair) for pair in found}


def anchor_reference(data: Json, params: Json) -> Json:
    del params
    return asdict(reference_sources.compare_sources(data["scores"]))


def anchor_conciseness(data: Json, params: Json) -> Json:
    return asdict(conciseness.conciseness(data["output"], data["reference"], **params))


def anchor_cue(data: Json, params: Json) -> Json:
    return asdict(cue_ablation.cue_ablation(data["correct"], **params))


ALGORITHMS: dict[str, Callable[[Json, Json], Any]] = {
    "anchor_interpolate": anchor_interpolate,
    "anchor_iou": anchor_iou,
    "anchor_grounding": anchor_grounding,
    "anchor_timeframe": anchor_timeframe,
    "anchor_cot_parse": anchor_cot_parse,
    "anchor_difficulty": anchor_difficulty,
    "anchor_difficulty_json": anchor_difficulty_json,
    "anchor_difficulty_judges": anchor_difficulty_judges,
    "anchor_judge_parse": anchor_judge_parse,
    "anchor_panel": anchor_panel,
    "anchor_pairwise_kappa": anchor_pairwise_kappa,
    "anchor_reference": anchor_reference,
    "anchor_conciseness": anchor_conciseness,
    "anchor_cue": anchor_cue,
}
