"""The table and the charts of a study, from a document written by hand; no database."""

import numpy as np
import pytest
from scipy import stats

from auditing.selectors.reasoning_charts import charts, compared, density_grid
from auditing.selectors.reasoning_sweeps import grid, joined, measures, read_values
from auditing.selectors.reasoning_tables import QuestionFilters, disagreements, facets, filtered, flag_word
from reasonaudit.lib.errors import UserError


def question(number, **fields):
    return {
        "case": number,
        "external_id": f"q{number}",
        "title": f"Title {number}",
        "n": 5,
        "facts_mean": 8.5,
        "metrics": {},
        "cell": None,
        "flags": [],
        "quadrant": None,
        "stale": False,
        **fields,
    }


QUESTIONS = [
    question(1, cell="both", metrics={"grcs": 0.5, "divergence": 1.0, "entropy": 1.0}, early_gold=0.0),
    question(2, cell="gsc_only", flags=["one_chain"], metrics={"grcs": None}, early_gold=0.5),
    question(3, metrics={"grcs": 0.9, "divergence": 0.1, "entropy": 2.0}, early_gold=1.0, stale=True),
    question(
        4,
        cell="sc_only",
        metrics={"grcs": 0.7, "divergence": 0.4, "entropy": 0.5},
        early_gold=0.5,
        quadrant="Noisy",
    ),
]


def numbers(**filters):
    return [one["case"] for one in filtered(QUESTIONS, QuestionFilters(**filters))]


def test_a_value_that_is_missing_comes_last_in_either_direction():
    assert numbers(sort="grcs") == [1, 4, 3, 2]
    assert numbers(sort="-grcs") == [3, 4, 1, 2]


def test_unsorted_questions_stand_as_in_the_document():
    backwards = list(reversed(QUESTIONS))
    for sort in ("", "nonsense"):
        assert [one["case"] for one in filtered(backwards, QuestionFilters(sort=sort))] == [4, 3, 2, 1]


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"cell": "none"}, [3]),
        ({"cell": "gsc_only"}, [2]),
        ({"flag": "one_chain"}, [2]),
        ({"flag": "stale"}, [3]),
        ({"quadrant": "Noisy"}, [4]),
        ({"search": "TITLE 3"}, [3]),
        ({"search": "q4"}, [4]),
        ({"cell": "both", "quadrant": "Noisy"}, []),
    ],
)
def test_filters(filters, left):
    assert numbers(**filters) == left


def test_facets_count_what_occurs():
    found = facets(QUESTIONS)
    assert [(value, n) for value, _, n in found["cell"]] == [
        ("both", 1),
        ("sc_only", 1),
        ("gsc_only", 1),
        ("none", 1),
    ]
    assert [(value, n) for value, _, n in found["flag"]] == [("one_chain", 1), ("stale", 1)]
    assert found["quadrant"] == [("Noisy", "Noisy", 1)]
    assert disagreements(QUESTIONS) == [2, 4]
    assert flag_word("mode_collapse") == "Mode collapse"
    assert flag_word("some_new_code") == "Some new code"


def test_charts_have_a_column_each_and_the_fitted_line():
    found = charts({"questions": QUESTIONS, "topology": {"origin": [0.5, 1.16666]}})
    columns = found["questions"]
    assert columns["case"] == [1, 2, 3, 4]
    assert columns["grcs"] == [0.5, None, 0.9, 0.7]
    assert columns["counterfactual"] == [None] * 4
    # Through (0.5, 0), (0.9, 1) and (0.7, 0.5) goes the line 2.5 x - 1.25.
    line = found["fits"]["grcs|early_gold"]
    assert (line["slope"], line["intercept"], line["n"]) == (pytest.approx(2.5), pytest.approx(-1.25), 3)
    assert found["fits"]["grcs|early_own"] is None
    assert found["topology"]["origin"] == [0.5, 1.1667]
    assert charts({"questions": [], "topology": {"origin": None}})["topology"] is None


def test_the_density_is_that_of_scipy_on_a_grid_from_below():
    points = [(0.0, 0.0), (1.0, 0.2), (0.4, 1.0), (0.8, 0.6)]
    found = density_grid(points)
    assert found is not None
    assert (found["x"], found["y"]) == ([-0.1, 1.1], [-0.1, 1.1])
    kernel = stats.gaussian_kde(np.array(points).T, bw_method="scott")
    xs = np.linspace(-0.1, 1.1, 40)
    expected = np.array([[kernel([x, y])[0] for x in xs] for y in xs])
    assert np.allclose(np.reshape(found["values"], (40, 40)), expected / expected.max(), atol=0.001)
    assert density_grid([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]) is None


def test_studies_are_placed_around_the_mean_of_the_reference():
    documents = [
        {"study": {"slug": "a", "name": "A"}, "questions": QUESTIONS},
        {"study": {"slug": "b", "name": "B"}, "questions": []},
    ]
    found = compared(documents, "a")
    assert found is not None
    assert found["origin"] == [0.5, 1.1667]
    # (1, 1) is far and alike, (0.1, 2) close and varied, (0.4, 0.5) close and alike.
    assert found["studies"][0]["counts"] == [1, 1, 1, 0]
    assert (found["studies"][1]["mean"], found["studies"][1]["n"]) == (None, 0)
    assert compared(documents, "b") is None


def test_a_sweep_is_a_table_by_beta_and_gamma():
    rows = [
        {"beta": 0, "gamma": 1, "grcs": 0.5, "correlations": {"early_own": {"pearson": None}}},
        {"beta": 0, "gamma": 5, "grcs": 0.7, "correlations": {"early_own": {"pearson": -0.4}}},
        {"beta": 1, "gamma": 1, "grcs": None, "correlations": {}},
        {"beta": 1, "gamma": 5, "grcs": 0.6, "correlations": {}},
    ]
    found = grid(rows, [0, 1], [1, 5], ("grcs",), (1, 5))
    assert [[cell["value"] for cell in row["cells"]] for row in found] == [[0.5, 0.7], [None, 0.6]]
    assert [[cell["heat"] for cell in row["cells"]] for row in found] == [[0, 1], [None, pytest.approx(0.5)]]
    assert [[cell["own"] for cell in row["cells"]] for row in found] == [[False, False], [False, True]]
    assert [path for _, _, path in measures(rows)] == [
        ("grcs",),
        ("correlations", "early_own", "pearson"),
        ("medoids_unchanged",),
    ]


def test_values_of_a_sweep_are_read_once_each():
    assert read_values({"betas": "0.2, 0 0.20"}, "betas", [1]) == [0.2, 0]
    assert read_values({}, "betas", [1]) == [1]
    assert joined([0, 0.2]) == "0, 0.2"
    for text in ("1.1", "x", "nan"):
        with pytest.raises(UserError, match="Betas cannot be used"):
            read_values({"betas": text}, "betas", [1])
    with pytest.raises(UserError, match="13 values of gammas are too many"):
        read_values({"gammas": " ".join(map(str, range(13)))}, "gammas", [1])
