"""What happened in a study, as sentences, from its chain of events; for its lead only.

A sentence says who did what to what. It names no label: what was said stands where the labels are.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet

from annotation.core.states import words as state_words
from annotation.models import Assignment, Problem, Study, StudyMember
from reasonaudit.lib.models import Event

# Group -> (words, beginnings of actions).
GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "setup": ("Setting up", ("study.", "guideline.publish", "item.", "gold.", "member.")),
    "work": (
        "Work given out and handed in",
        ("assignment.", "guideline.read", "unblind", "notes.", "problem."),
    ),
    "labels": ("Saved labels", ("label.",)),
    "decisions": ("Decisions", ("decision.", "study.release")),
    "exports": ("Exports", ("export",)),
}
VIDEO_GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{name: group for name, group in GROUPS.items() if name not in {"labels", "exports"}},
    "changes": ("Saved changes", ("document.",)),
}
SENTENCES = {
    "study.create": "made the study",
    "study.change": "changed the study",
    "study.release": "released what is settled",
    "study.import": "imported the study",
    "guideline.publish": "published version {version} of the guideline",
    "guideline.read": "read version {version} of the guideline",
    "member.add": "added {member}",
    "member.remove": "ended the part of {member}",
    "member.qualify": "passed the training",
    "item.add": "added items",
    "item.remove": "took {item} out",
    "item.change": "changed how many people work on {item}",
    "gold.set": "set the expected labels of {item}",
    "assignment.create": "gave out {work}",
    "assignment.place": "moved {work} to another place of the order",
    "assignment.assigned": "restored {work}",
    "assignment.draft": "began or took back {work}",
    "assignment.submitted": "handed {work} in",
    "assignment.returned": "returned {work}",
    "assignment.in_adjudication": "put {work} in adjudication",
    "assignment.adjudicated": "settled {work}",
    "assignment.released": "released {work}",
    "assignment.withdrawn": "withdrew {work}",
    "label.save": "saved a label of {work}",
    "label.revise": "revised a label of {work} after the reveal",
    "document.change": "changed {work}",
    "vidat.make": "made an address for VidAT to submit {work}",
    "vidat.withdraw": "withdrew the address for VidAT of {work}",
    "notes.save": "changed own notes on {work}",
    "problem.report": "reported a problem with {work}",
    "problem.take_back": "took back the report on {work}",
    "unblind": "saw the audit of {work}",
    "decision.save": "decided a segment",
    "decision.change": "changed a decision",
    "event.redact": "redacted event {subject}",
    "export": "exported the study",
}

# Where a study of videos says it in other words.
VIDEO_SENTENCES = {
    "assignment.in_adjudication": "opened {work} for settling",
    "decision.draft": "worked on a decision",
    "decision.save": "decided a question",
    "decision.agree": "found that all agree on a question",
    "decision.reopen": "opened a decided question again",
}


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event as the page shows it."""

    number: int
    at: datetime
    who: str
    what: str
    more: str
    reason: str


def groups_of(study: Study) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The kinds of events that can happen in the study."""
    return VIDEO_GROUPS if study.is_video else GROUPS


def events_of(study: Study, group: str = "") -> QuerySet[Event, Any]:
    """The study's events, the newest first; of one of `groups_of`, or all."""
    groups = groups_of(study)
    rows = Event.objects.filter(stream__name=f"study:{study.pk}").order_by("-number")
    if group in groups:
        wanted = Q()
        for beginning in groups[group][1]:
            wanted |= Q(action__startswith=beginning)
        rows = rows.filter(wanted)
    return rows


def event_lines(study: Study, events: Iterable[Event]) -> list[EventLine]:
    """The events of one page as sentences; three queries."""
    page, word = list(events), "Question" if study.is_video else "Case"
    sentences = SENTENCES | VIDEO_SENTENCES if study.is_video else SENTENCES
    members = {member.pk: member for member in StudyMember.objects.filter(study=study).select_related("user")}
    names = _names(page, members.values())
    subjects = [event.subject_id for event in page if event.subject_type == "assignment"]
    work = {
        str(public_id): f"{word} {number} of {pseudonym}"
        for public_id, number, pseudonym in Assignment.objects.filter(public_id__in=subjects).values_list(
            "public_id", "item__number", "member__pseudonym"
        )
    }
    return [
        EventLine(
            number=event.number,
            at=event.at,
            who=names.get(event.actor_id, f"user {event.actor_id}") if event.actor_id else "The software",
            what=_what(event, sentences.get(event.action), members, work, f"{word} {event.subject_id}"),
            more=_more(event),
            reason=event.reason,
        )
        for event in page
    ]


def _names(events: Iterable[Event], members: Iterable[StudyMember]) -> dict[int | None, str]:
    by_user = {member.user_id: member.pseudonym for member in members if member.user_id}
    users = get_user_model().objects.filter(pk__in={event.actor_id for event in events if event.actor_id})
    return {
        user.pk: f"{user.get_username()} ({by_user[user.pk]})" if user.pk in by_user else user.get_username()
        for user in users
    }


def _what(
    event: Event, sentence: str | None, members: dict[int, StudyMember], work: dict[str, str], item: str
) -> str:
    if sentence is None:
        moved = event.action.startswith("assignment.") and event.to_state
        sentence = (
            f"made {{work}} {state_words(event.to_state)}"
            if moved
            else event.action.replace("{", "{{").replace("}", "}}")
        )
    subject = event.subject_id
    member = members.get(int(subject)) if event.subject_type == "member" and subject.isdigit() else None
    return sentence.format(
        version=event.version,
        subject=subject,
        item=item,
        member=member.pseudonym if member else "somebody",
        work=work.get(subject, "work"),
    )


def _more(event: Event) -> str:
    """What of the event's data says something to a reader; never a label."""
    data = event.data or {}
    if event.action == "study.change" and event.to_state:
        return f"{event.from_state} → {event.to_state}"
    if event.action in {"study.change", "item.change"}:
        old, new = data.get("old", {}), data.get("new", {})
        return "; ".join(
            f"{name.replace('_', ' ')}: {_short(old.get(name))} → {_short(value)}"
            for name, value in new.items()
        )
    if event.action == "item.add":
        kind = {"main": "main", "gold": "hidden gold"}.get(data.get("kind", ""), "training")
        return f"{len(data.get('items', ())):,} {kind}"
    if event.action == "member.add":
        return " ".join(filter(None, (data.get("seniority", ""), data.get("part", ""))))
    if event.action == "member.remove":
        return f"{data.get('withdrawn', 0)} pieces of work withdrawn"
    if event.action in {"label.save", "label.revise"}:
        return f"S{data['index']}" if "index" in data else ""
    if event.action == "document.change":
        count = len(data.get("operations", ()))
        return f"{count} operation{'' if count == 1 else 's'}, version {data.get('version')}"
    if event.action == "problem.report":
        new = data.get("new", {})
        words = dict(Problem.choices).get(new.get("kind", ""), "")
        return ": ".join(filter(None, (words, _short(new.get("note", "")))))
    if event.action in {"assignment.create", "assignment.place"}:
        return f"place {data['position']}" if "position" in data else ""
    if event.action == "study.release":
        return f"{data.get('items', 0)} items"
    return ""


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
