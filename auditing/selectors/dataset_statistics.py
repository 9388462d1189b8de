"""Statistics of a data set, and how its segments fail in each domain.

The figures are those of Tables 7 and 8 of Kohli et al., "Reference-Free Evaluation of Reasoning in Open-Ended
Question Answering". Segments are those of the current segmentation without the context, as in Table 7. What
cannot be computed is None. Sums are taken in the database.
"""

from dataclasses import dataclass

from django.db.models import Count, F, Func, IntegerField, OuterRef, Subquery

from annotation.models import Case, Dataset, Domain, Gold, Segment, Trace
from annotation.selectors import reasoning_segments
from auditing.models import AuditLabel, AuditResult, AuditRun, SegmentAudit


class Words(Func):
    """Number of words: parts of a text between white space. Much faster than a regular expression."""

    template = (
        "cardinality(array_remove("
        "string_to_array(translate(%(expressions)s, E'\\t\\n\\r\\f', '    '), ' '), ''))"
    )
    output_field = IntegerField()


@dataclass(frozen=True, slots=True)
class DatasetStatistics:
    """Tables 7 and 8 for one data set. `histogram` is `(segments, traces)` in ascending order."""

    cases: int
    traces: int
    segments: int
    labelled: int
    gold: dict[str, int]
    segments_mean: float | None
    segments_median: float | None
    segments_min: int | None
    segments_max: int | None
    words_mean: float | None
    words_median: float | None
    histogram: list[tuple[int, int]]

    @property
    def trustworthy(self) -> int:
        """Segments that count as y = 1: the correct ones (paper, Appendix on data set statistics)."""
        return self.gold[Gold.CORRECT]

    @property
    def problematic(self) -> int:
        """Segments that count as y = 0: incorrect and uncertain ones."""
        return self.gold[Gold.INCORRECT] + self.gold[Gold.UNCERTAIN]

    @property
    def unit(self) -> str:
        """What segments are counted by: a case, or a trace where some case has several."""
        return "case" if self.traces == self.cases else "trace"

    @property
    def takeaway(self) -> str:
        """One sentence about the reference labels, made from the numbers."""
        if not self.labelled:
            return "No segment has a reference label"
        part = self.trustworthy / self.labelled
        return f"{_quantity(part)} of the labelled segments {'is' if part == 0 else 'are'} correct"


@dataclass(frozen=True, slots=True)
class FailureModes:
    """Audit labels of one domain's segments, as counts by label."""

    domain: str
    traces: int
    counts: dict[str, int]

    @property
    def segments(self) -> int:
        """All audited segments, the supported ones too."""
        return sum(self.counts.values())

    @property
    def ratio(self) -> float | None:
        """Orphan / Unsupported from the counts, None where no segment is Unsupported."""
        unsupported = self.counts[AuditLabel.UNSUPPORTED]
        return self.counts[AuditLabel.ORPHAN] / unsupported if unsupported else None

    @property
    def word(self) -> str:
        """Name of the domain."""
        return str(Domain(self.domain).label)

    @property
    def parts(self) -> list[tuple[str, int, float, float]]:
        """`(label, count, share in per cent, where its bar starts)`, without empty ones."""
        start, parts = 0.0, []
        for label, count in self.counts.items():
            width = 100 * count / self.segments
            if count:
                parts.append((label, count, width, start))
            start += width
        return parts

    @property
    def said(self) -> str:
        """The bar in words."""
        return ", ".join(f"{AuditLabel(label).label} {width:.1f}\u00a0%" for label, _, width, _ in self.parts)


def _quantity(part: float) -> str:
    if part in (0, 1):
        return "All" if part else "None"
    for limit, words in ((0.25, "Fewer than a quarter"), (0.45, "Fewer than half"), (0.55, "About half")):
        if part < limit:
            return words
    return "More than half" if part < 0.75 else "Most"


def statistics_of(dataset: Dataset) -> DatasetStatistics:
    """Compute Tables 7 and 8 in three queries."""
    segments = Segment.objects.filter(
        trace__case__dataset=dataset,
        segmentation=F("trace__segmentation"),
        index__gt=F("trace__context_segments"),
    )
    gold = dict.fromkeys(Gold.values, 0)
    words: dict[int, int] = {}
    found = segments.annotate(words=Words("text")).order_by("words")
    for length, label, number in found.values_list("words", "gold").annotate(Count("pk")):
        words[length] = words.get(length, 0) + number
        if label:
            gold[label] += number
    count = sum(words.values())
    own = reasoning_segments().annotate(n=Count("pk")).values("n")
    lengths: dict[int, int] = {}
    for length, traces in (
        Trace.objects.filter(case__dataset=dataset)
        .annotate(length=Subquery(own))
        .order_by("length")
        .values_list("length")
        .annotate(Count("pk"))
    ):
        lengths[length or 0] = lengths.get(length or 0, 0) + traces
    histogram = sorted(lengths.items())
    traces = sum(lengths.values())
    return DatasetStatistics(
        cases=Case.objects.filter(dataset=dataset).count(),
        traces=traces,
        segments=count,
        labelled=sum(gold.values()),
        gold=gold,
        segments_mean=count / traces if traces else None,
        segments_median=_median(histogram),
        segments_min=histogram[0][0] if histogram else None,
        segments_max=histogram[-1][0] if histogram else None,
        words_mean=sum(length * number for length, number in words.items()) / count if count else None,
        words_median=_median(sorted(words.items())),
        histogram=histogram,
    )


def _median(histogram: list[tuple[int, int]]) -> float | None:
    """Median of values given as `(value, how often)` in ascending order."""
    total = sum(often for _, often in histogram)
    if not total:
        return None

    def at(position: int) -> int:
        for value, often in histogram:
            if position < often:
                return value
            position -= often
        raise AssertionError(position)

    return (at((total - 1) // 2) + at(total // 2)) / 2


def failure_modes_of(dataset: Dataset, run: AuditRun | None = None) -> list[FailureModes]:
    """Audit labels per domain over the audits shown, each trace once.

    Audits of an older segmentation are left out. Shares are of all
    segments that are not context (paper, section 5).
    """
    shown = AuditResult.objects.filter(trace=OuterRef("pk"))
    if run is not None:
        shown = shown.filter(run=run)
    newest = Trace.objects.filter(case__dataset=dataset).annotate(
        shown=Subquery(shown.order_by("-run_id").values("pk")[:1])
    )
    rows = (
        SegmentAudit.objects.filter(
            result__in=newest.filter(shown__isnull=False).values("shown"),
            result__segmentation=F("result__trace__segmentation"),
            index__gt=F("result__trace__context_segments"),
        )
        .order_by()
        .values_list("result__trace__case__domain", "label")
        .annotate(Count("pk"))
    )
    counts: dict[str, dict[str, int]] = {}
    for domain, label, number in rows:
        counts.setdefault(domain, dict.fromkeys(AuditLabel.values, 0))[label] = number
    traces = dict(
        AuditResult.objects.filter(pk__in=newest.filter(shown__isnull=False).values("shown"))
        .filter(segmentation=F("trace__segmentation"))
        .order_by()
        .values_list("trace__case__domain")
        .annotate(Count("pk"))
    )
    return [
        FailureModes(domain, traces[domain], counts[domain]) for domain in Domain.values if domain in counts
    ]


def failure_takeaway(modes: list[FailureModes]) -> str:
    """One sentence that compares how segments fail, made from the counts."""
    said = []
    for mode in modes:
        orphan, unsupported = mode.counts[AuditLabel.ORPHAN], mode.counts[AuditLabel.UNSUPPORTED]
        share = 100 * mode.counts[AuditLabel.SUPPORTED] / mode.segments
        sentence = f"{mode.word}: {share:.0f}\u00a0% supported"
        if orphan > unsupported:
            sentence += ", the rest mostly lacks any support"
        elif unsupported > orphan:
            sentence += ", the rest mostly rests on broken chains"
        elif orphan:
            sentence += ", missing support and broken chains are as common"
        said.append(sentence)
    return "; ".join(said) or "No audit to show"
