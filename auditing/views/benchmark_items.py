"""Pages of a benchmark's items: one with its clip, references, answers and ratings; its category by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET, require_POST

from auditing.core.anchor.parameters import BenchmarkParameters
from auditing.models import Benchmark, BenchmarkItem, GroundingScore, ModelAnswer, Reference
from auditing.selectors.benchmark_item_page import ItemPage, item_of, item_page
from auditing.selectors.benchmark_items import neighbours
from auditing.selectors.benchmark_rating import may_see_ratings
from auditing.selectors.rationales import grounded_video_payload
from auditing.services.anchor import taxonomy
from auditing.services.anchor.grounding import WHY, duration_of, inputs_sha256
from auditing.views.benchmark_forms import LabelForm
from auditing.views.benchmark_parts import find, frame
from reasonaudit.lib.errors import UserError

STEP_WORDS = {"visual": "Seen", "audio": "Heard"}


@dataclass(frozen=True, slots=True)
class GroundingRow:
    """A line of an answer's grounding: what is compared, and its figures, or the reason why there are none."""

    words: str
    figures: tuple[tuple[str, float | None], ...]
    why: str


@require_GET
def benchmark_item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One item: its clip with boxes, references, every answer, and what judges and people say of it."""
    benchmark, item = _item(slug, pk)
    return _page(request, benchmark, item, None)


@require_POST
def benchmark_label(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Sort an item by hand."""
    benchmark, item = _item(slug, pk)
    form = LabelForm(request.POST, categories=taxonomy.categories(benchmark))
    if form.is_valid():
        try:
            taxonomy.label(item, **form.cleaned_data, by=request.user)
        except UserError as error:
            form.add_user_error(error)
        else:
            return redirect(f"{reverse('auditing:benchmark_item', args=[slug, pk])}#category")
    return _page(request, benchmark, item, form)


def _item(slug: str, pk: int) -> tuple[Benchmark, BenchmarkItem]:
    benchmark = find(slug)
    # A number that no row can have must not reach the database.
    item = item_of(benchmark, pk) if pk < 2**63 else None
    if item is None:
        raise Http404("This benchmark has no such item.")
    return benchmark, item


def _page(
    request: HttpRequest, benchmark: Benchmark, item: BenchmarkItem, refused: LabelForm | None
) -> HttpResponse:
    page = item_page(item, lambda answers: may_see_ratings(request.user, answers), _freshness(item))
    video = item.question.video
    shown = [one.answer for one in page.answers]
    context = frame(
        request,
        benchmark,
        "items",
        item=item,
        question=item.question,
        video=video,
        page=page,
        near=neighbours(item),
        payload=grounded_video_payload(item, shown, reference=page.main) if video.is_ready else None,
        steps=STEP_WORDS.items(),
        grounding={one.answer.pk: _grounding(one.grounding) for one in (*page.answers, *page.others)},
        label_form=refused or _label_form(request, benchmark, item, page),
        subcategories=taxonomy.subcategories(benchmark),
        rate_address=_address("benchmark_rate", slug=benchmark.slug),
        audit_address=_address("benchmark_rationale", slug=benchmark.slug, pk=item.pk),
    )
    return render(request, "auditing/benchmark_item.html", context, status=422 if refused else 200)


def _label_form(request: HttpRequest, benchmark: Benchmark, item: BenchmarkItem, page: ItemPage) -> LabelForm:
    """The form with what this person said before, else with the label in force."""
    own = next((label for label in page.labels if label.user_id == request.user.pk), None)
    initial = {
        "category": own.category if own else item.category,
        "subcategory": own.subcategory if own else item.subcategory,
        "note": own.note if own else "",
    }
    return LabelForm(initial=initial, categories=taxonomy.categories(benchmark))


def _freshness(item: BenchmarkItem) -> Any:
    match_from = BenchmarkParameters.from_dict(item.benchmark.parameters).match_from
    length = duration_of(item.question.video)

    def is_fresh(score: GroundingScore, answer: ModelAnswer, reference: Reference) -> bool:
        return score.inputs_sha256 == inputs_sha256(answer.sha256, reference.sha256, length, match_from)

    return is_fresh


def _grounding(scores: Any) -> list[tuple[Reference, bool, list[GroundingRow]]]:
    """Each score of an answer as lines, with its reference and whether it is of the present state."""
    return [(reference, fresh, list(_lines(score.document))) for score, reference, fresh in scores]


def _lines(document: Mapping[str, Any]) -> list[GroundingRow]:
    boxes = document.get("boxes") or {}
    single, pictures = boxes.get("single") or {}, boxes.get("pictures") or {}
    lines = [
        GroundingRow(
            "Boxes",
            (
                ("mean IoU of matches", single.get("mean_iou")),
                ("precision", single.get("precision")),
                ("recall", single.get("recall")),
                ("F1", single.get("f1")),
                ("mean IoU by picture", pictures.get("mean_iou")),
            ),
            WHY.get(boxes.get("why", ""), ""),
        )
    ]
    words = {
        "visual": "Times of what is seen",
        "audio": "Times of what is heard",
        "sounds": "Heard times and sounds",
    }
    for part, said in words.items():
        found = document.get(part) or {}
        lines.append(
            GroundingRow(
                said,
                (
                    ("IoU", found.get("tiou")),
                    ("precision", found.get("precision")),
                    ("recall", found.get("recall")),
                    ("F1", found.get("f1")),
                ),
                WHY.get(found.get("why") or "", ""),
            )
        )
    return lines


def _address(route: str, **arguments: Any) -> str:
    try:
        return reverse(f"auditing:{route}", kwargs=arguments)
    except NoReverseMatch:
        return ""
