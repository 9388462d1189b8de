"""What came out of an audit: faithful wins, agreement and differences, against words given by hand."""

import pytest

from auditing.selectors.reasoning_audit_results import audit_results
from tests.auditing.disputed_study import disputed, word
from tests.auditing.views.rows import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged():
    """Ada says of the vote's paths yes, yes, no and of the other medoid yes; the judge yes, no, no and no."""
    study, chains = disputed()
    ada = make_user(name="ada")
    places = [chains["vote"][0], chains["vote"][1], chains["vote"][2], chains["medoid"][2]]
    for chain, mine, judge in zip(
        places, ("yes", "yes", "no", "yes"), ("yes", "no", "no", "no"), strict=True
    ):
        word(chain, mine, user=ada)
        word(chain, judge, source="openai:m")
    return study, chains, ada


def test_faithful_wins_are_told_by_each_source(judged):
    study, _, ada = judged
    mine, judge = audit_results(study, "soundness", viewer=ada)["faithful"]
    assert (mine["name"], judge["name"]) == ("You", "m")
    assert mine["sc_only"] == {"wins": 1, "faithful": 1, "share": 1.0, "path_share": pytest.approx(2 / 3)}
    assert mine["gsc_only"] == {"wins": 1, "faithful": 1, "share": 1.0, "path_share": 1.0}
    assert judge["sc_only"] == {"wins": 1, "faithful": 0, "share": 0.0, "path_share": pytest.approx(1 / 3)}
    assert (judge["gsc_only"]["share"], mine["difference_pp"], judge["difference_pp"]) == (0.0, 0.0, 0.0)


def test_kappa_and_differences_of_a_person_and_a_judge(judged):
    study, chains, ada = judged
    found = audit_results(study, "soundness", viewer=ada)
    (pair,) = found["kappa"]
    # yes/yes, yes/no, no/no, yes/no: agreement 1/2; by chance (3*1 + 1*3) / 16 = 3/8; kappa (1/8) / (5/8) = 1/5.
    assert (pair["n"], pair["agreement"], pair["kappa"]) == (4, 0.5, pytest.approx(0.2))
    assert found["differing"] == 2
    assert [(row["title"], row["chain"]) for row in found["differences"]] == [
        ("Question sums", 2),
        ("Question birds", 3),
    ]
    assert found["differences"][0]["words"] == [{"name": "You", "word": "yes"}, {"name": "m", "word": "no"}]
    assert found["differences"][0]["url"].endswith(f"/questions/{chains['vote'][1].case_id}/#chain-2")


def test_several_people_are_told_together_first_and_by_letter_where_names_are_not_for_the_viewer(judged):
    study, chains, ada = judged
    for name, said in (("ben", "no"), ("cleo", "no")):
        word(chains["vote"][0], said, user=make_user(name=name))
    together, *single = audit_results(study, "soundness", viewer=ada, names=False)["faithful"]
    assert together["name"] == "All 3 people, by majority"
    # Path 1 is no by two of three; paths 2 and 3 have Ada's word only: yes, no.
    assert together["sc_only"]["path_share"] == pytest.approx(1 / 3)
    assert [row["name"] for row in single] == ["You", "Person A", "Person B", "m"]
    named = audit_results(study, "soundness", viewer=ada)["faithful"]
    assert [row["name"] for row in named[1:]] == ["You", "ben", "cleo", "m"]
    assert single[1]["gsc_only"]["share"] is None
    assert (single[1]["unjudged_wins"], single[1]["unjudged_paths"]) == (1, 2)


def test_of_chains_that_the_viewer_has_not_judged_nothing_is_told(judged):
    study, chains, ada = judged
    word(chains["vote"][3], "no", user=make_user(name="ben"))
    word(chains["vote"][0], "no", user=make_user(name="cleo"))
    found = audit_results(study, "soundness", viewer=ada, names=False, chains={chains["vote"][0].pk})
    assert [(row["name"], row["chains"]) for row in found["sources"]] == [
        ("You", 1),
        ("Person A", 1),
        ("m", 1),
    ]
    assert {row["n"] for row in found["kappa"]} == {1}
    assert [row["chain"] for row in found["differences"]] == [1]


def test_pairs_of_judges_alone_are_not_compared_here():
    study, chains = disputed()
    word(chains["vote"][0], "yes", source="openai:m")
    word(chains["vote"][0], "no", source="imported:file")
    found = audit_results(study, "soundness")
    assert (found["kappa"], found["differing"]) == ([], 0)
    assert [(row["name"], row["kind"]) for row in found["sources"]] == [
        ("m", "judge"),
        ("file (imported)", "imported"),
    ]


def test_a_source_that_judged_no_win_has_no_numbers():
    study, chains = disputed()
    word(chains["both"][0], "yes", source="imported:file")
    (row,) = audit_results(study, "soundness")["faithful"]
    assert (row["sc_only"], row["gsc_only"], row["difference_pp"], row["unjudged_wins"]) == (
        None,
        None,
        None,
        2,
    )


def test_a_check_of_decompositions_has_shares_by_criterion():
    study, chains = disputed()
    ada = make_user(name="ada")
    word(chains["both"][0], "", user=ada, atomic="yes", grounded="no", dependencies="unsure")
    word(chains["both"][1], "", user=ada, atomic="yes", grounded="yes")
    found = audit_results(study, "decomposition", viewer=ada)
    (source,) = found["sources"]
    told = {
        row["name"]: (row["yes"], row["no"], row["unsure"], row["judged"], row["share"])
        for row in source["criteria"]
    }
    assert told == {
        "Atomic": (2, 0, 0, 2, 1.0),
        "Grounded": (1, 1, 0, 2, 0.5),
        "Right dependencies": (0, 0, 1, 1, 0.0),
    }
    assert found["faithful"] == []
