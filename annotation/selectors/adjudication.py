"""What an adjudicator sees: the queue of a study and one item of it.

Nothing here names a labeller, or says when or in which order labels came in: people are the letters of
`annotation.core.adjudication.letters`, a fresh draw for every item (AB-06). Model names of traces, seeds, labels that
came with the data and audits are left out as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.core.adjudication import gap
from annotation.core.states import State
from annotation.models import AdjudicationDecision, Segment, Study, StudyItem
from annotation.selectors.decisions import Decisions
from annotation.selectors.handed_in import HandedIn, handed_in, handed_in_of_study, still_open
from reasonaudit.lib.models import Event


def current_decision(rows: Sequence[AdjudicationDecision]) -> dict[str, Any]:
    """What stands of a segment's decisions: version, draft, latest final one, how many were final."""
    decisions = Decisions(rows)
    draft, final = decisions.draft, decisions.final
    return {
        "version": decisions.version,
        "draft": None if draft is None else said(draft),
        "final": None if final is None else said(final) | {"after_audit": final.after_audit},
        "finals": decisions.finals,
    }


def said(row: AdjudicationDecision) -> dict[str, Any]:
    """The content of a decision."""
    return {
        "label": row.label or None,
        "reasons": row.reasons,
        "note": row.note,
        "reason": row.reason,
        "matches": row.matches,
        "guideline": row.guideline.number,
    }


def queue(study: Study) -> dict[str, Any]:
    """Every segment of the study that needs a decision, with counts over all items that everybody has handed in.

    Largest gap first, then the sample of agreed segments, each by case and segment. `decided` is the label of the
    final decision, null while there is none or it was opened again.
    """
    works = [work for work in handed_in_of_study(study) if work.is_complete and len(work.people) > 1]
    by_item = _decisions_of(work.item for work in works)
    rows: list[dict[str, Any]] = []
    agreed = segments = 0
    for work in works:
        decisions = by_item.get(work.item.pk, [])
        opened = set(still_open(work, ((row.segment.index, row.number, row.reason) for row in decisions)))
        segments += len(work.labels)
        agreed += sum(1 for index in work.labels if work.agrees(index))
        for index in sorted({*work.to_decide, *(row.segment.index for row in decisions)}):
            final = current_decision([row for row in decisions if row.segment.index == index])["final"]
            labels = list(work.given(index).values())
            rows.append(
                {
                    "item": str(work.item.public_id),
                    "number": work.item.number,
                    "index": index,
                    "case": str(work.item),
                    "labels": labels,
                    "gap": gap(labels),
                    "sampled": index not in work.to_decide or work.is_sampled(index),
                    "decided": final["label"] if final and index not in opened else None,
                }
            )
    rows.sort(key=lambda row: (row["sampled"], -row["gap"], row.pop("number"), row["index"]))
    decided = sum(1 for row in rows if row["decided"])
    return {"segments": segments, "agreed": agreed, "to_decide": len(rows), "decided": decided, "queue": rows}


def next_open(study: Study, item: StudyItem, index: int) -> dict[str, Any] | None:
    """The next segment of the queue that is not decided, after this one and round to the start; None at the end."""
    rows: list[dict[str, Any]] = queue(study)["queue"]
    here = (str(item.public_id), index)
    at = next((k for k, row in enumerate(rows) if (row["item"], row["index"]) == here), -1)
    for row in [*rows[at + 1 :], *rows[: max(at, 0)]]:
        if row["decided"] is None:
            return {"item": row["item"], "index": row["index"]}
    return None


def item_payload(item: StudyItem, user: Any) -> dict[str, Any] | None:
    """One item for its adjudicator; None while somebody has not handed in."""
    work = handed_in(item)
    if not work.is_complete:
        return None
    decisions = _decisions_of([item]).get(item.pk, [])
    opened = still_open(work, ((row.segment.index, row.number, row.reason) for row in decisions))
    states = {row.state for row in work.people.values()}
    case = item.trace.case
    return {
        "item": str(item.public_id),
        "name": str(item),
        "state": _state(states, opened),
        "letters": list(work.people),
        "case": {
            "title": case.title,
            "sections": [list(part) for part in case.sections] or [["", case.context]],
            "question": case.question,
            # The reference answer would steer the decisions.
            "reference": None if opened else case.reference or None,
        },
        "segments": _segments(item, work, decisions, opened, clause_flags(item)),
        "labelled_under": sorted(
            {entry["guideline"] for people in work.labels.values() for entry in people.values()}
        ),
        "history": _history(item, work, user),
    }


def decision_of(item: StudyItem, index: int) -> dict[str, Any]:
    """What stands of the decisions on one segment."""
    rows = AdjudicationDecision.objects.filter(item=item, segment__index=index).select_related("guideline")
    return current_decision(list(rows.order_by("number")))


def clause_flags(item: StudyItem) -> dict[int, dict[str, Any]]:
    """Segments of an item whose guideline clause an adjudicator called unclear, with what was written."""
    events = Event.objects.filter(
        subject_type="decision", subject_id__startswith=f"{item.public_id}:", action="decision.flag"
    )
    last = {event.data["index"]: event.data for event in events.order_by("number") if event.data}
    return {index: data for index, data in last.items() if data["flagged"]}


def flagged_clauses(study: Study) -> list[dict[str, Any]]:
    """Everything that adjudicators of a study called unclear, for its lead: case, segment, note, guideline version."""
    events = Event.objects.filter(stream__name=f"study:{study.pk}", action="decision.flag").order_by("number")
    last = {event.subject_id: event.data for event in events if event.data}
    items = {str(item.public_id): item for item in study.items.all()}
    rows = [
        {"item": key.partition(":")[0], "case": str(items[key.partition(":")[0]]), **data}
        for key, data in last.items()
        if data["flagged"] and key.partition(":")[0] in items
    ]
    return sorted(rows, key=lambda row: (items[row["item"]].number, row["index"]))


def _decisions_of(items: Iterable[StudyItem]) -> Mapping[int, list[AdjudicationDecision]]:
    found: dict[int, list[AdjudicationDecision]] = {}
    rows = AdjudicationDecision.objects.filter(item__in=list(items)).select_related("segment", "guideline")
    for row in rows.order_by("segment__index", "number"):
        found.setdefault(row.item_id, []).append(row)
    return found


def _state(states: set[str], opened: Sequence[int]) -> str:
    if State.RELEASED in states:
        return "released"
    return "open" if opened or State.IN_ADJUDICATION in states else "decided"


def _segments(
    item: StudyItem,
    work: HandedIn,
    decisions: Sequence[AdjudicationDecision],
    opened: Sequence[int],
    flags: Mapping[int, Any],
) -> list[dict[str, Any]]:
    texts = Segment.objects.filter(trace=item.trace, segmentation=item.segmentation).order_by("index")
    rows: list[dict[str, Any]] = []
    for index, text in texts.values_list("index", "text"):
        if index not in work.labels:
            rows.append({"index": index, "text": text, "context": True})
            continue
        given = work.given(index)
        rows.append(
            {
                "index": index,
                "text": text,
                "context": False,
                "labels": {letter: _label(work.labels[index][letter]) for letter in given},
                "agrees": work.agrees(index),
                "gap": gap(given.values()),
                "queued": index in work.to_decide,
                "sampled": work.is_sampled(index),
                "open": index in opened,
                "clause_unclear": index in flags,
                "decision": current_decision([row for row in decisions if row.segment.index == index]),
            }
        )
    return rows


def _label(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What of a label is shown: no time, no guideline version, nothing that a person could be known by."""
    return {key: entry[key] for key in ("label", "cannot_judge", "reasons", "comment", "spans", "flagged")}


def _history(item: StudyItem, work: HandedIn, user: Any) -> list[dict[str, str | int | None]]:
    """What happened to the item, without times: they could tell who is who."""
    count = len(work.people)
    lines: list[dict[str, str | int | None]] = [
        {"what": "Blind label, one person" if k == 0 else "Blind label, another person", "segment": None}
        for k in range(count)
    ]
    if count > 1:
        disagreeing = [index for index in work.to_decide if not work.agrees(index)]
        if disagreeing:
            lines.append({"what": "Disagreement found, queued", "segment": None})
        if len(disagreeing) < len(work.to_decide):
            lines.append({"what": "Agreed segments drawn for a second look", "segment": None})
    assignments = [str(row.public_id) for row in work.people.values()]
    events = Event.objects.filter(stream__name=f"study:{item.study_id}")
    told = events.filter(
        subject_type="decision", subject_id__startswith=f"{item.public_id}:"
    ) | events.filter(subject_type="assignment", subject_id__in=assignments, action="assignment.returned")
    for event in told.order_by("number"):
        who = "you" if event.actor_id == user.pk else "somebody else"
        index = (event.data or {}).get("index")
        if event.action == "assignment.returned":
            lines.append({"what": f"Returned to one of them: {event.reason}", "segment": None})
        elif event.action == "decision.reopen":
            lines.append({"what": f"Opened again by {who}: {event.reason}", "segment": index})
        elif event.action in {"decision.save", "decision.change"}:
            label = ((event.data or {}).get("new") or {}).get("label") or "?"
            verb = "Decided" if event.action == "decision.save" else "Changed"
            lines.append({"what": f"{verb} by {who}: {label.capitalize()}", "segment": index})
    return lines
