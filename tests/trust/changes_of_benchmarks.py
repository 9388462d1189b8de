"""Every kind of change to benchmarks, references, categories, rows of files and runs, prepared (DS-09).

Ratings of people are in `changes_of_ratings`.
"""

import json
from collections.abc import Callable

from django.core.files.uploadedfile import SimpleUploadedFile

from auditing.models import Benchmark, BenchmarkRun
from tests.annotation import factories as make
from tests.auditing.services.anchor import builders
from tests.trust.changes import Do, change, client_of
from tests.trust.changes_of_ratings import CHANGES
from tests.videos import factories as videos

# Those of the modules that this one builds on are in it as well.
__all__ = ["CHANGES"]


def posting(path: str, made: Benchmark, **form: object) -> Do:
    client = client_of(make.user("researcher"))
    return lambda: client.post(f"/benchmarks/{made.slug}/{path}", form)


@change("auditing:benchmark_new", "benchmark.create")
def _new() -> Do:
    question = videos.question()
    client = client_of(make.user("researcher"))
    return lambda: client.post("/benchmarks/new/", {"name": "New", "video_set": question.video_set_id})


change("auditing:benchmark_change", "benchmark.change")(
    lambda: posting("change/", builders.benchmark(1), name="Another", pictures="8")
)


@change("auditing:benchmark_delete", "benchmark.delete")
def _delete() -> Do:
    made = builders.benchmark(1)
    return posting("delete/", made, name=made.name)


@change("auditing:benchmark_remove", "benchmark.remove_series")
def _remove() -> Do:
    made = builders.benchmark(1)
    answer = builders.answer(builders.item(made))
    return posting("remove/", made, what="answers", name=answer.model, people="0")


@change("auditing:benchmark_references", "benchmark.take_references", kind="questions")
def _questions() -> Do:
    form = {"questions-source": "imported", "questions-kind": "generated", "questions-writer": "m"}
    return posting("references/take/", builders.benchmark(1), how="questions", **form)


@change("auditing:benchmark_references", "benchmark.add_questions", kind="new items")
def _items() -> Do:
    made = builders.benchmark(1)
    videos.question(videos.video(made.video_set))
    return posting("references/take/", made, how="items")


@change("auditing:benchmark_label", "benchmark.label")
def _label() -> Do:
    made = builders.benchmark(1)
    return posting(f"items/{builders.item(made).pk}/label/", made, category="Sports", subcategory="Action")


def row() -> SimpleUploadedFile:
    said = {"kind": "answer", "item": "q1", "model": "m", "text": "Final Answer: Yes."}
    return SimpleUploadedFile("rows.jsonl", json.dumps(said).encode())


change("auditing:benchmark_import", why="the file is kept for its preview; nothing is stored")(
    lambda: posting("import/", builders.benchmark(1), file=row())
)


def kept() -> Callable[[], object]:
    made = builders.benchmark(1)
    client = client_of(make.user("researcher"))
    address = client.post(f"/benchmarks/{made.slug}/import/", {"file": row()})["Location"]
    return lambda: client.post(address)


change("auditing:benchmark_import_confirm", "benchmark.import")(kept)


# Runs


RUN, CANCEL, RESUME = (f"benchmark.{action}" for action in ("run", "cancel_run", "resume_run"))


def answered() -> Benchmark:
    """A benchmark with an answer and a reference that can be compared without a model."""
    made = builders.benchmark(1)
    builders.reference(builders.item(made))
    builders.answer(builders.item(made))
    return made


change("auditing:benchmark_start", RUN)(lambda: posting("start/", answered(), step="ground", sent="1"))
change("auditing:benchmark_plan", why="it counts what a step would ask; nothing is stored")(
    lambda: posting("plan/", answered(), step="ground", sent="1")
)


def on_run(address: str, state: str, **form: str) -> Do:
    found = BenchmarkRun.objects.create(benchmark=answered(), step="ground", state=state)
    client = client_of(make.user("researcher"))
    return lambda: client.post(address.format(found.pk), form)


PAGE, API = "/benchmarks/runs/{}/", "/api/v1/benchmark-runs/{}/"
change("auditing:benchmark_run", CANCEL, kind="cancel")(lambda: on_run(PAGE, "queued", action="cancel"))
change("auditing:benchmark_run", RESUME, kind="resume")(lambda: on_run(PAGE, "cancelled", action="resume"))
change("api:benchmark-run-cancel", CANCEL)(lambda: on_run(f"{API}cancel/", "queued"))
change("api:benchmark-run-resume", RESUME)(lambda: on_run(f"{API}resume/", "failed"))
