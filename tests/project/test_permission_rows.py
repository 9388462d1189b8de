"""AB-11 for single rows: each person gets on each object and in each state exactly what the table says."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from annotation.core.states import State
from annotation.models import Assignment, Study
from auditing.models import BenchmarkRater
from reasonaudit.accounts import permissions
from reasonaudit.accounts.models import Role
from reasonaudit.lib import access
from tests.annotation import factories
from tests.auditing import benchmark_rows
from tests.project.routes import SAMPLES, patterns
from tests.videos import factories as video_factories

pytestmark = pytest.mark.django_db
TABLE = Path(permissions.__file__).with_name("permissions.csv")
STATES = {
    "assignment": [state.value for state in State],
    "study": list(Study.Stage.values),
    "item": list(Study.Stage.values),
    # Those who see every video by their role are its viewers; the rest need a reason that nobody has here.
    "video": [""],
    "benchmark": [""],
}
SEE_EVERY_VIDEO = {Role.RESEARCHER, Role.MANAGER, Role.ADMIN}


def object_rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["object"]]


ROWS = object_rows()
ROUTES = sorted({row["route"] for row in ROWS if not row["route"].startswith("ws:")})


class Scene:
    """One study with its people, another one with its own, and who is what to the first."""

    def __init__(self) -> None:
        ours = factories.study_with_work(items=1, physicians=2)
        theirs = factories.study_with_work(items=1, physicians=1)
        self.study, self.item, self.assignment = ours.study, ours.items[0], ours.work[0][0]
        everyone = {
            "owner": (ours.physicians[0].user, {"own", "physician"}),
            "other physician": (ours.physicians[1].user, {"physician"}),
            "adjudicator": (ours.adjudicator.user, {"adjudicator"}),
            "lead": (ours.lead.user, {"lead"}),
            "lead elsewhere": (theirs.lead.user, set()),
            "physician elsewhere": (theirs.physicians[0].user, set()),
            "adjudicator elsewhere": (theirs.adjudicator.user, set()),
        }
        for role in Role.values:
            leads = {"lead"} if role in {Role.MANAGER, Role.ADMIN} else set()
            everyone[f"any {role}"] = (factories.user(role), leads)
        for user, relations in everyone.values():
            relations |= {"viewer", "reader"} if user.role in SEE_EVERY_VIDEO else set()
        self.benchmark, elsewhere = benchmark_rows.benchmark(), benchmark_rows.benchmark()
        for name in ("owner", "lead elsewhere"):
            user, relations = everyone[name]
            BenchmarkRater.objects.create(benchmark=self.benchmark, user_id=user.pk)
            relations.add("rater")
        for benchmark, name, active in (
            (self.benchmark, "other physician", False),
            (elsewhere, "physician elsewhere", True),
        ):
            BenchmarkRater.objects.create(benchmark=benchmark, user_id=everyone[name][0].pk, active=active)
        self.people: dict[str, tuple[Any, set[str]]] = everyone
        self.video = video_factories.video()

    def set_state(self, kind: str, state: str) -> None:
        if kind == "assignment":
            Assignment.objects.filter(pk=self.assignment.pk).update(state=state)
        elif kind in {"study", "item"}:
            Study.objects.filter(pk=self.study.pk).update(stage=state)

    def arguments(self, names: dict[str, Any], kind: str) -> dict[str, Any]:
        known = {
            "slug": self.benchmark.slug if kind == "benchmark" else self.study.slug,
            "item": self.item.public_id,
            "assignment": self.assignment.public_id,
            "video": self.video.public_id,
        }
        return {
            name: known[name] if name in known else SAMPLES.get(type(converter).__name__, "missing")
            for name, converter in names.items()
        }


def expected(row_set: list[dict[str, str]], method: str, user: Any, relations: set[str], state: str) -> bool:
    """The table read afresh, without the code under test."""
    return any(
        method in row["methods"].split()
        and {user.role, "*"} & set(row["roles"].split())
        and relations & set(row["relations"].split())
        and (not row["states"] or state in row["states"].split())
        for row in row_set
    )


def relations_of(kind: str, relations: set[str]) -> set[str]:
    """Which relations count for a kind of object."""
    counting = {
        "video": {"viewer"},
        "benchmark": {"rater", "reader"},
        "assignment": {"own", "lead"},
    }
    return relations & counting.get(kind, {"lead", "physician", "adjudicator"})


def pattern_of(route: str) -> Any:
    return next(pattern for name, pattern in patterns(get_resolver()) if name == route)


def kind_of(route: str) -> str:
    return next(row["object"] for row in ROWS if row["route"] == route)


def cases(route: str) -> Iterator[tuple[list[dict[str, str]], str, str]]:
    rows = [row for row in ROWS if row["route"] == route]
    kinds = {row["object"] for row in rows}
    assert len(kinds) == 1, f"{route} names more than one kind of object"
    kind = kinds.pop()
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        yield rows, kind, method


@pytest.mark.parametrize("route", ROUTES)
def test_ab_11_the_decision_on_each_row_is_that_of_the_table(route: str) -> None:
    scene = Scene()
    converters = pattern_of(route).pattern.converters
    arguments = scene.arguments(converters, kind_of(route))
    for rows, kind, method in cases(route):
        for state in STATES[kind]:
            scene.set_state(kind, state)
            for name, (user, relations) in scene.people.items():
                wanted = expected(rows, method, user, relations_of(kind, relations), state)
                found = permissions.decide(user, route, method, arguments)
                assert found.allowed is wanted, (name, method, state, found)


@pytest.mark.parametrize("route", ROUTES)
def test_ab_11_who_has_nothing_to_do_with_a_row_is_told_that_there_is_none(route: str) -> None:
    scene = Scene()
    converters = pattern_of(route).pattern.converters
    address = reverse(route, kwargs=scene.arguments(converters, kind_of(route)))
    rows = [row for row in ROWS if row["route"] == route]
    for name, (user, relations) in scene.people.items():
        client = Client(raise_request_exception=False)
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            may_at_all = any(
                method in row["methods"].split() and {user.role, "*"} & set(row["roles"].split())
                for row in rows
            )
            related = relations_of(rows[0]["object"], relations) & {
                word for row in rows for word in row["relations"].split() if method in row["methods"].split()
            }
            response = client.generic(method, address, b"", content_type="application/json")
            if may_at_all and not related:
                assert response.status_code == 404, (name, method, response.status_code)
            elif not may_at_all:
                assert response.status_code in {403, 405}, (name, method, response.status_code)
            else:
                assert response.status_code < 500, (name, method, response.content[:300])


def test_ab_11_an_unknown_row_and_a_foreign_one_look_alike() -> None:
    """The answer to an address of another study is that to an address of nothing."""
    scene = Scene()
    route = "annotation:workspace"
    converters = pattern_of(route).pattern.converters
    real = reverse(route, kwargs=scene.arguments(converters, kind_of(route)))
    none = reverse(
        route, kwargs={**scene.arguments(converters, kind_of(route)), "assignment": SAMPLES["UUIDConverter"]}
    )
    client = Client(raise_request_exception=False)
    stranger = scene.people["physician elsewhere"][0]
    client.force_login(stranger, backend="django.contrib.auth.backends.ModelBackend")
    one, other = client.get(real), client.get(none)
    assert one.status_code == other.status_code == 404
    token = re.compile(rb"[A-Za-z0-9]{64}")
    left, right = (token.sub(b"", response.content) for response in (one, other))
    assert left.replace(real.encode(), b"") == right.replace(none.encode(), b"")


def test_ab_11_a_member_who_was_removed_has_no_relation_any_more() -> None:
    scene = Scene()
    owner = scene.people["owner"][0]
    assert access.facts("study", owner, {"slug": scene.study.slug}).relations == {"physician"}  # type: ignore[union-attr]
    scene.study.members.filter(user=owner).update(active=False)
    for kind, arguments in (
        ("study", {"slug": scene.study.slug}),
        ("item", {"item": scene.item.public_id}),
        ("assignment", {"assignment": scene.assignment.public_id}),
    ):
        found = access.facts(kind, owner, arguments)
        assert found is not None
        assert found.relations == frozenset(), kind


def test_ab_11_every_kind_in_the_table_is_registered() -> None:
    assert {row["object"] for row in ROWS} <= access.kinds()
