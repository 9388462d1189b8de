"""The demonstration's study: invented labels by invented people, with work left over for whoever tries it."""

import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotation.models import Assignment, Dataset, SegmentLabel, Study, StudyItem, StudyMember, Trace
from annotation.services import guidelines, qualification, studies
from annotation.services.assignments import assignments_make
from annotation.services.decisions import Draft, decision_save
from annotation.services.items import items_add
from annotation.services.labels import LabelChange, label_revise, segment_label_save
from annotation.services.members import member_add
from annotation.services.reveals import assignment_reveal
from annotation.services.submissions import assignment_submit
from auditing.models import AuditRun
from auditing.services.study_audit import audit_choose
from reasonaudit.accounts.models import User
from reasonaudit.lib import embedded

FILE = embedded.ROOT / "fixtures" / "demo" / "study.json"
SECONDS_PER_WORD = 0.4


def load(dataset: Dataset, *, lead: User, senior: User, junior: User, adjudicator: User) -> Study:
    """Make the study on a demo data set and label most of it, in the names of the demo's people."""
    given = json.loads(FILE.read_text(encoding="utf-8"))
    study = studies.study_create(
        dataset=dataset,
        name=given["name"],
        by=lead,
        description=given["description"],
        blinding=Study.Blinding.REVEAL,
        overlap=2,
    )
    guidelines.guideline_publish(study=study, by=lead)
    part = StudyMember.Part
    people = {
        "senior": member_add(study=study, user=senior, part=part.PHYSICIAN, seniority="senior", by=lead),
        "junior": member_add(study=study, user=junior, part=part.PHYSICIAN, seniority="junior", by=lead),
    }
    member_add(study=study, user=adjudicator, part=part.ADJUDICATOR, by=lead)
    traces = list(Trace.objects.filter(case__dataset=dataset).select_related("case").order_by("pk"))
    items_add(study=study, traces=traces, kind=StudyItem.Kind.MAIN, by=lead)
    assignments_make(study, lead)
    studies.study_open(study=study, by=lead)
    for member in people.values():
        qualification.guideline_read(member=member, version=1, by=member.user)
    run = AuditRun.objects.filter(dataset=dataset, labeller="local").order_by("pk").first()
    audit_choose(study=study, run=run, by=lead)
    for who, member in people.items():
        _label(member, given, given.get(who, {}))
    _decide(study, given["decisions"], adjudicator)
    _revise(people["junior"], given["revised"])
    return study


def _label(member: StudyMember, given: dict[str, Any], own: dict[str, Any]) -> None:
    """Label and hand in every case that is not left open: the labels that came with the data, but for `own` ones."""
    for assignment in _assignments(member):
        case = assignment.item.trace.case.external_id
        if case in given["left_open"]:
            continue
        trace = assignment.item.trace
        # Times of work are believed up to the time since a case was opened.
        assignment.opened_at = timezone.now() - timedelta(hours=1)
        assignment.save(update_fields=["opened_at"])
        for segment in trace.all_segments.filter(
            segmentation=assignment.item.segmentation, index__gt=trace.context_segments
        ):
            reason = given["reasons"].get(segment.gold, "")
            label, reason, comment = own.get(case, {}).get(
                str(segment.index), [segment.gold, reason, segment.gold_note]
            )
            segment_label_save(
                assignment=assignment,
                index=segment.index,
                by=member.user,
                base_version=0,
                change=LabelChange(
                    label=label,
                    guideline=1,
                    reasons=[reason] if reason else [],
                    comment=comment,
                    active_ms=round(1000 * SECONDS_PER_WORD * len(segment.text.split())),
                ),
            )
        assignment.refresh_from_db()
        assignment_submit(assignment=assignment, by=member.user, base_version=assignment.version)


def _assignments(member: StudyMember) -> list[Assignment]:
    rows = Assignment.objects.filter(member=member).select_related(
        "item__study", "item__trace__case", "member"
    )
    return list(rows.order_by("position"))


def _decide(study: Study, decisions: dict[str, Any], adjudicator: User) -> None:
    for case, by_segment in decisions.items():
        item = StudyItem.objects.select_related("study", "trace").get(
            study=study, trace__case__external_id=case
        )
        for index, (label, note) in by_segment.items():
            decision_save(
                item=item,
                index=int(index),
                by=adjudicator,
                base_version=0,
                says=Draft(label=label, note=note),
                final=True,
            )


def _revise(member: StudyMember, revised: dict[str, Any]) -> None:
    """Show the audit of some cases to a person, who changes a label."""
    for assignment in _assignments(member):
        changes = revised.get(assignment.item.trace.case.external_id)
        if not changes:
            continue
        assignment_reveal(assignment=assignment, by=member.user)
        for index, (label, reason, comment, why) in changes.items():
            before = SegmentLabel.objects.get(assignment=assignment, segment__index=int(index), round=1)
            label_revise(
                assignment=assignment,
                index=int(index),
                by=member.user,
                base_version=0,
                change=LabelChange(
                    label=label, guideline=before.guideline.number, reasons=[reason], comment=comment
                ),
                reason=why,
            )
