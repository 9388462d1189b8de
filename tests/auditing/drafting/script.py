"""A model that says what a test wants of it."""

from auditing.llm.protocol import ChatRequest


class Script:
    """Answers in turn; remembers the requests. An answer may be an exception."""

    def __init__(self, *answers: object) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, request: ChatRequest) -> str:
        self.asked.append(request)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return str(answer)
