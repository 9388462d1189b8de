"""How far the steps of a study are, by what is there; and the same few queries whatever it holds."""

import pytest

from auditing.models import ChainJudgement, ReasoningRun
from auditing.selectors.reasoning_studies import excluded_counts, steps, steps_now, study_list, with_stale
from tests.auditing import grapheval_factories as rows
from tests.auditing.views import reasoning_rows as made

pytestmark = pytest.mark.django_db


def by_key(study):
    return {state.key: state for state in steps(study)}


def test_a_sampling_study_counts_what_is_missing():
    study = rows.study(generator="openai:m", decomposer="openai:d", parameters={"sampling": {"chains": 3}})
    assert by_key(study)["sample"].blocked
    for name in ("one", "two"):
        rows.case(study, name)
    case = study.dataset.cases.first()
    rows.chain(study, case, 1)
    rows.chain(study, case, 2, facts=[])
    rows.chain(study, case, 3, steps=[], facts=[], excluded="no_steps")
    found = by_key(study)
    assert (found["sample"].done, found["sample"].total, found["sample"].state) == (3, 6, "partial")
    assert (found["decompose"].done, found["decompose"].total) == (1, 2), "one has no step"
    assert not found["score"].blocked
    assert (found["score"].done, found["score"].total) == (0, 1)
    assert found["early"].blocked
    assert excluded_counts(study) == [("No steps", 1)]


def test_a_chain_that_was_decomposed_into_nothing_is_not_missing():
    study = rows.study(decomposer="openai:d")
    case = rows.case(study, "q")
    rows.chain(study, case, 1, facts=[], excluded="no_facts")
    rows.chain(study, case, 2, facts=[], excluded="not_decomposed")
    state = by_key(study)["decompose"]
    assert (state.done, state.total, state.missing) == (1, 2, 1)


def test_a_scored_study_counts_medoids_and_disagreements():
    study = made.scored_study()
    found = by_key(study)
    assert (found["score"].state, found["score"].done) == ("done", 3)
    assert (found["judge"].done, found["judge"].total) == (0, 1)
    made.answer_early(study)
    split = study.scores.get(case__external_id="q2")
    for source in ("imported:people", "openai:judge"):
        assert by_key(study)["judge"].done == 0
        ChainJudgement.objects.create(
            study=study, chain=split.medoid, kind="soundness", source=source, answers={"sound": "yes"}
        )
    rows.chain(study, split.case, 1, role="alternative", forbidden=split.medoid)
    found = by_key(study)
    assert (found["early"].done, found["early"].total) == (3, 3)
    assert found["counterfactual"].done == 0
    assert (found["ablate"].done, found["ablate"].state) == (1, "partial")
    assert (found["judge"].done, found["judge"].state) == (1, "done")


def test_a_study_where_both_rules_are_right_has_nothing_to_judge():
    study = made.scored_study()
    study.scores.filter(case__external_id="q2").delete()
    assert "nothing to judge" in by_key(study)["judge"].blocked


def test_the_newest_run_says_why_a_step_stopped():
    study = made.scored_study()
    ReasoningRun.objects.create(study=study, step="early", state="done")
    run = ReasoningRun.objects.create(study=study, step="early", state="failed", message="No.")
    assert (by_key(study)["early"].run, by_key(study)["early"].state) == (run, "failed")
    active = ReasoningRun.objects.create(study=study, step="score", state="running")
    state = by_key(study)["score"]
    assert (state.run, state.state, state.is_active) == (active, "running", True)
    assert with_stale(state, 1) == state
    active.delete()
    state = with_stale(by_key(study)["score"], 2)
    assert (state.state, state.done, state.missing) == ("stale", 1, 2)
    assert with_stale(by_key(study)["early"], 2).state == "failed"


def test_steps_and_list_cost_the_same_whatever_a_study_holds(django_assert_num_queries):
    study = made.scored_study()
    with django_assert_num_queries(7):
        steps(study)
    for number in range(4):
        made.chains_of(rows.study(slug=f"more-{number}"))
    with django_assert_num_queries(1):
        found = list(study_list())
    assert [(one.chain_count, one.score_count, one.active_count) for one in found if one.slug == "ways"] == [
        (9, 3, 0)
    ]


def test_polling_reads_no_score_and_shows_judges_only_while_they_run(django_assert_num_queries):
    study = made.scored_study()
    assert [state.key for state in steps_now(study)] == [
        "sample", "decompose", "score", "early", "counterfactual", "ablate",
    ]  # fmt: skip
    ReasoningRun.objects.create(study=study, step="judge", state="running", done=2, total=9)
    with django_assert_num_queries(5):
        judge = steps_now(study)[-1]
    assert (judge.key, judge.done, judge.total, judge.unit, judge.is_active) == (
        "judge",
        2,
        9,
        "requests",
        True,
    )
