"""Carrying out a run of drafts: some questions at a time, each stored with its version as one.

What is stored decides what is left to do: a worker that takes the run up again asks only for what has no version, and
reads what was answered before out of the stored reply.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.db import transaction

from auditing.drafting.llm import LLMDrafter
from auditing.drafting.protocol import DraftAnswer, DraftQuestion
from auditing.drafting.reading import PARSER_VERSION, document_of
from auditing.llm.errors import LLMPaused
from auditing.llm.protocol import ERROR_PREFIX
from auditing.models import DraftItem, DraftRun
from auditing.services import manifest, work
from auditing.services.drafts import sources, store
from auditing.services.execution import never, note_reported, note_start, take_up
from auditing.services.pipeline import Ending
from auditing.services.request_runs import LOOK_SECONDS, Watch
from auditing.services.work import Answered, Counts, Lease, RunKind
from reasonaudit.lib.models import RunState
from videos.media.errors import MediaCancelled, MediaError
from videos.services.generated import generated_create

SCHEMA = "reasonaudit.draft-manifest/1"
DRAFTS = RunKind(DraftRun, DraftItem, store)
TELL = "If you do not run this server, tell those who do; then ask again."
CANCELLED = "Cancelled. Drafts that were written are kept; resuming asks for the rest."

OnProgress = Callable[[int, int], None]


def execute(
    run_id: int,
    *,
    should_stop: Callable[[], bool] = never,
    drafter: LLMDrafter | None = None,
    on_progress: OnProgress | None = None,
) -> str | None:
    """Carry out a run as far as possible; result as in `execution.execute`.

    Parameters
    ----------
    drafter
        Who drafts; by default the one that the run names.
    on_progress
        Told (questions that are through, all of them) now and then.
    """
    return take_up(
        DRAFTS, run_id, lambda lease, run: _Work(lease, run, should_stop, drafter, on_progress).carry_out()
    )


@dataclass(frozen=True, slots=True)
class _Ready:
    """An item with what is asked for it, and the stored answer where there is one."""

    item: DraftItem
    question: DraftQuestion
    key: str
    known: DraftAnswer | None


class _Work:
    """One worker's work on one run. Everything that touches the database runs in the thread that began it."""

    def __init__(
        self,
        lease: Lease,
        run: DraftRun,
        should_stop: Callable[[], bool],
        drafter: LLMDrafter | None,
        on_progress: OnProgress | None,
    ) -> None:
        self._lease, self._run = lease, run
        self._drafter = drafter or sources.build(run.drafter, takes_pictures=run.pictures > 0)
        self._on_progress = on_progress
        self._watch = Watch(lease, should_stop, CANCELLED)
        self._reported: set[str] = set()

    def carry_out(self) -> Ending:
        """Draft for every open item, and say how it ended."""
        note_start(self._lease, _manifest_of(self._run, self._drafter))
        items = work.open_rows(self._lease, lambda rows: rows.select_related("question__video"))
        ending = async_to_sync(self._drive, force_new_loop=True)(items)
        note_reported(self._lease, self._reported, "drafter")
        if ending is not None:
            return ending
        rows = DraftItem.objects.filter(run=self._run)
        missing = rows.exclude(state=RunState.DONE)
        if not missing.exists():
            return Ending(RunState.DONE)
        first = missing.order_by("pk").first()
        said = "" if first is None else first.message
        if rows.count() == missing.count():
            return Ending(RunState.FAILED, said)
        return Ending(
            RunState.PARTIAL,
            f"{missing.count():,} of {rows.count():,} questions have no draft; resuming asks for these again. {said}",
        )

    async def _drive(self, items: Sequence[DraftItem]) -> Ending | None:
        size = max(1, self._drafter.concurrency)
        try:
            for start in range(0, len(items), size):
                group = items[start : start + size]
                try:
                    ready = await sync_to_async(self._prepare)(group)
                    asked = [one for one in ready if one.known is None]
                    answers = await self._ask(asked) if asked else []
                except MediaCancelled:
                    return self._watch.ending
                except LLMPaused as pause:
                    return Ending(RunState.PAUSED, f"{pause} {TELL}")
                by_item = {one.item.pk: answer for one, answer in zip(asked, answers, strict=True)}
                await sync_to_async(self._keep)(ready, by_item)
        finally:
            await self._drafter.aclose()
        return None

    def _prepare(self, group: Sequence[DraftItem]) -> list[_Ready]:
        ready = []
        for item in group:
            if self._watch.is_over():
                raise MediaCancelled("Stopped.")
            try:
                first = sources.question_of(item, self._run, self._watch.is_over)
            except MediaCancelled:
                raise
            except MediaError as error:
                self._give_up(item, f"The pictures could not be sent. {error}", Counts(failed=1))
                continue
            question = sources.next_take(self._drafter, item, self._run, first)
            key = self._drafter.key(question)
            ready.append(
                _Ready(item, question, key, store.known_answer(key, question.kind, question.duration_us))
            )
        return ready

    async def _ask(self, asked: Sequence[_Ready]) -> list[DraftAnswer]:
        """Ask the model; raises `MediaCancelled` as soon as the run is to be stopped."""
        call = asyncio.create_task(self._drafter.draft_batch([one.question for one in asked]))
        try:
            while True:
                done, _ = await asyncio.wait({call}, timeout=LOOK_SECONDS)
                if done:
                    return call.result()
                if await sync_to_async(self._watch.is_over)():
                    raise MediaCancelled("Stopped.")
        finally:
            call.cancel()

    def _keep(self, ready: Sequence[_Ready], answers: Mapping[int, DraftAnswer]) -> None:
        for one in ready:
            answer = one.known or answers[one.item.pk]
            with transaction.atomic():
                if one.known is not None:
                    work.touch(self._lease, {one.item.pk: Counts(done=1, cached=1)})
                else:
                    answer = self._accept(one, answer)
                if answer.value is None:
                    DraftItem.objects.filter(pk=one.item.pk).update(
                        state=RunState.FAILED, message=in_words(answer)
                    )
                    continue
                self._reported |= {answer.model_reported} - {""}
                version = generated_create(
                    question=one.item.question,
                    kind=self._run.kind,
                    document=document_of(answer.value),
                    source=sources.source_of(
                        self._drafter, self._run, one.question, answer.model_reported, answer.warnings
                    ),
                    asked_in=self._run.asked_in,
                    by=self._run.created_by,
                )
                DraftItem.objects.filter(pk=one.item.pk).update(
                    state=RunState.DONE, version=version, message=""
                )
        if self._on_progress is not None:
            through = DraftItem.objects.filter(run=self._run).exclude(state=RunState.QUEUED).count()
            self._on_progress(through, self._run.total)

    def _accept(self, one: _Ready, answer: DraftAnswer) -> DraftAnswer:
        """Store and count an answer; returns the one that counts: another's, where the same was answered meanwhile."""
        work.commit_answers(
            self._lease,
            [Answered(one.key, answer, {one.item.pk: 1})],
            labeller=self._run.drafter,
            parser_version=PARSER_VERSION,
            prices=work.Prices(),
            speed=None,
        )
        if answer.value is not None:
            return answer
        return store.known_answer(one.key, one.question.kind, one.question.duration_us) or answer

    def _give_up(self, item: DraftItem, why: str, counts: Counts) -> None:
        with transaction.atomic():
            work.touch(self._lease, {item.pk: counts})
            DraftItem.objects.filter(pk=item.pk).update(state=RunState.FAILED, message=why)


def in_words(answer: DraftAnswer) -> str:
    """Return what became of a question without a draft, and what can be done."""
    if answer.status.startswith(ERROR_PREFIX):
        return f"The model gave no answer. {answer.error} Try again."
    times = len(answer.attempts)
    tries = f", {times} times" if times > 1 else ""
    return f"The model gave no usable answer{tries}: {answer.error} Try again, or write it yourself."


def _manifest_of(run: DraftRun, drafter: LLMDrafter) -> dict[str, Any]:
    """Return what is needed to repeat a run (trust list, RP-01); each version says what it was made from."""
    identity = dict(drafter.identity())
    return {
        **manifest.start_of(SCHEMA),
        "kind": run.kind,
        "video_set": run.video_set.slug,
        "questions": run.total,
        "pictures": run.pictures,
        "drafter": {
            "spec": run.drafter,
            "model": identity.get("model", manifest.UNKNOWN),
            "reported": [],
            "prompt": drafter.prompt(run.kind),
            "endpoint": identity.get("endpoint") or None,
            "identity": identity,
        },
        "starts": [],
    }
