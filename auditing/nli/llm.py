"""The relation labeller that asks a language model (UroReason paper, sections 3.1 and 4, appendix E.1).

Greedy decoding, at most 4096 output tokens, one prompt for all domains, as the paper states. The paper does
not print its prompt; this one (`auditing/prompts/nli-v1.txt`) is the project's own, with the four labels
defined there. One relation is one call.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from auditing.llm.batch import ask_each
from auditing.llm.completion import Completion, parse_completion
from auditing.llm.errors import LLMError, LLMPaused, LLMUnparsable
from auditing.llm.protocol import MAX_OUTPUT_TOKENS, ChatProvider, ChatReply, ChatRequest, Message
from auditing.llm.reply_store import ReplyStore
from auditing.nli.keys import relation_key
from auditing.nli.label_reply import PARSER_VERSION, LabelReading, read_label, response_format
from auditing.nli.protocol import ERROR_PREFIX, INVALID_PREFIX, VALID, RelationAnswer, RelationQuery
from auditing.prompts.fence import FENCE_VERSION, fence, fence_code
from auditing.prompts.templates import NLI_PROMPT, load_prompt

REQUIRED_PLACES = frozenset({"premises", "target"})
TOP_LOGPROBS = 10


class LLMLabeller:
    """Labels relations by asking a chat completion provider.

    Parameters
    ----------
    provider
        Where to ask.
    model
        Model name as the server knows it; ``revision`` is added to the identity where known.
    prompt
        Name of a prompt or path of a file with the places ``{{premises}}`` and ``{{target}}``. The place
        ``{{check}}`` is optional: a prompt without it works without check codes.
    reasks
        How often an invalid reply is asked again, with the same parameters.
    fence_secret
        The installation's key for fence and check codes.
    store
        Folder of replies to read before asking and to write after; None asks always.
    extra
        Further request fields, sent as they are and part of the identity.
    identity
        The identity of a recording, so that a replay finds the keys of the run that it repeats. The prompt
        and `fence_secret` must then be those of the recording.
    """

    quality_note = ""
    batch_size = 1

    def __init__(
        self,
        provider: ChatProvider,
        model: str,
        *,
        revision: str = "",
        prompt: str | Path = NLI_PROMPT,
        max_tokens: int = MAX_OUTPUT_TOKENS,
        temperature: float = 0.0,
        top_p: float | None = None,
        seed: int | None = None,
        top_logprobs: int | None = TOP_LOGPROBS,
        reasks: int = 1,
        fence_secret: bytes = b"",
        store: ReplyStore | None = None,
        extra: Mapping[str, object] | None = None,
        identity: Mapping[str, object] | None = None,
        quality_note: str = "",
    ) -> None:
        if not model:
            raise ValueError("the name of the model is empty")
        if reasks < 0:
            raise ValueError(f"reasks must be 0 or more, not {reasks}")
        self.kind = provider.kind
        self.remote = provider.remote
        self.concurrency = provider.concurrency
        self.name = model
        self.quality_note = quality_note
        self._provider = provider
        self._prompt = load_prompt(prompt, required=REQUIRED_PLACES)
        self._checked = "check" in self._prompt.fields
        self._format = response_format(with_check=self._checked)
        self._reasks = reasks
        self._secret = fence_secret
        self._store = store
        self._parameters = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "top_p": top_p,
            "seed": seed,
            "top_logprobs": top_logprobs,
        }
        self._extra = dict(extra or {})
        self._identity = dict(identity or self._own_identity(revision))
        self._by_key = store is not None or not provider.remote  # a server has no use for the key
        if store is not None:
            store.write_identity(self._identity)

    def _own_identity(self, revision: str) -> dict[str, object]:
        source = self._provider.identity()
        return {
            "kind": self.kind,
            "model": self.name,
            "revision": revision or source.get("revision", ""),
            "prompt": {"id": self._prompt.id, "sha256": self._prompt.sha256},
            "params": {**self._parameters, "fence": FENCE_VERSION, "schema": PARSER_VERSION, **self._extra},
            "endpoint": source.get("endpoint", ""),
        }

    def identity(self) -> Mapping[str, object]:
        """Return model, revision, prompt, parameters and endpoint (never the key)."""
        return self._identity

    @property
    def prompt_sha256(self) -> str:
        """Hash of the prompt file in use."""
        return self._prompt.sha256

    def key(self, query: RelationQuery) -> str:
        """Return the cache key of a query."""
        return relation_key(self._identity, query)

    def request(self, query: RelationQuery) -> ChatRequest:
        """Return the chat request for a query: the same query gives the same bytes."""
        texts = (*query.premises, query.target)
        code = fence_code(texts, purpose="fence", secret=self._secret)
        check = fence_code(texts, purpose="check", secret=self._secret, digits=8) if self._checked else ""
        premises = "\n\n".join(
            fence(f"PREMISE {i}", text, code) for i, text in enumerate(query.premises, start=1)
        )
        values = {"premises": premises, "target": fence("TARGET", query.target, code), "check": check}
        inputs = {"premises": query.premises, "target": (query.target,)}
        if check:
            inputs["check"] = (check,)
        return ChatRequest(
            model=self.name,
            messages=tuple(Message(role, text) for role, text in self._prompt.fill(values)),
            response_format=self._format,
            extra=self._extra,
            key=self.key(query) if self._by_key else "",
            inputs=inputs,
            **self._parameters,  # type: ignore[arg-type]
        )

    async def label_batch(self, queries: Sequence[RelationQuery]) -> list[RelationAnswer]:
        """Label the queries, `concurrency` at a time; raises `LLMPaused` when the run must stop."""
        return await ask_each(queries, self._label, concurrency=self.concurrency)

    async def _label(self, query: RelationQuery) -> RelationAnswer:
        request = self.request(query)
        if self._store is not None and (stored := self._store.get(request.key)) is not None:
            return self._read(stored, request, stored.attempts, stored.seconds)
        attempts, seconds = 0, 0.0
        for remaining in range(self._reasks, -1, -1):
            try:
                reply = await self._provider.complete(request)
            except LLMPaused:
                raise
            except LLMError as error:
                return RelationAnswer(
                    status=f"{ERROR_PREFIX}{error.name}",
                    label=None,
                    raw_request=request.body(),
                    raw_reply=error.body,
                    attempts=attempts + error.attempts,
                    seconds=seconds,
                    error=str(error),
                )
            attempts += reply.attempts
            seconds += reply.seconds
            answer = self._read(reply, request, attempts, seconds)
            if answer.status == VALID or not remaining:
                break
        if self._store is not None:
            self._store.put(request.key, ChatReply(reply.body, reply.request_body, attempts, seconds))
        return answer

    def _read(self, reply: ChatReply, request: ChatRequest, attempts: int, seconds: float) -> RelationAnswer:
        """Return the answer that a raw reply holds."""
        completion: Completion | None = None
        try:
            completion = parse_completion(reply.body)
            check = request.inputs.get("check", ("",))[0]
            texts = (*request.inputs["premises"], *request.inputs["target"])
            reading = read_label(completion, check, texts, top_logprobs=request.top_logprobs)
        except LLMUnparsable as error:
            reading = LabelReading(f"{INVALID_PREFIX}{error.name}", None, None, str(error))
        return RelationAnswer(
            status=reading.status,
            label=reading.label,
            probabilities=reading.probabilities,
            raw_request=reply.request_body,
            raw_reply=reply.body,
            model_reported="" if completion is None else completion.reported,
            prompt_tokens=None if completion is None else completion.prompt_tokens,
            completion_tokens=None if completion is None else completion.completion_tokens,
            attempts=attempts,
            seconds=seconds,
            error=reading.message,
        )

    async def aclose(self) -> None:
        """Close the provider."""
        await self._provider.aclose()
