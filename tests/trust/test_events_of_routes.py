"""DS-09: whatever changes a study, its labels, its decisions or an account is recorded, each change once.

Every route of the permission table that may change a study, people's work, a decision or an account is tried with all
its kinds of change (`tests.trust.changes`). What a change writes is compared as a whole list: the event of the change
itself once, and those of moves that it causes. Runs of audits and of judges and imports of data sets keep their own
records.
"""

import csv
import re
from pathlib import Path

import pytest

from reasonaudit.accounts import permissions
from reasonaudit.lib.models import Event
from tests.trust.changes_of_bundles import CHANGES

pytestmark = pytest.mark.django_db

OWN = ("annotation:", "accounts:", "api:assignment-", "api:adjudication-", "api:guideline", "api:token")
FILES = ("auditing:study_", "api:study-")
CHAINS = ("auditing:reasoning_", "api:reasoning-")
BENCHMARKS = ("auditing:benchmark_", "api:benchmark-")


def mutating_routes() -> set[str]:
    """Routes of the permission table that take anything but GET, of studies, people's work and accounts."""
    table = Path(permissions.__file__).with_name("permissions.csv")
    with table.open(encoding="utf-8", newline="") as file:
        return {
            row["route"]
            for row in csv.DictReader(file)
            if row["route"].startswith(OWN + FILES + CHAINS + BENCHMARKS)
            and set(row["methods"].split()) - {"GET"}
        }


def test_ds_09_every_route_that_changes_anything_is_tried() -> None:
    assert {one.route for one in CHANGES.values()} == mutating_routes()


def test_ds_09_only_a_change_with_a_reason_has_no_event() -> None:
    assert [name for name, one in CHANGES.items() if bool(one.actions) == bool(one.why)] == []


@pytest.mark.parametrize("name", CHANGES)
def test_ds_09_every_change_writes_its_events_once(name: str) -> None:
    one = CHANGES[name]
    do = one.prepare()
    before = set(Event.objects.values_list("pk", flat=True))
    response = do()
    assert response.status_code in {200, 201, 302}, response.content
    match = response.resolver_match
    assert re.sub(r"^api:v\d+:", "api:", match.view_name) == one.route
    written = Event.objects.exclude(pk__in=before).order_by("pk").values_list("action", flat=True)
    assert list(written) == list(one.actions)
