"""Named failures of a call to a language model server.

Texts of these errors are shown to users: they name the fault and the remedy, and never hold a key, a prompt
or a piece of what the server sent (a private server's answer must not leak through an error page). The raw
reply, where one came, is kept apart in `LLMError.body` for the record of the call.
"""


class LLMError(Exception):
    """A call to a language model server that gave no usable reply.

    Attributes
    ----------
    name
        Short stable word for the stored status (``error:<name>``).
    retryable
        Whether the same request may succeed later (table LJ-06 of the project's trust list).
    http_status
        The server's status code, or None when no answer came.
    retry_after
        Seconds the server asked to wait, or None.
    body
        The raw reply as received, possibly empty; never part of the message.
    attempts
        Requests sent in this call so far.
    """

    name = "failed"
    retryable = False

    def __init__(
        self,
        message: str,
        *,
        http_status: int | None = None,
        retry_after: float | None = None,
        body: bytes = b"",
    ) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.retry_after = retry_after
        self.body = body
        self.attempts = 1


class LLMRateLimited(LLMError):
    """The server says it gets too many requests (429)."""

    name = "rate_limited"
    retryable = True


class LLMTimeout(LLMError):
    """No complete reply within the time allowed, or the server itself timed out (408)."""

    name = "timeout"
    retryable = True


class LLMUnreachable(LLMError):
    """No connection, or the connection broke before the reply was complete."""

    name = "unreachable"
    retryable = True


class LLMServerFault(LLMError):
    """The server failed (5xx), or says that the request met a conflict (409)."""

    name = "server_fault"
    retryable = True


class LLMRefused(LLMError):
    """The server refuses this request as it is (400, 404, 413, 422 ...): asking again cannot help."""

    name = "refused"


class LLMReplyTooLarge(LLMError):
    """The reply is larger than allowed, compressed or not."""

    name = "reply_too_large"


class LLMUnparsable(LLMError):
    """A reply came, but it is not a chat completion: HTML, cut-off JSON, wrong encoding, missing parts."""

    name = "unparsable"


class LLMPaused(LLMError):
    """The run must stop and ask a person: wrong key, no credit, access forbidden, or the server is gone."""

    name = "paused"


class LLMNoReply(LLMError):
    """A replay has no stored reply for this key."""

    name = "no_stored_reply"
