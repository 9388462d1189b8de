"""Exports of benchmarks and imports of what was exported, prepared, with their events (DS-09)."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from auditing.models import Benchmark
from tests.annotation import factories as make
from tests.auditing.services.anchor import builders
from tests.trust.changes import Do, change, client_of
from tests.trust.changes_of_difficulty import CHANGES

# Those of the modules that this one builds on are in it as well.
__all__ = ["CHANGES"]


@change("auditing:benchmark_export", "export")
def _export() -> Do:
    made, client = builders.benchmark(1), client_of(make.user("researcher"))
    return lambda: client.post(f"/benchmarks/{made.slug}/export/")


def sending(made: Benchmark) -> tuple[Do, Do]:
    """Sending an archive of a benchmark for its own set, and importing it."""
    client = client_of(make.user("researcher"))
    exported: Any = client.post(f"/benchmarks/{made.slug}/export/")
    content = b"".join(exported.streaming_content)

    def send() -> Any:
        file = SimpleUploadedFile("benchmark.zip", content)
        return client.post("/benchmarks/import/", {"file": file, "video_set": made.video_set_id})

    return send, lambda: client.post(send()["Location"], {"name": "Again"})


change(
    "auditing:benchmark_bundle", why="the archive is read and kept for two hours; importing it is the event"
)(lambda: sending(builders.benchmark(1))[0])
change("auditing:benchmark_bundle_confirm", "benchmark.import_bundle")(
    lambda: sending(builders.benchmark(1))[1]
)


@change(
    "auditing:benchmark_bundle_confirm",
    "video_questions.import",
    "benchmark.import_bundle",
    kind="with questions that are new",
)
def _with_questions() -> Do:
    made = builders.benchmark(1)
    do = sending(made)[1]
    question = made.items.get().question
    made.items.all().delete()
    question.delete()
    return do
