"""Words of people and judges: joint words, faithful wins by a source, and kappa. All numbers were worked by hand."""

import pytest

from auditing.core.grapheval.agreement import (
    Dispute,
    faithful_report,
    joint_word,
    joint_words,
    word_agreement,
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], None),
        (["no"], "no"),
        (["unsure"], "unsure"),
        (["yes", "no"], "unsure"),
        (["yes", "yes", "no"], "yes"),
        (["yes", "no", "unsure"], "unsure"),
        (["yes", "yes", "no", "no"], "unsure"),
    ],
)
def test_several_people_say_what_more_than_half_of_them_say(words, expected):
    assert joint_word(words) == expected


def test_joint_words_are_over_the_people_who_judged_the_chain():
    people = [{1: "yes", 2: "no"}, {1: "no", 2: "no"}, {1: "yes", 3: "yes"}]
    assert joint_words(people) == {1: "yes", 2: "no", 3: "yes"}


SC = Dispute("sc_only", (1, 2, 3), 4)
GSC = Dispute("gsc_only", (5, 6), 7)


def test_a_win_of_the_vote_needs_more_than_half_of_its_paths_and_unsure_is_not_sound():
    even = Dispute("sc_only", (10, 11), 12)
    words = {1: "yes", 2: "yes", 3: "no", 4: "no", 10: "yes", 11: "unsure", 5: "yes", 7: "yes"}
    report = faithful_report([SC, even, GSC], words)
    assert (report.unjudged_wins, report.unjudged_paths, report.unsure_paths) == (0, 0, 1)
    sc, gsc = report.wins.sc_only, report.wins.gsc_only
    assert (sc.wins, sc.faithful, sc.share, sc.path_share) == (2, 1, 0.5, 0.6)
    assert (gsc.wins, gsc.faithful, gsc.share, gsc.path_share) == (1, 1, 1.0, 1.0)
    assert report.wins.difference == 0.5


def test_the_medoid_of_a_lost_question_and_the_paths_of_a_lost_vote_say_nothing():
    # 4 is the medoid where the vote wins, 5 and 6 are the vote's paths where the medoid wins.
    report = faithful_report([SC, GSC], {4: "yes", 5: "yes", 6: "yes"})
    assert (report.wins, report.unjudged_wins) == (None, 2)


def test_an_unsure_medoid_is_not_faithful():
    report = faithful_report([GSC], {7: "unsure"})
    assert (report.wins.gsc_only.faithful, report.wins.gsc_only.wins, report.unsure_paths) == (0, 1, 1)
    assert report.wins.sc_only.share is None


def test_paths_without_a_word_are_left_out_and_counted():
    report = faithful_report([SC, GSC], {2: "yes"})
    assert (report.wins.sc_only.faithful, report.wins.sc_only.path_share) == (1, 1.0)
    assert (report.unjudged_wins, report.unjudged_paths) == (1, 2)
    assert report.wins.difference is None


def test_chains_may_be_named_by_question_and_number():
    dispute = Dispute("sc_only", (("a", 1), ("a", 2)), ("a", 3))
    report = faithful_report([dispute], {("a", 1): "yes", ("b", 2): "no"})
    assert (report.wins.sc_only.faithful, report.unjudged_paths) == (1, 1)


def test_kappa_is_over_the_chains_that_both_judged():
    # Both: 1 yes/yes, 2 yes/no, 3 no/no, 4 no/no. Agreement 3/4, by chance (2*1 + 2*3) / 16 = 1/2, kappa 1/2.
    found = word_agreement(
        {1: "yes", 2: "yes", 3: "no", 4: "no", 8: "yes"}, {1: "yes", 2: "no", 3: "no", 4: "no", 9: "no"}
    )
    assert (found.kappa.n, found.kappa.agreement, found.kappa.kappa, found.why_not) == (4, 0.75, 0.5, "")


def test_unsure_is_a_category_of_its_own():
    # 1 unsure/no, 2 no/no: agreement 1/2, by chance 1/2 * 0 + 1/2 * 1 = 1/2, kappa 0.
    found = word_agreement({1: "unsure", 2: "no"}, {1: "no", 2: "no"})
    assert (found.kappa.agreement, found.kappa.kappa) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("first", "second", "n", "sentence"),
    [
        ({1: "yes"}, {2: "yes"}, 0, "There is no chain that both judged."),
        ({1: "yes", 2: "yes"}, {1: "yes", 2: "yes"}, 2, "Both gave the same word to every chain"),
    ],
)
def test_where_kappa_has_no_value_the_reason_is_said(first, second, n, sentence):
    found = word_agreement(first, second)
    assert (found.kappa.n, found.kappa.kappa) == (n, None)
    assert found.why_not.startswith(sentence)
