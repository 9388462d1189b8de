"""A benchmark that has everything an export can hold, for the tests of exports and their import."""

from typing import Any

from auditing.core.anchor.difficulty import Judgement
from auditing.models import Benchmark
from auditing.services.anchor import answers, difficulty, grounding, ratings, taxonomy
from tests.annotation import factories as make
from tests.auditing.services.anchor import builders
from tests.videos import factories as videos

RULE = {"rollouts": 2, "medium_mismatches": 1, "hard_mismatches": 2}


def whole(**fields: Any) -> Benchmark:
    """Two items: references of two sources, answers, judges, people, difficulty, labels, scores, things gone stale."""
    made = builders.benchmark(
        2,
        question={"options": ["A. It runs.", "B. It hears a whistle."], "meta": {"of": "tests"}},
        description="=What models say, | in words",
        parameters={"rule": RULE, "rollouts_each": 1},
        **fields,
    )
    made.video_set.licence, made.video_set.attribution = "CC BY 4.0", "Tests"
    made.video_set.save()
    first, second = builders.item(made, 1), builders.item(made, 2)
    track = videos.track(frames=(0, 50))
    tracks = {track["id"]: track}
    content = builders.document(tracks=tracks)
    human = builders.reference(first, content=content, version="decision 1", origin={"from": "study"})
    builders.reference(second)
    machine = builders.reference(first, "generated", kind="generated", writer="model-a")
    of_first = builders.answer(first, tracks=tracks)
    plain = builders.answer(first, "model-b", text="@It is B.\u2028Final Answer: B")
    of_second = builders.answer(second, setting="no_audio")
    ann, ben = make.user("physician", username="ann-secret"), make.user("physician", username="ben-secret")
    given = ratings.NewRating
    ratings.put_many(
        [
            given(
                of_first, "answer", human, source="openai:judge-a", value=4, status="strict", words="Nearly."
            ),
            given(of_first, "divergence", machine, source="openai:judge-a", value=2, status="lenient"),
            given(
                of_first, "hallucination", human, source="openai:judge-b", status="invalid", why="no_rating"
            ),
            given(plain, "answer", None, source="openai:judge-b", status="error", why="timeout"),
            given(of_first, "answer", human, user=ben, value=5, words='=HYPERLINK("x")'),
            given(of_first, "answer", human, user=ann, value=3),
            given(of_second, "answer", None, source="imported:rater-7", value=1),
            given(of_second, "answer", None, source="imported:Kim", value=2),
        ]
    )
    answers.rule_ratings([plain])
    assert grounding.store(of_first, human, 0.5)
    for place in (1, 2):
        item = builders.item(made, place)
        for take in (1, 2):
            builders.answer(item, role="rollout", take=take, text=f"Bare {take}.")
        difficulty.judge(item, "openai:judge-a", Judgement((False, False), 5, "Both miss."))
        difficulty.judge(item, "openai:judge-b", None, "No JSON.")
        difficulty.assess(item)
    difficulty.review(
        builders.item(made, 1),
        decision="rejected",
        fault="judge",
        level="easy",
        note="No.",
        version=0,
        by=ann,
    )
    taxonomy.label_by_model(builders.item(made, 1), "openai:sorter", "Sports", "", 0.25, None)
    taxonomy.label(builders.item(made, 1), "Gaming", "", by=ben, note="At home.")
    taxonomy.label_by_model(builders.item(made, 2), "openai:sorter", "Sports", "", None, None)
    # What was said of an earlier version stays known as such.
    builders.rating(plain, "divergence", 3, reference=human, answer_sha256="a" * 64)
    difficulty.judge(builders.item(made, 2), "openai:judge-c", Judgement((True, True), 1))
    builders.answer(builders.item(made, 2), role="rollout", take=2, text="Another one.")
    difficulty.assess(builders.item(made, 2))
    made.refresh_from_db()
    return made
