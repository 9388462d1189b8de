"""What the pages of data sets list: data sets, their traces with gold and audit labels, filters with counts.

"The audit shown" of a trace is the result of the newest run that has one, or the result of a chosen run: an older
run that ends late does not take its place. Lists are paged in the database; a page costs the same few queries
whatever the data set holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Case as Cases
from django.db.models import (
    CharField,
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotation.models import Case, Dataset, Gold, Segment, Trace
from annotation.selectors import reasoning_segments
from auditing.models import AuditResult, AuditRun, AuditRunTrace, SegmentAudit
from reasonaudit.lib.models import RunState

# Audit state of a trace on pages. `active` and `stopped` gather states of runs.
AUDIT_STATES = {
    "audited": "Audited",
    "stale": "Out of date",
    "active": "Running or queued",
    "stopped": "Stopped",
    "none": "Not run",
}
GOLD_STATES = {"complete": "Complete", "part": "Part of the trace", "none": "None"}
SORTS = {
    "case": "case__title",
    "generator": "generator",
    "segments": "segment_count",
    "gold": "gold_count",
    "audit": "audit_state",
    "relations": "relation_count",
}
# Gold labels that count as y = 0, as in Table 7 of Kohli et al. (a correct segment is y = 1).
PROBLEMATIC = (Gold.INCORRECT, Gold.UNCERTAIN)
SHARE_BINS = 10
# Columns of `traces_of` that are computed for each trace, in the order of `TraceFilters.lets_through`.
COMPUTED = ("audit_state", "segment_count", "gold_count", "problematic_count")


@dataclass(frozen=True, slots=True)
class TraceFilters:
    """What a list of traces is narrowed to; an empty tuple or text narrows nothing.

    `share_from` and `share_to` limit the share of problematic gold labels, in per cent, both ends included; a
    trace without a gold label has no share and is left out as soon as one of them is given.
    """

    domains: Sequence[str] = ()
    generators: Sequence[str] = ()
    labels: Sequence[str] = ()
    gold: Sequence[str] = ()
    states: Sequence[str] = ()
    share_from: int | None = None
    share_to: int | None = None
    search: str = ""
    sort: str = "case"

    @property
    def active(self) -> bool:
        """Whether anything is narrowed."""
        return bool(self.domains or self.generators or self.labels or self.computed or self.search)

    @property
    def computed(self) -> bool:
        """Whether a column that is computed per trace is narrowed."""
        return bool(self.gold or self.states or self.by_share)

    @property
    def by_share(self) -> bool:
        """Whether the share of problematic labels is narrowed."""
        return self.share_from is not None or self.share_to is not None

    def lets_through(self, state: str, segments: int, labelled: int, problematic: int) -> bool:
        """Whether the computed columns of a trace fit."""
        if self.states and state not in self.states:
            return False
        if self.gold and gold_state(segments, labelled) not in self.gold:
            return False
        if not self.by_share:
            return True
        low = 0 if self.share_from is None else self.share_from
        high = 100 if self.share_to is None else self.share_to
        return labelled > 0 and low * labelled <= 100 * problematic <= high * labelled


@dataclass(slots=True)
class TraceRow:
    """One line of the list. Labels are in reading order without context; `audit` is empty before an audit."""

    trace: Trace
    state: str
    gold: list[str] = field(default_factory=list)
    audit: list[str] = field(default_factory=list)
    result: AuditResult | None = None
    run_trace: AuditRunTrace | None = None

    @property
    def has_gold(self) -> bool:
        """Whether any segment has a gold label."""
        return any(self.gold)

    @property
    def active(self) -> bool:
        """Whether a worker has it or will take it."""
        return self.state in {RunState.QUEUED, RunState.RUNNING}


def dataset_rows() -> QuerySet[Dataset]:
    """Data sets with the numbers of their line: cases, traces, domains and when an audit last ended."""
    cases = Case.objects.filter(dataset=OuterRef("pk")).order_by().values("dataset")
    traces = Trace.objects.filter(case__dataset=OuterRef("pk")).order_by().values("case__dataset")
    runs = AuditRun.objects.filter(dataset=OuterRef("pk")).order_by().values("dataset")
    return Dataset.objects.annotate(
        case_count=_number(cases.annotate(n=Count("pk")).values("n")),
        trace_count=_number(traces.annotate(n=Count("pk")).values("n")),
        audited_count=_number(
            traces.filter(audit_results__isnull=False).annotate(n=Count("pk", distinct=True)).values("n")
        ),
        domains=Subquery(cases.annotate(found=ArrayAgg("domain", distinct=True)).values("found")),
        last_audit=Subquery(runs.annotate(last=Max("finished_at")).values("last")),
    ).order_by("name", "pk")


def _number(query: QuerySet[Any]) -> Coalesce:
    return Coalesce(Subquery(query, output_field=IntegerField()), 0)


def runs_of(dataset: Dataset) -> QuerySet[AuditRun]:
    """Runs of a data set that have at least one result, newest first."""
    return AuditRun.objects.filter(
        Exists(AuditResult.objects.filter(run=OuterRef("pk"))), dataset=dataset
    ).order_by("-pk")


def traces_of(dataset: Dataset, run: AuditRun | None = None) -> QuerySet[Any]:
    """Traces of a data set with everything that lists filter and sort by.

    Adds `segment_count`, `gold_count` and `problematic_count` (current segmentation, without context),
    `relation_count`, `shown_result` (id or None), `shown_run_trace` (id or None), `run_state` and `audit_state`.
    """
    results = AuditResult.objects.filter(trace=OuterRef("pk")).order_by("-run_id")
    run_traces = AuditRunTrace.objects.filter(trace=OuterRef("pk")).order_by("-run_id")
    if run is not None:
        results, run_traces = results.filter(run=run), run_traces.filter(run=run)
    segments = reasoning_segments()
    stopped = [RunState.PAUSED, RunState.CANCELLED, RunState.FAILED]
    return Trace.objects.filter(case__dataset=dataset).annotate(
        segment_count=_number(segments.annotate(n=Count("pk")).values("n")),
        gold_count=_number(segments.exclude(gold="").annotate(n=Count("pk")).values("n")),
        problematic_count=_number(segments.filter(gold__in=PROBLEMATIC).annotate(n=Count("pk")).values("n")),
        shown_result=Subquery(results.values("pk")[:1]),
        result_segmentation=Subquery(results.values("segmentation")[:1]),
        relation_count=_number(results.values("total")[:1]),
        shown_run_trace=Subquery(run_traces.values("pk")[:1]),
        run_state=Subquery(run_traces.values("state")[:1]),
        audit_state=Cases(
            When(run_state__in=[RunState.QUEUED, RunState.RUNNING], then=Value("active")),
            When(run_state__in=stopped, then=Value("stopped")),
            When(result_segmentation=F("segmentation"), then=Value("audited")),
            When(result_segmentation__isnull=False, then=Value("stale")),
            When(run_state=RunState.PARTIAL, then=Value("stopped")),
            default=Value("none"),
            output_field=CharField(),
        ),
    )


def filtered(traces: QuerySet[Any], filters: TraceFilters) -> QuerySet[Any]:
    """Narrow and sort `traces` (of `traces_of`). Unknown values match nothing, unknown sorts are by title."""
    if filters.domains:
        traces = traces.filter(case__domain__in=filters.domains)
    if filters.generators:
        traces = traces.filter(generator__in=filters.generators)
    if filters.labels:
        labelled = SegmentAudit.objects.filter(result=OuterRef("shown_result"), label__in=filters.labels)
        traces = traces.filter(Exists(labelled))
    if filters.computed:
        # Conditions on these computed columns mislead PostgreSQL's planner into comparing every trace with
        # every case (15 s at 10,000 traces); read once and used as ids they cost a fifth of a second.
        found = traces.order_by().values_list("pk", *COMPUTED)
        traces = traces.filter(pk__in=[pk for pk, *columns in found if filters.lets_through(*columns)])
    if filters.search:
        text = Segment.objects.filter(
            trace=OuterRef("pk"), segmentation=OuterRef("segmentation"), text__icontains=filters.search
        )
        traces = traces.filter(
            Q(case__title__icontains=filters.search)
            | Q(case__external_id__icontains=filters.search)
            | Q(external_id__icontains=filters.search)
            | Exists(text)
        )
    column = SORTS.get(filters.sort.removeprefix("-"), SORTS["case"])
    order = F(column).desc() if filters.sort.startswith("-") else F(column).asc()
    return traces.order_by(order, "case__title", "pk")


def gold_state(segments: int, labelled: int) -> str:
    """Which of `GOLD_STATES` a trace with so many segments and gold labels is in."""
    if not labelled:
        return "none"
    return "complete" if labelled == segments else "part"


@dataclass(frozen=True, slots=True)
class Facets:
    """What the filters offer: `(value, words, traces)` by domain, generator, audit label, gold and state.

    `shares` counts traces by their share of problematic gold labels, in ten equal ranges (0 to under 10 per cent,
    ..., 90 to 100 per cent); it is empty where no trace has a gold label. `audited` traces have an audit shown.
    """

    domain: list[tuple[str, str, int]]
    generator: list[tuple[str, str, int]]
    label: list[tuple[str, str, int]]
    gold: list[tuple[str, str, int]]
    state: list[tuple[str, str, int]]
    shares: list[int]
    audited: int


def facets(dataset: Dataset, run: AuditRun | None = None) -> Facets:
    """Count what the filters of a data set offer, in four queries."""
    traces = traces_of(dataset, run)
    by_domain = dict(
        Trace.objects.filter(case__dataset=dataset)
        .order_by()
        .values_list("case__domain")
        .annotate(Count("pk"))
    )
    by_generator = (
        Trace.objects.filter(case__dataset=dataset)
        .order_by("generator")
        .values_list("generator")
        .annotate(Count("pk"))
    )
    states = dict.fromkeys(AUDIT_STATES, 0)
    golds = dict.fromkeys(GOLD_STATES, 0)
    shares = [0] * SHARE_BINS
    audited = 0
    for result, state, count, gold, problematic in traces.values_list("shown_result", *COMPUTED):
        audited += result is not None
        states[state] += 1
        golds[gold_state(count, gold)] += 1
        if gold:
            shares[min(SHARE_BINS * problematic // gold, SHARE_BINS - 1)] += 1
    shown = traces.filter(shown_result__isnull=False).values("shown_result")
    by_label = dict(
        SegmentAudit.objects.filter(result__in=shown)
        .order_by()
        .values_list("label")
        .annotate(Count("result", distinct=True))
    )
    domain_words = dict(Case._meta.get_field("domain").choices or ())
    label_words = dict(SegmentAudit._meta.get_field("label").choices or ())
    return Facets(
        domain=[
            (value, str(word), by_domain[value]) for value, word in domain_words.items() if value in by_domain
        ],
        generator=[(value, value or "Not said", count) for value, count in by_generator],
        label=[(value, str(word), by_label.get(value, 0)) for value, word in label_words.items()],
        gold=[(value, word, golds[value]) for value, word in GOLD_STATES.items()],
        state=[(value, word, states[value]) for value, word in AUDIT_STATES.items()],
        shares=shares if any(shares) else [],
        audited=audited,
    )


def trace_rows(traces: Iterable[Any]) -> list[TraceRow]:
    """Lines for the traces of one page (of `traces_of`, cases selected), in four queries."""
    page = list(traces)
    results = AuditResult.objects.defer("relations", "document").in_bulk(
        [trace.shown_result for trace in page if trace.shown_result]
    )
    run_traces = AuditRunTrace.objects.select_related("run").in_bulk(
        [trace.shown_run_trace for trace in page if trace.shown_run_trace]
    )
    rows = {
        trace.pk: TraceRow(
            trace=trace,
            state=trace.run_state if trace.audit_state == "active" else trace.audit_state,
            result=results.get(trace.shown_result),
            run_trace=run_traces.get(trace.shown_run_trace),
        )
        for trace in page
    }
    segments = Segment.objects.filter(
        trace__in=page, segmentation=F("trace__segmentation"), index__gt=F("trace__context_segments")
    ).order_by("trace", "index")
    for trace_id, gold in segments.values_list("trace", "gold"):
        rows[trace_id].gold.append(gold)
    audits = SegmentAudit.objects.filter(
        result__in=results, index__gt=F("result__trace__context_segments")
    ).order_by("result", "index")
    for trace_id, label in audits.values_list("result__trace", "label"):
        rows[trace_id].audit.append(label)
    return list(rows.values())


def cases_without_trace(dataset: Dataset) -> QuerySet[Case]:
    """Cases that wait for a reasoning trace."""
    return Case.objects.filter(dataset=dataset, traces__isnull=True).order_by("title", "pk")
