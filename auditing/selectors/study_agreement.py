"""How far the people of a study agreed before anything was decided."""

from dataclasses import asdict
from typing import Any

from annotation.models import Study
from annotation.selectors.reference_labels import blind_labels, segments_of
from auditing.core.agreement import CANNOT_JUDGE, MEASURES, NOT_ASSIGNED, SCALE, Ratings, agreement, coverage

RESAMPLES = 500


def agreement_before_decisions(study: Study) -> dict[str, Any]:
    """Raw agreement and a coefficient on the first blind labels (AG-07), with intervals over cases.

    Cohen's kappa where two people labelled, Krippendorff's alpha where it were more.
    """
    labels = blind_labels(study, kinds=("main",))
    people = sorted({member for said in labels.values() for member in said})
    cases: dict[int, list[list[str | int | None]]] = {}
    for ref in segments_of(study, kinds=("main",)):
        said = labels[ref.segment_id]
        row: list[str | int | None] = []
        for member in people:
            one = said.get(member)
            row.append(NOT_ASSIGNED if one is None else CANNOT_JUDGE if one.cannot_judge else one.label)
        cases.setdefault(ref.case_id, []).append(row)
    if len(people) < 2:
        return {"measure": None, "undefined_because": "fewer than two people have handed in"}
    key = "cohen" if len(people) == 2 else "alpha_nominal"
    ratings = Ratings.from_labels(list(cases.values()), categories=SCALE)
    found = agreement(ratings, ["raw", key], seed=study.pk, resamples=RESAMPLES)
    return {
        "measure": key,
        "title": MEASURES[key].title,
        "agreement": asdict(found[key]),
        "raw": asdict(found["raw"]),
        "compared": coverage(ratings).compared,
        "people": len(people),
    }
