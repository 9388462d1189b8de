"""Blind labels and reference labels: who counts, which submission counts, and what a label rests on."""

from typing import Any

import pytest

from annotation.models import Assignment
from annotation.selectors.reference_labels import blind_labels, reference_labels, segments_of
from annotation.services import segment_merge
from tests.annotation import factories as make

pytestmark = pytest.mark.django_db


def shown(scene: make.Scene, **given: Any) -> list[tuple[str | None, str, bool]]:
    """(label, status, blinded) of each judged segment in reading order."""
    return [(ref.label, ref.status, ref.blinded) for ref in reference_labels(scene.study, **given).values()]


def scene_of(*people: list[str] | None, **fields: Any) -> make.Scene:
    """One item, labelled by each person as given; None has not handed in."""
    scene = make.study_with_work(items=1, physicians=len(people), segments=4, **fields)
    for work, labels in zip(scene.work[0], people, strict=True):
        if labels is not None:
            make.submission(work, labels)
    return scene


def test_agreement_of_all_is_the_reference_and_disagreement_is_open() -> None:
    scene = scene_of(["correct", "incorrect", "uncertain"], ["correct", "uncertain", "uncertain"])
    assert shown(scene) == [
        ("correct", "unanimous", True),
        (None, "open", True),
        ("uncertain", "unanimous", True),
    ]


def test_nothing_is_settled_before_everybody_has_handed_in() -> None:
    assert {status for _label, status, _ in shown(scene_of(["correct"] * 3, None))} == {"open"}
    # Two are wanted and one is assigned so far.
    assert {status for _label, status, _ in shown(scene_of(["correct"] * 3))} == {"open"}


def test_one_label_is_enough_where_one_was_asked_for() -> None:
    assert shown(scene_of(["correct", "incorrect", "cannot_judge"], overlap=1)) == [
        ("correct", "single", True),
        ("incorrect", "single", True),
        (None, "open", True),
    ]


def test_ag_06_cannot_judge_is_neither_agreement_nor_missing() -> None:
    scene = scene_of(["cannot_judge", "correct", "correct"], ["cannot_judge", "correct", "correct"])
    assert shown(scene)[0] == (None, "open", True)
    first = next(iter(blind_labels(scene.study).values()))
    assert [(word.label, word.cannot_judge) for word in first.values()] == [(None, True)] * 2
    missing = scene_of(["correct"] * 3, None)
    assert {len(words) for words in blind_labels(missing.study).values()} == {1}


def test_the_newest_final_decision_counts_and_says_whether_the_audit_was_seen() -> None:
    scene = scene_of(["correct", "correct", "correct"], ["incorrect", "incorrect", "correct"])
    make.decision(scene.items[0], 2, "uncertain", by=scene.adjudicator)
    make.decision(scene.items[0], 3, "correct", by=scene.adjudicator)
    make.decision(
        scene.items[0], 3, "incorrect", by=scene.adjudicator, number=2, after_audit=True, reason="x"
    )
    make.decision(scene.items[0], 4, "incorrect", by=scene.adjudicator, number=0)
    assert shown(scene) == [
        ("uncertain", "adjudicated", True),
        ("incorrect", "adjudicated", False),
        ("correct", "unanimous", True),  # a draft decides nothing
    ]


def test_ag_07_the_first_blind_word_stays_whatever_comes_later() -> None:
    scene = scene_of(["correct"] * 3, ["correct"] * 3)
    work = scene.work[0][0]
    make.label(work, 2, "incorrect", round=2, unblinded=True, reason="seen")
    later = [{**entry, "label": "incorrect", "unblinded": True} for entry in work.submissions.get().labels]
    work.submissions.create(number=2, labels=later, labels_sha256="0" * 64, submitted_at=make.NOON)
    member = work.member_id
    assert {words[member].label for words in blind_labels(scene.study).values()} == {"correct"}
    # The reference is what adjudication sees: the newest. It is not blind, and the two disagree now.
    assert {(label, status) for label, status, _ in shown(scene)} == {(None, "open")}
    assert {blinded for *_, blinded in shown(scene)} == {False}


def test_ag_07_what_was_taken_back_counts_as_never_made() -> None:
    scene = scene_of(None, ["correct"] * 3)
    work = scene.work[0][0]
    make.submission(work, ["incorrect"] * 3, recalled=True)
    assert {len(words) for words in blind_labels(scene.study).values()} == {1}
    work.labels.update(label="correct")
    make.submission(work, number=2)
    assert {words[work.member_id].label for words in blind_labels(scene.study).values()} == {"correct"}
    assert {status for _label, status, _ in shown(scene)} == {"unanimous"}


def test_withdrawn_work_is_left_out_and_returned_work_leaves_the_item_open() -> None:
    scene = scene_of(["incorrect"] * 3, ["correct"] * 3, ["correct"] * 3)
    first = Assignment.objects.filter(pk=scene.work[0][0].pk)
    first.update(state="returned")
    assert {status for _label, status, _ in shown(scene)} == {"open"}
    first.update(state="withdrawn")
    assert {(label, status) for label, status, _ in shown(scene)} == {("correct", "unanimous")}
    assert {len(words) for words in blind_labels(scene.study).values()} == {2}


def test_context_other_segmentations_and_training_are_no_segments_of_a_study() -> None:
    scene = scene_of(["correct"] * 3, ["correct"] * 3)
    make.item(scene.study, kind="training", segments=3, expected={2: "correct"})
    gold = make.item(scene.study, kind="gold", segments=3, expected={2: "correct"})
    trace = make.trace(into=scene.study.dataset, segments=5)
    later = make.item(scene.study, segment_merge(trace=trace, index=2, by=None))
    refs = segments_of(scene.study)
    assert [(ref.item_id, ref.index) for ref in refs] == [
        *((scene.items[0].pk, index) for index in (2, 3, 4)),
        *((gold.pk, index) for index in (2, 3)),
        *((later.pk, index) for index in (2, 3, 4)),
    ]
    assert [ref.kind for ref in refs][3] == "gold"
    assert {ref.kind for ref in segments_of(scene.study, kinds=("training",))} == {"training"}
    assert list(reference_labels(scene.study)) == [ref.segment_id for ref in refs]
    assert set(blind_labels(scene.study)) == {ref.segment_id for ref in refs}


def test_the_number_of_queries_does_not_grow_with_the_study(django_assert_num_queries: Any) -> None:
    for items in (1, 4):
        scene = make.study_with_work(items=items, physicians=2)
        for row in scene.work:
            for work in row:
                make.submission(work)
        with django_assert_num_queries(6):
            reference_labels(scene.study)
        with django_assert_num_queries(3):
            blind_labels(scene.study)
