"""Sentences of the results page: each branch, and never a claim that the interval does not carry."""

import pytest

from auditing.core import takeaways as t
from auditing.core.estimates import Estimate
from auditing.core.influence import influence


def est(value: float | None, low: float | None = None, high: float | None = None, **more: str) -> Estimate:
    return Estimate(
        value,
        more.get("because", "" if value is not None else "there is nothing to count"),
        low,
        high,
        "" if low is not None else more.get("no_interval", "an interval needs at least two cases"),
        100,
        10,
        1000,
        0,
    )


@pytest.mark.parametrize(
    ("difference", "p", "verdict"),
    [
        (est(0.2, 0.1, 0.3), 0.01, t.GAIN),
        (est(-0.2, -0.3, -0.1), 0.01, t.LOSS),
        (est(0.2, -0.01, 0.3), 0.01, t.NO_CLEAR),
        (est(0.2, 0.0, 0.3), None, t.NO_CLEAR),
        (est(0.2, 0.1, 0.3), 0.05, t.NO_CLEAR),
        (est(0.2, 0.1, 0.3), None, t.GAIN),
        (est(0.2), None, t.NO_CLEAR),
        (est(None), None, t.UNDEFINED),
    ],
)
def test_a_gain_is_one_only_where_interval_and_corrected_p_say_so(
    difference: Estimate, p: float | None, verdict: str
) -> None:
    assert t.verdict_of(difference, p) == verdict
    words = t.verdict_words(difference, p)
    assert bool(words) is (verdict == t.NO_CLEAR)


def test_why_nothing_is_clear() -> None:
    assert "includes zero" in t.verdict_words(est(0.1, -0.1, 0.3))
    assert "number of models" in t.verdict_words(est(0.1, 0.05, 0.3), 0.2)
    assert "needs at least two cases" in t.verdict_words(est(0.1))


def roles(*verdicts: str, tnr: float = 0.2) -> list[t.Roles]:
    return [t.Roles(judge_tnr=tnr, labeller_tpr=0.5, verdict=verdict) for verdict in verdicts]


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        (
            roles("gain", "gain", "gain", "gain", "no_clear"),
            "Asked directly, all five models let most problems through. As relation labellers, four of five models "
            "gain balanced F1 and one shows no clear difference",
        ),
        (
            roles("gain"),
            "Asked directly, the model lets most problems through. As relation labeller, the model gains balanced F1",
        ),
        (
            roles("no_clear", "no_clear"),
            "Asked directly, both models let most problems through. As relation labellers, none of the two models "
            "shows a clear difference in balanced F1",
        ),
        (
            roles("no_clear", tnr=0.7),
            "Asked directly, the model catches at least half of the problems. As relation labeller, the model shows no "
            "clear difference in balanced F1",
        ),
        (
            roles("gain", "loss", "undefined"),
            "Asked directly, all three models let most problems through. As relation labellers, one of three models "
            "gains balanced F1, one loses and for one it is undefined",
        ),
        (
            [*roles("loss"), *roles("loss", tnr=0.9)],
            "Asked directly, one of two models lets most problems through. As relation labellers, both models lose "
            "balanced F1",
        ),
        (
            roles("undefined"),
            "Asked directly, the model lets most problems through. The difference between the two roles is undefined",
        ),
        ([t.Roles(labeller_tpr=0.6)], "Relation labellers doubt 40 % of the sound segments"),
        ([], "Nothing is compared yet: no segment has a reference label and a prediction"),
        ([t.Roles()], "Nothing is compared yet: no segment has a reference label and a prediction"),
    ],
)
def test_comparison(models: list[t.Roles], sentence: str) -> None:
    assert t.comparison_takeaway(models) == sentence


def test_across() -> None:
    assert t.across_takeaway("A", "B", [(0.1, 0.5), (0.2, 0.7)], [(0.55, 0.6)]) == (
        "Balanced F1: direct judges reach 0.10 to 0.20 on A and 0.50 to 0.70 on B; "
        "relation labellers reach 0.55 on A and 0.60 on B"
    )
    assert t.across_takeaway("A", "B", [], []) == "No evaluator has a balanced F1 on both sets"


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([(140, 20), (120, 21)], "mostly lack any support"),
        ([(10, 20), (5, 21)], "mostly rest on broken chains"),
        ([(10, 11), (15, 10)], "about as common"),
        ([(40, 10), (10, 40)], "labellers differ"),
        ([(0, 0)], "no segment fails"),
    ],
)
def test_failure_modes(counts: list[tuple[int, int]], words: str) -> None:
    assert words in t.failure_takeaway({"Clinical": counts})


def test_failure_modes_without_an_audit() -> None:
    assert t.failure_takeaway({}) == "No audit to show"


def test_confusion() -> None:
    assert (
        t.confusion_takeaway(57, 168) == "The graph supports 57 of the 168 segments physicians did not accept"
    )
    assert "none of the 3" in t.confusion_takeaway(0, 3)
    assert "There is no audited segment" in t.confusion_takeaway(0, 0)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            {"raw": est(0.81, 0.77, 0.85), "cohen": est(0.68, 0.61, 0.74)},
            "The two physicians agree on 81 % of 100 segments, more than by chance (Cohen's kappa 0.68)",
        ),
        (
            {"raw": est(0.94, 0.9, 1.0), "cohen": est(-0.02, -0.1, 0.1)},
            "The two physicians agree on 94 % of 100 segments, not clearly more than by chance: the interval of "
            "Cohen's kappa includes zero",
        ),
        (
            {"raw": est(0.1, 0.0, 0.2), "cohen": est(-0.5, -0.7, -0.2)},
            "The two physicians agree on 10 % of 100 segments, less than by chance (Cohen's kappa -0.50)",
        ),
        (
            {"raw": est(1.0), "cohen": est(None, because="all labels are equal")},
            "The two physicians agree on 100 % of 100 segments; whether beyond chance is undefined, because all labels "
            "are equal",
        ),
        (
            {"raw": est(0.9), "cohen": est(0.5)},
            "The two physicians agree on 90 % of 100 segments (Cohen's kappa 0.50, no interval, because an interval "
            "needs at least two cases)",
        ),
        (
            {"raw": est(None, because="no segment has two labels")},
            "Agreement is undefined, because no segment has two labels",
        ),
    ],
)
def test_ag_02_agreement_says_undefined_and_never_more_than_the_interval(
    found: dict[str, Estimate], sentence: str
) -> None:
    assert t.agreement_takeaway(found, 2) == sentence


def test_agreement_of_three() -> None:
    found = {"raw": est(0.8, 0.7, 0.9), "fleiss": est(0.6, 0.5, 0.7)}
    assert "The three physicians agree in 80 % of pairs of labels" in t.agreement_takeaway(found, 3)


def test_a_share_is_never_rounded_to_all_or_nothing() -> None:
    found = {"raw": est(0.997, 0.99, 1.0), "cohen": est(0.9, 0.8, 1.0)}
    assert "99.7 %" in t.agreement_takeaway(found, 2)


@pytest.mark.parametrize(
    ("before", "after", "audit", "words"),
    [
        ([], [], [], "Nobody has seen an audit yet"),
        (["correct"], ["correct"], [0], "changed none of 1 labels"),
        # 20 of 20 changes cross towards the audit: Wilson's lower limit is above one half.
        (["correct"] * 20, ["incorrect"] * 20, [0] * 20, "mostly towards the audit (20 against 0)"),
        (["correct"] * 20, ["incorrect"] * 20, [1] * 20, "mostly away from the audit (20 against 0)"),
        (["correct"] * 2, ["incorrect"] * 2, [1, 0], "in no clear direction (1 towards the audit, 1 away)"),
        (["uncertain"], ["incorrect"], [0], "none of them across the line"),
    ],
)
def test_influence(before: list[str], after: list[str], audit: list[int], words: str) -> None:
    assert words in t.influence_takeaway(influence(before, after, audit))


@pytest.mark.parametrize(
    ("drifting", "judged", "people", "words"),
    [
        ([], 0, 0, "No label has a time yet"),
        ([], 0, 2, "Drift is undefined so far"),
        ([], 1, 1, "No drift shows"),
        ([], 2, 3, "No drift shows in any of two physicians; one has too few sessions"),
        (["P1"], 2, 2, "P1 stands out over the sessions"),
        (["P1", "P2"], 2, 4, "P1 and P2 stand out over the sessions; two have too few sessions"),
    ],
)
def test_pace(drifting: list[str], judged: int, people: int, words: str) -> None:
    assert t.pace_takeaway(drifting, judged, people).startswith(words)


def test_segments() -> None:
    assert t.segments_takeaway(139, 168, 93, 5) == (
        "Judges trust 139 of the 168 segments physicians did not. The audit flags 93 of those"
    )
    assert t.segments_takeaway(1, 2, None, 1) == "Judges trust 1 of the 2 segments physicians did not"
    assert "no judge was asked" in t.segments_takeaway(0, 2, 0, 0)
    assert t.segments_takeaway(0, 0, 0, 3) == "No segment has a problematic reference label"
