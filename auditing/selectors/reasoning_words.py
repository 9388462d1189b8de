"""Words of the pages of studies: models and judges, warnings of parsers, range and direction of every score."""

import math
from collections.abc import Mapping
from typing import Any

from auditing.core.grapheval.baselines import BASELINES
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.study_records import IMPORTED
from auditing.core.grapheval.uncertainty import METRICS

# Code of a warning -> a sentence; {step}, {dep} and {count} are filled in where the warning has them.
WARNINGS = {
    "assumed_dependencies": "Nothing says what its steps depend on; each is taken to depend on the one before.",
    "bad_dependency": "The dependencies of {step} could not be read.",
    "duplicate_fact": "A fact of {step} stands there twice; it is kept once.",
    "duplicate_step": "The number of {step} comes twice; the second one is left out.",
    "empty_fact": "A fact of {step} has no words; it is left out.",
    "facts_do_not_fit": "Facts that came with the data and do not fit its steps were left out.",
    "forward_dependency": "{Step} names the later {dep}; that dependency is left out.",
    "ignored_line": "A line outside the steps was left out.",
    "missing_annotation": "A fact without step and dependencies was left out.",
    "missing_answer": "There is no final answer.",
    "missing_depends_on": "{Step} says nothing of what it depends on.",
    "no_facts": "The decomposer's reply has no fact.",
    "no_steps": "The reply has no numbered step.",
    "non_monotone_index": "The steps are not numbered in order.",
    "prefix_answers_do_not_fit": "The answers to prefixes that came with the data could not be read.",
    "self_dependency": "{Step} names itself; that dependency is left out.",
    "step_answers_do_not_fit": "The answers to edited steps that came with the data could not be read.",
    "step_count": "It has {count} steps; other numbers were asked for.",
    "steps_do_not_fit": "The data's numbers of steps do not fit; the steps are numbered in a row.",
    "unknown_dependency": "{Step} names {dep}, which does not exist; that dependency is left out.",
    "unknown_step": "A fact of {step} was left out: the chain has no such step.",
}
MODELS = {
    "": "stored samples",
    "sentences": "sentences as facts",
    "stored": "stored facts, else sentences",
    "minilm": "MiniLM",
}
# Embedders whose vectors say less than the paper's -> what a page says of them.
EMBEDDER_NOTES = {
    "minilm": "The vectors are those of MiniLM, a small English model on this computer that reads 256 tokens of a "
    "fact. It is weaker than the embedder of the paper (Qwen3-Embedding-0.6B): fewer facts that say the same in other "
    "words count as equal. Compare scores with studies of the same embedder, not with published ones.",
}
GRCS_NOTE = "GRCS is a coherence: high means agreement or mode collapse. Read it together with the answers."


def counted(count: int, word: str) -> str:
    """Return a count with its word, such as `1 chain` or `2,062 chains`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def model_words(spec: str) -> str:
    """Return a generator, decomposer or embedder in words."""
    kind, _, name = spec.partition(":")
    return MODELS.get(spec, name or kind)


def source_words(source: str) -> str:
    """Return who judged: "people", "person 1", a model, or a name that came with the data."""
    if source.startswith(IMPORTED):
        return f"{source.removeprefix(IMPORTED)} (imported)"
    kind, _, name = source.partition(":")
    return name or kind


def warning_words(warning: Mapping[str, Any]) -> str:
    """Return a parser's warning as a sentence; a code that is not known is shown as it is."""
    step = f"step {warning['step']}" if "step" in warning else "a step"
    sentence = WARNINGS.get(warning.get("code", ""))
    if sentence is None:
        return str(warning.get("code", "Unknown warning")).replace("_", " ").capitalize() + "."
    return sentence.format(
        step=step,
        Step=step.capitalize(),
        dep=f"step {warning['dep']}" if "dep" in warning else "a step",
        count=warning.get("count", "other"),
    )


def metric_rows(document: Mapping[str, Any] | None, parameters: StudyParameters) -> list[dict[str, Any]]:
    """Return every score with its value, range, direction and definition, the paper's own before the baselines.

    A value that is not defined is null, and `missing` says why. `low` and `high` are those that the study's
    settings and the number of chains allow; null where there is no bound.
    """
    values: Mapping[str, Any] = document["metrics"] if document else {}
    reasons: Mapping[str, str] = document["missing"] if document else {}
    ranges = _ranges(document, parameters)
    bins = f" Here: {values['n_bins']:,} bins." if values.get("n_bins") else ""
    rows = []
    # The paper's headline score first, with the note on how to read it.
    own = sorted(METRICS, key=lambda metric: metric.name != "grcs")
    for metric, baseline in [*((m, False) for m in own), *((m, True) for m in BASELINES)]:
        low, high = ranges.get(metric.name, (metric.low, metric.high))
        value = values.get(metric.name)
        rows.append(
            {
                "name": metric.name,
                "title": metric.title,
                "value": value,
                "low": low,
                "high": high,
                "direction": metric.direction,
                "definition": metric.definition + (bins if metric.name == "entropy" else ""),
                "note": GRCS_NOTE if metric.name == "grcs" else "",
                "baseline": baseline,
                "missing": "" if value is not None else _why(metric.name, document, reasons),
            }
        )
    return rows


def _why(name: str, document: Mapping[str, Any] | None, reasons: Mapping[str, str]) -> str:
    if document is None:
        return "Not scored yet: run “Compare and score”."
    if name in reasons:
        return reasons[name]
    if document["n"] < 2:
        return "It needs at least two chains in the pool."
    return "It was not computed."


def _ranges(
    document: Mapping[str, Any] | None, parameters: StudyParameters
) -> dict[str, tuple[float | None, float | None]]:
    """Bounds that depend on the settings, the number of chains or the number of bins."""
    farthest = 1.0 if parameters.distance.clip_negative else 1.0 + parameters.distance.beta
    base = math.log(parameters.uncertainty.log_base)
    ranges: dict[str, tuple[float | None, float | None]] = {
        "divergence": (0.0, farthest),
        "grcs": (1 / (1 + farthest), 1.0),
        # The standard deviation of values in a range is at most half of it; the sample's may be larger.
        "dispersion": (0.0, farthest / 2 if parameters.uncertainty.ddof == 0 else None),
    }
    if not document:
        return ranges
    n, bins = document["n"], document["metrics"].get("n_bins") or 0
    valid = document["votes"]["valid"]
    if bins > 1:
        ranges["entropy"] = (0.0, math.log(bins) / base)
    if valid > 1:
        ranges["semantic_entropy"] = (0.0, math.log(valid) / base)
    if n > 1:
        ranges["degree"] = (0.0, 1 - 1 / n)
        ranges["eigenvalues"] = (1.0, float(n))
        ranges["eccentricity"] = (0.0, math.sqrt(n))
    return ranges
