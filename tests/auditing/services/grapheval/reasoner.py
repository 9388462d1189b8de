"""A model that reasons as a script says."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping

from auditing.elicitation.llm import LLMElicitor
from auditing.llm.protocol import ChatReply, ChatRequest
from auditing.llm.providers.scripted import Scripted

Reply = str | Exception | Callable[[ChatRequest], str]


class Model(Scripted):
    """Answers every task in the agreed form; `says` replaces the reply to some of them.

    Chain number t ends in A for the takes up to `right`, in B for later ones; every chain has three steps, every step
    is a fact. Early answers are A once there are two facts. Edited chains give B.
    """

    def __init__(
        self,
        says: Mapping[str, Reply] | None = None,
        *,
        right: int = 2,
        concurrency: int = 4,
        latency: float = 0.0,
    ) -> None:
        super().__init__(self.reply, name="reasoner", revision="r1")
        self.concurrency = concurrency
        self.asked: list[ChatRequest] = []
        self._says = dict(says or {})
        self._right = right
        self._latency = latency

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.append(request)
        await asyncio.sleep(self._latency)
        return await super().complete(request)

    @property
    def tasks(self) -> Counter[str]:
        """How often each task was asked."""
        return Counter(request.inputs["task"][0] for request in self.asked)

    def reply(self, request: ChatRequest) -> str:
        task = request.inputs["task"][0]
        said = self._says.get(task)
        if isinstance(said, Exception):
            raise said
        if said is not None:
            return said if isinstance(said, str) else said(request)
        return str(getattr(self, f"_{task}")(request))

    def _chain(self, request: ChatRequest) -> str:
        take = take_of(request)
        answer = "A" if take <= self._right else "B"
        return (
            f"Step 1: {request.inputs['question'][0]} speaks of way {take}. [depends_on: none]\n"
            f"Step 2: Way {take} leads on. [depends_on: 1]\n"
            f"Step 3: So {answer} it is. [depends_on: 1, 2]\n"
            f"The final answer is: {answer}"
        )

    def _forbidden_chain(self, request: ChatRequest) -> str:
        return self._chain(request).replace("way", "other way").replace("Way", "Other way")

    def _facts(self, request: ChatRequest) -> str:
        found = re.findall(r"Step (\d+): (.*) \[depends_on: (.*)\]", request.inputs["steps"][0])
        return "\n".join(f"### {text} [step: {number}, depends_on: {deps}]" for number, text, deps in found)

    def _early_answer(self, request: ChatRequest) -> str:
        enough = len(request.inputs["facts"][0].splitlines()) >= 2
        return f"The final answer is: {'A' if enough else 'B'}"

    def _counterfactual(self, request: ChatRequest) -> str:
        return f"Edited step: The opposite of step {request.inputs['index'][0]} holds."

    def _edited_answer(self, request: ChatRequest) -> str:
        return "The final answer is: B"

    def _soundness(self, request: ChatRequest) -> str:
        return self._judgement(request, sound="yes")

    def _decomposition(self, request: ChatRequest) -> str:
        return self._judgement(request, atomic="yes", grounded="no", dependencies="unsure")

    @staticmethod
    def _judgement(request: ChatRequest, **words: str) -> str:
        check = {"check": request.inputs["check"][0]} if "check" in request.inputs else {}
        return json.dumps({**check, **words, "reason": "Because."})


def take_of(request: ChatRequest) -> int:
    """The number of the sample that is asked for."""
    return int(str(request.parameters()["seed"]))


def elicitor(model: Model, *, temperature: float = 0.7) -> LLMElicitor:
    """What asks the model, without asking again after an invalid reply."""
    return LLMElicitor(model, "reasoner", reasks=0, temperature=temperature)
