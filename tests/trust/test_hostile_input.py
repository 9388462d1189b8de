"""IH-16: on every route, hostile ids, queries, forms and bodies get an answer below 500.

Rows exist, so that the views run all the way. Values are those that broke servers before: numbers beyond 64 bits and
beyond Python's own limit, wrong types, markup, direction marks, surrogates, very long text.
"""

import itertools
import json
import random
import uuid
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse

from annotation.models import Dataset
from auditing.models import AuditResult, BenchmarkItem, BenchmarkRater, BenchmarkRun
from auditing.services import runs
from auditing.services.execution import execute
from reasonaudit.accounts.models import User
from tests.annotation import factories as people
from tests.auditing import benchmark_rows, factories
from tests.project.routes import patterns

LONG_NUMBER = "9" * 5000
TEXTS = [
    "", "0", "-1", "1.5", "1e400", "NaN", "9223372036854775808", LONG_NUMBER, "²", "٣", "true", "null", "[]", "{}",
    "<script>alert(1)</script>", "' OR 1=1 --", "%s%n", "../../etc/passwd", "\u202eabc", "a\u0301" * 50, "x" * 20_000,
    "1,2,x", ",,,", "\r\nSet-Cookie: a=b", "last", "-pk", "case__dataset__name", "\ud7ff", "\U0010ffff",
]  # fmt: skip
NAMES = [
    "page", "page_size", "sort", "order", "q", "search", "domain", "generator", "label", "gold", "state", "trace",
    "result", "run", "dataset", "segment", "target", "to", "kept", "max_changes", "limit", "next", "format", "index",
    "offset", "word", "action", "labeller", "model", "max_premises", "tau", "parameters", "concurrency", "name",
    "scope", "days", "case",
    "kind", "signed_off", "all", "labelled", "overlap", "label_2", "note_2", "remark_2", "reason", "member", "user",
    "part", "seniority", "pseudonym", "version", "since", "group", "text", "question", "change_note", "seen",
    "reasons_correct", "blinding", "training_pass", "recheck_percent", "description",
]  # fmt: skip
# What pages of benchmarks read, and what opens the forms whose other fields are hostile then.
NAMES_OF_BENCHMARKS = [
    "q", "category", "subcategory", "level", "decision", "by", "model", "missing", "setting", "warning", "reference",
    "type", "form", "imported", "length", "height", "video", "sort", "page", "page_size", "state", "video_set", "name",
    "description", "pictures", "seed", "resamples", "source", "items", "facet", "first", "second", "review", "fault",
    "note", "version", "answer", "answers", "result", "rules", "other", "user", "rater", "number", "skip", "how",
    "step", "takes", "facets", "models", "settings", "base_url", "concurrency", "max_calls", "max_cost",
    "price_prompt", "questions-source", "questions-kind", "questions-writer", "study-study", "study-source",
]  # fmt: skip
OPENS = {
    "auditing:benchmark_plan": {"step": "rate", "sent": "1"},
    "auditing:benchmark_start": {"step": "answer", "sent": "1"},
    "auditing:benchmark_references": {"how": "questions"},
    "auditing:benchmark_raters": {"action": "sample"},
    "auditing:benchmark_review": {"decision": "rejected"},
}
BODIES = [
    None, True, 0, -1, 2**63, 1.5, "", "text", [], {}, [[]], {"": ""},
    {"edits": None}, {"edits": {}}, {"edits": [None]}, {"edits": [[1], 2, "neutral"]},
    {"edits": [{"premises": [], "target": 2, "label": "neutral"}]},
    {"edits": [{"premises": [3, 1], "target": 2, "label": "neutral"}]},
    {"edits": [{"premises": [1.5], "target": "2", "label": None}]},
    {"edits": [{"premises": [2**63 - 1], "target": 2**63 - 1, "label": "entailment"}]},
    {"edits": [{"premises": [1], "target": 2, "label": "maybe", "extra": 1}]},
    {"edits": [{"premises": [1], "target": 2, "label": "neutral"}] * 3},
    {"dataset": "ward-round", "labeller": "stored", "parameters": {"tau": "NaN"}},
    {"dataset": "ward-round", "labeller": "stored", "parameters": {"tau": 10**18, "m_max": -1}},
    {"dataset": "ward-round", "labeller": "stored", "parameters": {"no_such": 1}},
    {"dataset": "ward-round", "labeller": "stored", "traces": [1, "x", 2**63 - 1]},
    {"dataset": "ward-round", "labeller": "openai:<script>", "options": {"concurrency": -1, "max_calls": "many"}},
    {"dataset": "ward-round", "labeller": "replay:/etc", "options": {"cache_dir": "/etc"}},
    {"dataset": "ward-round", "labeller": "scripted:/etc/passwd"},
    {"dataset": "ward-round", "labeller": "local", "options": {"window": 2**62, "max_premises": 10**9}},
    {"dataset": {"slug": 1}, "labeller": ["local"], "order": 7, "name": "x" * 500},
    {"username": "x" * 10_000, "password": ["x"], "days": 1e300, "scope": None},
    {"base_version": 0, "answer": 2**63, "facet": "answer", "value": 3},
    {"base_version": 2**63, "answer": 1, "facet": "answer", "value": None, "note": "\ud7ff", "shown": "x" * 64},
    {"base_version": 0, "answer": 10**40, "facet": ["answer"], "value": 10**40, "note": {}, "tab": "x"},
]  # fmt: skip
PATH_VALUES = {"IntConverter": [0, 2**31, 2**63, 10**30], "SlugConverter": ["x" * 300, "-", "None"]}

pytestmark = pytest.mark.django_db


@pytest.fixture
def existing() -> dict[str, list[object]]:
    """A data set with an audited trace, and a study; values for path arguments that lead to them."""
    dataset = Dataset.objects.create(name="Ward round", slug="ward-round")
    relations = [([1], 2, "entailment"), ([2], 3, "implied"), ([1, 3], 4, "contradiction")]
    trace = factories.trace(4, into=dataset, relations=relations)
    run = runs.create(dataset=dataset, traces=[trace], labeller="stored")
    execute(run.pk)
    result = AuditResult.objects.get(run=run)
    scene = people.study_with_work(items=1, physicians=1, of=dataset)
    return {
        "pk": [trace.pk, run.pk, result.pk, trace.case.pk],
        "slug": [dataset.slug, scene.study.slug],
        "item": [scene.items[0].public_id],
        "assignment": [scene.work[0][0].public_id],
        "index": [2],
    }


def of_benchmarks(route: str, admin: User) -> dict[str, list[object]]:
    """Values that lead to two benchmarks; in the second one the user is a rater, and results are closed to raters."""
    found = [benchmark_rows.benchmark(items=1) for _ in range(2)]
    for made in found:
        made.items.update(difficulty="hard")
        benchmark_rows.references(made)
        benchmark_rows.answers(made, "m1")
        benchmark_rows.rate(made, "answer", {"m1": [{"openai:a": 5, "openai:b": 2}]})
        BenchmarkRun.objects.create(benchmark=made, step="rate", model="openai:a", state="done")
    BenchmarkRater.objects.create(benchmark=found[1], user_id=admin.pk)
    rows = (
        BenchmarkRun.objects
        if route.endswith(("_run", "_manifest")) or "-run-" in route
        else BenchmarkItem.objects
    )
    return {
        "slug": [made.slug for made in found],
        "pk": list(rows.order_by("pk").values_list("pk", flat=True)),
    }


@pytest.fixture
def client(make_user: Callable[..., User]) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make_user("admin"), backend="django.contrib.auth.backends.ModelBackend")
    return client


def addresses(name: str, pattern, existing: dict[str, list[object]]) -> Iterator[str]:
    """Addresses of a route: those of existing rows first, then with hostile values."""
    converters = pattern.pattern.converters
    good = max((len(existing.get(key, [])) for key in converters), default=1)
    for number in range(good):
        chosen = {
            key: existing[key][number % len(existing[key])]
            if key in existing
            else "00000000-0000-4000-8000-000000000000"
            for key in converters
        }
        yield reverse(name, kwargs=chosen)
    for key, converter in converters.items():
        for value in PATH_VALUES.get(type(converter).__name__, []):
            try:
                yield reverse(name, kwargs={**dict.fromkeys(converters, "x"), key: value})
            except NoReverseMatch:
                continue


ROUTES = [entry for entry in patterns(get_resolver()) if entry[0] not in {"readyz", "accounts:logout"}]


@pytest.mark.parametrize(("name", "pattern"), ROUTES, ids=[name for name, _ in ROUTES])
def test_ih_16_hostile_queries_and_forms(name: str, pattern, client: Client, existing) -> None:
    chance = random.Random(name)
    every = NAMES
    if "benchmark" in name:
        every = NAMES_OF_BENCHMARKS
        existing |= of_benchmarks(name, User.objects.get(username="admin-user"))
    for address in addresses(name, pattern, existing):
        for method in (client.get, client.post):
            # Where nothing is found no parameter is read: one request shows that the address does no harm.
            first = method(address).status_code
            assert first < 500, f"{method.__name__} {address}"
            for text in [] if first in {404, 405} else TEXTS:
                # What Python itself refuses to read as a number goes into every parameter at once.
                names = every if text == LONG_NUMBER else chance.sample(every, 12)
                data = dict.fromkeys(names, text) | OPENS.get(name, {})
                response = method(address, data)
                said = f"{method.__name__} {address} {str(data)[:300]}"
                assert response.status_code < 500, said
                assert "Set-Cookie: a=b" not in str(response.headers), said


@pytest.mark.parametrize(
    ("name", "pattern"),
    [entry for entry in ROUTES if entry[0].startswith("api:")],
    ids=lambda value: str(value)[:30],
)
def test_ih_16_hostile_json_bodies(name: str, pattern, client: Client, existing) -> None:
    from django.core.cache import cache

    if "benchmark" in name:
        existing |= of_benchmarks(name, User.objects.get(username="admin-user"))
    for address, send in itertools.product(addresses(name, pattern, existing), (client.post, client.put)):
        for body in [] if send(address).status_code in {404, 405} else BODIES:
            cache.clear()
            key = {"Idempotency-Key": str(uuid.uuid4())}
            response = send(address, json.dumps(body), content_type="application/json", headers=key)
            assert response.status_code < 500, f"{address} {str(body)[:300]}"
            if response.status_code >= 400:
                assert set(response.json()["error"]) == {"code", "message", "remedy", "fields"}, (
                    f"{address} {body}"
                )
