"""What an adjudicator sees of a study of videos: the queue, and one question with everybody's documents.

As in `annotation.selectors.adjudication`, nothing here names those who refined, or says when or in which order their
work came in (AB-06).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.cache import cache
from django.urls import reverse

from annotation.core.adjudication import NOTE_LIMIT
from annotation.core.states import State, words
from annotation.models import DocumentDecision, Study, StudyItem
from annotation.selectors.document_sides import (
    Decisions,
    decisions_of,
    is_sampled,
    submissions_of,
)
from annotation.selectors.guidelines import newest
from annotation.selectors.handed_in import HandedIn, handed_in, handed_in_of_study
from annotation.selectors.refinements import common_parts
from annotation.selectors.work import why_no_guideline
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.models import Event
from videos.core.values import LONGEST_TEXT
from videos.models import VideoQuestion
from videos.selectors.documents import document_json

# Part of the key of what is kept; another number after a change of `videos.core.comparison`.
COMPARED = 1


def queue(study: Study) -> dict[str, Any]:
    """Every question that several people refined and handed in, with counts.

    Those that wait come first, the lowest agreement first, then the sample of agreed ones; after them what is settled.
    """
    works = [work for work in handed_in_of_study(study) if len(work.people) > 1]
    whole = [work for work in works if work.is_complete]
    decisions = _decisions_of(work.item for work in whole)
    questions = VideoQuestion.objects.select_related("video").only("text", "video__title")
    by_pk = questions.in_bulk([work.item.question_id for work in whole])
    rows = [_row(work, decisions.get(work.item.pk, Decisions([])), by_pk) for work in whole]
    waiting = sorted((row for row in rows if row["state"] == "open"), key=_urgency)
    settled = sorted((row for row in rows if row["state"] != "open"), key=lambda row: row["number"])
    return {
        "questions": len(whole),
        "not_in": len(works) - len(whole),
        "agreed": sum(row["state"] == "agreed" for row in rows),
        "to_decide": len(waiting),
        "decided": sum(row["state"] in ("decided", "released") and not row["by_agreement"] for row in rows),
        "queue": waiting,
        "settled": settled,
    }


def next_open(study: Study, item: StudyItem) -> str | None:
    """Page of the next question that waits, after this one and round to the start; None at the end."""
    return _next(queue(study), item)


def document_payload(item: StudyItem, user: Any, relations: frozenset[str]) -> dict[str, Any] | None:
    """Everything the workspace shows of a question that is decided; None while somebody has not handed in."""
    work = handed_in(item)
    if not work.is_complete:
        return None
    decisions, comparison, study = decisions_of(item), work.comparison, item.study
    guideline, found = newest(study), queue(study)
    state = _state(work, decisions)
    current = decisions.draft if state == "draft" else decisions.final
    why_not = _why_not(state, relations) or why_no_guideline(guideline)
    order = [row["item"] for row in (*found["queue"], *found["settled"])]
    here = str(item.public_id)
    common = common_parts(item, user, guideline)
    return {
        **common,
        "id": here,
        "question": {
            **common["question"],
            "number": order.index(here) + 1 if here in order else 0,
            "of": len(order),
            "others": [],
        },
        "document": comparison.seed() if current is None else _content(current),
        "version": 0 if current is None else current.document.version,
        "assignment_version": decisions.version,
        "active_ms": 0 if current is None else current.document.active_ms,
        "state": state,
        "state_words": "to be decided" if state == "draft" else words(state),
        "editable": not why_not,
        "why_not": why_not,
        "returned": None,
        "recall": {"allowed": False},
        "limits": {"comment": LONGEST_TEXT, "note": NOTE_LIMIT},
        "progress": {"submitted": found["decided"], "of": found["decided"] + found["to_decide"]},
        "adjudication": {
            "letters": list(comparison.letters),
            "sides": [{"letter": letter, "document": side} for letter, side in comparison.sides.items()],
            "differences": [place.to_json() for place in comparison.differences],
            "measures": comparison.measures(),
            "sampled": is_sampled(work),
            "note": "" if current is None else current.note,
            "decided": _decided(decisions, state),
            "may_reopen": state == State.ADJUDICATED and bool(relations & {"adjudicator", "lead"}),
            "history": _history(item, work, user),
        },
        "urls": _addresses(item, study, _next(found, item)),
    }


def _addresses(item: StudyItem, study: Study, following: str | None) -> dict[str, str | None]:
    detail = reverse("api:adjudication-document", args=[item.public_id])
    return {
        "detail": detail,
        "save": f"{detail}operations/",
        "submit": f"{detail}decide/",
        "reopen": f"{detail}reopen/",
        "give_back": f"{detail}return/",
        "tab": None,
        "recall": None,
        "notes": None,
        "flag": None,
        "export": None,
        "import": None,
        "proposals": None,
        "guideline": reverse("api:guideline", args=[study.slug]),
        "relogin": reverse("accounts:relogin"),
        "work": reverse("annotation:adjudication", args=[study.slug]),
        "next": following,
    }


def _row(work: HandedIn, decisions: Decisions, questions: dict[int, VideoQuestion]) -> dict[str, Any]:
    state, final = _state(work, decisions), decisions.final
    agreement, differences = _compared(work)
    question = questions[work.item.question_id or 0]
    by_agreement = final is not None and final.by_agreement and state != "draft"
    names = {"draft": "open", "adjudicated": "agreed" if by_agreement else "decided"}
    return {
        "item": str(work.item.public_id),
        "number": work.item.number,
        "name": str(work.item),
        "text": question.text,
        "clip": question.video.title,
        "people": len(work.people),
        "agreement": agreement,
        "percent": None if agreement is None else round(100 * agreement),
        "differences": differences,
        "sampled": not differences,
        "reopened": decisions.reopened,
        "state": names.get(state, state),
        "by_agreement": by_agreement,
        "matches": "" if final is None else final.matches,
        "url": reverse("annotation:video_adjudication", args=[work.item.public_id]),
    }


def _urgency(row: dict[str, Any]) -> tuple[bool, float, int]:
    """Sampled ones last, then by agreement; what cannot be compared at all first."""
    return (row["sampled"], -1.0 if row["agreement"] is None else row["agreement"], row["number"])


def _compared(work: HandedIn) -> tuple[float | None, int]:
    """Agreement and number of differences; kept, since what was handed in never changes."""
    key = f"documents-compared:{COMPARED}:{sha256_of(submissions_of(work))}"
    known: tuple[float | None, int] | None = cache.get(key)
    if known is None:
        comparison = work.comparison
        known = (comparison.agreement, len(comparison.differences))
        cache.set(key, known, 24 * 3600)
    return known


def _state(work: HandedIn, decisions: Decisions) -> str:
    """State of the question: "draft" while it may be decided, else "adjudicated" or "released"."""
    states = {row.state for row in work.people.values()}
    if State.RELEASED in states:
        return State.RELEASED.value
    if State.IN_ADJUDICATION in states or decisions.reopened:
        return State.DRAFT.value
    return State.ADJUDICATED.value


def _why_not(state: str, relations: frozenset[str]) -> str:
    if state == State.RELEASED:
        return "This question is released, so its decision stays as it is."
    if state == State.ADJUDICATED:
        return "This question is decided. Open it again with a reason to change that."
    if "adjudicator" not in relations:
        return "You lead this study and do not decide in it: what you see here is read-only."
    return ""


def _content(row: DocumentDecision) -> dict[str, Any]:
    return document_json(row.document) if row.content is None else dict(row.content)


def _decided(decisions: Decisions, state: str) -> dict[str, Any] | None:
    final = decisions.final
    if final is None or state == State.DRAFT:
        return None
    return {
        "note": final.note,
        "matches": {place["id"]: place["matches"] for place in final.differences},
        "overall": final.matches,
        "by_agreement": final.by_agreement,
        "after": decisions.finals,
    }


def _decisions_of(items: Iterable[StudyItem]) -> dict[int, Decisions]:
    found: dict[int, list[DocumentDecision]] = {}
    rows = DocumentDecision.objects.filter(item__in=list(items)).defer("content")
    for row in rows.order_by("number"):
        found.setdefault(row.item_id, []).append(row)
    return {item: Decisions(rows) for item, rows in found.items()}


def _next(found: dict[str, Any], item: StudyItem) -> str | None:
    rows: Sequence[dict[str, Any]] = found["queue"]
    here = next((k for k, row in enumerate(rows) if row["item"] == str(item.public_id)), -1)
    for row in (*rows[here + 1 :], *rows[: max(here, 0)]):
        return str(row["url"])
    return None


def _history(item: StudyItem, work: HandedIn, user: Any) -> list[dict[str, str]]:
    """What happened to the question, without times: they could tell who is who."""
    lines = [f"Refined by {'one person' if k == 0 else 'another person'}" for k in range(len(work.people))]
    assignments = [str(row.public_id) for row in work.people.values()]
    events = Event.objects.filter(stream__name=f"study:{item.study_id}")
    told = events.filter(subject_type="decision", subject_id=str(item.public_id)) | events.filter(
        subject_type="assignment", subject_id__in=assignments, action="assignment.returned"
    )
    for event in told.exclude(action="decision.draft").order_by("number"):
        who = "you" if event.actor_id == user.pk else "somebody else"
        lines.append(
            {
                "assignment.returned": f"Returned to one of them: {event.reason}",
                "decision.agree": "All agree, so nothing is to be decided",
                "decision.save": f"Decided by {who}",
                "decision.change": f"Decided anew by {who}",
                "decision.reopen": f"Opened again by {who}: {event.reason}",
            }.get(event.action, event.action)
        )
    return [{"what": line} for line in lines]
