"""Who rates answers of a benchmark, how many, and what each person gives: the only way to change these."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from annotation.services.editing import WorkRefused
from auditing.models import Benchmark, BenchmarkRater, ModelAnswer, Rating, Reference
from auditing.selectors.benchmark_rating import (
    LONGEST_NOTE,
    MOST_SAMPLE,
    REMOVE_ACTION,
    SAMPLE_ACTION,
    own_ratings,
    rating_object,
    rating_version,
    sample_size,
    shown_version,
)
from auditing.selectors.benchmark_rating import is_complete as all_rated
from auditing.selectors.benchmark_rating_words import FACETS
from auditing.selectors.benchmark_ratings import chains, main
from auditing.services.anchor.changes import changed, event, hold
from reasonaudit.lib.errors import UserError


@transaction.atomic
def add_rater(benchmark: Benchmark, username: str, by: Any) -> BenchmarkRater:
    """List somebody as a rater, by the name of an account that is in use; one who was taken off rates again.

    Results do not follow from who is listed, so they stay as they are.

    Raises
    ------
    UserError
        422 ``no_account``, ``switched_off``, ``already_listed``.
    """
    user = get_user_model().objects.filter(username=username).first()
    if user is None:
        raise UserError(
            "no_account",
            f"There is no account of the name {username[:80]!r}.",
            "Check the spelling, or invite the person.",
            status=422,
            fields={"user": "There is no account of this name. Check the spelling, or invite the person."},
        )
    if not user.is_active:
        raise UserError(
            "switched_off",
            f"The account {username} is switched off.",
            "Ask an administrator to switch it on.",
            status=422,
            fields={"user": "This account is switched off. Ask an administrator to switch it on."},
        )
    row, is_new = BenchmarkRater.objects.select_for_update().get_or_create(benchmark=benchmark, user=user)
    if not is_new and row.active:
        raise UserError(
            "already_listed",
            f"{username} rates this benchmark already.",
            "Add somebody else.",
            status=422,
            fields={"user": "This person rates this benchmark already."},
        )
    row.active = True
    row.save()
    event(benchmark, by, "benchmark.add_rater", {"user": user.pk})
    return row


@transaction.atomic
def remove_rater(benchmark: Benchmark, rater_id: int, by: Any) -> BenchmarkRater:
    """Take somebody off the list; what they rated stays and counts.

    Raises
    ------
    UserError
        404 ``no_rater``: nobody of that number is listed.
    """
    row = (
        BenchmarkRater.objects.select_for_update(of=("self",))
        .select_related("user")
        .filter(benchmark=benchmark, pk=rater_id, active=True)
        .first()
    )
    if row is None:
        raise UserError("no_rater", "There is no such rater in the list.", "Load the page again.", status=404)
    row.active = False
    row.save()
    event(benchmark, by, REMOVE_ACTION, {"user": row.user_id})
    return row


@transaction.atomic
def set_sample(benchmark: Benchmark, number: int, by: Any) -> bool:
    """Choose how many answers are sampled, for all raters; False where it is so already.

    The choice is the event itself (`selectors.benchmark_rating.sample_size`). What was rated of a larger sample stays.

    Raises
    ------
    UserError
        422 ``bad_sample``: not from 1 to `MOST_SAMPLE`.
    """
    if not 1 <= number <= MOST_SAMPLE:
        raise UserError(
            "bad_sample",
            f"{number:,} answers cannot be sampled.",
            f"Choose from 1 to {MOST_SAMPLE:,}.",
            status=422,
            fields={"number": f"From 1 to {MOST_SAMPLE:,}."},
        )
    if number == sample_size(benchmark):
        return False
    event(benchmark, by, SAMPLE_ACTION, {"number": number})
    return True


@transaction.atomic
def save(
    *,
    benchmark: Benchmark,
    answer_id: int,
    facet: str,
    by: Any,
    base_version: int,
    value: int | None,
    note: str = "",
    shown: str = "",
) -> dict[str, Any]:
    """Store what `by` gives an answer on one facet now, against the item's main reference.

    Parameters
    ----------
    facet
        answer, hallucination or divergence.
    base_version
        The version that the change was made on, 0 where there was none.
    value
        1 to 5, 5 = best; None takes back what was given, and its note.
    shown
        Names the texts that were seen (`shown_version`); with others nothing is stored. "" is not compared.

    Returns
    -------
    ``{"version", "saved_at", "complete"}``; complete says whether the answer has all ratings of this person.

    Raises
    ------
    WorkRefused
        409 ``version_conflict`` (with ``current``): the same person gave something else meanwhile, in another tab.
    UserError
        404 ``no_such_answer``; 422 ``unknown_facet``, ``off_scale``, ``too_long``, ``no_reference``,
        ``other_texts``. Nothing is stored then.
    """
    _check(facet, value, note)
    hold(benchmark.pk)
    # Held until the end: two first ratings of one person would be two rows, and the texts must stay.
    answer = chains(benchmark).order_by().select_for_update(no_key=True).filter(pk=answer_id).first()
    if answer is None:
        raise UserError(
            "no_such_answer",
            "This answer is not among those that are rated any more.",
            "Reload the page for a new list.",
            status=404,
        )
    reference = _reference(benchmark, answer, shown)
    row = Rating.objects.filter(answer=answer, facet=facet, reference=reference, user=by, source="").first()
    is_of_these = row is not None and (row.answer_sha256, row.reference_sha256) == (
        answer.sha256,
        reference.sha256,
    )
    before = row if is_of_these else None
    if (0 if before is None else rating_version(before.value, before.words)) != base_version:
        raise WorkRefused(
            "version_conflict",
            "You rated this answer otherwise meanwhile, in another tab or window.",
            "Choose which of the two stays.",
            current=rating_object(before),
        )
    old = None if before is None else {"value": before.value, "note": before.words}
    if value is None:
        return _take_back(benchmark, answer, facet, row, by, old)
    row = row or Rating(answer=answer, facet=facet, reference=reference, user=by)
    row.value, row.words, row.status, row.why = value, note, Rating.Status.GIVEN, ""
    row.answer_sha256, row.reference_sha256 = answer.sha256, reference.sha256
    row.save()
    complete = all_rated(own_ratings(benchmark, by, [answer.pk]).get(answer.pk, {}))
    new = {"value": value, "note": note}
    changed(benchmark)
    event(
        benchmark,
        by,
        "rating.save",
        {"answer": answer.pk, "facet": facet, "old": old, "new": new, "complete": complete},
    )
    return {
        "version": rating_version(value, note),
        "saved_at": row.updated_at.isoformat(),
        "complete": complete,
    }


def _take_back(
    benchmark: Benchmark, answer: ModelAnswer, facet: str, row: Rating | None, by: Any, old: Any
) -> dict[str, Any]:
    if row is not None:
        row.delete()
        changed(benchmark)
        event(
            benchmark,
            by,
            "rating.take_back",
            {"answer": answer.pk, "facet": facet, "old": old, "new": None, "complete": False},
        )
    return {"version": 0, "saved_at": timezone.now().isoformat(), "complete": False}


def _check(facet: str, value: int | None, note: str) -> None:
    if facet not in FACETS:
        raise UserError(
            "unknown_facet",
            f"{facet[:40]!r} is nothing that people rate.",
            f"Use {', '.join(FACETS)}.",
            status=422,
        )
    if value is not None and value not in range(1, 6):
        raise UserError(
            "off_scale", f"{value} is not on the scale.", "Give 1, 2, 3, 4 or 5 (best).", status=422
        )
    if len(note) > LONGEST_NOTE:
        raise UserError(
            "too_long",
            f"The note has {len(note):,} characters, and {LONGEST_NOTE:,} are allowed.",
            "Shorten it.",
            status=422,
            fields={"note": f"At most {LONGEST_NOTE:,} characters."},
        )


def _reference(benchmark: Benchmark, answer: ModelAnswer, shown: str) -> Reference:
    reference = (
        Reference.objects.select_for_update(no_key=True)
        .filter(item=answer.item_id, source=main(benchmark, "reference"))
        .first()
    )
    if reference is None:
        raise UserError(
            "no_reference",
            "The item of this answer has no reference any more, so the answer cannot be rated.",
            "Go on with the next answer; a researcher can take the reference again.",
            status=422,
        )
    if shown and shown != shown_version(answer, reference):
        raise UserError(
            "other_texts",
            "The answer or its reference was changed since you read it.",
            "Reload the page, read the answer again and rate it anew.",
            status=422,
        )
    return reference
