"""The direct judge that asks a language model (UroReason paper, section 4 and appendix B.1).

Greedy decoding, at most 4096 output tokens, as the paper states (appendix E.1). The paper does not print its
prompts in the text we have; these (`auditing/prompts/judge-*.txt`) are the project's own: the clinical one in the
terms of the annotators' question (appendix F), the mathematical one about the correctness of a step. One segment is
one call.
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from auditing.judging.prompts import KIND_OF_DOMAIN, judge_prompts
from auditing.judging.protocol import Attempt, JudgeAnswer, JudgeQuestion
from auditing.judging.reply import PARSER_VERSION, VerdictReading, invalid, read_verdict, response_format
from auditing.llm.asking import sum_of_known
from auditing.llm.batch import ask_each
from auditing.llm.completion import Completion, parse_completion
from auditing.llm.errors import LLMError, LLMPaused, LLMUnparsable
from auditing.llm.protocol import (
    ERROR_PREFIX,
    MAX_OUTPUT_TOKENS,
    VALID,
    ChatProvider,
    ChatReply,
    ChatRequest,
    Message,
)
from auditing.llm.reply_store import ReplyStore
from auditing.prompts.fence import FENCE_VERSION, fence, fence_code
from auditing.prompts.templates import Prompt

NO_CASE = "(No case is given.)"
NO_PREVIOUS = "(There are no earlier segments.)"


class LLMJudge:
    """Judges segments by asking a chat completion provider.

    Parameters
    ----------
    provider
        Where to ask.
    model
        Model name as the server knows it; ``revision`` is added to the identity where known.
    prompt_folder
        Folder with prompts that take the place of ours; see `judge_prompts`.
    reasks
        How often an invalid reply is asked again, with the same parameters; each is an attempt of its own.
    fence_secret
        The installation's key for fence and check codes.
    store
        Folder of replies to read before asking and to write after; None asks always.
    extra
        Further request fields, sent as they are and part of the identity.
    identity
        The identity of a recording, so that a replay finds the keys of the run that it repeats.
    """

    batch_size = 1

    def __init__(
        self,
        provider: ChatProvider,
        model: str,
        *,
        revision: str = "",
        prompt_folder: str | Path | None = None,
        max_tokens: int = MAX_OUTPUT_TOKENS,
        temperature: float = 0.0,
        top_p: float | None = None,
        seed: int | None = None,
        reasks: int = 1,
        fence_secret: bytes = b"",
        store: ReplyStore | None = None,
        extra: Mapping[str, object] | None = None,
        identity: Mapping[str, object] | None = None,
    ) -> None:
        if not model:
            raise ValueError("the name of the model is empty")
        if reasks < 0:
            raise ValueError(f"reasks must be 0 or more, not {reasks}")
        self.kind = provider.kind
        self.remote = provider.remote
        self.concurrency = provider.concurrency
        self.name = model
        self._provider = provider
        self._prompts = judge_prompts(prompt_folder)
        self._reasks = reasks
        self._secret = fence_secret
        self._store = store
        self._parameters = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "top_p": top_p,
            "seed": seed,
        }
        self._extra = dict(extra or {})
        self._identity = dict(identity or self._own_identity(revision))
        if store is not None:
            store.write_identity(self._identity)

    def _own_identity(self, revision: str) -> dict[str, object]:
        source = self._provider.identity()
        return {
            "task": "judge",
            "kind": self.kind,
            "model": self.name,
            "revision": revision or source.get("revision", ""),
            "prompts": self.prompt_hashes(),
            "params": {**self._parameters, "fence": FENCE_VERSION, "schema": PARSER_VERSION, **self._extra},
            "endpoint": source.get("endpoint", ""),
        }

    def prompt_hashes(self) -> dict[str, dict[str, str]]:
        """Return name and hash of the prompt file of each kind."""
        return {kind: {"id": prompt.id, "sha256": prompt.sha256} for kind, prompt in self._prompts.items()}

    def identity(self) -> Mapping[str, object]:
        """Return model, revision, prompts, parameters and endpoint (never the key)."""
        return self._identity

    def key(self, question: JudgeQuestion) -> str:
        """Return the cache key of a question: SHA-256 over identity, the prompt of its domain, and its texts.

        The other prompt is left out: a changed clinical prompt does not make mathematical answers unknown. Texts
        are put in Unicode normal form C and stripped.
        """
        rest = {name: value for name, value in self._identity.items() if name != "prompts"}
        prompts = self._identity["prompts"]
        assert isinstance(prompts, Mapping)
        content = {
            "kind": "judge",
            "identity": rest,
            "prompt": prompts[KIND_OF_DOMAIN[question.domain]],
            "case": [_canonical(text) for text in question.case],
            "previous": [_canonical(text) for text in question.previous],
            "segment": _canonical(question.segment),
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()

    def request(self, question: JudgeQuestion) -> ChatRequest:
        """Return the chat request for a question: the same question gives the same bytes."""
        prompt = self._prompts[KIND_OF_DOMAIN[question.domain]]
        messages, check = self._messages(question, prompt)
        inputs = {"case": question.case, "previous": question.previous, "segment": (question.segment,)}
        if check:
            inputs["check"] = (check,)
        return ChatRequest(
            model=self.name,
            messages=messages,
            response_format=response_format(with_check=bool(check)),
            extra=self._extra,
            key=self.key(question),
            inputs=inputs,
            **self._parameters,  # type: ignore[arg-type]
        )

    def _messages(self, question: JudgeQuestion, prompt: Prompt) -> tuple[tuple[Message, ...], str]:
        code = fence_code(question.texts, purpose="fence", secret=self._secret)
        check = ""
        if "check" in prompt.fields:
            check = fence_code(question.texts, purpose="check", secret=self._secret, digits=8)
        values = {
            "case": _fenced("CASE", question.case, code) or NO_CASE,
            "previous": _fenced("EARLIER SEGMENT", question.previous, code, numbered=True) or NO_PREVIOUS,
            "segment": fence("SEGMENT", question.segment, code),
            "check": check,
        }
        return tuple(Message(role, text) for role, text in prompt.fill(values)), check

    def prompt_characters(self, question: JudgeQuestion) -> int:
        """Return how long the messages of a question are, for estimates."""
        messages, _ = self._messages(question, self._prompts[KIND_OF_DOMAIN[question.domain]])
        return sum(len(message.content) for message in messages)

    async def judge_batch(self, questions: Sequence[JudgeQuestion]) -> list[JudgeAnswer]:
        """Judge the questions, `concurrency` at a time; raises `LLMPaused` when the run must stop."""
        return await ask_each(questions, self._judge, concurrency=self.concurrency)

    async def _judge(self, question: JudgeQuestion) -> JudgeAnswer:
        request = self.request(question)
        if (known := self._stored(request)) is not None:
            return known
        read: list[tuple[Attempt, VerdictReading, Completion | None]] = []
        requests, seconds = 0, 0.0
        reply: ChatReply | None = None
        for remaining in range(self._reasks, -1, -1):
            try:
                reply = await self._provider.complete(request)
            except LLMPaused:
                raise
            except LLMError as error:
                status = f"{ERROR_PREFIX}{error.name}"
                attempt = Attempt(status, request.body(), error.body, str(error))
                read.append((attempt, VerdictReading(status, None, "", str(error)), None))
                return _answer(read, requests + error.attempts, seconds)
            requests += reply.attempts
            seconds += reply.seconds
            read.append(_read(reply, request))
            if read[-1][0].status == VALID or not remaining:
                break
        if self._store is not None and reply is not None:
            self._store.put(request.key, ChatReply(reply.body, reply.request_body, requests, seconds))
        return _answer(read, requests, seconds)

    def knows(self, question: JudgeQuestion) -> bool:
        """Whether the folder of replies holds a verdict on this question."""
        return self._stored(self.request(question)) is not None

    def _stored(self, request: ChatRequest) -> JudgeAnswer | None:
        """Return the answer in the folder of replies; only a verdict is ever reused."""
        if self._store is None or (stored := self._store.get(request.key)) is None:
            return None
        answer = _answer([_read(stored, request)], stored.attempts, stored.seconds)
        return answer if answer.status == VALID else None

    async def aclose(self) -> None:
        """Close the provider."""
        await self._provider.aclose()


def _fenced(name: str, texts: Sequence[str], code: str, *, numbered: bool = False) -> str:
    several = numbered or len(texts) > 1
    parts = [fence(f"{name} {i}" if several else name, text, code) for i, text in enumerate(texts, start=1)]
    return "\n\n".join(parts)


def _read(reply: ChatReply, request: ChatRequest) -> tuple[Attempt, VerdictReading, Completion | None]:
    """Return what a raw reply holds."""
    completion: Completion | None = None
    try:
        completion = parse_completion(reply.body)
        texts = [*request.inputs["case"], *request.inputs["previous"], *request.inputs["segment"]]
        reading = read_verdict(completion, request.inputs.get("check", ("",))[0], texts)
    except LLMUnparsable as error:
        reading = invalid(error.name, str(error))
    attempt = Attempt(reading.status, reply.request_body, reply.body, reading.message, reply.seconds)
    return attempt, reading, completion


def _answer(
    read: Sequence[tuple[Attempt, VerdictReading, Completion | None]], requests: int, seconds: float
) -> JudgeAnswer:
    """Return the answer of all attempts: the last one decides, the tokens of all count."""
    _, reading, _ = read[-1]
    completions = [completion for _, _, completion in read if completion is not None]
    return JudgeAnswer(
        status=reading.status,
        verdict=reading.verdict,
        reason=reading.reason,
        attempts=tuple(attempt for attempt, _, _ in read),
        model_reported=next((name for one in reversed(completions) if (name := one.reported)), ""),
        prompt_tokens=sum_of_known([completion.prompt_tokens for completion in completions]),
        completion_tokens=sum_of_known([completion.completion_tokens for completion in completions]),
        requests=requests,
        seconds=seconds,
        error=reading.message,
    )


def _canonical(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
