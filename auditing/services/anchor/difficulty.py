"""How hard an item is: what judges say of its rollouts, the rule's level, and what people decide about hard items.

Paper: "ANCHOR: Audio-Visually Grounded Chain-of-Thought Reasoning Benchmark", section 3.3 and appendix A.1. Rollouts
are the bare answers with all cues, in the order of model and take. A judgement is about exactly these texts: with
other rollouts it counts no more, and the item has no level until it is judged again. What a person decides stands
beside the rule's level and does not replace it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone

from auditing.core.anchor.difficulty import LEVELS, DifficultyRule, Judgement
from auditing.core.anchor.difficulty import assess as apply_rule
from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import (
    Benchmark,
    BenchmarkItem,
    BenchmarkRun,
    DifficultyJudgement,
    DifficultyReview,
    ModelAnswer,
    Setting,
)
from auditing.services.anchor.changes import changed, event, hold
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.errors import UserError

LONGEST_NOTE = 4_000
BATCH = 1_000
HARD = "hard"


def rollouts(item: BenchmarkItem) -> list[ModelAnswer]:
    """Return the bare answers of an item in the order in which judges see them: by model, then by take."""
    return _rollouts([item.pk])[item.pk]


def _rollouts(items: Iterable[int]) -> dict[int, list[ModelAnswer]]:
    """The same of several items, by item; one query."""
    found: dict[int, list[ModelAnswer]] = {pk: [] for pk in items}
    rows = ModelAnswer.objects.filter(
        item__in=list(found), role=ModelAnswer.Role.ROLLOUT, setting=Setting.FULL
    )
    for row in rows.order_by():
        found[row.item_id].append(row)
    return {pk: in_order(answers) for pk, answers in found.items()}


def in_order(answers: Iterable[ModelAnswer]) -> list[ModelAnswer]:
    """Return rollouts in the order in which judges see them."""
    # Sorted here: the database's order of letters depends on its locale.
    return sorted(answers, key=lambda row: (row.model, row.take))


def answers_sha256(item: BenchmarkItem, answers: Sequence[ModelAnswer] | None = None) -> str:
    """Return the hash over the rollouts of an item in their order; `answers` saves the query where they are known."""
    return _hash(rollouts(item) if answers is None else answers)


def _hash(answers: Iterable[ModelAnswer]) -> str:
    return hash_of((answer.model, answer.take, answer.text) for answer in answers)


def hashes_of(items: Iterable[int]) -> dict[int, str]:
    """Return the hashes over the rollouts of several items, by item."""
    return {pk: _hash(answers) for pk, answers in _rollouts(items).items()}


def hash_of(answers: Iterable[tuple[str, int, str]]) -> str:
    """Return the hash over model, take and text of rollouts in their order."""
    return sha256_of([list(answer) for answer in answers])


def judge(
    item: BenchmarkItem,
    source: str,
    judgement: Judgement | None,
    problem: str = "",
    run: BenchmarkRun | None = None,
) -> DifficultyJudgement:
    """Store what one judge says of the rollouts as they are now; it replaces what this judge said before.

    To be called in a transaction whose end also calls `assess` and `changes.changed`, once for all judges.

    Parameters
    ----------
    source : str
        The judge (``openai:MODEL``).
    judgement : Judgement or None
        None where the reply holds none; `problem` says why then.
    """
    values: dict[str, Any] = {
        "matches": None if judgement is None else list(judgement.matches),
        "similarity": None if judgement is None else judgement.similarity_rating,
        "explanation": "" if judgement is None else judgement.explanation,
        "problem": problem if judgement is None else "",
        "answers_sha256": answers_sha256(item),
        "run": run,
    }
    row, _ = DifficultyJudgement.objects.update_or_create(item=item, source=source, defaults=values)
    return row


def judge_many(benchmark: Benchmark, said: Iterable[tuple[BenchmarkItem, str, Judgement]]) -> int:
    """Store what judges say of many items of a benchmark, as `judge` does; returns how many are new or changed."""
    given = list(said)
    if not given:
        return 0
    answers = _rollouts(item.pk for item, *_ in given)
    now = {pk: _hash(found) for pk, found in answers.items()}
    there = {
        (row.item_id, row.source): row
        for row in DifficultyJudgement.objects.filter(item__benchmark=benchmark)
    }
    rows, at = [], timezone.now()
    for item, source, judgement in given:
        row = DifficultyJudgement(
            item=item,
            source=source,
            matches=list(judgement.matches),
            similarity=judgement.similarity_rating,
            explanation=judgement.explanation,
            answers_sha256=now[item.pk],
            updated_at=at,
        )
        known = there.get((item.pk, source))
        if known is None or any(getattr(known, name) != getattr(row, name) for name in _SAID):
            rows.append(row)
    DifficultyJudgement.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["item", "source"],
        update_fields=[*_SAID, "run", "updated_at"],
    )
    return len(rows)


_SAID = ("matches", "similarity", "explanation", "problem", "answers_sha256")


def assess(item: BenchmarkItem) -> BenchmarkItem:
    """Set the rule's level of an item from the judgements about its present rollouts, and how it came about.

    `item.verdict` is the core `Difficulty` with: ``answers_sha256``; ``stale``, the judgements about other rollouts;
    ``by_judge``, for each judge ``{"source", "matches", "mismatches", "similarity", "explanation", "problem"}``.
    Without a level `item.difficulty` is "" and ``why_not`` is a sentence. To be called in a transaction, see `judge`.
    """
    assess_many(item.benchmark, [item])
    return item


def assess_many(benchmark: Benchmark, items: Sequence[BenchmarkItem]) -> None:
    """Do for many items of a benchmark what `assess` does for one."""
    rule = BenchmarkParameters.from_dict(benchmark.parameters).rule
    for start in range(0, len(items), BATCH):
        batch = items[start : start + BATCH]
        answers = _rollouts(item.pk for item in batch)
        rows: dict[int, list[DifficultyJudgement]] = {item.pk: [] for item in batch}
        for row in DifficultyJudgement.objects.filter(item__in=list(rows)).order_by():
            rows[row.item_id].append(row)
        for item in batch:
            said = sorted(rows[item.pk], key=lambda row: row.source)
            _assess(item, answers[item.pk], said, rule)
        BenchmarkItem.objects.bulk_update(batch, ["difficulty", "verdict"], batch_size=BATCH)


def apply_rule_anew(benchmark: Benchmark) -> None:
    """Set the levels of all items that were judged, after the rule has changed. In the caller's transaction."""
    assess_many(benchmark, list(benchmark.items.exclude(verdict=None)))


def _assess(
    item: BenchmarkItem,
    answers: Sequence[ModelAnswer],
    rows: Sequence[DifficultyJudgement],
    rule: DifficultyRule,
) -> None:
    """Set level and verdict of an item that the caller stores."""
    now = _hash(answers)
    current = [row for row in rows if row.answers_sha256 == now]
    if not answers and not rows:
        item.difficulty, item.verdict = "", None
        return
    document: dict[str, Any]
    if len(answers) == rule.rollouts:
        found = apply_rule(
            [_judgement(row, rule.rollouts) for row in current],
            rule,
            answered=[bool(answer.final_answer.strip()) for answer in answers],
        )
        document = asdict(found)
    else:
        # The rule's thresholds are for so many answers; with fewer or more they would mean something else.
        document = {
            **asdict(apply_rule([], rule)),
            "why_not": f"There are {len(answers)} rollouts, and the rule is about {rule.rollouts}.",
        }
    if rows and not current and not document["difficulty"] and len(answers) == rule.rollouts:
        document["why_not"] = "The judgements are about other rollouts than those that are there now."
    item.difficulty = document["difficulty"] or ""
    item.verdict = {
        **document,
        "votes": list(document["votes"]),
        "answers_sha256": now,
        "stale": len(rows) - len(current),
        "by_judge": [_said(row, len(answers)) for row in current],
    }


def _judgement(row: DifficultyJudgement, answers: int) -> Judgement | None:
    """What a row says; None where it says nothing, or of another number of answers."""
    if row.matches is None or row.similarity is None or len(row.matches) != answers:
        return None
    return Judgement(tuple(row.matches), row.similarity, row.explanation)


def _said(row: DifficultyJudgement, answers: int) -> dict[str, Any]:
    found = _judgement(row, answers)
    problem = row.problem
    if found is None and not problem:
        problem = f"The reply is not about {answers} answers."
    return {
        "source": row.source,
        "matches": None if found is None else list(found.matches),
        "mismatches": None if found is None else found.matches.count(False),
        "similarity": None if found is None else found.similarity_rating,
        "explanation": row.explanation,
        "problem": problem,
    }


@transaction.atomic
def review(
    item: BenchmarkItem,
    *,
    decision: str,
    fault: str = "",
    level: str = "",
    note: str = "",
    version: int,
    by: Any,
) -> DifficultyReview:
    """Store what `by` decides about a hard item; an earlier decision is changed.

    Parameters
    ----------
    decision : {"confirmed", "corrected", "rejected"}
        The item is hard; its annotation was wrong; models or judges erred.
    fault : {"", "model", "judge"}
        Who erred; needed with "rejected", and with nothing else.
    level : {"", "easy", "medium", "hard"}
        The level in the person's view, "" where they name none.
    version : int
        The version of the decision that the person saw, 0 where there was none.

    Raises
    ------
    UserError
        409 ``version_conflict``: somebody decided meanwhile. 422 ``unknown_decision``, ``unknown_fault``,
        ``fault_missing``, ``unknown_level``, ``level_contradicts``, ``too_long``, ``not_hard``. Nothing is stored then.
    """
    _check(decision, fault, level, note)
    hold(item.benchmark_id)
    # Held until the end: two first decisions would be two rows.
    locked = BenchmarkItem.objects.select_for_update(no_key=True).select_related(None).get(pk=item.pk)
    row = DifficultyReview.objects.filter(item=locked).first()
    stored = 0 if row is None else row.version
    if stored != version:
        raise UserError(
            "version_conflict",
            f"Somebody else decided about item {locked.number} meanwhile.",
            "Look at their decision below, then choose again if yours is another one.",
            status=409,
        )
    if row is None and locked.difficulty != HARD:
        raise UserError(
            "not_hard",
            f"The rule does not call item {locked.number} hard, so there is nothing to confirm.",
            "Reload the page: the item was judged again.",
            status=422,
        )
    before = None if row is None else _content(row)
    imported = row is not None and row.user_id is None  # to say the same again makes the decision one's own
    row = row or DifficultyReview(item=locked)
    row.user, row.source = by, ""
    row.decision, row.fault, row.level, row.note = decision, fault, level, note
    row.version = stored + 1
    if before == _content(row) and not imported:
        return DifficultyReview.objects.get(pk=row.pk)
    row.save()
    locked.decision = decision
    locked.save(update_fields=["decision"])
    item.decision = decision
    changed(item.benchmark)
    data = {"item": locked.number, "version": row.version, "before": before, "after": _content(row)}
    event(item.benchmark, by, "benchmark.review_difficulty", data)
    return row


def _content(row: DifficultyReview) -> dict[str, str]:
    return {"decision": row.decision, "fault": row.fault, "level": row.level, "note": row.note}


def _check(decision: str, fault: str, level: str, note: str) -> None:
    if decision not in DifficultyReview.Decision.values:
        raise _unusable(
            "unknown_decision", "Choose what you decide: confirm, correct or reject.", "decision", decision
        )
    if fault and fault not in DifficultyReview.Fault.values:
        raise _unusable("unknown_fault", "Choose who erred: the models or the judges.", "fault", fault)
    if (decision == DifficultyReview.Decision.REJECTED) != bool(fault):
        message = (
            "Say who erred, the models or the judges." if not fault else "Only a rejection names who erred."
        )
        raise _unusable("fault_missing" if not fault else "unknown_fault", message, "fault", fault)
    if level and level not in LEVELS:
        raise _unusable("unknown_level", "Choose a level: easy, medium or hard.", "level", level)
    if decision == DifficultyReview.Decision.CONFIRMED and level not in ("", HARD):
        message = f"You confirm that the item is hard and call it {level}. Choose another decision or another level."
        raise _unusable("level_contradicts", message, "level", level)
    if len(note) > LONGEST_NOTE:
        message = f"The note has {len(note):,} characters, and {LONGEST_NOTE:,} are allowed."
        raise _unusable("too_long", message, "note", "")


def _unusable(code: str, message: str, field: str, value: str) -> UserError:
    shown = f" Given was {value[:40]!r}." if value else ""
    return UserError(
        code,
        f"{message}{shown}" if code.startswith("unknown") else message,
        status=422,
        fields={field: message},
    )
