"""What a model is asked about one item of a run, and the work on it (`questions.Work`), whatever the item is."""

from collections import Counter, deque
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db import transaction

from auditing.elicitation.protocol import Elicitation
from auditing.services import reply_store
from auditing.services.call_rows import plain
from auditing.services.work import Lease, settle
from reasonaudit.lib.models import RunState


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the model. `tag` tells the work what it was; so many `follow_ups` may come after its reply."""

    tag: Any
    elicitation: Elicitation
    follow_ups: int = 0


class RequestWork:
    """One row of a run on its way: its items are requests (see `questions.Work`).

    A class of its own for each step says what is asked (`requests`), what a reply leads to (`follow`), and what is
    stored in the end (`keep`). What is stored already is not asked again, so that a run that is taken up once more,
    or made once more, pays for what is missing only. A subclass sets what `requests` needs before it calls this
    constructor, which asks for them.

    Attributes
    ----------
    replies : dict
        Valid replies by tag.
    failed : set
        Tags of requests that were answered without a valid reply.
    problem : str
        Why nothing can be asked about this row, "" where something can, or nothing is left to ask.
    stopped : bool
        Whether the worker was told to stop while the requests were made: nothing is asked or stored then.
    """

    missing: ClassVar[str] = "are missing; resuming asks for them again"

    def __init__(self, row: Any) -> None:
        self.row = row
        self.replies: dict[Any, str] = {}
        self.failed: set[Any] = set()
        self.problem = ""
        self.stopped = False
        requests = self.requests()
        self.planned = sum(1 + request.follow_ups for request in requests)
        self._stored = max(0, row.total - self.planned)  # requests whose outcome an earlier worker has stored
        self.known_before = max(0, row.done - self._stored)
        self._open = deque(requests)
        self._asked: list[Request] = []
        self._keys: list[str] = []
        self._unanswered = 0
        self._dropped = 0

    def requests(self) -> list[Request]:
        """Return what is to be asked now; sets `problem` where the row cannot be asked about at all."""
        raise NotImplementedError

    @property
    def is_about(self) -> bool:
        """Whether the step is about this row at all."""
        return True

    def follow(self, request: Request, text: str) -> list[Request]:
        """Return what a reply leads to, at most its `follow_ups`."""
        return []

    def likely(self, request: Request) -> list[Request]:
        """Return what the reply may lead to, about as long as it will be: for estimates."""
        return []

    def keep(self, run: Any) -> str:
        """Store what the replies say, in a transaction; returns a sentence on what could not be read, or ""."""
        raise NotImplementedError

    def next_items(self, limit: int) -> list[Request]:
        """Return up to `limit` requests."""
        found = [self._open.popleft() for _ in range(min(limit, len(self._open)))]
        self._asked += found
        return found

    def query(self, item: Request) -> Elicitation:
        """Return what is asked."""
        return item.elicitation

    def given_out(self, key: str) -> None:
        """Remember the key of the request that was given out next."""
        self._keys.append(key)
        self._unanswered += 1

    def tell(self, item: Request, value: str | None) -> None:
        """Take the reply to a request; None where it has no valid one."""
        self._unanswered -= 1
        if value is None:
            self.failed.add(item.tag)
            return
        self.replies[item.tag] = plain(value)  # as it is stored
        further = self.follow(item, self.replies[item.tag])
        self._dropped += item.follow_ups - len(further)
        self._open.extend(further)

    def key_of(self, tag: Any) -> str:
        """Return the key of a request that was given out."""
        return next(key for request, key in zip(self._asked, self._keys, strict=False) if request.tag == tag)

    @property
    def complete(self) -> bool:
        """Whether every request has an answer."""
        return not self._open and not self._unanswered

    def finish(self, lease: Lease) -> None:
        """Store the outcome and the final counts of the row in one transaction."""
        if self.stopped:
            return
        found = reply_store.statuses(sorted(set(self._keys)))
        by_request = Counter(found[key] for key in self._keys if key in found)
        done = by_request.pop("valid", 0)
        total = self.planned - self._dropped
        rows = lease.kind.run_trace._default_manager
        with transaction.atomic():
            run = lease.locked_run()
            if self.problem:
                rows.filter(pk=self.row.pk).update(state=RunState.FAILED, message=self.problem)
                return
            note = self.keep(run)
            words = (
                f"Of {total:,} requests, {total - done:,} have no usable reply: their results {self.missing}."
            )
            settle(
                lease,
                self.row,
                self._stored + done,
                by_request,
                self._stored + total,
                words=lambda: f"{words} {note}".strip(),
            )
            if note:
                rows.filter(pk=self.row.pk, message="").update(message=note)
