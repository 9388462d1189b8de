"""The results of a study as one document, the same under other weights, and several studies side by side.

The last few are kept in this process under a hash of the rows that they follow from. A study's document takes seconds
for 10,000 chains, so it is also kept where all processes find it: the worker makes it ready when a run has ended.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from django.core.cache import caches

from auditing.core.grapheval import study_document as core
from auditing.core.grapheval.agreement import CRITERIA, joint_words
from auditing.core.grapheval.decomposers import compare_pairs, criterion_shares
from auditing.core.grapheval.study import study_topology
from auditing.core.grapheval.study_records import FAITHFULNESS, PERSON, StudyMaterial
from auditing.core.grapheval.topology import Point
from auditing.core.statistics import mean_of, wilcoxon
from auditing.models import ChainJudgement, ReasoningRun, ReasoningStudy, StudyChain
from auditing.selectors.reasoning_audit import by_source
from auditing.services.grapheval import results_reading
from auditing.services.manifest import library_versions
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import ACTIVE_STATES

COMPARISON = "reasonaudit.grapheval-comparison/1"
KEPT = 12
MATERIALS_KEPT = 2
"""Studies as read, for sweeps after the document; 10,000 chains are some 30 MB."""
MOST_STUDIES = 20
SHARED = "results"
"""The cache of the settings that all processes share."""

logger = logging.getLogger(__name__)

_kept: "OrderedDict[tuple[Any, ...], dict[str, Any]]" = OrderedDict()
_materials: "OrderedDict[str, StudyMaterial]" = OrderedDict()
_lock = threading.Lock()


def study_document(study: ReasoningStudy) -> dict[str, Any]:
    """Return a study's document (`auditing.core.grapheval.study_document`); it is shared, so do not change it."""
    version = results_reading.fingerprint(study)
    key = ("study", version)
    return _once(key, lambda: _shared(key, lambda: core.study_document(_material(study, version))))


def make_ready(run_id: int) -> None:
    """Compute the document of a run's study once none of its runs is at work, so that its page need not.

    A fault is written to the log: the run has ended well, and the page will meet the same fault where one sees it.
    """
    run = ReasoningRun.objects.select_related("study__dataset").filter(pk=run_id).first()
    if run is None or run.study.runs.filter(state__in=ACTIVE_STATES).exists():
        return
    try:
        study_document(run.study)
    except Exception:
        logger.exception("The results of %s could not be computed", run.study)


def sweep(
    study: ReasoningStudy, alphas: Sequence[float], betas: Sequence[float], gammas: Sequence[float]
) -> dict[str, Any]:
    """Return the study under every combination of weights; nothing is asked, embedded or matched.

    Raises
    ------
    UserError
        400 ``bad_weights``: a value outside its range, none, or too many.
    """
    version = results_reading.fingerprint(study)
    key = ("sweep", version, tuple(alphas), tuple(betas), tuple(gammas))
    try:
        return _once(key, lambda: core.sweep_document(_material(study, version), alphas, betas, gammas))
    except ValueError as error:
        raise UserError(
            "bad_weights",
            str(error),
            "Alpha and beta go from 0 to 1, gamma is at least 0.",
            fields={"weights": str(error)},
        ) from error


def compare(studies: Sequence[ReasoningStudy], *, reference: ReasoningStudy | None = None) -> dict[str, Any]:
    """Compare studies: their main numbers, decomposers over the same chains, faithful wins over all of them.

    Parameters
    ----------
    reference
        The study whose mean point is the origin of the topology map; else the first one.

    Returns
    -------
    dict
        ``studies``: main numbers of each, in the order given; ``topology``; ``decomposers``: groups of studies with the
        same chains and other decomposers, each with pairs and criteria; ``wilcoxon``: by who judged, over the studies
        with both kinds of wins; ``notes``.

    Raises
    ------
    UserError
        400 ``bad_comparison``: fewer than two studies, one twice, or too many.
    """
    if not 2 <= len(studies) <= MOST_STUDIES or len({study.pk for study in studies}) < len(studies):
        raise UserError(
            "bad_comparison",
            f"Compare 2 to {MOST_STUDIES} different studies.",
            "Choose them in the list of studies.",
            fields={"studies": f"2 to {MOST_STUDIES} different studies."},
        )
    documents = [study_document(study) for study in studies]
    origin = study_document(reference or studies[0])
    rows = [_row(document, origin) for document in documents]
    groups = _decomposer_groups(studies)
    return {
        "schema": COMPARISON,
        "studies": rows,
        "topology": {"reference": origin["study"]["slug"], "origin": origin["topology"]["mean"]},
        "decomposers": [_decomposers(group, documents, studies) for group in groups],
        "wilcoxon": _over_cells(documents),
        "notes": []
        if groups
        else ["No two of these studies have the same chains and different decomposers."],
    }


def _material(study: ReasoningStudy, version: str) -> StudyMaterial:
    """Return a study as read, from the last few where nothing has changed since."""
    with _lock:
        held = _materials.get(version)
        if held is not None:
            _materials.move_to_end(version)
            return held
    found = results_reading.read(study)
    with _lock:
        _materials[version] = found
        while len(_materials) > MATERIALS_KEPT:
            _materials.popitem(last=False)
    return found


def _once(key: tuple[Any, ...], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    with _lock:
        held = _kept.get(key)
        if held is not None:
            _kept.move_to_end(key)
            return held
    found = make()
    with _lock:
        _kept[key] = found
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return found


def _shared(key: tuple[Any, ...], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    name = sha256_of([_program(), repr(key)])
    held: dict[str, Any] | None = caches[SHARED].get(name)
    if held is None:
        held = make()
        try:
            caches[SHARED].set(name, held)
        except OSError as error:  # a full disk: the next one computes it again
            logger.warning("The results could not be kept: %s", error)
    return held


@cache
def _program() -> str:
    """Return what stands for the code and the libraries: after a change of these a kept document is none."""
    folder = Path(core.__file__).parent
    files = [*folder.glob("*.py"), *folder.parent.glob("*.py"), *Path(__file__).parent.glob("*.py")]
    times = sorted((str(path), path.stat().st_mtime_ns) for path in files)
    return sha256_of([times, dict(library_versions())])


def _points(document: dict[str, Any]) -> list[Point]:
    found = [(row["metrics"]["divergence"], row["metrics"]["entropy"]) for row in document["questions"]]
    return [(x, y) for x, y in found if x is not None and y is not None]


def _row(document: dict[str, Any], origin: dict[str, Any]) -> dict[str, Any]:
    questions = document["questions"]
    people = document["faithful"]["people"]
    placed = study_topology(_points(document), _points(origin))
    return {
        **document["study"],
        "questions": document["counts"]["scored"],
        "chains": document["counts"]["chains"],
        "metrics": {name: mean_of(row["metrics"][name] for row in questions) for name in core.METRIC_NAMES},
        "faithfulness": {kind: mean_of(row[kind] for row in questions) for kind in FAITHFULNESS},
        "decoding": document["decoding"],
        "decomposition": document["decomposition"],
        "faithful": {
            **({"people": people} if people else {}),
            **document["faithful"]["judges"],
            **document["faithful"]["imported"],
        },
        "topology": None
        if placed is None
        else {"mean": document["topology"]["mean"], "quadrants": placed.models["own"].counts},
    }


def _over_cells(documents: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Test the differences of faithful shares over the studies with both kinds of wins, for everybody who judged."""
    differences: dict[str, list[float]] = {}
    for document in documents:
        faithful = document["faithful"]
        for source, wins in {
            "people": faithful["people"],
            **faithful["judges"],
            **faithful["imported"],
        }.items():
            if wins is not None and wins["difference"] is not None:
                differences.setdefault(source, []).append(wins["difference"])
    return {
        source: {"cells": len(values), **asdict(wilcoxon(values))} for source, values in differences.items()
    }


def _decomposer_groups(studies: Sequence[ReasoningStudy]) -> list[list[int]]:
    """Return the places of studies that share all their chains, where their decomposers differ."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, study in enumerate(studies):
        samples = study.chains.filter(role=StudyChain.Role.SAMPLE).order_by("trace_id")
        groups.setdefault(tuple(samples.values_list("trace_id", flat=True)), []).append(place)
    return [
        group
        for traces, group in groups.items()
        if traces and len({studies[place].decomposer for place in group}) > 1
    ]


def _decomposers(
    group: Sequence[int], documents: Sequence[dict[str, Any]], studies: Sequence[ReasoningStudy]
) -> dict[str, Any]:
    rows, grcs = [], {}
    for place in group:
        document = documents[place]
        slug = document["study"]["slug"]
        said = by_source(studies[place], ChainJudgement.Kind.DECOMPOSITION)
        persons = [words for source, words in said.items() if source.startswith(PERSON)]
        words = {source: list(by.values()) for source, by in said.items() if not source.startswith(PERSON)}
        if persons:
            words = {"people": _joint(persons), **words}
        grcs[slug] = {row["external_id"]: row["metrics"]["grcs"] for row in document["questions"]}
        rows.append(
            {
                "slug": slug,
                "decomposer": studies[place].decomposer,
                **document["decomposition"],
                "criteria": {
                    source: {name: asdict(share) for name, share in criterion_shares(given).items()}
                    for source, given in words.items()
                },
            }
        )
    return {
        "dataset": documents[group[0]]["study"]["dataset"],
        "studies": rows,
        "pairs": [_pair(pair) for pair in compare_pairs(grcs)],
    }


def _pair(pair: Any) -> dict[str, Any]:
    document = asdict(pair)
    found = document.pop("correlations")
    return {**document, "pearson": found["pcc"], "spearman": found["src"], "kendall": found["krc"]}


def _joint(persons: Sequence[dict[int, dict[str, str]]]) -> list[dict[str, str]]:
    """Return what several people say together of every chain, criterion by criterion."""
    found: dict[int, dict[str, str]] = {}
    for criterion in CRITERIA["decomposition"]:
        said = [{chain: by[criterion] for chain, by in words.items() if criterion in by} for words in persons]
        for chain, word in joint_words(said).items():
            found.setdefault(chain, {})[criterion] = word
    return list(found.values())
