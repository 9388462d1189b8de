"""How far the judges agree with each other: weighted kappa of every pair, overall and for each model.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 4, Figures 5 and 6. Over all
models the answers to one question are drawn together for the interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from auditing.core.anchor.judge_reply import SCALE
from auditing.core.anchor.panel import FACETS, Ratings
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.core.anchor.rating_agreement import PairAgreement, matrix, pairwise
from auditing.core.statistics import mean_of
from auditing.models import Benchmark
from auditing.selectors.benchmark_ratings import tables
from auditing.services.anchor import results_common as common

SCHEMA = "reasonaudit.benchmark-agreement/1"


def document(benchmark: Benchmark, judged: common.Judged | None = None) -> dict[str, Any]:
    """Compute the part "agreement"; `judged` saves reading the ratings where they are known.

    Returns
    -------
    dict
        ``facets``: judges, missing ratings and ``scopes``; the first scope, named "", is over all models, the others
        are of one model each. Each has kappa as a matrix, all pairs, and how often each judge gave each rating.
    """
    parameters = common.parameters_of(benchmark)
    found = judged or tables(benchmark)
    return {
        **common.head(benchmark, SCHEMA, parameters),
        "models": list(found[FACETS[0]].by_model),
        "facets": [
            {
                "facet": facet,
                "judges": table.raters,
                "missing": table.missing,
                "scopes": [
                    scope(
                        "",
                        common.by_answer(table),
                        table.raters,
                        parameters,
                        missing=table.missing,
                        questions=common.questions_of(table),
                    ),
                    *(
                        scope(model, by_item, table.raters, parameters, missing=table.missing_of[model])
                        for model, by_item in table.by_model.items()
                    ),
                ],
            }
            for facet, table in found.items()
        ],
    }


def scope(
    name: str,
    rated: Ratings,
    raters: Sequence[str],
    parameters: BenchmarkParameters,
    *,
    missing: Mapping[str, int],
    questions: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the agreement of raters on some answers.

    Parameters
    ----------
    name : str
        Of the model; "" for all.
    rated : mapping of answer to mapping of rater to rating
        1 to 5, None where missing.
    raters : sequence of str
        All of them, in their order.
    parameters : BenchmarkParameters
        With seed and resamples.
    missing : mapping of reason to int
        Ratings that are missing here.
    questions : mapping of answer to question, optional
        See `pairwise`.
    """
    pairs = pairwise(rated, raters, seed=parameters.seed, resamples=parameters.resamples, questions=questions)
    known = [pair for pair in pairs if pair.kappa is not None]
    return {
        "scope": name,
        "answers": len(rated),
        "missing": dict(missing),
        "matrix": matrix(pairs, raters),
        "mean_kappa": mean_of(pair.kappa for pair in known),
        "lowest": _names(min(known, key=_kappa, default=None)),
        "highest": _names(max(known, key=_kappa, default=None)),
        "pairs": [asdict(pair) for pair in pairs],
        "prevalence": [_prevalence(rater, rated) for rater in raters],
    }


def _kappa(pair: PairAgreement) -> float:
    return -2.0 if pair.kappa is None else pair.kappa


def _names(pair: PairAgreement | None) -> dict[str, Any] | None:
    return None if pair is None else {"a": pair.a, "b": pair.b, "kappa": pair.kappa}


def _prevalence(rater: str, rated: Ratings) -> dict[str, Any]:
    """Return how often a rater gave each rating; shares are None without any."""
    given = [found[rater] for found in rated.values() if rater in found]
    counts = [given.count(value) for value in SCALE]
    n = sum(counts)
    return {
        "rater": rater,
        "n": n,
        "missing": len(given) - n,
        "counts": counts,
        "shares": [count / n if n else None for count in counts],
        "mean": sum(value * count for value, count in zip(SCALE, counts, strict=True)) / n if n else None,
    }
