"""Traces that could go into a study."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from annotation.models import Study, StudyItem, Trace


@dataclass(frozen=True, slots=True)
class TraceChoice:
    """Filters of the page that puts traces into a study. `labelled` is "all", "some", "none" or "" for any."""

    domains: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    labelled: str = ""
    search: str = ""

    @property
    def active(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.domains or self.generators or self.labelled or self.search)


def free_traces(study: Study, choice: TraceChoice) -> QuerySet[Trace, Any]:
    """Traces of the study's data set that are not in it, by case, with `judged` and `labelled` segments counted."""
    of_now = Q(all_segments__segmentation=F("segmentation"), all_segments__index__gt=F("context_segments"))
    rows = (
        Trace.objects.filter(case__dataset=study.dataset_id)
        .exclude(pk__in=StudyItem.objects.filter(study=study).values("trace"))
        .annotate(
            judged=Count("all_segments", filter=of_now),
            labelled=Count("all_segments", filter=of_now & ~Q(all_segments__gold="")),
        )
    )
    if choice.domains:
        rows = rows.filter(case__domain__in=choice.domains)
    if choice.generators:
        rows = rows.filter(generator__in=choice.generators)
    if choice.labelled == "all":
        rows = rows.filter(labelled=F("judged"), judged__gt=0)
    elif choice.labelled == "some":
        rows = rows.filter(labelled__gt=0)
    elif choice.labelled == "none":
        rows = rows.filter(labelled=0)
    if choice.search:
        rows = rows.filter(Q(case__title__icontains=choice.search) | Q(external_id__icontains=choice.search))
    return rows.select_related("case").order_by("case__title", "pk")


def facets(study: Study) -> dict[str, list[tuple[str, str, int]]]:
    """What the filters offer: domains and generators of traces that are not in the study, with their numbers."""
    free = Trace.objects.filter(case__dataset=study.dataset_id).exclude(
        pk__in=StudyItem.objects.filter(study=study).values("trace")
    )
    domains = free.order_by("case__domain").values_list("case__domain").annotate(n=Count("pk"))
    generators = free.order_by("generator").values_list("generator").annotate(n=Count("pk"))
    return {
        "domain": [(value, value.capitalize(), number) for value, number in domains],
        "generator": [(value, value or "Not said", number) for value, number in generators],
    }
