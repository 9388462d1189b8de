"""What a results page depends on, as a hash: while it is the same, so are all its numbers.

Rows are never changed without their time of change (or are new rows), so how many there are and when the last one
changed says whether anything did.
"""

from typing import Any

from django.db.models import Count, Max, QuerySet, Sum

from annotation.models import (
    AdjudicationDecision,
    Assignment,
    Case,
    Dataset,
    ItemGold,
    SegmentLabel,
    Study,
    StudyItem,
    StudyMember,
    Submission,
    Trace,
)
from auditing.models import AuditResult, AuditRun, JudgeRun, JudgeVerdict, StudyAudit
from reasonaudit.lib.canonical import sha256_of


def of_study(study: Study) -> str:
    """Hash over a study's rows, in a fixed number of queries."""
    submissions = Submission.objects.filter(assignment__item__study=study)
    return sha256_of(
        [
            study.pk,
            study.name,
            study.updated_at.isoformat(),
            _changed(StudyItem.objects.filter(study=study)),
            _changed(StudyMember.objects.filter(study=study)),
            _changed(Assignment.objects.filter(item__study=study), versions=True),
            _changed(SegmentLabel.objects.filter(assignment__item__study=study), versions=True),
            submissions.aggregate(n=Count("pk"), last=Max("pk"), recalled=Count("recalled_at")),
            _changed(AdjudicationDecision.objects.filter(item__study=study), versions=True),
            list(ItemGold.objects.filter(item__study=study).order_by("pk").values_list("pk", "label")),
            list(StudyAudit.objects.filter(study=study).values_list("run_id", flat=True)),
            *_evaluations(study.dataset),
        ]
    )


def of_dataset(dataset: Dataset) -> str:
    """Hash over a data set's rows."""
    return sha256_of([dataset.pk, dataset.name, *_evaluations(dataset)])


def _evaluations(dataset: Dataset) -> list[Any]:
    results = AuditResult.objects.filter(run__dataset=dataset)
    verdicts = JudgeVerdict.objects.filter(run__dataset=dataset)
    # Runs change with every answer; what the page shows of them are their names and notes.
    runs = AuditRun.objects.filter(dataset=dataset).order_by("pk")
    return [
        # Splitting or merging segments changes the trace; labels that came with the data stay as they are.
        _changed(Trace.objects.filter(case__dataset=dataset)),
        _changed(Case.objects.filter(dataset=dataset)),
        results.aggregate(n=Count("pk"), last=Max("pk")),
        list(runs.values_list("pk", "name", "quality_note")),
        verdicts.aggregate(n=Count("pk"), last=Max("pk")),
        list(JudgeRun.objects.filter(dataset=dataset).order_by("pk").values_list("pk", "name")),
    ]


def _changed(rows: QuerySet[Any], *, versions: bool = False) -> list[Any]:
    sums = {"versions": Sum("version")} if versions else {}
    found = rows.order_by().aggregate(n=Count("pk"), newest=Max("pk"), last=Max("updated_at"), **sums)
    last = found.pop("last")
    return [last.isoformat() if last else None, *(found[name] for name in sorted(found))]
