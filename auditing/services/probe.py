"""The determinism probe of a run: some of its answered relations are asked again, past every cache."""

from collections.abc import Iterator, Sequence

from asgiref.sync import async_to_sync
from django.db import transaction

from annotation.selectors import segment_texts
from auditing.core.nli import Label
from auditing.models import AuditRun
from auditing.nli.probe import ProbeResult, probe_determinism
from auditing.nli.protocol import RelationLabeller, RelationQuery
from auditing.services import labellers
from auditing.services.audits import ScoredRelation
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.runs import add_log_line


def probe_run(run: AuditRun, *, sample: int, seed: int = 0) -> ProbeResult:
    """Ask a random sample of a run's labelled relations again and note the outcome in the run's log.

    No stored answer is used or changed. The labeller is made as the run made it.

    Raises
    ------
    UserError
        The run asked no model, has no labelled relation yet, or its labeller cannot be made.
    LLMPaused
        The server does not work at all.
    """
    if run.labeller == labellers.STORED:
        raise UserError(
            "no_model_asked", "The relations of this run came with the data; there is nothing to ask again."
        )
    labelled = list(labelled_relations(run))
    if not labelled:
        raise UserError(
            "nothing_labelled", "The run has no labelled relation yet.", "Wait until a trace is done."
        )
    result = async_to_sync(_ask)(
        labellers.build(run.labeller, RunOptions.read(run.labeller_options)), labelled, sample, seed
    )
    with transaction.atomic():
        row = AuditRun.objects.select_for_update().get(pk=run.pk)
        add_log_line(row, in_words(result))
        row.save(update_fields=["log", "updated_at"])
    return result


def labelled_relations(run: AuditRun) -> Iterator[tuple[RelationQuery, Label]]:
    """Yield (query, label) of every labelled relation in the results of a run."""
    for result in run.results.select_related("trace").order_by("pk").iterator(chunk_size=20):
        texts = segment_texts(result.trace, result.segmentation)
        for row in result.relations:
            scored = ScoredRelation.from_row(row)
            if scored.label is not None:
                yield RelationQuery.of(texts, scored.relation), scored.label


def in_words(result: ProbeResult) -> str:
    """Return the outcome as one sentence."""
    asked = f"Determinism probe: {result.asked} relations asked again"
    lost = f", {result.unanswered} without a valid answer" if result.unanswered else ""
    if result.rate is None or result.low is None or result.high is None:
        return f"{asked}{lost}; how often labels change is not known."
    return (
        f"{asked}{lost}; {result.flipped} labels changed ({100 * result.rate:.1f} %, "
        f"95 % interval {100 * result.low:.1f} to {100 * result.high:.1f} %)."
    )


async def _ask(
    labeller: RelationLabeller, labelled: Sequence[tuple[RelationQuery, Label]], sample: int, seed: int
) -> ProbeResult:
    try:
        return await probe_determinism(labeller, labelled, sample=sample, seed=seed)
    finally:
        await labeller.aclose()
