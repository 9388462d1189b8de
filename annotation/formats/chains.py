"""Chains of thought in records: their steps and answers, and what several readers of stored samples share.

Paper: "Can We Trust LLM's Logic? Quantifying Uncertainty, Coherence, and Robustness via a Graph-Based Framework",
section 3. `TraceRecord.meta["chain"]` is an object with

- `steps`: `{"index", "depends_on"}` of each step, one for each segment after the context, in order; `depends_on` names
  indices of steps. An empty list says that the reply has no step: its trace holds only the context, and the reply as
  `raw_text`.
- `answer` (as written, or null), `answer_kind`, `take` (number of the sample for its question, from 1), `warnings`.
- Where the source has them: `facts`, `prefix_answers`, `step_answers`, `sound` ("yes" or "no") and `sound_by`.

Instead of `steps`, `from_text` says how the caller makes them of `raw_text`: `STEP_FORMAT` (numbered steps that name
what they depend on) or `SENTENCES` (each segment a step that depends on the one before).

Where nothing says what steps depend on, each is taken to depend on the one before, and the warning `ASSUMED` marks it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from types import MappingProxyType

ANSWER_KINDS = ("boolean", "choice", "number", "text")
STEP_FORMAT = "steps"
SENTENCES = "sentences"
ASSUMED: Mapping[str, object] = MappingProxyType({"code": "assumed_dependencies"})

MOST_INDEX = 10**6
"""Numbers of steps stay below it."""

MAX_NUMBER_CHARACTERS = 40
"""Longer numbers take no part in value flow: their digits repeat, and nothing is computed from them."""

MAX_SHARED_KEYS = 200
"""Keys of a question that are handed to each of its samples: more of them would cost samples times keys."""

_NUMBER = re.compile(r"-?(?:\d[\d,]*(?:\.\d*)?|\.\d+)")
_OPTION_LINE = re.compile(r"\(?([A-Z])[):.]\s*+(\S.*)")


def chain_meta(
    steps: Sequence[Sequence[int]],
    answer: str | None,
    kind: str,
    take: int,
    *,
    warnings: Iterable[Mapping[str, object]] = (),
    more: Mapping[str, object] = MappingProxyType({}),
) -> dict[str, object]:
    """Return the `chain` of a trace whose steps are numbered 1, 2, ...

    Parameters
    ----------
    steps
        For each step, the earlier steps that it depends on.
    answer
        As written; None or blank where there is none, which becomes a warning.
    kind
        One of `ANSWER_KINDS`.
    take
        Number of the sample for its question, from 1.
    warnings
        What else is not as it should be: objects with `code` and, where it fits, `step`, `dep` or `count`.
    more
        Further keys; None is left out.
    """
    return {
        "steps": [
            {"index": index, "depends_on": sorted(set(dependencies))}
            for index, dependencies in enumerate(steps, 1)
        ],
        **_rest(answer, kind, take, [*warnings, *([] if steps else [{"code": "no_steps"}])], more),
    }


def chain_of_reply(
    how: str,
    reply: str,
    answer: str | None,
    kind: str,
    take: int,
    *,
    warnings: Iterable[Mapping[str, object]] = (),
    more: Mapping[str, object] = MappingProxyType({}),
) -> tuple[str | None, dict[str, object]]:
    """Return the raw text and the `chain` of a trace whose steps the caller makes of a reply; see `chain_meta`.

    A blank reply is a chain as well: it is kept and counted, has no raw text and no step. In `STEP_FORMAT` the text may
    say the answer itself, so that a missing one is no warning yet.
    """
    if not reply.strip():
        return None, chain_meta((), answer, kind, take, warnings=warnings, more=more)
    rest = _rest(answer, kind, take, list(warnings), more)
    if how == STEP_FORMAT and rest["answer"] is None:
        rest["warnings"] = [dict(warning) for warning in warnings]
    return reply, {"from_text": how, **rest}


def chained_meta(count: int, answer: str | None, kind: str, take: int) -> dict[str, object]:
    """Return the `chain` of a trace of so many steps of which nothing says what they depend on; see `chain_meta`."""
    warnings = [ASSUMED] if count > 1 else []
    return chain_meta(one_after_another(count), answer, kind, take, warnings=warnings)


def _rest(
    answer: str | None,
    kind: str,
    take: int,
    warnings: list[Mapping[str, object]],
    more: Mapping[str, object],
) -> dict[str, object]:
    written = (answer or "").strip() or None
    if written is None:
        warnings = [*warnings, {"code": "missing_answer"}]
    return {
        "answer": written,
        "answer_kind": kind,
        "take": take,
        "warnings": [dict(warning) for warning in warnings],
        **{name: value for name, value in more.items() if value is not None},
    }


def one_after_another(count: int) -> list[list[int]]:
    """Return the dependencies of steps that each depend on the one before (the rule-based fallback)."""
    return [[index] if index else [] for index in range(count)]


def samples_of(
    records: Iterable[tuple[int, object]], field: str, *beside: str
) -> Iterator[tuple[int, object]]:
    """Yield each sample of each record as an object of its own, so that a trace is made of each.

    Parameters
    ----------
    records
        (line, value) of each question.
    field
        Its list of samples; the yielded object holds one of them as `sample`, its place as `take` (from 1), and the
        question's other fields. A record without such a list is yielded without a `sample`, for the reader to say so.
    beside
        Lists of the same length, of which the yielded object holds the item at the same place.
    """
    for line, value in records:
        samples = value.get(field) if isinstance(value, dict) else None
        if not isinstance(value, dict):
            yield line, value
            continue
        if not isinstance(samples, list) or not samples:
            # What stands under `sample` in the file is none of ours: no reader may take it for one.
            yield line, {name: item for name, item in value.items() if name not in ("sample", "take")}
            continue
        shared = shared_keys(value, {field, *beside})
        for place, sample in enumerate(samples):
            others = {name: value[name][place] for name in beside if _fits(value.get(name), len(samples))}
            yield line, {**shared, **others, "sample": sample, "take": place + 1}


def shared_keys(value: Mapping[str, object], without: Collection[str]) -> dict[str, object]:
    """Return the first `MAX_SHARED_KEYS` fields of a question but for these."""
    return dict(
        islice(((name, item) for name, item in value.items() if name not in without), MAX_SHARED_KEYS)
    )


def _fits(value: object, count: int) -> bool:
    return isinstance(value, list) and len(value) == count


def exact(text: str) -> Fraction | None:
    """Return the exact value of a decimal number, with or without commas; None for anything else or a long one."""
    bare = text.replace(",", "").strip()
    if len(bare) > MAX_NUMBER_CHARACTERS or not _NUMBER.fullmatch(bare):
        return None
    return Fraction(bare)


def numbers_in(text: str) -> list[Fraction]:
    """Return the numbers of a text in order; a minus sign directly after a digit or a bracket is a subtraction."""
    found = []
    for match in _NUMBER.finditer(text):
        digits = match[0]
        if digits.startswith("-") and re.search(
            r"[\d)]\s*$", text[max(0, match.start() - 8) : match.start()]
        ):
            digits = digits[1:]
        value = exact(digits.rstrip(".,"))
        if value is not None:
            found.append(value)
    return found


def options_of(text: str) -> dict[str, str]:
    """Return the lettered options of a text, "A: ..." or "(A) ...", one a line; {} unless they run A, B, C ..."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if match := _OPTION_LINE.fullmatch(line.strip()):
            if match[1] in found:
                return {}
            found[match[1]] = match[2]
    letters = "".join(found)
    return found if len(letters) > 1 and letters == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(letters)] else {}


def kind_of_answer(gold: str, options: Mapping[str, str] | None = None) -> str:
    """Return the kind of answer that a gold answer shows: the first of choice, boolean, number, text that fits."""
    bare = gold.strip().rstrip(".")
    if options or re.fullmatch(r"\([A-Za-z]\)", bare):
        return "choice"
    if bare.casefold() in ("true", "false", "yes", "no"):
        return "boolean"
    return "number" if exact(bare.lstrip("$")) is not None else "text"


def has_no_steps(meta: Mapping[str, object]) -> bool:
    """Say whether a trace's meta tells that its reply has no step, so that the context is all it holds."""
    chain = meta.get("chain")
    return isinstance(chain, dict) and chain.get("steps") == [] and "from_text" not in chain


def case_meta_of(meta: Mapping[str, object]) -> dict[str, object]:
    """Return what of a stored case's meta belongs into a file: not what the application notes there for itself."""
    return {name: meta[name] for name in ("options", "answer_kind", "gold_by") if name in meta}


def meta_of(meta: Mapping[str, object], segmentation: int) -> Mapping[str, object]:
    """Return a stored trace's meta for a file: without the chain where people split or merged its segments."""
    return meta if segmentation == 1 else {name: value for name, value in meta.items() if name != "chain"}


def chain_faults(chain: object, steps: int | None) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the shape of a `chain` that somebody wrote, as (field below `chain`, message).

    Parameters
    ----------
    chain
        Any JSON value.
    steps
        Number of segments after the context; None where they are yet to be made of the raw text.
    """
    if not isinstance(chain, dict):
        yield "", "must be an object"
        return
    if chain.get("answer") is not None and not isinstance(chain["answer"], str):
        yield "answer", "must be text or null"
    if chain.get("answer_kind") not in (None, *ANSWER_KINDS):
        yield "answer_kind", f"must be one of {', '.join(ANSWER_KINDS)}"
    take = chain.get("take", 1)
    if not _whole(take) or take < 1:
        yield "take", "must be a whole number from 1"
    if chain.get("sound") not in (None, "yes", "no"):
        yield "sound", "must be yes or no"
    if not isinstance(chain.get("sound_by", ""), str):
        yield "sound_by", "must be text"
    for place, warning in enumerate(_list(chain, "warnings"), 1):
        if not isinstance(warning, dict) or not isinstance(warning.get("code"), str):
            yield f"warnings[{place}]", "must be an object with a code"
    for name in ("warnings", "steps", "facts", "prefix_answers", "step_answers"):
        if chain.get(name) is not None and not isinstance(chain[name], list):
            yield name, "must be a list"
    yield from _step_faults(chain, steps)
    yield from _item_faults(chain)


def _step_faults(chain: Mapping[str, object], count: int | None) -> Iterator[tuple[str, str]]:
    how = chain.get("from_text")
    if count is None:
        if how is None and chain.get("steps") == []:
            return
        if how not in (STEP_FORMAT, SENTENCES):
            yield "from_text", f"must be {STEP_FORMAT} or {SENTENCES} beside raw_text"
        return
    if how is not None:
        yield "from_text", "needs raw_text, which is not given"
        return
    steps = _list(chain, "steps")
    for place, step in enumerate(steps, 1):
        if not isinstance(step, dict) or not _whole(step.get("index")) or not _all_whole(step, "depends_on"):
            yield f"steps[{place}]", "must be an object with a whole index and a list of whole depends_on"
            return
    indices = [step["index"] for step in steps if isinstance(step, dict)]
    if len(set(indices)) != len(indices):
        yield "steps", "two steps have the same index"


def case_meta_faults(meta: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the `options` and `answer_kind` of a case, as (field, message)."""
    options = meta.get("options", {})
    if not isinstance(options, dict) or not all(isinstance(text, str) for text in options.values()):
        yield "options", "must be an object of texts by letter"
    if meta.get("answer_kind") not in (None, *ANSWER_KINDS):
        yield "answer_kind", f"must be one of {', '.join(ANSWER_KINDS)}"


def _item_faults(chain: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for place, fact in enumerate(_list(chain, "facts"), 1):
        if not isinstance(fact, dict) or not isinstance(fact.get("text"), str) or not fact["text"].strip():
            yield f"facts[{place}].text", "must be text that is not blank"
        elif not _whole(fact.get("step")) or not _all_whole(fact, "depends_on"):
            yield f"facts[{place}]", "needs a whole step and a list of whole depends_on"
    for place, answer in enumerate(_list(chain, "prefix_answers"), 1):
        if answer is not None and not isinstance(answer, str):
            yield f"prefix_answers[{place}]", "must be text or null"
    for place, edited in enumerate(_list(chain, "step_answers"), 1):
        if not isinstance(edited, dict) or not _whole(edited.get("step")):
            yield f"step_answers[{place}]", "needs a whole step"
        elif not isinstance(edited.get("edit"), str):
            yield f"step_answers[{place}].edit", "must be text"
        elif edited.get("answer") is not None and not isinstance(edited["answer"], str):
            yield f"step_answers[{place}].answer", "must be text or null"


def _list(chain: Mapping[str, object], name: str) -> list[object]:
    value = chain.get(name)
    return value if isinstance(value, list) else []


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_INDEX


def _all_whole(item: Mapping[str, object], name: str) -> bool:
    value = item.get(name, [])
    return isinstance(value, list) and all(_whole(one) for one in value)
