"""ANCHOR's tasks over HTTP, against the server that the browser tests use: what it says is what the readers read."""

import json

from auditing.elicitation.anchor_reading import category_of, correctness_of, judgement_of, rating_of
from auditing.elicitation.factory import make_elicitor
from auditing.elicitation.protocol import Elicitation
from auditing.elicitation.tasks import FRAMED_TASKS, RATING_TASKS, VERDICT_TASKS
from tests.auditing.elicitation.cases import ALL, CATEGORIES, CLIP, SUBCATEGORIES
from tests.evaluation_server import EvaluationServer, evaluation_server

TASKS = sorted(FRAMED_TASKS | RATING_TASKS | VERDICT_TASKS)


async def ask(server: EvaluationServer, *asked: Elicitation, model: str = "m") -> list:
    asking = make_elicitor(
        f"openai:{model}", base_url=server.base_url, allowed_hosts=["127.0.0.1"], fence_secret=b"secret"
    )
    try:
        return await asking.ask_batch(asked)
    finally:
        await asking.aclose()


async def test_every_task_is_answered_in_its_form() -> None:
    with evaluation_server() as server:
        server.grades["hallucination_rating"] = 4
        server.answers[CLIP["question"]] = "It hears a whistle."  # type: ignore[index]
        answers = dict(zip(TASKS, await ask(server, *(ALL[task] for task in TASKS)), strict=True))
    assert {task: answer.status for task, answer in answers.items()} == dict.fromkeys(TASKS, "valid")
    assert server.asked == dict.fromkeys(TASKS, 1)
    assert "Final Answer: It hears a whistle.\nBoxes:\n" in answers["video_answer"].value
    assert answers["brief_answer"].value == "It hears a whistle."
    ratings = {task: rating_of(answers[task].value).rating for task in RATING_TASKS}
    assert ratings == {"answer_rating": 2, "hallucination_rating": 4, "divergence_rating": 2}
    judgement = judgement_of(answers["difficulty"].value, answers=3).judgement
    assert judgement is not None
    assert (judgement.matches, judgement.similarity_rating) == ((False, False, False), 3)
    assert correctness_of(answers["correctness"].value)[0] is False
    assert category_of(answers["taxonomy"].value, CATEGORIES, SUBCATEGORIES).category == "Sports"
    framed = next(asked for asked in server.requests if asked.task == "brief_answer")
    assert (framed.pictures, framed.seed) == (2, 3)


async def test_what_a_test_wants_said_and_who_is_strict_or_wrong() -> None:
    right = Elicitation.rating("answer", "Why?", "I think IT HEARS a whistle. Yes.", "It hears a whistle.")
    with evaluation_server() as server:
        server.strict.add("sharp")
        server.wrong.add("weak")
        server.first["answer_rating"] += ["Five!", '{"rating": 3}\nCheck: CODE\nAs told.']
        (first,) = await ask(server, right)
        (own,) = await ask(server, right)
        (less,) = await ask(server, right, model="sharp")
        (wrong,) = await ask(server, ALL["brief_answer"], model="weak")
        (blind,) = await ask(server, Elicitation.brief_answer(**{**CLIP, "frames": None}, take=1))
    assert [attempt.status for attempt in first.attempts] == ["invalid:no_json", "valid"]
    assert [rating_of(answer.value).rating for answer in (first, own, less)] == [3, 5, 4]
    assert (wrong.value, blind.value) == ("Something else.", "I cannot tell.")
    assert json.loads(own.attempts[0].raw_reply)["model"] == "m"
