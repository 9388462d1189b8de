"""Steps in a row and sentences as facts."""

from auditing.core.grapheval.chains import Step
from auditing.core.grapheval.facts import Fact
from auditing.core.grapheval.fallback import chained_steps, sentence_facts
from auditing.core.grapheval.graph import build_graph


def test_each_step_depends_on_the_one_before() -> None:
    assert chained_steps(["First.", " Second. ", "Third."]) == (
        Step(1, "First.", ()),
        Step(2, "Second.", (1,)),
        Step(3, "Third.", (2,)),
    )
    assert chained_steps([]) == ()


def test_each_sentence_is_a_fact_with_the_dependencies_of_its_step() -> None:
    facts = sentence_facts([Step(1, "A holds. B holds.", ()), Step(4, "So C holds.", (1,))])
    assert facts == (Fact("A holds.", 1, ()), Fact("B holds.", 1, ()), Fact("So C holds.", 4, (1,)))
    # One edge from the last fact of the named step.
    graph = build_graph(facts)
    assert (graph.edges, graph.terminals) == (((1, 2),), (2,))


def test_a_sentence_counts_once_in_its_step() -> None:
    facts = sentence_facts([Step(1, "Same. Same. Other.", ()), Step(2, "Same.", (1,))])
    assert [(fact.text, fact.step) for fact in facts] == [("Same.", 1), ("Other.", 1), ("Same.", 2)]


def test_blank_steps_have_no_facts_and_nothing_depends_on_them() -> None:
    steps = [Step(1, "  \n ", ()), Step(2, "Something.", (1,)), Step(3, "", (2,))]
    assert sentence_facts(steps) == (Fact("Something.", 2, ()),)
    assert sentence_facts([Step(1, " ", ())]) == ()


def test_dependencies_on_later_steps_are_left_out() -> None:
    assert sentence_facts([Step(2, "Two.", (3, 2)), Step(3, "Three.", (2,))])[0].depends_on == ()
