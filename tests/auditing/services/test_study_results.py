"""Results are computed once while nothing changes, anew when anything does, in a fixed number of queries."""

import json
from dataclasses import replace

import pytest

from annotation.models import AdjudicationDecision, Segment, SegmentLabel, StudyItem, StudyMember
from auditing.models import JudgeVerdict
from auditing.selectors.study_results import reading
from auditing.selectors.study_results.choices import Choices
from auditing.services import study_results
from reasonaudit.accounts.models import User
from reasonaudit.lib.errors import UserError
from tests.auditing.study_rows import START, Answers, invented, lead, make_study

pytestmark = pytest.mark.django_db

# Reading everything once, and asking whether anything changed; both whatever the study holds.
QUERIES_FIRST = 41
QUERIES_AGAIN = 16


@pytest.fixture
def user() -> User:
    return lead()


@pytest.mark.parametrize("cases", [2, 12])
def test_the_number_of_queries_does_not_grow(cases: int, user: User, django_assert_num_queries) -> None:
    study = make_study(invented(cases, [f"m{number}" for number in range(cases)]))
    with django_assert_num_queries(QUERIES_FIRST):
        first = study_results.results(study, Choices(), user)
    with django_assert_num_queries(QUERIES_AGAIN):
        assert study_results.results(study, Choices(), user) is first


def test_every_change_is_seen(user: User) -> None:
    case = Answers(people={"P1": "ciu", "P2": "cii"}, judges={"openai:m": "110"}, audits={"openai:m": "SOU"})
    study = make_study([case, replace(case, title="Second")])
    held = study_results.results(study, Choices(), user)

    def changed() -> bool:
        nonlocal held
        before, held = held, study_results.results(study, Choices(), user)
        return held is not before

    assert not changed()
    label = SegmentLabel.objects.filter(label="uncertain").first()
    assert label is not None
    label.label = "incorrect"
    label.save()
    assert changed()
    item, segment = label.assignment.item, label.segment
    AdjudicationDecision.objects.create(
        item=item,
        segment=segment,
        number=1,
        adjudicator=user,
        pseudonym="A",
        label="correct",
        guideline=label.guideline,
        decided_at=START,
    )
    assert changed()
    assert held.document["header"]["adjudicated"] == 1
    JudgeVerdict.objects.filter(segment=segment).delete()
    assert changed()
    StudyMember.objects.filter(study=study, pseudonym="P1").update(pseudonym="P9")
    member = StudyMember.objects.get(study=study, pseudonym="P9")
    member.seniority = ""
    member.save()
    assert changed()
    StudyItem.objects.filter(study=study, number=2).update(kind="training")
    StudyItem.objects.get(study=study, number=2).save()
    assert changed()
    assert held.document["header"]["left_out_items"] == 1
    assert not changed()


def test_rp_02_the_same_rows_give_the_same_bytes() -> None:
    study = make_study(invented(6))
    first, second = (
        json.dumps(study_results.compute(study, Choices()).document, sort_keys=True) for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize(
    "choices", [Choices(audit=999), Choices(judge_run=999), Choices(compare=("study", "no-such"))]
)
def test_ab_03_a_choice_that_is_not_there_is_refused(choices: Choices, user: User) -> None:
    study = make_study(invented(2))
    with pytest.raises(UserError) as caught:
        study_results.results(study, choices, user)
    assert caught.value.status == 400


def test_a_second_set_is_only_what_the_user_may_see() -> None:
    study, other = make_study(invented(2), name="Own"), make_study(invented(2), name="Other")
    Segment.objects.filter(trace__case__dataset=other.dataset).update(gold="")
    researcher = User.objects.create_user("re", password="x" * 12, role="researcher")
    kinds = {(one.kind, one.slug) for one in study_results.partners(study, researcher)}
    assert kinds == {("dataset", "own-cases")}
    with pytest.raises(UserError):
        study_results.results(study, Choices(compare=("study", "other")), researcher)
    StudyMember.objects.create(study=other, user=researcher, part="lead", pseudonym="L")
    found = study_results.results(study, Choices(compare=("study", "other")), researcher)
    assert found.document["across"]["there"] == "Other"
    assert all(row["there"] for row in found.document["across"]["rows"])


def test_the_same_evaluator_is_scored_on_both_sets(user: User) -> None:
    case = Answers(people={"P1": "ci", "P2": "ci"}, judges={"openai:m": "10"})
    study = make_study([case])
    make_study([Answers(people={}, gold="cici", judges={"openai:m": "1011"})], name="Steps")
    found = study_results.results(study, Choices(compare=("dataset", "steps-cases")), user)
    (row,) = found.document["across"]["rows"]
    assert row["here"]["balanced_f1"]["value"] == 1.0
    # Gold 1 0 1 0 against 1 0 1 1: TPR 1, TNR 1/2, so balanced F1 2/3.
    assert row["there"]["balanced_f1"]["value"] == pytest.approx(2 / 3)
    assert len(found.document["failure_modes"]["groups"]) == 0


def test_of_two_runs_of_a_labeller_the_one_that_covers_more_stands_for_it() -> None:
    case = Answers(people={"P1": "ci"}, audits={"openai:m": "SO"})
    study = make_study([case, case])
    options = reading.run_options([item.trace_id for item in study.items.all()])
    assert [option.segments for option in options] == [4]
    small = replace(options[0], segments=2)
    assert reading.chosen_runs([small, options[0]]) == [options[0].run]
