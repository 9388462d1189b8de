"""The document of a whole study: its questions side by side and every statistic over them.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based
Framework", sections 4 and 5, appendix C. The statistics are those of `decoding`, `agreement`, `resampling`, `ablation`,
`topology`, `collapse` and `study`; here they get their inputs and become JSON. What cannot be computed is null, with a
sentence that says why.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

from auditing.core.grapheval import study
from auditing.core.grapheval.ablation import QuestionAblation
from auditing.core.grapheval.agreement import faithful_report, joint_words, word_agreement
from auditing.core.grapheval.baselines import BASELINES
from auditing.core.grapheval.collapse import RepeatedTexts, repeated_across_questions
from auditing.core.grapheval.decoding import decoding_audit
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.resampling import (
    CHAINS,
    QUESTIONS,
    RESAMPLES,
    Correlation,
    Sampled,
    draws,
    resampled_correlations,
)
from auditing.core.grapheval.study_records import (
    FAITHFULNESS,
    IMPORTED,
    PERSON,
    ChainName,
    QuestionRecord,
    StudyMaterial,
    ablation_of,
    decomposition_of,
    points_of,
    sampled,
    swept,
)
from auditing.core.grapheval.sweeps import SweepRow, sweep
from auditing.core.grapheval.topology import QUADRANTS, Point
from auditing.core.grapheval.uncertainty import METRICS

SCHEMA = "reasonaudit.grapheval-study/1"
SWEEP_SCHEMA = "reasonaudit.grapheval-sweep/1"
ALPHAS: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
BETAS: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
GAMMAS: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
METRIC_NAMES = tuple(metric.name for metric in METRICS + BASELINES)
REPEATED = "repeated_across_questions"
SEED = 0


def study_document(
    material: StudyMaterial,
    *,
    reference: tuple[str, Sequence[Point]] | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """Return the document of a study.

    Parameters
    ----------
    material : StudyMaterial
        The study.
    reference : (str, sequence of (float, float)), optional
        Name and points of the study whose mean is the origin of the topology map; else the study's own mean.
    seed, resamples : int
        Of the bootstrap.
    """
    questions = material.questions
    texts = {
        question.key: [chain.text for chain in question.chains.values() if not chain.excluded]
        for question in questions
    }
    shared = repeated_across_questions(texts)
    points = points_of(questions)
    placed = study.study_topology(points, None if reference is None else reference[1])
    origin = None if placed is None else placed.origin
    ablated = {
        question.key: ablation_of(question, material.parameters)
        for question in questions
        if question.alternatives
    }
    rows = [
        question_row(question, ablated.get(question.key), origin, repeated=question.key in shared.where)
        for question in questions
    ]
    return {
        "schema": SCHEMA,
        "study": dict(material.header),
        "questions": rows,
        "counts": _counts(material, rows),
        "decoding": _decoding(questions),
        "faithful": _faithful(material),
        **_correlations(questions, material.parameters, seed, resamples),
        "ablation": _ablation(questions, ablated),
        "topology": {
            "origin": None if origin is None else list(origin),
            "reference": None if reference is None else reference[0],
            "mean": list(mean) if placed and (mean := placed.models[study.OWN].mean) else None,
            "n": len(points),
            "quadrants": placed.models[study.OWN].counts if placed else dict.fromkeys(QUADRANTS, 0),
        },
        "collapse": _collapse(shared, rows),
        "decomposition": asdict(decomposition_of(questions)),
    }


def _collapse(found: RepeatedTexts, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    why = ""
    if found.collapsed:
        why = (
            f"{found.repeated:,} of {found.questions:,} questions have a chain whose text answers another question "
            f"too, one text {found.most:,} of them: mode collapse, whatever a question's own chains look like."
        )
    counts = {
        code: sum(code in row["flags"] for row in rows)
        for code in ("mode_collapse", "all_identical", "looping_text")
    }
    document = asdict(found)
    del document["where"]  # the rows have a flag for it
    return {**document, **counts, "why": why}


def question_row(
    question: QuestionRecord,
    ablated: QuestionAblation | None,
    origin: Point | None,
    *,
    repeated: bool = False,
) -> dict[str, Any]:
    """Return a question as the study's document lists it."""
    document = question.document
    facts = sum(row["facts"] for row in document["chains"])
    edges = sum(len(row["edges"]) for row in document["chains"])
    metrics = document["metrics"]
    flags = [flag["code"] for flag in document["flags"]] + [REPEATED] * repeated
    return {
        "case": question.key,
        "external_id": question.external_id,
        "title": question.title,
        "gold": question.gold_written or None,
        "n": document["n"],
        "excluded": len(document["excluded"]),
        "facts_mean": facts / document["n"] if document["n"] else None,
        "edges_per_fact": edges / facts if facts else None,
        "metrics": dict(metrics),
        "sc": {name: document["votes"][name] for name in ("answer", "correct", "tie")},
        "gsc": {**document["gsc"], "chain": document["medoid"]},
        "cell": question.cell,
        **{kind: question.faithfulness(kind) for kind in FAITHFULNESS},
        "ablation": None if ablated is None else asdict(ablated),
        "quadrant": study.quadrant_of(metrics["divergence"], metrics["entropy"], origin),
        "flags": flags,
        "stale": question.stale,
    }


def _counts(material: StudyMaterial, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    excluded = material.excluded or Counter(
        entry["reason"] for question in material.questions for entry in question.document["excluded"]
    )
    return {
        "questions": len(rows) + material.unscored,
        "scored": len(rows),
        "chains": sum(row["n"] for row in rows),
        "excluded": dict(sorted(excluded.items())),
        "flags": dict(sorted(Counter(code for row in rows for code in row["flags"]).items())),
        "stale": sum(row["stale"] for row in rows),
    }


def _decoding(questions: Sequence[QuestionRecord]) -> dict[str, Any]:
    known = [question.correct for question in questions if question.cell is not None]
    found = decoding_audit([bool(sc) for sc, _ in known], [bool(gsc) for _, gsc in known])
    document = asdict(found)
    document["mcnemar"] = document.pop("test")
    document["why"] = "" if known else "No scored question has a gold answer that can be read."
    return document


def _faithful(material: StudyMaterial) -> dict[str, Any]:
    disputes = [dispute for question in material.questions if (dispute := question.dispute()) is not None]
    persons = {source: words for source, words in material.words.items() if source.startswith(PERSON)}
    others = {source: words for source, words in material.words.items() if source not in persons}
    people = joint_words(persons.values())

    def report(words: Mapping[ChainName, str]) -> dict[str, Any]:
        found = asdict(faithful_report(disputes, words))
        wins = found.pop("wins") or {"sc_only": None, "gsc_only": None, "difference": None}
        return {**wins, **found}

    return {
        "disputes": len(disputes),
        "people": {**report(people), "raters": len(persons)} if persons else None,
        "judges": {
            source: report(words) for source, words in others.items() if not source.startswith(IMPORTED)
        },
        "imported": {
            source: report(words) for source, words in others.items() if source.startswith(IMPORTED)
        },
        "kappa": _kappa({"people": people, **others} if persons else others, list(persons.values())),
    }


def _kappa(
    voices: Mapping[str, Mapping[ChainName, str]], persons: Sequence[Mapping[ChainName, str]]
) -> list[dict[str, Any]]:
    """Compare every two voices, and every two people, who are not named here."""
    numbered = {f"person {place}": words for place, words in enumerate(persons, 1)}
    rows = []
    for (a, first), (b, second) in (*combinations(voices.items(), 2), *combinations(numbered.items(), 2)):
        found = word_agreement(first, second)
        rows.append({"a": a, "b": b, **asdict(found.kappa), "why": found.why_not})
    return rows


def _correlations(
    questions: Sequence[QuestionRecord], parameters: StudyParameters, seed: int, resamples: int
) -> dict[str, Any]:
    found = [one for question in questions if (one := sampled(question, parameters)) is not None]
    kinds = [kind for kind in FAITHFULNESS if any(one.value(kind) is not None for one in found)]
    sizes = [len(one.answers) for one in found]
    drawn = draws(sizes, seed=seed, resamples=resamples) if kinds else []
    rows = resampled_correlations(
        found, drawn, faithfulness=kinds, metrics=METRIC_NAMES, uncertainty=parameters.uncertainty
    )
    notes = []
    if len(found) < QUESTIONS:
        notes.append(
            f"There are {len(found)} questions with two chains or more, so a resample draws {len(found)}, "
            f"not {QUESTIONS}."
        )
    if few := sum(size < CHAINS for size in sizes):
        notes.append(f"{few} of the questions have fewer than {CHAINS} chains, of which all are drawn.")
    if whole := sum(size == CHAINS for size in sizes):
        notes.append(f"{whole} of the questions have {CHAINS} chains, which are drawn every time.")
    notes += _mixed(found, kinds)
    return {
        "correlations": [_correlation(row) for row in rows],
        "bootstrap": {
            "seed": seed,
            "resamples": len(drawn),
            "questions": min(QUESTIONS, len(found)),
            "chains": CHAINS,
            "notes": notes,
            "missing": {
                kind: "No scored question with two chains or more has a value of it."
                for kind in FAITHFULNESS
                if kind not in kinds
            },
        },
    }


def _mixed(questions: Sequence[Sampled], kinds: Sequence[str]) -> list[str]:
    """Say where the faithfulness of some questions is a mean over chains and that of others the medoid's alone."""
    notes = {}
    for kind in kinds:
        known = [question for question in questions if question.value(kind) is not None]
        whole = sum(kind in question.chain_faithfulness for question in known)
        if 0 < whole < len(known):
            name = "counterfactual editing" if kind == "counterfactual" else "early answering"
            notes[kind] = (
                f"For {whole} of {len(known)} questions with {name} it is the mean of all their chains, for the "
                "others their medoid's: ask all chains of all questions, or compare with care."
            )
    return list(dict.fromkeys(notes.values()))


def _correlation(row: Correlation) -> dict[str, Any]:
    why = ""
    if row.n < 2:
        why = "Fewer than two questions have both values."
    elif row.values["pearson"] is None:
        why = "One of the two is the same for all questions."
    return {
        "faithfulness": row.faithfulness,
        "metric": row.metric,
        "n": row.n,
        "recomputed": row.recomputed,
        "why": why,
        **{
            name: {
                "value": row.values[name],
                "mean": interval.mean,
                "low": interval.lo,
                "high": interval.hi,
                "n_valid": interval.n_valid,
            }
            for name, interval in row.intervals.items()
        },
    }


def _ablation(
    questions: Sequence[QuestionRecord], ablated: Mapping[Hashable, QuestionAblation]
) -> dict[str, Any] | None:
    found = study.study_ablation(
        [(*question.correct, ablated[question.key]) for question in questions if question.key in ablated],
        scored=len(questions),
    )
    if found is None:
        return None
    return {
        "questions": len(ablated),
        "population": None if found.population is None else asdict(found.population),
        "targeted": asdict(found.targeted),
    }


def sweep_document(
    material: StudyMaterial, alphas: Sequence[float], betas: Sequence[float], gammas: Sequence[float]
) -> dict[str, Any]:
    """Return a study under other weights.

    Raises
    ------
    ValueError
        If a value is outside its range.
    """
    options = material.parameters
    own = options.consensus.alpha, options.distance.beta, options.distance.gamma
    questions = [one for question in material.questions if (one := swept(question)) is not None]
    rows = sweep(questions, alphas=alphas, betas=betas, gammas=gammas, own=own, consensus=options.consensus)
    return {
        "schema": SWEEP_SCHEMA,
        "study": dict(material.header),
        "own": dict(zip(("alpha", "beta", "gamma"), own, strict=True)),
        "questions": len(questions),
        "rows": [_sweep_row(row, own) for row in rows],
    }


def _sweep_row(row: SweepRow, own: tuple[float, float, float]) -> dict[str, Any]:
    document = asdict(row)
    counts = document.pop("n_faithful")
    document["correlations"] = {
        kind: {"n": counts[kind], "pearson": found["pcc"], "spearman": found["src"], "kendall": found["krc"]}
        for kind, found in document["correlations"].items()
    }
    document["own"] = (row.alpha, row.beta, row.gamma) == own
    return document
