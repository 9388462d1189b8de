"""Agreement against published examples and against other programs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from auditing.core import agreement_formulas as formulas
from auditing.core.agreement import SCALE, Ratings, agreement
from auditing.core.statistics import cohen_kappa


def values(ratings: Ratings) -> dict[str, float | None]:
    return {key: found.value for key, found in agreement(ratings, resamples=0).items()}


def from_table(table: list[list[int]]) -> Ratings:
    """Write a table of two raters out as ratings, all of one case."""
    names = [str(place) for place in range(len(table))]
    rows = [
        [names[i], names[j]]
        for i, row in enumerate(table)
        for j, count in enumerate(row)
        for _ in range(count)
    ]
    return Ratings.from_labels([rows], names)


def from_strings(raters: list[str], categories: str) -> Ratings:
    """One string per rater, one character per segment, a dot where there is no label."""
    rows = [[None if label == "." else label for label in segment] for segment in zip(*raters, strict=True)]
    return Ratings.from_labels([rows], list(categories))


# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: 4 observers, 12 units, gaps. Gwet uses
# the same data; they are `cac.raw4raters` of the R package irrCAC.
KRIPPENDORFF = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]


def test_ag_01_krippendorff_2011() -> None:
    found = values(from_strings(KRIPPENDORFF, "12345"))
    assert found["alpha_nominal"] == pytest.approx(0.743, abs=5e-4)
    assert found["alpha_ordinal"] == pytest.approx(0.815, abs=5e-4)
    assert found["alpha_interval"] == pytest.approx(0.849, abs=5e-4)


# As printed by irrCAC 0.4.4 for Python (9 digits), which follows Gwet (2014) and agrees with its R package.
IRRCAC_KRIPPENDORFF = {
    "raw": 0.818181818,
    "fleiss": 0.761169275,
    "conger": 0.762066894,
    "ac1": 0.775444068,
    "ac2_linear": 0.858739136,
    "ac2_quadratic": 0.914000724,
    "brennan_prediger": 0.772727273,
    "brennan_prediger_linear": 0.848484848,
    "brennan_prediger_quadratic": 0.901515152,
    "alpha_nominal": 0.743421053,
    "alpha_interval": 0.849107143,
}
# A random scale of three with a fifth of the labels missing: 4 raters, 36 segments. By irrCAC 0.4.4, except for alpha
# ordinal, which is by the Python package krippendorff 0.9.0 (the other levels are the same in both).
GAPS = [
    "02210110.2.1.212.21..12022.2.02001.1",
    "2.2.01100.011222.2202.1.21111020.1.1",
    "22210110022112021220222022.22020210.",
    "222.11.022.110.212.1.12.2.21.0.02111",
]
IRRCAC_GAPS = {
    "raw": 0.675925926,
    "fleiss": 0.499478624,
    "conger": 0.502546831,
    "ac1": 0.520787278,
    "ac2_linear": 0.537478616,
    "ac2_quadratic": 0.553488372,
    "brennan_prediger": 0.513888889,
    "brennan_prediger_linear": 0.520833333,
    "brennan_prediger_quadratic": 0.527777778,
    "alpha_nominal": 0.551216090,
    "alpha_ordinal": 0.540408011,
    "alpha_interval": 0.543598367,
}


@pytest.mark.parametrize(
    ("raters", "categories", "expected"),
    [(KRIPPENDORFF, "12345", IRRCAC_KRIPPENDORFF), (GAPS, "012", IRRCAC_GAPS)],
)
def test_ag_01_equal_to_irrcac_with_missing_labels(
    raters: list[str], categories: str, expected: dict[str, float]
) -> None:
    found = values(from_strings(raters, categories))
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-6)


def test_ag_01_weighted_fleiss_and_conger_equal_irrcac() -> None:
    """The page shows them without weights; the formulas take any weights. Values by irrCAC 0.4.4."""
    layout = formulas.Layout(3, 4)
    rows = formulas.count_cases(from_strings(GAPS, "012").cases, layout)
    counts, weights = layout.split(rows), formulas.agreement_weights(3, "linear")
    assert formulas.fleiss(counts, weights)[0] == pytest.approx(0.493926198, abs=1e-6)
    assert formulas.conger(counts, weights)[0] == pytest.approx(0.499082569, abs=1e-6)


def test_ag_01_gwet_abstractors() -> None:
    """Gwet (2014), 100 pregnancies by two abstractors; values of the overview of the R package irrCAC (2019)."""
    found = values(from_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]]))
    assert found["raw"] == pytest.approx(0.89)
    assert found["cohen"] == pytest.approx(0.7964094, abs=1e-6)
    assert found["fleiss"] == pytest.approx(0.7962397, abs=1e-6)  # Scott's pi
    assert found["ac1"] == pytest.approx(0.8493305, abs=1e-6)
    assert found["brennan_prediger"] == pytest.approx(0.835, abs=1e-6)
    assert found["alpha_nominal"] == pytest.approx(0.7972585, abs=1e-6)


def test_ag_01_cohen_1960_and_1968() -> None:
    """200 patients: unweighted .492 (1960); with disagreements 0, 1, 3, 6 as in the 1968 paper .348."""
    table = [[88, 10, 2], [14, 40, 6], [18, 10, 12]]
    assert values(from_table(table))["cohen"] == pytest.approx(0.492, abs=5e-4)
    layout = formulas.Layout(3, 2)
    counts = layout.split(formulas.count_cases(from_table(table).cases, layout))
    disagreement = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]])
    assert formulas.cohen(counts, 1 - disagreement / 6)[0] == pytest.approx(0.348, abs=5e-4)


def test_ag_01_sas_example() -> None:
    """SAS documentation of PROC FREQ, as in the tests of statsmodels: .4842, linear weights .4701."""
    found = values(from_table([[0, 4, 1], [0, 8, 0], [0, 1, 5]]))
    assert found["cohen"] == pytest.approx(0.4842, abs=5e-5)
    assert found["cohen_linear"] == pytest.approx(0.4701, abs=5e-5)


# Fleiss (1971), Table 1: 30 patients, 6 psychiatrists, how many chose depression, personality disorder,
# schizophrenia, neurosis, other.
FLEISS = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)


def test_ag_01_fleiss_1971() -> None:
    patients = [
        [str(k) for k, count in enumerate(row) for _ in range(int(count))] for row in FLEISS.split(" ")
    ]
    assert {len(patient) for patient in patients} == {6}
    found = values(Ratings.from_labels([[patient] for patient in patients], "01234"))
    assert found["fleiss"] == pytest.approx(0.4302445, abs=1e-6)  # .430 in the paper, more digits by R's irr


def test_ag_01_byrt_1993_definitions_by_hand() -> None:
    """a = 80, b = 15, c = 5, d = 0: agreement .80, so PABAK .60; prevalence .80, bias .10."""
    found = values(from_table([[80, 15], [5, 0]]))
    assert found["pabak"] == pytest.approx(0.6)
    assert found["prevalence_index"] == pytest.approx(0.8)
    assert found["bias_index"] == pytest.approx(0.1)
    assert found["pabak"] == pytest.approx(found["brennan_prediger"])


PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30)


@given(PAIRS)
def test_ag_01_kappa_equal_to_scikit_learn_and_statsmodels(pairs: list[tuple[int, int]]) -> None:
    first, second = [SCALE[a] for a, _ in pairs], [SCALE[b] for _, b in pairs]
    found = values(Ratings.from_labels([list(zip(first, second, strict=True))]))
    for weights, key in (("none", "cohen"), ("linear", "cohen_linear"), ("quadratic", "cohen_quadratic")):
        assert found[key] == pytest.approx(cohen_kappa(first, second, SCALE, weights=weights).kappa, abs=1e-9)  # type: ignore[arg-type]
        if len({*first, *second}) > 1:
            named = None if weights == "none" else weights
            expected = cohen_kappa_score(first, second, labels=list(SCALE), weights=named)
            assert found[key] == pytest.approx(expected, abs=1e-6)
            table = np.zeros((3, 3))
            np.add.at(table, tuple(np.array(pairs).T), 1)
            expected = cohens_kappa(table, wt=named, return_results=False)
            assert found[key] == pytest.approx(expected, abs=1e-6)


@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=20))
def test_ag_01_fleiss_equal_to_statsmodels(rows: list[list[int]]) -> None:
    names = [str(place) for place in range(4)]
    found = values(Ratings.from_labels([[[names[code] for code in row] for row in rows]], names))["fleiss"]
    if len({code for row in rows for code in row}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(fleiss_kappa(aggregate_raters(np.array(rows), n_cat=4)[0]), abs=1e-6)
