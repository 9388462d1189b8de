"""Labels, breakpoints and explanations, with the little hypergraphs written out."""

import pytest

from auditing.core.audit_labels import audit, explain, render_tree
from auditing.core.parameters import AuditParameters
from tests.auditing.core.graphs import graph


def labels(n: int, text: str, **parameters: object) -> dict[int, str]:
    return audit(graph(n, text), AuditParameters.from_dict(parameters)).labels


def test_figure_2b_of_the_paper() -> None:
    """{S7, S8} -> S9 fails because S7 is an Orphan."""
    result = audit(graph(9, "1>2 E; 7>8 E; 7,8>9 E"))
    assert result.labels[9] == "Unsupported"
    assert result.segments[9].root_breakpoint == 7


def test_contradiction_overrides_and_blocks() -> None:
    text = "1>2 E; 1>3 E; 2>3 C; 3>4 E"
    assert labels(4, text) == {2: "Supported", 3: "Contradicted", 4: "Unsupported"}
    assert labels(4, text, contradicted_blocks=False) == {2: "Supported", 3: "Contradicted", 4: "Supported"}
    assert labels(4, text, contradiction_policy="record") == {
        2: "Supported",
        3: "Supported",
        4: "Unsupported",
    }
    assert labels(4, text, contradiction_scope="none") == {2: "Supported", 3: "Supported", 4: "Supported"}


def test_unstable_policy() -> None:
    """{S1, S2} weakens the Entailment of S1, so S3 is unstable."""
    text = "1>2 E; 1>3 E; 1,2>3 N; 3>4 E"
    flagged = audit(graph(4, text))
    assert flagged.segments[3].unstable
    assert flagged.segments[3].y_hat == 1
    negative = audit(graph(4, text), AuditParameters(unstable_policy="negative"))
    assert (negative.segments[3].label, negative.segments[3].y_hat) == ("Supported", 0)
    assert negative.labels[4] == "Unsupported"
    assert (
        explain(negative.segments[4], negative)
        == "Unsupported: premise set {S3} reaches it, but S3 is unstable."
    )


@pytest.mark.parametrize(
    ("n", "text", "parameters", "sentence"),
    [
        (2, "1>2 E", {}, "Supported: {S1} supports it (entailment), and every premise is grounded."),
        (2, "1>2 N", {}, "Orphan: no premise set supports it."),
        (
            5,
            "1>5 I; 2>5 I",
            {},
            "Orphan: no usable premise set supports it; 2 implied ones are too far away.",
        ),
        (3, "2>3 E", {}, "Unsupported: premise set {S2} reaches it, but S2 is an Orphan."),
        (
            4,
            "2>4 E; 3>4 E",
            {},
            "Unsupported: 2 premise sets reach it, but none is grounded; in {S3}, S3 is an Orphan.",
        ),
        (
            4,
            "2>3 E; 3>4 E",
            {},
            "Unsupported: premise set {S3} reaches it, but S3 is Unsupported. "
            "Followed back, the support breaks first at S2, which is an Orphan.",
        ),
        (
            3,
            "1>2 C; 2>3 E",
            {},
            "Unsupported: premise set {S2} reaches it, but S2 is Contradicted.",
        ),
        (
            3,
            "1>3 C; 2>3 C; 1,2>3 C",
            {},
            "Contradicted: {S1} contradicts it, as do 2 more; its support alone would make it Orphan.",
        ),
        (
            2,
            "1>2 C",
            {"contradiction_policy": "record"},
            "Orphan: no premise set supports it. {S1} contradicts it, which is only recorded.",
        ),
        (
            3,
            "1>2 E; 2>3 E",
            {"max_depth": 1},
            "Unsupported: its flattest support tree is 2 edges deep and the limit is 1.",
        ),
        (
            3,
            "1>2 E; 1>3 E; 2>3 E",
            {"max_trees": 1},
            "Supported: {S2} supports it (entailment), and every premise is grounded. "
            "Its list of support trees stops at 1 of 2.",
        ),
        (
            3,
            "1>3 E; 1,2>3 I",
            {},
            "Supported: {S1} supports it (entailment), and every premise is grounded. "
            "It is unstable: adding premises weakens an Entailment.",
        ),
    ],
)
def test_explanation(n: int, text: str, parameters: dict[str, object], sentence: str) -> None:
    result = audit(graph(n, text), AuditParameters.from_dict(parameters))
    assert explain(result.segments[n], result) == sentence


def test_rendered_tree() -> None:
    result = audit(graph(4, "1>2 E; 1>3 I; 2,3>4 E"))
    assert render_tree(result, 4).splitlines() == [
        "S4 Supported",
        "  {S2, S3} entailment",
        "    S2",
        "      {S1} entailment",
        "        S1 (given)",
        "    S3",
        "      {S1} implied",
        "        S1 (given)",
    ]


def test_rendered_failure() -> None:
    result = audit(graph(4, "2,3>4 E; 2>3 E"))
    assert render_tree(result, 4).splitlines() == [
        "S4 Unsupported",
        "  {S2, S3} entailment: fails, S2 is an Orphan, S3 is Unsupported",
    ]


def test_lj_17_a_bound_that_cuts_trees_is_flagged() -> None:
    text = "1>2 E; 1>3 E; 2>3 E"
    assert audit(graph(3, text), AuditParameters(max_trees=1)).segments[3].truncated
    assert not audit(graph(3, text)).segments[3].truncated
