"""Asking many things of a model server, a bounded number at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")


async def ask_each(
    questions: Sequence[Question], ask: Callable[[Question], Awaitable[Answer]], *, concurrency: int
) -> list[Answer]:
    """Return the answers in the order of the questions.

    Raises
    ------
    Exception
        The first that `ask` raised, as it was; the other calls are cancelled.
    """
    if len(questions) == 1:
        return [await ask(questions[0])]
    answers: dict[int, Answer] = {}
    positions = iter(range(len(questions)))

    async def work() -> None:
        for position in positions:
            answers[position] = await ask(questions[position])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(questions))):
                group.create_task(work())
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [answers[position] for position in range(len(questions))]
