"""What agreement does with odd data, and what holds for all data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.core.agreement import (
    CANNOT_JUDGE,
    MEASURES,
    NOT_ASSIGNED,
    SCALE,
    SKIPPED,
    Ratings,
    agreement,
    coverage,
    skew_warning,
)

CORRECTED = [key for key, measure in MEASURES.items() if measure.corrected]
TWO = ["no", "yes"]


def two_raters(pairs: list[tuple[str | None, str | None]], categories: list[str]) -> Ratings:
    return Ratings.from_labels([pairs], categories)


@pytest.mark.parametrize(
    ("pairs", "because"),
    [
        ([], "there are no labels"),
        ([(None, None)] * 3, "there are no labels"),
        ([("yes", None), (None, "no")], "no segment has two labels"),
        ([("yes", "yes")] * 9, "all labels are equal"),
        ([("no", "no")], "all labels are equal"),
        ([("yes", "yes")] * 4 + [("no", None)], "all labels are equal"),
    ],
)
def test_ag_02_degenerate_data_are_a_state_and_not_a_number(
    pairs: list[tuple[str | None, str | None]], because: str
) -> None:
    found = agreement(two_raters(pairs, TWO), resamples=50)
    expected = because if pairs else "there are no labels"
    for key in CORRECTED:
        assert (found[key].value, found[key].low, found[key].high) == (None, None, None)
        assert found[key].undefined_because == found[key].no_interval_because == expected


def test_ag_02_all_equal_is_full_raw_agreement_and_nothing_else() -> None:
    found = agreement(two_raters([("yes", "yes")] * 9, TWO))
    assert (found["raw"].value, found["prevalence_index"].value, found["bias_index"].value) == (1, 1, 0)
    assert {found[key].value for key in CORRECTED} == {None}


def test_ag_02_one_rater_constant_is_defined() -> None:
    """Agreement by chance alone: observed 3/4, expected 3/4 from the margins 4:0 and 3:1, so kappa is 0."""
    found = agreement(two_raters([("yes", "yes")] * 3 + [("yes", "no")], TWO))
    assert found["cohen"].value == pytest.approx(0.0)
    assert found["raw"].value == pytest.approx(0.75)


def test_ag_02_one_segment_with_two_labels() -> None:
    """Two different labels: kappa 0 (observed 0, expected 0), alpha 0 (observed and expected disagreement 1)."""
    found = agreement(two_raters([("yes", "no")], TWO))
    assert (found["cohen"].value, found["alpha_nominal"].value) == (0.0, 0.0)
    assert found["cohen"].no_interval_because == "an interval needs at least two cases"


def test_ag_02_scale_of_one_category() -> None:
    found = agreement(two_raters([("x", "x")] * 3, ["x"]))
    assert {
        found[key].undefined_because for key in ("cohen", "ac1", "brennan_prediger", "alpha_ordinal")
    } == {"the scale has only one category"}


def test_ag_02_segments_with_one_label_do_not_count_as_compared() -> None:
    found = agreement(two_raters([("yes", "yes"), ("no", "yes"), ("no", None), (None, "no")], TWO))
    assert (found["raw"].value, found["raw"].n) == (0.5, 2)


def test_ag_02_measures_of_two_raters_say_so() -> None:
    three = agreement(Ratings.from_labels([[["correct", "correct", "incorrect"]] * 2]))
    assert three["cohen"].undefined_because == "it compares exactly two raters; there are 3"
    two = agreement(Ratings.from_labels([[["correct", "correct"], ["uncertain", "correct"]]]))
    assert two["pabak"].undefined_because == "it needs two categories; the scale has 3"


def test_ag_02_no_result_is_ever_nan() -> None:
    for pairs in ([], [("no", None)], [("no", "yes")], [("no", "no")] * 2):
        for case_count in (0, 1, 3):
            found = agreement(Ratings.from_labels([pairs] * case_count, TWO), resamples=20)
            for estimate in found.values():
                for number in (estimate.value, estimate.low, estimate.high):
                    assert number is None or np.isfinite(number)
                assert (estimate.value is None) == bool(estimate.undefined_because)
                assert (estimate.low is None) == (estimate.high is None) == bool(estimate.no_interval_because)


def test_ag_03_high_agreement_with_kappa_near_zero_is_explained() -> None:
    """250 segments: 236 both correct, 10 and 4 split. Agreement .944; expected disagreement .04 x .984 + .016 x .96
    = .05472, so kappa = 1 - .056 / .05472; AC1 from the mean share .028: (.944 - .054432) / .945568."""
    pairs = [("yes", "yes")] * 236 + [("no", "yes")] * 10 + [("yes", "no")] * 4
    found = agreement(two_raters(pairs, TWO))
    assert found["raw"].value == pytest.approx(0.944)
    assert found["cohen"].value == pytest.approx(-0.0233918, abs=1e-6)
    assert found["ac1"].value == pytest.approx(0.9407763, abs=1e-6)
    assert found["prevalence_index"].value == pytest.approx(0.944)
    warning = skew_warning(found)
    assert "94.4 %" in warning
    assert "-0.02" in warning
    assert "0.94" in warning


def test_ag_03_no_warning_where_there_is_nothing_to_warn_of() -> None:
    balanced = [("yes", "yes")] * 40 + [("no", "no")] * 40 + [("yes", "no")] * 5
    assert skew_warning(agreement(two_raters(balanced, TWO))) == ""
    assert skew_warning(agreement(two_raters([("yes", "yes")] * 5, TWO))) == ""
    assert skew_warning({}) == ""


def test_ag_04_leaving_out_unused_categories_would_change_the_figures() -> None:
    """Ratings 1, 4 and 5 of a scale of five. Linear kappa by hand as in test_statistics: 1 - (7/5) / (47/25)."""
    pairs = [("1", "1"), ("1", "4"), ("5", "5"), ("5", "1"), ("4", "4")]
    full = agreement(two_raters(pairs, list("12345")))
    observed_only = agreement(two_raters(pairs, list("145")))
    assert full["cohen_linear"].value == pytest.approx(1 - (7 / 5) / (47 / 25))
    for key in ("cohen_linear", "cohen_quadratic", "ac1", "brennan_prediger"):
        assert full[key].value != pytest.approx(observed_only[key].value, abs=0.01)
    # Unweighted kappa and nominal alpha know no categories that nobody used.
    assert full["cohen"].value == pytest.approx(observed_only["cohen"].value)
    assert full["alpha_nominal"].value == pytest.approx(observed_only["alpha_nominal"].value)


def test_ag_04_binary_collapse() -> None:
    ratings = Ratings.from_labels(
        [[["correct", "uncertain"], ["incorrect", "uncertain"], ["correct", SKIPPED]]]
    )
    collapsed = ratings.collapsed()
    assert collapsed.categories == ("not correct", "correct")
    assert collapsed.cases[0].tolist() == [[1, 0], [0, 0], [1, SKIPPED]]


LABELS = st.sampled_from([*SCALE, NOT_ASSIGNED, SKIPPED, CANNOT_JUDGE])
MATRIX = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.lists(LABELS, min_size=raters, max_size=raters), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    )
)


@given(MATRIX)
def test_ag_06_kinds_of_missing_labels_are_counted_apart_and_mean_the_same_to_a_statistic(
    cases: list,
) -> None:
    ratings = Ratings.from_labels(cases)
    seen = coverage(ratings)
    flat = [row for case in cases for row in case]
    assert seen.segments == len(flat)
    assert seen.compared == sum(sum(label in SCALE for label in row) >= 2 for row in flat)
    for place, rater in enumerate(seen.raters):
        column = [row[place] for row in flat]
        assert rater.rated == sum(label in SCALE for label in column)
        assert rater.cannot_judge == column.count(CANNOT_JUDGE)
        assert rater.skipped == column.count(SKIPPED)
        assert rater.not_assigned == column.count(NOT_ASSIGNED)
    plain = [[[label if label in SCALE else None for label in row] for row in case] for case in cases]
    found = agreement(ratings, resamples=5)
    assert found == agreement(Ratings.from_labels(plain), resamples=5)
    assert {estimate.n for estimate in found.values()} == {seen.compared}


@given(MATRIX, st.randoms(use_true_random=False))
def test_raters_are_interchangeable(cases: list, random) -> None:
    order = list(range(len(cases[0][0])))
    random.shuffle(order)
    other = [[[row[place] for place in order] for row in case] for case in cases]
    found, again = (agreement(Ratings.from_labels(data), resamples=0) for data in (cases, other))
    for key in MEASURES:
        assert found[key].value == pytest.approx(again[key].value, abs=1e-9)


@given(MATRIX, st.permutations(SCALE))
def test_names_of_categories_do_not_matter_to_nominal_measures(cases: list, names: list[str]) -> None:
    renamed = dict(zip(SCALE, names, strict=True))
    other = [[[renamed.get(label, label) for label in row] for row in case] for case in cases]
    keys = ["raw", "cohen", "fleiss", "conger", "alpha_nominal", "ac1", "brennan_prediger"]
    found, again = (agreement(Ratings.from_labels(data), keys, resamples=0) for data in (cases, other))
    for key in keys:
        assert found[key].value == pytest.approx(again[key].value, abs=1e-9)


@given(MATRIX)
def test_bounds(cases: list) -> None:
    """Weighted ones and, with gaps, Fleiss' can fall below -1: they have no lower bound to test."""
    for key, estimate in agreement(Ratings.from_labels(cases), resamples=0).items():
        if estimate.value is not None:
            assert estimate.value <= 1 + 1e-12
            if not MEASURES[key].corrected:
                assert estimate.value >= 0
            if key in ("cohen", "ac1", "brennan_prediger", "pabak"):
                assert estimate.value >= -1 - 1e-12


@given(st.lists(st.sampled_from(SCALE), min_size=2, max_size=12).filter(lambda labels: len(set(labels)) > 1))
def test_full_agreement_is_one(labels: list[str]) -> None:
    found = agreement(Ratings.from_labels([[[label] * 2 for label in labels]]), resamples=0)
    for key in CORRECTED:
        assert found[key].value == (None if key == "pabak" else pytest.approx(1.0))


@pytest.mark.parametrize(
    ("cases", "categories", "message"),
    [
        ([[["correct", "right"]]], SCALE, "'right'"),
        ([[["correct"], ["correct", "correct"]]], SCALE, "one entry for each rater"),
        ([[["a"]]], ["a", "a"], "each named once"),
    ],
)
def test_bad_input(cases: list, categories: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ratings.from_labels(cases, categories)
    with pytest.raises(ValueError, match="outside"):
        Ratings(("a",), (np.array([[1]]),))
    with pytest.raises(ValueError, match="Unknown measure"):
        agreement(Ratings.from_labels([]), ["gamma"])
