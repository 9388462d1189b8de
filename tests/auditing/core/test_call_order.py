"""The call plans: exact whatever the order of arrival, and sparing where they may be."""

import random
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditing.core.audit_labels import Audit, audit
from auditing.core.call_order import CallPlan, Want
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label, Relation, candidate_count, candidates
from auditing.core.parameters import AuditParameters
from tests.auditing.core.graphs import any_parameters, build, graph, labelled

Drawn = tuple[int, dict[Relation, Label]]
WANTS = get_args(Want)


def run(
    plan: CallPlan,
    answers: dict[Relation, Label],
    batch: int = 1,
    rng: random.Random | None = None,
    window: int = 1,
) -> int:
    """Drive a plan with up to `window` batches in flight, answered in any order; return the calls."""
    flying: list[Relation] = []
    calls = 0
    while not plan.finished:
        asked = plan.next_batch(batch) if len(flying) < batch * window else []
        assert len(asked) <= batch
        calls += len(asked)
        flying += asked
        assert flying, "the plan waits for nothing and is not finished"
        place = rng.randrange(len(flying)) if rng else 0
        relation = flying.pop(place)
        plan.tell(relation, answers.get(relation))
    assert plan.next_batch(batch) == []
    return calls


def partial(plan: CallPlan, n: int, parameters: AuditParameters) -> Audit:
    return audit(Hypergraph.from_labels(n, ((*r, label) for r, label in plan.labels.items())), parameters)


COMPARED: dict[str, Callable[[Audit], object]] = {
    "y_hat": lambda result: {index: segment.y_hat for index, segment in result.segments.items()},
    "labels": lambda result: result.labels,
    "all": lambda result: {
        index: (
            segment.label,
            segment.y_hat,
            segment.retained,
            segment.trees,
            segment.failing,
            segment.root_breakpoint,
            segment.contradicting,
        )
        for index, segment in result.segments.items()
    },
}


@settings(max_examples=400)
@given(
    labelled(max_n=6),
    any_parameters(),
    st.sampled_from(WANTS),
    st.integers(1, 5),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_lj_17_lazy_plan_is_exact_in_any_order_of_arrival(
    drawn: Drawn, parameters: AuditParameters, want: Want, batch: int, window: int, rng: random.Random
) -> None:
    n, labels = drawn
    plan = CallPlan(n, parameters, order="lazy", want=want)
    calls = run(plan, labels, batch, rng, window)
    assert calls <= candidate_count(n, parameters)
    compare = COMPARED[want]
    assert compare(partial(plan, n, parameters)) == compare(audit(build(n, labels), parameters))


@settings(max_examples=150)
@given(
    labelled(max_n=6),
    any_parameters(),
    st.sampled_from(WANTS),
    st.integers(0, 10),
    st.randoms(use_true_random=False),
)
def test_answers_from_a_cache_count(
    drawn: Drawn, parameters: AuditParameters, want: Want, known: int, rng: random.Random
) -> None:
    """Labels told before they are asked are used, and never asked again."""
    n, labels = drawn
    plan = CallPlan(n, parameters, order="lazy", want=want)
    relations = list(candidates(n, parameters))
    cached = rng.sample(relations, min(known, len(relations)))
    for relation in cached:
        plan.tell(relation, labels.get(relation))
    calls = run(plan, labels, 2, rng, 2)
    assert calls <= len(relations) - len(cached)
    compare = COMPARED[want]
    assert compare(partial(plan, n, parameters)) == compare(audit(build(n, labels), parameters))


@given(st.integers(1, 7), st.integers(1, 9))
def test_eager_plan_asks_every_candidate_in_order(n: int, batch: int) -> None:
    plan = CallPlan(n, AuditParameters())
    asked: list[Relation] = []
    while more := plan.next_batch(batch):
        asked += more
    assert asked == list(candidates(n, AuditParameters()))
    assert plan.finished == (not asked)
    for relation in reversed(asked):
        plan.tell(relation, None)
    assert plan.finished


def test_eager_plan_skips_what_is_known() -> None:
    plan = CallPlan(3, AuditParameters())
    plan.tell(((2,), 3), Label.NEUTRAL)
    assert plan.next_batch(9) == [((1,), 2), ((1,), 3), ((1, 2), 3)]


def sequential_calls(n: int, text: str, want: Want, **parameters: object) -> list[Relation]:
    settings_ = AuditParameters.from_dict(parameters)
    plan = CallPlan(n, settings_, order="lazy", want=want)
    labels = graph(n, text).labels
    asked = []
    while batch := plan.next_batch(1):
        asked += batch
        plan.tell(batch[0], labels.get(batch[0]))
    assert plan.finished
    return asked


def test_t1_skips_a_combination_with_a_strong_component() -> None:
    asked = sequential_calls(3, "1>2 E; 1>3 E", "all", contradiction_scope="singleton")
    assert asked == [((1,), 2), ((2,), 3), ((1,), 3)]


def test_t2_stops_at_the_first_grounded_edge() -> None:
    """S2 is grounded, so {S2} -> S3 settles S3 and nothing else is asked."""
    asked = sequential_calls(3, "1>2 E; 2>3 E", "labels", contradiction_scope="none")
    assert asked == [((1,), 2), ((2,), 3)]


def test_t3_skips_sets_with_a_premise_that_does_not_ground() -> None:
    """S2 is an Orphan: for y_hat only {S1} can still support S3."""
    assert sequential_calls(3, "", "y_hat", contradiction_scope="none") == [((1,), 2), ((1,), 3)]
    assert sequential_calls(3, "2>3 E", "labels", contradiction_scope="none") == [
        ((1,), 2),
        ((1,), 3),
        ((2,), 3),
    ]


def test_t4_stops_at_the_first_contradiction() -> None:
    assert sequential_calls(3, "1>2 C; 1>3 C", "labels") == [((1,), 2), ((1,), 3)]


def test_orphans_need_every_set() -> None:
    assert len(sequential_calls(6, "", "labels", contradiction_scope="none")) == 35


def test_default_scope_saves_nothing_without_a_contradiction() -> None:
    assert len(sequential_calls(6, "1>2 E; 2>3 E", "labels")) == 35


def test_batches_reach_past_the_open_target_where_that_costs_nothing() -> None:
    """Under the default scope every set is needed, so a wide batch need not wait for earlier targets."""
    plan = CallPlan(5, AuditParameters(), order="lazy", want="labels")
    assert len(plan.next_batch(16)) == 16


def test_speculation_stays_inside_the_open_target_where_it_could_waste_calls() -> None:
    plan = CallPlan(5, AuditParameters(contradiction_scope="none"), order="lazy", want="labels")
    assert plan.next_batch(16) == [((1,), 2)]


@pytest.mark.parametrize("relation", [((1,), 9), ((2,), 2), ((), 2), ((1, 2, 3), 4), ((2, 1), 3), ((0,), 2)])
def test_a_relation_that_is_no_candidate_is_refused(relation: Relation) -> None:
    with pytest.raises(ValueError, match="no candidate"):
        CallPlan(4, AuditParameters(), order="lazy").tell(relation, Label.NEUTRAL)


def test_telling_twice() -> None:
    plan = CallPlan(3, AuditParameters(), order="lazy")
    plan.tell(((1,), 3), Label.NEUTRAL)
    plan.tell(((1,), 3), Label.NEUTRAL)
    with pytest.raises(ValueError, match="told another label"):
        plan.tell(((1,), 3), Label.IMPLIED)


@pytest.mark.parametrize("words", [{"order": "late"}, {"want": "trees"}])
def test_unknown_words_are_refused(words: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="Unknown"):
        CallPlan(3, AuditParameters(), **words)  # type: ignore[arg-type]
