"""Drafts by a language model: the prompt is filled with fenced texts, pictures go along where the model takes them.

The first draft of a question is decoded greedily, so that it can be repeated; further ones are drawn with a seed, since
a greedy model would say the same again. At most 4096 output tokens.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from auditing.drafting.prompts import draft_prompts
from auditing.drafting.protocol import DraftAnswer, DraftQuestion, Frame
from auditing.drafting.reading import PARSER_VERSION, Reading, invalid, read_draft
from auditing.judging.protocol import Attempt
from auditing.llm.asking import sum_of_known
from auditing.llm.batch import ask_each
from auditing.llm.completion import Completion, parse_completion
from auditing.llm.errors import LLMError, LLMPaused, LLMUnparsable
from auditing.llm.pictures import announcement, for_the_record, key_of, pictures_of
from auditing.llm.protocol import (
    ERROR_PREFIX,
    MAX_OUTPUT_TOKENS,
    VALID,
    ChatProvider,
    ChatReply,
    ChatRequest,
    Message,
)
from auditing.prompts.fence import FENCE_VERSION, fence, fence_code
from videos.core.cot import format_clock

DRAWN_TEMPERATURE = 0.7
NOT_GIVEN = {
    "options": "(The question has no options.)",
    "answer": "(The answer is not given.)",
    "cues": "(There are no cues.)",
    "transcript": "(There is no transcript.)",
    "pictures": "(No pictures of the clip can be shown to you.)",
}


class LLMDrafter:
    """Drafts by asking a chat completion provider.

    Parameters
    ----------
    provider
        Where to ask.
    model
        Model name as the server knows it.
    takes_pictures
        Whether the model takes pictures; without, those of a question are not sent.
    prompt_folder
        Folder with prompts that take the place of ours; see `draft_prompts`.
    reasks
        How often a reply that is no draft is asked again, with the same parameters; each is an attempt of its own.
    fence_secret
        The installation's key for the fence codes.
    """

    def __init__(
        self,
        provider: ChatProvider,
        model: str,
        *,
        takes_pictures: bool = False,
        prompt_folder: str | Path | None = None,
        max_tokens: int = MAX_OUTPUT_TOKENS,
        reasks: int = 2,
        fence_secret: bytes = b"",
    ) -> None:
        if not model:
            raise ValueError("the name of the model is empty")
        self.kind = provider.kind
        self.concurrency = provider.concurrency
        self.name = model
        self.takes_pictures = takes_pictures
        self._provider = provider
        self._prompts = draft_prompts(prompt_folder)
        self._max_tokens = max_tokens
        self._reasks = reasks
        self._secret = fence_secret

    def identity(self) -> Mapping[str, object]:
        """Return model, prompts, parameters and endpoint (never the key)."""
        source = self._provider.identity()
        return {
            "task": "draft",
            "kind": self.kind,
            "model": self.name,
            "revision": source.get("revision", ""),
            "prompts": {kind: self.prompt(kind) for kind in self._prompts},
            "params": {"max_tokens": self._max_tokens, "fence": FENCE_VERSION, "schema": PARSER_VERSION},
            "pictures": self.takes_pictures,
            "endpoint": source.get("endpoint", ""),
        }

    def prompt(self, kind: str) -> dict[str, str]:
        """Return name and hash of the prompt of a kind of draft."""
        prompt = self._prompts[kind]
        return {"id": prompt.id, "sha256": prompt.sha256}

    def parameters(self, question: DraftQuestion) -> dict[str, float | int | None]:
        """Return how a question is decoded."""
        return {
            "max_tokens": self._max_tokens,
            "temperature": DRAWN_TEMPERATURE if question.take else 0.0,
            "seed": question.take or None,
        }

    def key(self, question: DraftQuestion) -> str:
        """Return the cache key of a question: SHA-256 over identity, its prompt, and everything that is sent."""
        rest = {name: value for name, value in self.identity().items() if name != "prompts"}
        content = {
            "kind": f"draft:{question.kind}",
            "identity": rest,
            "prompt": self.prompt(question.kind),
            "question": _canonical(question.question),
            "options": [_canonical(text) for text in question.options],
            "answer": _canonical(question.answer),
            "cues": _canonical(question.cues),
            "transcript": [[piece.start_us, piece.end_us, piece.text] for piece in question.transcript],
            "frames": key_of(self._shown(question)),
            "duration_us": question.duration_us,
            "take": question.take,
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()

    def request(self, question: DraftQuestion) -> ChatRequest:
        """Return the chat request for a question: the same question gives the same bytes."""
        prompt = self._prompts[question.kind]
        code = fence_code(question.texts, purpose="fence", secret=self._secret)
        frames = self._shown(question)
        said = "\n".join(
            f"[{format_clock(piece.start_us, 1)} - {format_clock(piece.end_us, 1)}] {' '.join(piece.text.split())}"
            for piece in question.transcript
        )
        options = "\n".join(
            f"({chr(ord('A') + place)}) {' '.join(text.split())}"
            for place, text in enumerate(question.options)
        )
        given = {"options": options, "answer": question.answer, "cues": question.cues, "transcript": said}
        values = {
            name: fence(name.upper(), text, code) if text.strip() else NOT_GIVEN[name]
            for name, text in given.items()
        }
        values["question"] = fence("QUESTION", question.question, code)
        values["duration"] = (
            format_clock(question.duration_us, 1) if question.duration_us else "for a time not known"
        )
        values["pictures"] = announcement(frames) if frames else NOT_GIVEN["pictures"]
        pictures = pictures_of(frames)
        filled = prompt.fill(values)
        last = len(filled) - 1
        messages = tuple(
            Message(role, text, pictures if place == last else ())
            for place, (role, text) in enumerate(filled)
        )
        parameters = self.parameters(question)
        return ChatRequest(
            model=self.name,
            messages=messages,
            max_tokens=self._max_tokens,
            temperature=float(parameters["temperature"] or 0.0),
            seed=question.take or None,
            key=self.key(question),
            inputs={"kind": (question.kind,), "question": (question.question,)},
        )

    def _shown(self, question: DraftQuestion) -> tuple[Frame, ...]:
        return question.frames if self.takes_pictures else ()

    async def draft_batch(self, questions: Sequence[DraftQuestion]) -> list[DraftAnswer]:
        """Draft for the questions, `concurrency` at a time; raises `LLMPaused` when the run must stop."""
        return await ask_each(questions, self._draft, concurrency=self.concurrency)

    async def _draft(self, question: DraftQuestion) -> DraftAnswer:
        request = self.request(question)
        read: list[tuple[Attempt, Reading, Completion | None]] = []
        requests, seconds = 0, 0.0
        for remaining in range(self._reasks, -1, -1):
            try:
                reply = await self._provider.complete(request)
            except LLMPaused:
                raise
            except LLMError as error:
                status = f"{ERROR_PREFIX}{error.name}"
                attempt = Attempt(status, for_the_record(request, request.body()), error.body, str(error))
                read.append((attempt, Reading(status, None, (), str(error)), None))
                return _answer(read, requests + error.attempts, seconds)
            requests += reply.attempts
            seconds += reply.seconds
            read.append(_read(question, request, reply))
            if read[-1][0].status == VALID or not remaining:
                break
        return _answer(read, requests, seconds)

    async def aclose(self) -> None:
        """Close the provider."""
        await self._provider.aclose()


def reading_of(kind: str, body: bytes, duration_us: int) -> tuple[Reading, Completion | None]:
    """Return what a raw reply holds: the same bytes give the same reading, now and when they are read again."""
    try:
        completion = parse_completion(body)
    except LLMUnparsable as error:
        return invalid(error.name, str(error)), None
    return read_draft(kind, completion, duration_us), completion


def _read(
    question: DraftQuestion, request: ChatRequest, reply: ChatReply
) -> tuple[Attempt, Reading, Completion | None]:
    reading, completion = reading_of(question.kind, reply.body, question.duration_us)
    sent = for_the_record(request, reply.request_body)
    return (
        Attempt(reading.status, sent, reply.body, reading.message, reply.seconds),
        reading,
        completion,
    )


def _answer(
    read: Sequence[tuple[Attempt, Reading, Completion | None]], requests: int, seconds: float
) -> DraftAnswer:
    """Return the answer of all attempts: the last one decides, the tokens of all count."""
    _, reading, _ = read[-1]
    completions = [completion for _, _, completion in read if completion is not None]
    return DraftAnswer(
        status=reading.status,
        value=reading.value,
        warnings=reading.warnings,
        attempts=tuple(attempt for attempt, _, _ in read),
        model_reported=next((name for one in reversed(completions) if (name := one.reported)), ""),
        prompt_tokens=sum_of_known([one.prompt_tokens for one in completions]),
        completion_tokens=sum_of_known([one.completion_tokens for one in completions]),
        requests=requests,
        seconds=seconds,
        error=reading.message,
    )


def _canonical(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
