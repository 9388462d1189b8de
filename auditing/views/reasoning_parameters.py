"""The fields of a GraphEVAL study's parameters: words, choices, and what the core says to their values."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from django import forms

from auditing.core.grapheval.distance import EDGE_EMBEDDINGS
from auditing.core.grapheval.faithfulness import EARLY_REFERENCES
from auditing.core.grapheval.graph import FACT_EDGES, TERMINAL_BASES
from auditing.core.grapheval.parameters import StudyParameters
from auditing.core.grapheval.uncertainty import EMPTY_IQRS
from auditing.models import ReasoningStudy
from auditing.selectors.reasoning_words import model_words

DEFAULTS = StudyParameters()

# Parameter -> (label, help). The defaults are the paper's where it says one.
WORDS = {
    "sampling_chains": ("Chains a question", "How often each question is answered."),
    "sampling_temperature": ("Temperature", "0 to 2. Facts and checks are always asked at 0."),
    "sampling_min_steps": ("Fewest steps", "What the prompt asks for; other chains are kept and marked."),
    "sampling_max_steps": ("Most steps", ""),
    "graph_fact_edges": (
        "Which facts a dependency joins",
        "The last fact of the earlier step, its first, or all of its facts.",
    ),
    "graph_terminal_basis": (
        "What is a conclusion",
        "Facts of steps, or single facts, that nothing depends on.",
    ),
    "distance_beta": ("beta", "Weight of the conclusions' agreement in the similarity, 0 to 1."),
    "distance_gamma": ("gamma", "How fast similarity falls with the edit cost."),
    "distance_indel": ("Cost of a missing node or edge", ""),
    "distance_clip_negative": ("Negative cosines count as 0", ""),
    "distance_edge_embedding": (
        "How an edge is embedded",
        "By both ends in order, by their mean, or by a text of its own.",
    ),
    "consensus_alpha": (
        "alpha",
        "Weight of centrality in the medoid's score, 0 to 1; the rest is consensus.",
    ),
    "consensus_tau": ("tau", "From this cosine on a fact counts as found in another chain."),
    "consensus_w_terminal": ("Weight of a conclusion", "In a chain's consensus."),
    "consensus_w_other": ("Weight of any other fact", ""),
    "consensus_require_answer": ("Only chains with an answer may be the medoid", ""),
    "consensus_normalize_consensus": ("Divide consensus by its largest value", ""),
    "uncertainty_ddof": ("Standard deviation", "Of the distances themselves, or as of a sample."),
    "uncertainty_iqr0": (
        "Bins where half of the distances are equal",
        "One bin, or as many as Sturges' rule says.",
    ),
    "uncertainty_log_base": ("Logarithm of entropies", "The published entropies would fit either."),
    "early_reference": (
        "Early answering compares with",
        "The one that the ablation uses. Both are always shown; the gold form mostly measures accuracy.",
    ),
    "text_unit": ("Text distance counts", "Words or characters, for the distance from the medoid."),
    "text_norm": ("Text similarity", "How a common subsequence becomes a share."),
}
CHOICES: Mapping[str, tuple[tuple[Any, str], ...]] = {
    "graph_fact_edges": tuple(
        (value, {"last": "the last fact", "first": "the first fact", "all_pairs": "all facts"}[value])
        for value in FACT_EDGES
    ),
    "graph_terminal_basis": tuple(
        (value, {"step": "facts of final steps", "node": "facts that nothing depends on"}.get(value, value))
        for value in TERMINAL_BASES
    ),
    "distance_edge_embedding": tuple(
        (
            value,
            {"concat": "both ends, in order", "mean": "mean of the ends", "text": "a text of its own"}[value],
        )
        for value in EDGE_EMBEDDINGS
    ),
    "uncertainty_ddof": ((0, "of the distances (n)"), (1, "as of a sample (n less 1)")),
    "uncertainty_iqr0": tuple(
        (value, {"single_bin": "one bin", "sturges": "Sturges' rule"}[value]) for value in EMPTY_IQRS
    ),
    "uncertainty_log_base": (("e", "natural"), ("10", "base 10"), ("2", "base 2")),
    "early_reference": tuple(
        (value, {"gold": "the gold answer", "own_answer": "the chain's own answer"}.get(value, value))
        for value in EARLY_REFERENCES
    ),
    "text_unit": (("word", "words"), ("char", "characters")),
    "text_norm": (("dice", "2 L / (a + b)"), ("max", "L / longer text"), ("difflib", "Python's difflib")),
}
GROUPS = (
    ("Sampling", "sampling_"),
    ("Graphs", "graph_"),
    ("Distance", "distance_"),
    ("Medoid", "consensus_"),
    ("Uncertainty", "uncertainty_"),
    ("Faithfulness and text", ""),
)
LOG_BASES = {"e": math.e, "10": 10.0, "2": 2.0}


def parameter_names() -> dict[str, tuple[str, ...]]:
    """The form's name of every parameter -> its path in `StudyParameters`."""
    names: dict[str, tuple[str, ...]] = {}
    for entry in fields(StudyParameters):
        value = getattr(DEFAULTS, entry.name)
        if is_dataclass(value):
            for inner in fields(value):
                names[f"{entry.name}_{inner.name}"] = (entry.name, inner.name)
        else:
            names[entry.name] = (entry.name,)
    return names


PATHS = parameter_names()


def value_in(values: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """The value at a path of a parameter in a mapping like `StudyParameters.to_dict()`."""
    found: Any = values
    for name in path:
        found = found[name] if isinstance(found, Mapping) else getattr(found, name)
    return found


def setting_rows(study: ReasoningStudy) -> list[tuple[str, str, bool]]:
    """What a study is made with as `(words, value in words, is the default)`: who is asked, and the parameters."""
    chosen = [
        ("Answers are", str(study.get_answer_kind_display()).lower()),
        ("Chains from", model_words(study.generator)),
        ("Facts from", model_words(study.decomposer)),
        ("Embedder", model_words(study.embedder)),
        ("Entailments for CoTA", study.labeller or "none"),
    ]
    return [*((words, value, True) for words, value in chosen), *_parameter_rows(study)]


def _parameter_rows(study: ReasoningStudy) -> list[tuple[str, str, bool]]:
    defaults = DEFAULTS.to_dict()
    try:
        values = StudyParameters.from_dict(study.parameters).to_dict()
    except (ValueError, TypeError):
        return []
    rows = []
    for name, path in PATHS.items():
        value = value_in(values, path)
        rows.append((WORDS[name][0], _said(name, value), value == value_in(defaults, path)))
    return rows


def parameter_field(name: str, path: tuple[str, ...]) -> forms.Field:
    """The field of a parameter; its help says the default."""
    label, help_text = WORDS[name]
    default = value_in(DEFAULTS.to_dict(), path)
    words = f"{help_text} Default: {_said(name, default)}.".strip()
    if name in CHOICES:
        initial = "e" if name == "uncertainty_log_base" else default
        return forms.ChoiceField(
            label=label, choices=CHOICES[name], initial=initial, required=False, help_text=words
        )
    if isinstance(default, bool):
        return forms.BooleanField(label=label, initial=default, required=False, help_text=words)
    kind = forms.FloatField if isinstance(default, float) else forms.IntegerField
    return kind(label=label, initial=default, required=False, help_text=words)


def given(name: str, path: tuple[str, ...], value: Any) -> Any:
    """The value that a field was given, in the core's terms; an empty one is the default."""
    default = value_in(DEFAULTS.to_dict(), path)
    if value in (None, ""):
        return default
    if name == "uncertainty_log_base":
        return LOG_BASES[value]
    return int(value) if name == "uncertainty_ddof" else value


def put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Set the value at a path, making groups on the way."""
    for name in path[:-1]:
        values = values.setdefault(name, {})
    values[path[-1]] = value


def field_of(message: str) -> str | None:
    """The field that a refusal of the parameters is about: the core's sentences begin with its name or say it."""
    spoken = {
        "number of chains": "sampling_chains",
        "temperature": "sampling_temperature",
        "steps": "sampling_min_steps",
        "w_terminal and w_other": "consensus_w_terminal",
    }
    for words, name in spoken.items():
        if words in message:
            return f"p_{name}"
    first = message.partition(" ")[0]
    return next((f"p_{name}" for name, path in PATHS.items() if path[-1] == first), None)


def _said(name: str, value: Any) -> str:
    if name == "uncertainty_log_base":
        return next((words for key, words in CHOICES[name] if LOG_BASES[key] == value), f"base {value:g}")
    if name in CHOICES:
        return str(dict(CHOICES[name]).get(value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}"
