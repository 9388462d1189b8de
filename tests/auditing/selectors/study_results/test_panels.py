"""The panels on a study of six segments, counted by hand.

            a  b  c  d | e  f
P1          c  c  i  u | c  ?
P2          c  c  i  i | c  i
decided              u
y           1  1  0  0 | 1  -      (f is open: P1 cannot judge)
judge       1  1  1  0 | x  1      (x: a reply that is no verdict)
audit       S  O  U  S | S  O
revised by P1     c  i             (after seeing the audit of the first case)
"""

from dataclasses import replace
from typing import Any

import pytest

from annotation.models import Segment, SegmentLabel, Submission
from auditing.models import AuditRun, StudyAudit
from auditing.selectors.study_results.choices import Choices
from auditing.services.study_results import Results, compute
from tests.auditing.study_rows import START, Answers, make_study

pytestmark = pytest.mark.django_db
MODEL = "openai:m"
FIRST = Answers(
    people={"P1": "cciu", "P2": "ccii"},
    judges={MODEL: "1110"},
    audits={MODEL: "SOUS"},
    decided="---u",
    revised={"P1": "--ci"},
    revealed=["P1"],
)
SECOND = Answers(people={"P1": "c?", "P2": "ci"}, judges={MODEL: "x1"}, audits={MODEL: "SO"})


def results(*cases: Answers, choices: Choices | None = None, **values: object) -> Results:
    return compute(make_study(cases or (FIRST, SECOND), **values), choices or Choices())  # type: ignore[arg-type]


def places(found: Results, cell: str) -> list[int]:
    return [place for place, there in enumerate(found.cells.mask(cell)) if there]


def test_table_1_rates_of_both_roles_on_the_same_segments() -> None:
    found = results()
    (row,) = found.document["comparison"]["rows"]
    judge, labeller = row["roles"]
    assert judge["counts"] == {"tp": 2, "fn": 0, "tn": 1, "fp": 1, "n": 4}
    assert labeller["counts"] == {"tp": 1, "fn": 1, "tn": 1, "fp": 1, "n": 4}
    rates = {name: value["value"] for name, value in judge["rates"].items()}
    assert rates == pytest.approx({"tpr": 1.0, "tnr": 0.5, "f1_0": 2 / 3, "balanced_f1": 2 / 3})
    rates = {name: value["value"] for name, value in labeller["rates"].items()}
    assert rates == pytest.approx({"tpr": 0.5, "tnr": 0.5, "f1_0": 0.5, "balanced_f1": 0.5})
    assert row["gain"]["value"] == pytest.approx(-1 / 6)
    assert (row["mcnemar"]["only_judge"], row["mcnemar"]["only_labeller"]) == (2, 1)
    # The segments behind the numbers.
    assert places(found, judge["rates"]["tpr"]["cell"]) == [0, 1]
    assert places(found, judge["rates"]["tnr"]["cell"]) == [2, 3]
    assert places(found, judge["rates"]["f1_0"]["cell"]) == [2, 3]
    assert places(found, labeller["rates"]["f1_0"]["cell"]) == [1, 2, 3]
    assert places(found, row["gain"]["cell"]) == [0, 1, 2, 3]
    assert places(found, row["mcnemar"]["only_judge_cell"]) == [1, 3]
    assert places(found, row["mcnemar"]["only_labeller_cell"]) == [2]


def test_lj_08_a_reply_that_is_no_verdict_is_missing_and_counted() -> None:
    found = results()
    coverage = found.document["comparison"]["rows"][0]["coverage"]
    assert {
        name: coverage[name] for name in ("segments", "compared", "gold_missing", "judge_missing", "missing")
    } == {
        "segments": 6,
        "compared": 4,
        "gold_missing": 1,
        "judge_missing": 1,
        "missing": 1,
    }
    assert places(found, coverage["cell"]) == [4]


def test_a_judge_pairs_by_the_name_after_the_colon_or_by_hand() -> None:
    cases = [
        replace(
            FIRST,
            judges={"openai:x": "1110", "imported:y": "0000"},
            audits={"openai:y": "SOUS", "local": "OOOO"},
        ),
    ]
    study = make_study(cases)
    rows = {row["model"]: row for row in compute(study, Choices()).document["comparison"]["rows"]}
    assert set(rows) == {"y", "nli-minilm", "x"}
    assert rows["y"]["gain"] is not None
    assert rows["x"]["gain"] is None
    judge = rows["x"]["id"].partition("~")[0]
    by_hand = compute(study, Choices(pairs=((judge, "openai:y"), ("imported:y", ""))))
    rows = {row["model"]: row for row in by_hand.document["comparison"]["rows"]}
    assert set(rows) == {"x · y", "nli-minilm", "y"}
    assert rows["y"]["gain"] is None


def test_a_weak_labeller_is_called_weak_and_is_not_the_audit_shown() -> None:
    case = replace(FIRST, audits={"local": "OOOO", MODEL: "SOU-"})
    document = results(case, quality={"local": "Finds half."}).document
    assert [row["weak"] for row in document["comparison"]["rows"]] == [False, True]
    assert document["segments"]["audit"] == "m"


def test_table_2_counts_and_ratio() -> None:
    found = results()
    (group,) = found.document["failure_modes"]["groups"]
    (bar,) = group["bars"]
    assert bar["counts"] == {"supported": 3, "unsupported": 1, "orphan": 2, "contradicted": 0}
    assert bar["ratio"] == 2.0
    assert places(found, bar["cells"]["orphan"]) == [1, 5]


def test_human_label_by_audit_class() -> None:
    found = results()
    table = found.document["confusion"]
    counts = {row["label"]: [cell["count"] for cell in row["cells"]] for row in table["rows"]}
    assert counts == {"correct": [2, 0, 1, 0], "uncertain": [1, 0, 0, 0], "incorrect": [0, 1, 0, 0]}
    assert (table["n"], table["human_missing"], table["audit_missing"]) == (5, 1, 0)
    assert places(found, table["false_trust"]["cell"]) == [3]
    assert places(found, table["false_alarm"]["cell"]) == [1]
    assert table["title"] == "The graph supports 1 of the 2 segments physicians did not accept"


def test_ag_06_cannot_judge_is_no_label_and_counted_apart() -> None:
    panel = results().document["agreement"]
    whole = panel["rows"][0]
    assert whole["n"] == 5
    assert whole["measures"]["raw"]["value"] == pytest.approx(0.8)
    # Observed 0.8; by chance (3 x 3 + 1 x 2 + 1 x 0) / 25 = 0.44; kappa = 0.36 / 0.56.
    assert whole["measures"]["cohen"]["value"] == pytest.approx(0.36 / 0.56)
    first, second = panel["coverage"]["people"]
    assert (first["person"], first["rated"], first["cannot_judge"]) == ("Senior", 5, 1)
    assert (second["person"], second["rated"], second["skipped"]) == ("Junior", 6, 0)


def test_ag_02_equal_labels_are_undefined_not_a_number() -> None:
    case = Answers(people={"P1": "ccc", "P2": "ccc"}, group="Simple care")
    other = Answers(people={"P1": "ciu", "P2": "ccu"}, group="Hard care")
    rows = {row["words"]: row for row in results(case, other).document["agreement"]["rows"]}
    kappa = rows["Simple care"]["measures"]["cohen"]
    assert kappa["value"] is None
    assert kappa["undefined_because"] == "all labels are equal"
    assert rows["Hard care"]["measures"]["cohen"]["value"] is not None


def test_ag_07_a_later_submission_and_a_revision_change_no_figure_of_agreement() -> None:
    study = make_study((FIRST, SECOND))
    before = compute(study, Choices()).document["agreement"]["rows"]
    first = Submission.objects.order_by("pk").first()
    assert first is not None
    labels = [entry | {"label": "incorrect"} for entry in first.labels]
    Submission.objects.create(
        assignment=first.assignment, number=2, labels=labels, labels_sha256="1" * 64, submitted_at=START
    )
    assert compute(study, Choices()).document["agreement"]["rows"] == before


def test_ab_08_labels_made_with_the_audit_in_sight_are_left_out_and_counted() -> None:
    found = results(FIRST, replace(SECOND, people={"P1": "cc", "P2": "cc"}, unblinded=["P2"]))
    document = found.document
    assert document["header"]["unblinded"] == 2
    assert places(found, document["header"]["unblinded_cell"]) == [4, 5]
    assert document["confusion"]["n"] == 4
    assert document["comparison"]["rows"][0]["coverage"]["gold_missing"] == 2
    assert document["agreement"]["rows"][0]["n"] == 4
    assert document["agreement"]["unblinded"] == 2
    people = document["agreement"]["coverage"]["people"]
    assert [(one["rated"], one["skipped"], one["unblinded"]) for one in people] == [(6, 0, 0), (4, 0, 2)]


def test_ag_13_a_decision_after_the_audit_was_seen_is_no_blind_reference() -> None:
    document = results(replace(FIRST, decided_after_audit=True), SECOND).document
    assert document["header"]["unblinded"] == 1
    assert document["header"]["problematic"] == 1


def test_influence_counts_directions() -> None:
    found = results()
    panel = found.document["influence"]
    assert (panel["changed"]["hits"], panel["changed"]["n"]) == (2, 4)
    assert (panel["towards"], panel["away"], panel["same_side"]) == (0, 1, 1)
    assert [(move["from"], move["to"], move["count"]) for move in panel["moves"]] == [
        ("uncertain", "incorrect", 1),
        ("incorrect", "correct", 1),
    ]
    assert places(found, panel["away_cell"]) == [2]
    assert places(found, panel["cell"]) == [2, 3]


def test_influence_is_measured_against_the_audit_that_people_were_shown() -> None:
    study = make_study((replace(FIRST, audits={MODEL: "SOUS", "openai:other": "SSSS"}), SECOND))
    run = AuditRun.objects.get(labeller="openai:other")
    StudyAudit.objects.create(study=study, run=run)
    chosen = AuditRun.objects.get(labeller=MODEL).pk
    panel = compute(study, Choices(audit=chosen)).document["influence"]
    assert panel["audit"] == str(run)
    assert (panel["towards"], panel["away"]) == (1, 0)


def pace_of(cases: int, *, timed: bool = True) -> dict[str, Any]:
    """The panel of speed and drift; P1 and P2 label eight cases in a session."""
    study = make_study([Answers(people={"P1": "ci", "P2": "cc"}) for _ in range(cases)])
    if not timed:
        SegmentLabel.objects.update(first_label_at=None)
    return compute(study, Choices()).document["pace"]


def test_where_nobody_has_sessions_enough_the_figures_stand_and_what_is_missing_is_said() -> None:
    panel = pace_of(9)
    assert panel["missing"].startswith(
        "Limits need 5 sessions of one person; the most that anybody has is 2."
    )
    assert [(one["labels"], len(one["sessions"]), one["median_ms"]) for one in panel["people"]] == [
        (18, 2, 20_000.0)
    ] * 2
    assert panel["people"][0]["charts"][0]["undefined_because"] == "a chart needs 5 sessions; there are 2"


def test_labels_without_times_are_listed_too() -> None:
    panel = pace_of(2, timed=False)
    assert panel["title"] == "No label has a time yet"
    assert "no label has a time" in panel["missing"]
    assert [(one["labels"], one["sessions"], one["median_ms"]) for one in panel["people"]] == [
        (4, [], None)
    ] * 2


def test_with_five_sessions_nothing_is_missing() -> None:
    panel = pace_of(40)
    assert [len(one["sessions"]) for one in panel["people"]] == [5, 5]
    assert panel["missing"] == ""
    assert "Drift is undefined" not in panel["title"]


def test_filters_of_the_table() -> None:
    found = results()
    counts = {one["id"]: one["count"] for one in found.document["segments"]["filters"]}
    assert counts == {
        "all": 6,
        "judge-trusts": 1,
        "audit-supports": 1,
        "audit-flags": 1,
        "differ": 1,
        "changed": 2,
    }
    assert places(found, "judge-trusts") == [2]
    assert places(found, "differ") == [3]
    assert places(found, "cannot-judge") == [5]
    assert found.document["segments"]["title"] == (
        "Judges trust 1 of the 2 segments physicians did not. The audit flags 1 of those"
    )


def test_rp_06_the_binary_mapping_has_a_name_and_changes_no_label() -> None:
    found = results()
    assert found.document["header"]["mapping"] == "uroreason-binary/1"
    assert [row.label if row else None for row in found.references] == [
        "correct",
        "correct",
        "incorrect",
        "uncertain",
        "correct",
        None,
    ]


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        ("senior", ["correct", "correct", "incorrect", "uncertain", "correct", None]),
        ("junior", ["correct", "correct", "incorrect", "incorrect", "correct", "incorrect"]),
        ("unanimous", ["correct", "correct", "incorrect", None, "correct", None]),
        ("imported", [None] * 6),
    ],
)
def test_sources_of_the_reference_label(source: str, labels: list[str | None]) -> None:
    found = results(choices=Choices(gold=source))
    assert [row.label if row else None for row in found.references] == labels


def test_every_count_with_a_cell_equals_its_segments() -> None:
    """Walk the whole document: `count` or `total` beside `cell` is the size of that set."""
    found = results()
    seen = 0

    def walk(value: object) -> None:
        nonlocal seen
        if isinstance(value, dict):
            for number in ("count", "total"):
                if number in value and value.get("cell") and "from" not in value:
                    assert value[number] == found.cells.count(value["cell"]), value
                    seen += 1
            for child in value.values():
                walk(child)
        elif isinstance(value, list):
            for child in value:
                walk(child)

    walk(found.document)
    assert seen > 15


@pytest.mark.parametrize(
    "cases",
    [
        [],
        [Answers(people={"P1": "---"})],
        [Answers(people={"P1": "cc?"}, judges={MODEL: "11x"})],
        [Answers(people={"P1": "--", "P2": "cc"}, audits={MODEL: "S-"})],
        [Answers(people={}, gold="ci", judges={MODEL: "10"}, audits={MODEL: "SO"})],
    ],
)
def test_everything_works_with_nothing_there(cases: list[Answers]) -> None:
    document = compute(make_study(cases), Choices()).document
    for name in ("comparison", "failure_modes", "confusion", "agreement", "influence", "pace", "segments"):
        assert document[name]["title"]


def test_a_study_of_unlabelled_cases_falls_back_to_labels_that_came_with_them() -> None:
    case = Answers(people={}, gold="ci", judges={MODEL: "10"}, audits={MODEL: "SO"})
    document = results(case).document
    assert document["choices"]["gold"] == "imported"
    assert document["comparison"]["rows"][0]["coverage"]["compared"] == 2


def test_without_intervals_none_is_claimed() -> None:
    row = results(choices=Choices(intervals="none")).document["comparison"]["rows"][0]
    assert row["gain"]["low"] is None
    assert row["gain"]["verdict"] == "no_clear"


def test_segments_without_a_person_keep_their_texts_in_the_database_only() -> None:
    """The lists hold no texts: a page reads those of its ten rows."""
    found = results()
    assert Segment.objects.count() == 8
    assert "Segment 2 of" not in str(found.document)
