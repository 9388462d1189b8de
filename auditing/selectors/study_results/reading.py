"""Reading the material of a study, or of a data set with reference labels, in a fixed number of queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Q, QuerySet

from annotation.models import (
    Assignment,
    Dataset,
    ItemGold,
    Segment,
    SegmentLabel,
    Study,
    StudyItem,
    StudyMember,
    Trace,
)
from annotation.selectors.reference_labels import blind_labels, reference_labels
from auditing.models import AuditRun, JudgeRun, SegmentAudit, StudyAudit
from auditing.selectors.judges import judge_verdicts

from .material import Labeller, Material, Person, Place, Reference, Revision

WEAK_KIND = "local"


@dataclass(frozen=True, slots=True)
class RunOption:
    """An audit run that has results on these segments, for the selects: how many it covers."""

    run: AuditRun
    key: str
    segments: int


def labeller_model(run: AuditRun) -> str:
    """Bare name of the model that labelled relations: after the colon, else as the labeller said of itself."""
    return run.labeller.partition(":")[2] or str(run.labeller_identity.get("model") or run.labeller)


def of_study(study: Study, *, audit: int | None = None, judge_run: JudgeRun | None = None) -> Material:
    """Read a study: main items only, in the segmentation that was labelled.

    Parameters
    ----------
    audit
        A run that stands for its relation labeller; by default the run that the study shows to its people, and of
        every other labeller the one that covers most segments.
    judge_run
        Only the verdicts of this run; by default every judge's newest valid ones.
    """
    rows = list(
        Segment.objects.filter(
            trace__study_items__study=study,
            trace__study_items__kind=StudyItem.Kind.MAIN,
            segmentation=F("trace__study_items__segmentation"),
            index__gt=F("trace__context_segments"),
        )
        .order_by("trace__study_items__number", "index")
        .values_list("pk", "index", "gold", "trace_id", "trace__study_items__number")
    )
    items = dict(
        StudyItem.objects.filter(study=study, kind=StudyItem.Kind.MAIN).values_list("trace_id", "number")
    )
    traces = Trace.objects.filter(study_items__study=study, study_items__kind=StudyItem.Kind.MAIN)
    found = _material(study.name, rows, traces, items)
    found.left_out = StudyItem.objects.filter(study=study).exclude(kind=StudyItem.Kind.MAIN).count()
    _add_people(found, study)
    shown = StudyAudit.objects.filter(study=study).values_list("run_id", flat=True).first()
    _add_evaluators(found, traces, audit or shown, judge_run, shown)
    return found


def of_dataset(dataset: Dataset) -> Material:
    """Read a data set whose segments came with reference labels; no people, no revisions."""
    traces = Trace.objects.filter(case__dataset=dataset)
    rows = list(
        Segment.objects.filter(
            trace__case__dataset=dataset,
            segmentation=F("trace__segmentation"),
            index__gt=F("trace__context_segments"),
        )
        .order_by("trace_id", "index")
        .values_list("pk", "index", "gold", "trace_id", "trace_id")
    )
    found = _material(dataset.name, rows, traces, {})
    _add_evaluators(found, traces)
    return found


def run_options(traces: Iterable[int]) -> list[RunOption]:
    """Runs with current results on these traces, newest first, with how many segments each covers."""
    counts = dict(
        SegmentAudit.objects.filter(
            result__trace__in=traces,
            result__segmentation=F("result__trace__segmentation"),
            index__gt=F("result__trace__context_segments"),
        )
        .order_by()
        .values_list("result__run_id")
        .annotate(Count("pk"))
    )
    runs = AuditRun.objects.filter(pk__in=counts).order_by("-pk")
    return [RunOption(run, run.labeller, counts[run.pk]) for run in runs]


def chosen_runs(options: Sequence[RunOption], audit: int | None = None) -> list[AuditRun]:
    """One run a relation labeller: the one asked for, else the one that covers most segments, then the newest."""
    best: dict[str, RunOption] = {}
    for option in options:
        held = best.get(option.key)
        if (
            option.run.pk == audit
            or held is None
            or (held.run.pk != audit and option.segments > held.segments)
        ):
            best[option.key] = option
    chosen = [option.run for option in best.values()]
    return sorted(chosen, key=lambda run: (labeller_model(run).lower(), run.pk))


def _material(
    title: str,
    rows: Sequence[tuple[int, int, str, int, int]],
    traces: QuerySet[Trace],
    numbers: dict[int, int],
) -> Material:
    facts = {
        pk: (case_title, domain, str((meta or {}).get("group") or ""))
        for pk, case_title, domain, meta in traces.values_list(
            "pk", "case__title", "case__domain", "case__meta"
        )
    }
    starts: dict[int, list[int]] = {}
    for place, (_, _, _, trace_id, _) in enumerate(rows):
        starts.setdefault(trace_id, [place, place])[1] = place + 1
    return Material(
        title=title,
        places=[
            Place(trace_id, numbers.get(trace_id, number), *facts[trace_id], start, end)
            for number, (trace_id, (start, end)) in enumerate(starts.items(), start=1)
        ],
        segment_ids=[row[0] for row in rows],
        indexes=[row[1] for row in rows],
        imported=[row[2] or None for row in rows],
        references=[None] * len(rows),
    )


def _add_people(found: Material, study: Study) -> None:
    at = {segment: place for place, segment in enumerate(found.segment_ids)}
    words = blind_labels(study)
    checks = list(ItemGold.objects.filter(item__study=study, item__kind=StudyItem.Kind.GOLD))
    assigned = list(
        Assignment.objects.filter(item__study=study, item__kind=StudyItem.Kind.MAIN)
        .exclude(state="withdrawn")
        .values_list("member_id", "item__trace_id", "revealed_at")
    )
    with_part = {member for member, _, _ in assigned} | {member for said in words.values() for member in said}
    members = StudyMember.objects.filter(study=study, pk__in=with_part)
    rank: dict[str, int] = {StudyMember.Seniority.SENIOR: 0, StudyMember.Seniority.JUNIOR: 1}
    ordered = sorted(members, key=lambda row: (rank.get(row.seniority, 2), row.pk))
    seniorities = [row.seniority for row in ordered]
    for row in ordered:
        alone = row.seniority and seniorities.count(row.seniority) == 1
        head = row.get_seniority_display() if alone else row.pseudonym
        found.people.append(Person(row.pk, row.pseudonym, row.seniority, head))
        found.labels[row.pk] = [None] * found.n
        found.assigned[row.pk] = [False] * found.n
        found.first_at[row.pk] = [None] * found.n
    spans = {place.trace_id: range(place.start, place.end) for place in found.places}
    seen: dict[int, set[int]] = {}
    for member, trace, revealed in assigned:
        for place in spans.get(trace, ()):
            found.assigned[member][place] = True
            if revealed is not None:
                seen.setdefault(member, set()).add(place)
    for segment, said in words.items():
        if segment in at:
            for member, label in said.items():
                found.labels[member][at[segment]] = label
    for segment, reference in reference_labels(study).items():
        if segment in at and reference.label is not None:
            found.references[at[segment]] = Reference(reference.label, reference.status, reference.blinded)
    _add_rounds(found, study, at, seen)
    for check in checks:
        for member, label in words.get(check.segment_id, {}).items():
            if label.label is not None and member in found.labels:
                right, n = found.gold_checks.get(member, (0, 0))
                found.gold_checks[member] = (right + (label.label == check.label), n + 1)


def _add_rounds(found: Material, study: Study, at: dict[int, int], seen: dict[int, set[int]]) -> None:
    """When labels were made, and what they became once the audit was revealed."""
    rows = SegmentLabel.objects.filter(
        Q(round=1, first_label_at__isnull=False) | Q(round=2),
        assignment__item__study=study,
        assignment__item__kind=StudyItem.Kind.MAIN,
    ).values_list("assignment__member_id", "segment_id", "round", "label", "first_label_at")
    revised: dict[tuple[int, int], str | None] = {}
    for member, segment, number, word, moment in rows.iterator(chunk_size=5000):
        if segment not in at or member not in found.labels:
            continue
        if number == 1:
            found.first_at[member][at[segment]] = moment
        else:
            revised[member, at[segment]] = word or None
    for person in found.people:
        for place in sorted(seen.get(person.pk, ())):
            label = found.labels[person.pk][place]
            if label is not None and label.label is not None and not label.unblinded:
                after = revised.get((person.pk, place), label.label)
                found.revisions.append(Revision(person.pk, place, label.label, after))


def _add_evaluators(
    found: Material,
    traces: QuerySet[Trace],
    audit: int | None = None,
    judge_run: JudgeRun | None = None,
    shown_run: int | None = None,
) -> None:
    at = {segment: place for place, segment in enumerate(found.segment_ids)}
    ids = [place.trace_id for place in found.places]
    runs = chosen_runs(run_options(ids), audit)
    others = AuditRun.objects.exclude(pk__in=[run.pk for run in runs])
    shown = None if shown_run is None else others.filter(pk=shown_run).first()
    made = {run.pk: _labeller(run, found.n) for run in [*runs, *([shown] if shown else [])]}
    found.labellers = [made[run.pk] for run in runs]
    found.shown = made.get(shown_run) if shown_run else None
    rows = (
        SegmentAudit.objects.filter(result__run__in=list(made), result__trace__in=ids)
        .order_by()
        .values_list("result__run_id", "segment_id", "label", "y_hat", "root_breakpoint")
    )
    for run_id, segment, label, y, root in rows.iterator(chunk_size=5000):
        if segment in at:
            labeller, place = made[run_id], at[segment]
            labeller.labels[place], labeller.y[place], labeller.breakpoints[place] = label, y, root
    for judge, verdicts in judge_verdicts(traces, judge_run).items():
        values: list[int | None] = [None] * found.n
        asked = [False] * found.n
        for segment, verdict in verdicts.items():
            if segment in at:
                values[at[segment]], asked[at[segment]] = verdict, True
        if any(asked):
            found.judges[judge], found.asked[judge] = values, asked


def _labeller(run: AuditRun, n: int) -> Labeller:
    return Labeller(
        run_id=run.pk,
        key=run.labeller,
        model=labeller_model(run),
        words=str(run),
        note=run.quality_note,
        weak=run.labeller.partition(":")[0] == WEAK_KIND and bool(run.quality_note),
        labels=[None] * n,
        y=[None] * n,
        breakpoints=[None] * n,
    )
