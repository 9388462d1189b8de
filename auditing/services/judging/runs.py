"""Making runs of judges. They are cancelled and resumed as audits are (`auditing.services.runs`)."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from annotation.models import Dataset, Trace
from auditing.models import JudgeRun, JudgeRunTrace
from auditing.services.judging import sources
from auditing.services.judging.planning import questions_of, refusal
from auditing.services.options import RunOptions
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.runs import add_log_line


def create(
    *,
    dataset: Dataset,
    traces: Iterable[Trace],
    judge: str,
    options: Mapping[str, Any] | None = None,
    by: Any = None,
    name: str = "",
) -> JudgeRun:
    """Store a judge's run that waits for a worker; its job is made by `auditing.tasks`.

    Parameters
    ----------
    dataset, traces
        What to judge; every trace must belong to the data set. Traces without a segment to judge are left out
        with `skip_refused`, and refuse the run without it.
    judge
        ``openai:MODEL``.
    options
        base_url, concurrency, price_prompt, price_completion, max_calls, max_cost, skip_refused; see `RunOptions`.
    by
        The user who starts it, or None.

    Raises
    ------
    UserError
        Nothing to judge, an option or judge that cannot be used. Nothing is stored then.
    """
    chosen = RunOptions.read(options)
    sources.check_options(chosen)
    asked = sources.build(judge, chosen)
    fit: list[tuple[Trace, int]] = []
    refused: list[tuple[Trace, str]] = []
    for trace in traces:
        questions = questions_of(trace)
        if why := refusal(questions):
            refused.append((trace, why))
        else:
            fit.append((trace, len(questions)))
    if refused and not (chosen.skip_refused and fit):
        first, why = refused[0]
        more = "" if len(refused) == 1 else f" So it is with {len(refused) - 1:,} more."
        raise UserError(
            "not_judgeable",
            f"{first}: {why}{more}",
            "Choose skip_refused to judge the others." if fit else "",
            fields={"traces": [trace.pk for trace, _ in refused]},
        )
    if not fit:
        raise UserError(
            "no_traces", "There is no trace to judge.", "Choose a data set with at least one trace."
        )
    identity = dict(asked.identity())
    with transaction.atomic():
        run = JudgeRun(
            dataset=dataset,
            name=name.strip()[:200],
            judge=judge,
            judge_id=sources.judge_id(judge, identity),
            options=chosen.to_dict(),
            identity=identity,
            total=sum(number for _, number in fit),
            created_by=by,
        )
        add_log_line(run, "Queued.")
        for trace, why in refused:
            add_log_line(run, f"Left out: {trace}. {why}")
        run.save()
        JudgeRunTrace.objects.bulk_create(
            JudgeRunTrace(run=run, trace=trace, segmentation=trace.segmentation, total=number)
            for trace, number in fit
        )
    return run
