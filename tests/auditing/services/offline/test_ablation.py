"""Other settings over the same relations; changes worked out by hand from tests/auditing/golden.py."""

from dataclasses import replace

import pytest

from auditing.core.parameters import AuditParameters
from auditing.services.offline import ablation
from auditing.services.offline.auditing import AuditSettings
from auditing.services.offline.errors import UsageError

BASE = AuditParameters()


def changes(labelled, **setting):
    (found,) = ablation.ablate(labelled, [setting])["settings"]
    assert found["changed"] == len(found["changes"])
    assert {change["trace"] for change in found["changes"]} <= {"wound"}
    return {change["segment"]: (change["from"], change["to"]) for change in found["changes"]}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        # {S2} -> S5 is implied at distance 3: usable as soon as the limit lies above 3 or is no limit.
        ({"tau": 3}, {}),
        ({"tau": 4}, {5: ("orphan", "supported")}),
        ({"gap_op": ">"}, {5: ("orphan", "supported")}),
        ({"gap_enabled": False}, {5: ("orphan", "supported")}),
        # With tau 1 no implied edge is left: S4 and S8 lose their only edge.
        ({"tau": 1}, {4: ("unsupported", "orphan"), 8: ("unsupported", "orphan")}),
        ({"d_max_threshold": 1}, {4: ("unsupported", "orphan"), 8: ("unsupported", "orphan")}),
        # No span of an implied edge is above 0, and spans do not bind entailments.
        ({"span_threshold": 1}, {}),
        # Without {S1,S2} -> S6, S6 is an Orphan; S7 stays Contradicted.
        ({"m_max": 1}, {6: ("supported", "orphan")}),
        (
            {"m_min": 2},
            {
                2: ("supported", "orphan"),
                4: ("unsupported", "orphan"),
                6: ("supported", "unsupported"),
                7: ("contradicted", "orphan"),
                8: ("unsupported", "orphan"),
            },
        ),
        # S7 is not contradicted any more, and grounds S8.
        (
            {"contradiction_scope": "none"},
            {7: ("contradicted", "supported"), 8: ("unsupported", "supported")},
        ),
        ({"contradiction_scope": "singleton"}, {}),
        # S7 keeps the label of its search, but still blocks.
        ({"contradiction_policy": "record"}, {7: ("contradicted", "supported")}),
        # S7 stays Contradicted, but does not block.
        ({"contradicted_blocks": False}, {8: ("unsupported", "supported")}),
        # S1 may be no premise: only {S3}->S4, {S6}->S7 and {S7}->S8 are left, and nothing grounds.
        (
            {"context_premises": False},
            {2: ("supported", "orphan"), 6: ("supported", "orphan"), 7: ("contradicted", "unsupported")},
        ),
    ],
)
def test_changes_by_hand(labelled, setting, expected):
    assert changes(labelled, **setting) == expected


def test_metrics_follow_the_labels(labelled):
    # With tau 4, S5 (gold correct) is Supported: tp 3, fn 0, tn 3, fp 0.
    found = ablation.ablate(labelled, [{"tau": 4}])
    assert found["default"]["metrics"]["tpr"] == pytest.approx(2 / 3)
    assert found["settings"][0]["metrics"] == {
        "n": 6,
        "tpr": 1.0,
        "tnr": 1.0,
        "f1_0": 1.0,
        "balanced_f1": 1.0,
    }
    assert found["settings"][0]["changed_share"] == pytest.approx(1 / 7)
    assert found["settings"][0]["labels"] == {
        "supported": 3,
        "unsupported": 2,
        "orphan": 1,
        "contradicted": 1,
    }


def test_without_gold_there_are_no_metrics(labelled):
    bare = replace(
        labelled[0],
        record=replace(
            labelled[0].record, segments=tuple(replace(s, gold=None) for s in labelled[0].record.segments)
        ),
    )
    assert ablation.ablate([bare], [{"tau": 4}])["settings"][0]["metrics"] is None


def test_settings_one_at_a_time_and_crossed():
    grid = {"tau": (2, 4), "gap_op": (">",)}
    assert ablation.settings_of(grid, BASE) == [{"tau": 2}, {"tau": 4}, {"gap_op": ">"}]
    assert ablation.settings_of(grid, BASE, cross=True) == [
        {"tau": 2, "gap_op": ">"},
        {"tau": 4, "gap_op": ">"},
    ]


@pytest.mark.parametrize(
    ("grid", "cross", "words"),
    [
        ({"colour": (1,)}, False, "Unknown audit parameter colour"),
        ({"tau": ("x",)}, False, "tau is 'x'"),
        ({"tau": range(200), "max_depth": range(1, 100)}, True, "19,800 settings"),
    ],
)
def test_a_bad_grid_is_wrong_use(grid, cross, words):
    with pytest.raises(UsageError, match=words):
        ablation.settings_of(grid, BASE, cross=cross)


def test_what_has_to_be_labelled_for_a_grid():
    settings = AuditSettings(parameters=AuditParameters(context_premises=False))
    wide = ablation.widened(settings, [{"m_max": 3}, {"context_premises": True}, {"m_max": 1}]).parameters
    assert (wide.m_min, wide.m_max, wide.context_premises) == (1, 3, True)


def test_an_earlier_audit_without_the_relations_is_refused(labelled):
    asked = replace(labelled[0], calls=7)
    ablation.require_labelled([asked], [{"m_max": 2}, {"m_max": 1}])
    with pytest.raises(UsageError, match="premise sets of 1 to 2 segments"):
        ablation.require_labelled([asked], [{"m_max": 3}])
    lazy = replace(asked, coverage=replace(asked.coverage, skipped=1))
    with pytest.raises(UsageError, match="--order lazy"):
        ablation.require_labelled([lazy], [])
    ablation.require_labelled(labelled, [{"m_max": 9}])  # stored relations are all there is


def test_hundreds_of_settings(labelled):
    grid = ablation.settings_of(
        {"tau": tuple(range(1, 41)), "span_threshold": tuple(range(10))}, BASE, cross=True
    )
    found = ablation.ablate(labelled, grid)
    assert len(found["settings"]) == 400
    assert all(
        one["changed"] == 1
        for one in found["settings"]
        if one["setting"]["tau"] > 3 and one["setting"]["span_threshold"]
    )
