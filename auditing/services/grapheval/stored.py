"""Reading what a data set says of its chains: ``trace.meta["chain"]`` is file content and is not taken on trust.

Whatever does not fit is left out and named by a warning ``{"code": ...}`` beside the chain's facts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.core.labels import storable
from annotation.models import Trace
from auditing.core.grapheval.chains import Step, valid_dependencies
from auditing.core.grapheval.facts import Fact
from auditing.core.grapheval.fallback import chained_steps, sentence_facts
from auditing.core.grapheval.stored_steps import said_steps, steps_of, whole, wholes
from auditing.selectors.reasoning_steps import chain_of

SOUND = ("yes", "no")
MOST_FACTS = 20_000
"""Facts of one chain that are taken; more are no reading of a text but a fault of the file."""


@dataclass(slots=True)
class StoredChain:
    """A chain as its trace gives it.

    Attributes
    ----------
    steps : tuple of Step
        Segments after the context, with the data's numbers and dependencies where these fit.
    answer : str or None
        Final answer as written.
    facts : tuple of Fact
        Facts that came with the data; none where there are none.
    prefix_answers : list of (str or None), or None
        Answers after the first fact, the first two, and so on.
    step_answers : list of dict, or None
        ``{"step", "edit", "answer"}`` of every edited step.
    sound, sound_by : str
        Whether somebody calls it sound, "" where nobody does, and who.
    warnings : list of dict
        What did not fit.
    """

    steps: tuple[Step, ...]
    answer: str | None = None
    facts: tuple[Fact, ...] = ()
    prefix_answers: list[str | None] | None = None
    step_answers: list[dict[str, Any]] | None = None
    sound: str = ""
    sound_by: str = ""
    warnings: list[dict[str, Any]] = field(default_factory=list)


def read(trace: Trace, texts: Sequence[str]) -> StoredChain:
    """Return the chain of a trace.

    Parameters
    ----------
    trace
        Only its `meta` is read.
    texts
        Texts of its segments after the context, as first split.
    """
    content = chain_of(trace)
    if not isinstance(content, Mapping):
        return StoredChain(chained_steps(texts))
    found = StoredChain(steps_of(content, texts))
    if content.get("steps") is not None and said_steps(content, texts) is None:
        found.warnings.append({"code": "steps_do_not_fit"})
    found.answer = _text(content.get("answer"))
    found.facts = _facts(content.get("facts"), found)
    found.prefix_answers = _prefix_answers(content.get("prefix_answers"), found)
    found.step_answers = _step_answers(content.get("step_answers"), found)
    if content.get("sound") in SOUND:
        found.sound, found.sound_by = content["sound"], _text(content.get("sound_by")) or "data set"
    return found


def fallback_facts(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return the sentences of steps as stored facts."""
    return [fact_dict(fact) for fact in sentence_facts(steps)]


def fact_dict(fact: Fact) -> dict[str, Any]:
    """Return a fact as it is stored."""
    return {"text": fact.text, "step": fact.step, "depends_on": list(fact.depends_on)}


def facts_of(rows: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
    """Return stored facts as values."""
    return tuple(Fact(str(row["text"]), int(row["step"]), tuple(row["depends_on"])) for row in rows)


def _facts(rows: Any, found: StoredChain) -> tuple[Fact, ...]:
    if rows in (None, []):
        return ()
    known = {step.index for step in found.steps}
    kept: dict[tuple[int, str], list[int]] = {}
    dropped = not isinstance(rows, list) or len(rows) > MOST_FACTS
    for row in [] if dropped else rows:
        text = (_text(row.get("text")) or "").strip() if isinstance(row, Mapping) else ""
        step = whole(row.get("step")) if text else None
        depends_on = wholes(row.get("depends_on", [])) if text else None
        if step not in known or step is None or depends_on is None or (step, text) in kept:
            dropped = True
        else:
            kept[step, text] = depends_on
    if dropped:
        found.warnings.append({"code": "facts_do_not_fit"})
    with_facts = {step for step, _ in kept}
    return tuple(
        Fact(text, step, valid_dependencies(step, sorted(set(depends_on)), with_facts)[0])
        for (step, text), depends_on in kept.items()
    )


def _prefix_answers(rows: Any, found: StoredChain) -> list[str | None] | None:
    if rows is None:
        return None
    if isinstance(rows, list) and all(row is None or isinstance(row, str) for row in rows):
        return [_text(row) for row in rows]
    found.warnings.append({"code": "prefix_answers_do_not_fit"})
    return None


def _step_answers(rows: Any, found: StoredChain) -> list[dict[str, Any]] | None:
    if rows is None:
        return None
    known = {step.index for step in found.steps}
    kept = []
    for row in rows if isinstance(rows, list) else []:
        step = whole(row.get("step")) if isinstance(row, Mapping) else None
        if step in known and step is not None:
            kept.append({"step": step, "edit": _text(row.get("edit")), "answer": _text(row.get("answer"))})
    if not isinstance(rows, list) or len(kept) < len(rows) or len({row["step"] for row in kept}) < len(kept):
        found.warnings.append({"code": "step_answers_do_not_fit"})
        return None
    return kept


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() and storable(value) else None
