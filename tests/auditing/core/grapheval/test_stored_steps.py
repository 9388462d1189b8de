"""Steps that a file gives beside their texts; what does not fit is not used."""

import pytest

from auditing.core.grapheval.chains import Step
from auditing.core.grapheval.stored_steps import said_steps, steps_of

IN_A_ROW = (Step(1, "a", ()), Step(2, "b", (1,)))


def rows(*given):
    return {"steps": [{"index": index, "depends_on": depends_on} for index, depends_on in given]}


def test_numbers_and_dependencies_of_the_file():
    assert steps_of(rows((3, []), (7, [3, 3])), ["a ", "b"]) == (Step(3, "a", ()), Step(7, "b", (3,)))
    assert steps_of(rows((1, [2]), (2, [1, 9])), ["a", "b"]) == (Step(1, "a", ()), Step(2, "b", (1,)))


@pytest.mark.parametrize(
    "content",
    [
        None,
        "steps",
        {},
        {"steps": "two"},
        rows((1, [])),
        rows((1, []), (1, [])),
        rows((True, []), (2, [])),
        rows((1, []), (-2, [])),
        rows((1, []), (2, ["1"])),
        rows((1, []), (2, None)),
        {"steps": ["one", "two"]},
    ],
)
def test_what_does_not_fit_is_a_row(content):
    assert said_steps(content, ["a", "b"]) is None
    assert steps_of(content, ["a", "b"]) == IN_A_ROW
