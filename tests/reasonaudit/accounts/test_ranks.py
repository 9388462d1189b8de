"""AB-12: who stands above whom."""

import pytest

from reasonaudit.accounts.models import Role
from reasonaudit.accounts.ranks import PARTS, RANKS, may_manage, rank, roles_to_invite


def test_ab_12_every_role_has_one_rank_and_one_part() -> None:
    assert sorted(role for roles in RANKS for role in roles) == sorted(Role.values)
    assert set(PARTS) == set(Role.values)
    with pytest.raises(KeyError):
        rank("pope")


@pytest.mark.parametrize("role", Role.values)
@pytest.mark.parametrize("leads_study", [False, True])
def test_ab_12_no_invitation_above_oneself(role: str, leads_study: bool) -> None:
    assert all(rank(other) <= rank(role) for other in roles_to_invite(role, leads_study=leads_study))
    assert ("admin" in roles_to_invite(role, leads_study=leads_study)) is (role == "admin")


def test_ab_12_who_switches_whom_off() -> None:
    may = {(a, b) for a in Role.values for b in Role.values if may_manage(a, b)}
    assert may == {("admin", role) for role in Role.values} | {
        ("manager", role) for role in ("physician", "annotator", "adjudicator", "researcher")
    }
