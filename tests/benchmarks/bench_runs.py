"""A whole run against a server with a fixed latency: 10,660 calls, database writes included.

The ideal time is what the server's latency allows: calls x latency / calls in flight. The server runs in a process of
its own. Memory is the growth of this process' largest resident set during the run. Run it alone:

    python -m tests.benchmarks runs
"""

import os
import resource
import sys
import time
from typing import Any

SEGMENTS = 40
LATENCY_SECONDS = 0.020
IN_FLIGHT = 16


def run() -> list[dict[str, Any]]:
    """Return rows for overhead over the ideal, wall time, processor time and memory."""
    prepare()
    from auditing.models import AuditResult, AuditRun
    from auditing.services import runs
    from auditing.services.execution import execute
    from tests.auditing import factories
    from tests.scripted_server import start_scripted_server

    sentence = (
        "The patient has had no fever since the second day and the culture of the urine stayed without growth"
    )
    texts = [f"{sentence}, finding {number}." for number in range(SEGMENTS)]
    with start_scripted_server(latency=LATENCY_SECONDS) as server:
        options = {"base_url": server.base_url, "concurrency": IN_FLIGHT}
        warm_up = factories.trace(4, texts=["Warm", "up", "the", "imports."])
        for trace in (warm_up, factories.trace(SEGMENTS, texts=texts)):
            made = runs.create(
                dataset=trace.case.dataset, traces=[trace], labeller="openai:scripted", options=options
            )
            before, started, processor = _peak_megabytes(), time.perf_counter(), time.process_time()
            state = execute(made.pk)
            seconds, processor = time.perf_counter() - started, time.process_time() - processor
    made = AuditRun.objects.get(pk=made.pk)
    result = AuditResult.objects.get(run=made)
    if (state, made.calls, result.labelled) != ("done", 10_660, 10_660):
        raise AssertionError(f"the run ended {state} with {made.calls} calls and {result.labelled} labels")
    ideal = made.calls * LATENCY_SECONDS / IN_FLIGHT
    grown = _peak_megabytes() - before
    per_call = 1000 * processor / made.calls
    pace = 1000 * LATENCY_SECONDS / IN_FLIGHT
    what = f"run of {SEGMENTS} segments, {made.calls:,} calls, database included"
    return [
        {
            "name": f"{what}: overhead over ideal",
            "measured": f"{100 * (seconds / ideal - 1):.1f} %",
            "target": "<= 15 %",
            "baseline": f"{ideal:.2f} s ideal",
            "ratio": round(seconds / ideal, 3),
        },
        {
            "name": f"{what}: wall time",
            "measured": f"{seconds:.2f} s",
            "target": "< 300 s",
            "baseline": "300 s",
            "ratio": round(seconds / 300, 3),
        },
        {
            "name": f"{what}: processor time, per call",
            "measured": f"{per_call:.2f} ms",
            "target": None,
            "baseline": f"{pace:.2f} ms between calls at the ideal pace",
            "ratio": round(per_call / pace, 3),
        },
        {
            "name": f"{what}: memory growth",
            "measured": f"{grown:.1f} MB",
            "target": "< 100 MB",
            "baseline": "100 MB",
            "ratio": round(grown / 100, 3),
        },
    ]


def _peak_megabytes() -> float:
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def prepare() -> None:
    """Set Django up on a throw-away database, unless the caller has done so."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reasonaudit.settings.test")
    import django
    from django.apps import apps
    from django.core.management import call_command

    if not apps.ready:
        django.setup()
    call_command("migrate", verbosity=0)
