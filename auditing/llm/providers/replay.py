"""Chat completions from stored replies, by key: nothing is sent anywhere."""

from collections.abc import Mapping

from auditing.llm.errors import LLMNoReply
from auditing.llm.protocol import ChatReply, ChatRequest
from auditing.llm.reply_store import ReplyStore


class Replay:
    """Answers with the stored reply of the request's key."""

    kind = "replay"
    remote = False
    concurrency = 16

    def __init__(self, store: ReplyStore) -> None:
        self._store = store

    def identity(self) -> Mapping[str, object]:
        """Return the identity under which the replies were stored."""
        return self._store.identity()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the stored reply; raises `LLMNoReply` naming the key when there is none."""
        stored = self._store.get(request.key)
        if stored is None:
            raise LLMNoReply(
                f"No stored reply for key {request.key[:16]}... in {self._store.folder}. The texts, the "
                "prompt or "
                "the model differ from those of the recording: record again with the live server."
            )
        return stored

    async def aclose(self) -> None:
        """Nothing to release."""
