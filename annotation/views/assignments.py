"""Pages on which work is given out, withdrawn, restored and returned."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.core.states import HANDED_IN, TRANSITIONS, Part, State
from annotation.models import Assignment, Problem, Segment, SegmentLabel, StudyMember
from annotation.selectors.edit_effort import effort_of_work
from annotation.selectors.refinements import refinement_document
from annotation.selectors.study_events import event_lines
from annotation.services import assignments as services
from annotation.views.query import whole_number
from annotation.views.studies import study_context, study_of
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from videos.core.cot import format_cot

PAGE_SIZE = 50
ANY_PROBLEM = "any"


def study_assignments(request: HttpRequest, slug: str) -> HttpResponse:
    """What giving out work would do, and all work by person. POST gives it out."""
    study = study_of(request)
    if request.method == "POST":
        try:
            done = services.assignments_make(study, request.user)
            if done.new or done.plan.moved:
                messages.success(request, f"{done.new:,} pieces of work given out.")
            else:
                messages.info(request, "Nothing to give out: everybody has what they need.")
        except UserError as error:
            messages.error(request, str(error))
        return redirect("annotation:study_assignments", study.slug)
    people = list(
        StudyMember.objects.filter(study=study, part=StudyMember.Part.PHYSICIAN).order_by("-active", "pk")
    )
    member = next((one for one in people if one.pseudonym == request.GET.get("member")), None)
    state = request.GET.get("state", "")
    work = Assignment.objects.filter(item__study=study)
    if study.is_video:
        work = work.select_related("item__question__video", "member").defer(
            "item__question__document", "item__question__video__picture_index"
        )
    else:
        work = work.select_related("item__trace__case", "member")
    if member is not None:
        work = work.filter(member=member)
    if state in set(State):
        work = work.filter(state=state)
    problem = request.GET.get("problem", "")
    if problem == ANY_PROBLEM:
        work = work.exclude(problem="")
    elif problem in Problem.values:
        work = work.filter(problem=problem)
    page = Paginator(work.order_by("member", "position"), PAGE_SIZE).get_page(request.GET.get("page"))
    context = study_context(study, "assignments") | {
        "preview": services.assignments_preview(study),
        "people": people,
        "member": member,
        "state": state,
        "problem": problem,
        "problems": [(ANY_PROBLEM, "Any problem"), *Problem.choices] if study.is_video else [],
        "states": list(State),
        "page": page,
    }
    return render(request, "annotation/study_assignments.html", context)


def assignment_manage(request: HttpRequest, assignment: UUID) -> HttpResponse:
    """One piece of work. POST `action` is `withdraw`, `restore` or `return`, with `reason` and `remark_<segment>`."""
    row: Assignment = request.access.object  # type: ignore[attr-defined]
    status, wrong = 200, {}
    if request.method == "POST":
        try:
            words = _move(request, row)
            messages.success(request, words)
            return redirect("annotation:assignment_manage", row.public_id)
        except UserError as error:
            messages.error(request, str(error))
            wrong, status = error.fields, 409 if error.status == 409 else 422
            row.refresh_from_db(fields=["state", "version", "reason", "segment_remarks"])
    study = row.item.study
    events = Event.objects.filter(
        stream__name=f"study:{study.pk}", subject_type="assignment", subject_id=str(row.public_id)
    )
    # Saves are many and say nothing about the way of the work.
    saves = Q(action__startswith="label.") | Q(action__startswith="document.")
    events = events.exclude(saves).order_by("-number")[:100]
    handed_in = State(row.state) in HANDED_IN
    what = (
        refinement_summary(row if handed_in else None)
        if study.is_video
        else {"case": row.item.trace.case, "segments": _segments(request, row)}
    )
    context = study_context(study, "assignments") | {
        "work": row,
        **what,
        "moves": lead_moves(row),
        "handed_in": handed_in,
        "lines": event_lines(study, events),
        "reason": request.POST.get("reason", ""),
        "wrong": wrong,
    }
    return render(request, "annotation/assignment_manage.html", context, status=status)


def lead_moves(row: Assignment) -> dict[str, bool]:
    """Which of the three moves the table of states allows a lead now."""
    state = State(row.state)
    if row.item.question_id is not None and state is State.ADJUDICATED:
        # Opened again and given back in one go, see `assignment_return`.
        return {"withdraw": False, "restore": False, "give_back": True}
    return {
        name: (rule := TRANSITIONS.get((state, target))) is not None and Part.LEAD in rule.parts
        for name, target in (
            ("withdraw", State.WITHDRAWN),
            ("restore", State.ASSIGNED),
            ("give_back", State.RETURNED),
        )
    }


def _move(request: HttpRequest, row: Assignment) -> str:
    action, reason = request.POST.get("action"), request.POST.get("reason", "")
    if action == "withdraw":
        services.assignment_withdraw(assignment=row, by=request.user, reason=reason)
        return f"Withdrawn from {row.member}. Give work out again to put somebody else in the place."
    if action == "restore":
        services.assignment_restore(assignment=row, by=request.user, reason=reason)
        return f"Back on the list of {row.member}."
    if action == "return":
        remarks = {
            index: text
            for name, text in request.POST.items()
            if name.startswith("remark_")
            and (index := whole_number(name.removeprefix("remark_"))) is not None
        }
        services.assignment_return(assignment=row, by=request.user, reason=reason, remarks=remarks)  # type: ignore[arg-type]
        where = "question" if row.item.question_id else "case"
        return f"Returned to {row.member}, who reads your reason beside the {where}."
    raise UserError("bad_change", "Choose what to do: withdraw, restore or return.")


def refinement_summary(row: Assignment | None) -> dict[str, object]:
    """What somebody made of a video question: `counts`, `reasoning` as text, `effort`; None where it is not handed in.

    Work that was handed in as it had come has no document of its own: it says what was generated.
    """
    if row is None:
        return {"counts": None, "reasoning": None, "effort": None}
    content = refinement_document(row)
    minutes = None if row.document is None or not row.document.active_ms else row.document.active_ms / 60_000
    return {
        "counts": {
            "tracks": len(content["tracks"]),
            "keyframes": sum(len(track["keyframes"]) for track in content["tracks"].values()),
            "events": len(content["events"]),
            "links": len(content["links"]),
            "operations": 0 if row.document is None else row.document.version,
            "minutes": minutes,
        },
        "reasoning": format_cot(content["cot"]),
        "effort": effort_of_work(row),
    }


def _segments(request: HttpRequest, row: Assignment) -> list[dict[str, object]]:
    """Judged segments, with what was said once the work is handed in: a draft is its owner's."""
    labels = {}
    if State(row.state) in HANDED_IN:
        labels = {label.segment_id: label for label in SegmentLabel.objects.filter(assignment=row, round=1)}
    segments = Segment.objects.filter(
        trace=row.item.trace_id,
        segmentation=row.item.segmentation,
        index__gt=row.item.trace.context_segments,
    ).order_by("index")
    return [
        {
            "row": segment,
            "label": labels.get(segment.pk),
            "remark": request.POST.get(
                f"remark_{segment.index}", row.segment_remarks.get(str(segment.index), "")
            ),
        }
        for segment in segments
    ]
