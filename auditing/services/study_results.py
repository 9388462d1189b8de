"""The results of a study as one document, computed once for as long as nothing that it depends on changes.

The last few are kept in this process under a hash of their inputs (`selectors.study_results.fingerprint`) and of what
the address chooses. Nothing is stored: two processes, or two machines, compute the same bytes from the same rows.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.models import Dataset, Segment, Study, StudyMember
from annotation.selectors.access import LEADS_EVERYWHERE
from auditing.models import JudgeRun
from auditing.selectors.judges import judge_runs_of
from auditing.selectors.study_results import fingerprint, gold, reading
from auditing.selectors.study_results.across import across_panel
from auditing.selectors.study_results.agreement import agreement_panel
from auditing.selectors.study_results.cells import Cells
from auditing.selectors.study_results.choices import INTERVALS, Choices, unknown
from auditing.selectors.study_results.comparison import comparison_panel
from auditing.selectors.study_results.confusion import confusion_panel
from auditing.selectors.study_results.failure_modes import failure_panel
from auditing.selectors.study_results.header import header_panel
from auditing.selectors.study_results.influence import influence_panel
from auditing.selectors.study_results.material import Labeller, Material, Reference
from auditing.selectors.study_results.pace import pace_panel
from auditing.selectors.study_results.segments import TableQuery, segments_panel, table_page

SCHEMA = "reasonaudit.study-results/1"
KEPT = 6


@dataclass(slots=True)
class Results:
    """The document, and what its table of segments is read from."""

    document: dict[str, Any]
    material: Material
    references: list[Reference | None]
    labeller: Labeller | None
    cells: Cells

    def table(self, query: TableQuery) -> dict[str, Any]:
        """One page of the table of segments."""
        return table_page(self.material, self.references, self.labeller, self.cells, query)


@dataclass(frozen=True, slots=True)
class Partner:
    """A second set to compare with: a study that the user leads, or a data set with reference labels."""

    kind: str
    slug: str
    title: str
    row: Study | Dataset


_kept: "OrderedDict[str, Results]" = OrderedDict()
_lock = threading.Lock()


def partners(study: Study, user: Any) -> list[Partner]:
    """What may be compared with the study: only studies that this user leads, and data sets with labels."""
    studies = Study.objects.exclude(pk=study.pk).order_by("name", "pk")
    if not leads_every_study(user):
        own = StudyMember.objects.filter(user_id=user.pk, part=StudyMember.Part.LEAD, active=True)
        studies = studies.filter(pk__in=own.values("study"))
    labelled = Segment.objects.filter(trace__case__dataset=OuterRef("pk")).exclude(gold="")
    datasets = Dataset.objects.filter(Exists(labelled)).order_by("name", "pk")
    return [Partner("study", row.slug, row.name, row) for row in studies] + [
        Partner("dataset", row.slug, row.name, row) for row in datasets
    ]


def leads_every_study(user: Any) -> bool:
    """Whether the user's role alone makes them a lead of every study."""
    return bool(user.is_superuser or user.role in LEADS_EVERYWHERE)


def results(study: Study, choices: Choices, user: Any) -> Results:
    """The results that the choices ask for; raises `UserError` for a run or a second set that is not there."""
    options = partners(study, user)
    partner = next((one for one in options if (one.kind, one.slug) == choices.compare), None)
    if choices.compare[0] and partner is None:
        raise unknown("compare", ":".join(choices.compare), [f"{one.kind}:{one.slug}" for one in options])
    key = _key(study, choices, partner, options)
    with _lock:
        held = _kept.get(key)
        if held is not None:
            _kept.move_to_end(key)
            return held
    found = compute(study, choices, partner, options)
    with _lock:
        _kept[key] = found
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return found


def _key(study: Study, choices: Choices, partner: Partner | None, options: Sequence[Partner]) -> str:
    parts = [
        fingerprint.of_study(study),
        repr(choices),
        repr([(one.kind, one.slug, one.title) for one in options]),
    ]
    if partner is not None:
        row = partner.row
        parts.append(fingerprint.of_study(row) if isinstance(row, Study) else fingerprint.of_dataset(row))
    return "|".join(parts)


def compute(
    study: Study, choices: Choices, partner: Partner | None = None, options: Sequence[Partner] = ()
) -> Results:
    """Count everything. Every panel registers the segments behind its numbers in one set of cells."""
    judge_runs = list(judge_runs_of(study.dataset))
    judge_run = _judge_run(judge_runs, choices.judge_run)
    found = reading.of_study(study, audit=choices.audit, judge_run=judge_run)
    runs = reading.run_options([place.trace_id for place in found.places])
    if choices.audit is not None and not any(option.run.pk == choices.audit for option in runs):
        raise unknown("audit", str(choices.audit), [str(option.run.pk) for option in runs])
    labeller = _shown(found, choices.audit)
    sources = gold.available(found)
    source = choices.gold or gold.usual(sources)
    references = gold.references(found, source)
    y = gold.blinded_y(references)
    there, y_there = _second(partner)
    cells = Cells(found.n)
    document = {
        "schema": SCHEMA,
        "study": {
            "slug": study.slug,
            "name": study.name,
            "stage": study.stage,
            "blinding": study.blinding,
            "invented": study.dataset.invented,
        },
        "choices": {
            "gold": source,
            "gold_words": gold.SOURCES[source],
            "audit": labeller.run_id if labeller else None,
            "judges": choices.judge_run,
            "intervals": choices.intervals,
            "compare": ":".join(choices.compare) if partner else "",
        },
        "options": {
            "gold": [{"id": name, "words": words} for name, words in gold.SOURCES.items()],
            "gold_available": sources,
            "audit": [
                {"id": option.run.pk, "words": str(option.run), "segments": option.segments}
                for option in runs
            ],
            "judges": [{"id": run.pk, "words": str(run)} for run in judge_runs],
            "intervals": [{"id": name, "words": words} for name, words in INTERVALS.items()],
            "compare": [{"id": f"{one.kind}:{one.slug}", "words": one.title} for one in options],
        },
        "header": header_panel(found, references, cells),
        "comparison": comparison_panel(found, y, cells, choices.pairs, choices.resamples),
        "across": across_panel(found, y, there, y_there, choices.resamples),
        "failure_modes": failure_panel(found, cells, there),
        "confusion": confusion_panel(found, references, labeller, cells),
        "agreement": agreement_panel(found, cells, choices.resamples),
        "influence": influence_panel(found, found.shown or labeller, cells),
        "pace": pace_panel(found, cells),
    }
    document["segments"] = segments_panel(found, references, labeller, cells)
    return Results(document, found, references, labeller, cells)


def document_with_table(found: Results, query: TableQuery) -> dict[str, Any]:
    """The whole document with the asked page of segments, as page and API give it."""
    return {**found.document, "segments": {**found.document["segments"], "table": found.table(query)}}


def _judge_run(runs: Sequence[JudgeRun], wanted: int | None) -> JudgeRun | None:
    if wanted is None:
        return None
    for run in runs:
        if run.pk == wanted:
            return run
    raise unknown("judges", str(wanted), [str(run.pk) for run in runs])


def _shown(found: Material, audit: int | None) -> Labeller | None:
    """The audit that panels with one audit show: the chosen one, else the one that the study shows to its people.

    Without either, the one that covers most segments, and a weak one only where there is no other.
    """
    for wanted in (audit, found.shown.run_id if found.shown else None):
        for labeller in found.labellers:
            if labeller.run_id == wanted:
                return labeller
    if not found.labellers:
        return None
    return max(found.labellers, key=lambda one: (not one.weak, sum(y is not None for y in one.y), one.run_id))


def _second(partner: Partner | None) -> tuple[Material | None, list[int | None]]:
    if partner is None:
        return None, []
    row = partner.row
    found = reading.of_study(row) if isinstance(row, Study) else reading.of_dataset(row)
    return found, gold.blinded_y(gold.references(found, gold.usual(gold.available(found))))
