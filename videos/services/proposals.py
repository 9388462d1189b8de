"""Proposing boxes: taking a request, carrying it out, stopping it.

Nothing here changes a document: a proposal is what a model says, kept with its run until a person takes it over.
"""

import dataclasses
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import ACTIVE_STATES, RunState
from reasonaudit.lib.runs import lease_is_alive, set_state
from videos.core.timebase import PictureIndex
from videos.core.values import LONGEST_LABEL, InvalidChange, check_keyframe, check_text
from videos.media import sandbox
from videos.media.client import LONG
from videos.media.sandbox import Limits
from videos.models import Document, ProposalRun, VideoQuestion
from videos.selectors.documents import limits_of
from videos.selectors.proposals import OPENCV, proposers, sam3_weights
from videos.services import files, windows
from videos.services.proposal_results import merged, passes_of, prompts_of, result_of
from videos.services.runs import Heartbeat, Lease
from videos.services.work import StopAsked, never

Direction = ProposalRun.Direction
TASK = "videos.services.proposal_child:propose_task"
MOST_PICTURES = 20_000
"""Pictures of one run: a quarter of an hour of film."""
MOST_WAITING = 5
"""Runs of one piece of work that wait or go on at the same time."""
WINDOWS_BYTES = 64 * 2**20

# A model of some gigabytes beside its pictures, on all cores; the driver of a graphics card reserves terabytes.
MODEL = Limits(
    cpu_seconds=48 * 3600, wall_seconds=6 * 3600, memory_bytes=64 * 2**30, file_bytes=WINDOWS_BYTES
)
ON_CARD = dataclasses.replace(MODEL, memory_bytes=2**46)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: an object that was drawn on a picture, or words, and the pictures [start, end) to look through.

    `gap`: between the pictures `start` and `end`, on which `box` and `box_end` were drawn. `track` is the object that
    the boxes are meant for, None for a new one.
    """

    proposer: str
    label: str
    track: str | None
    frame: int
    box: list[float] | None
    box_end: list[float] | None
    text: str
    start: int
    end: int
    direction: str


def create(
    *,
    question: VideoQuestion,
    asked: Asked,
    by: Any,
    asked_in: uuid.UUID | None = None,
    document: Document | None = None,
) -> ProposalRun:
    """Store a request that waits for a worker. Needs a transaction, so that its job is made with it.

    Raises
    ------
    UserError
        422 ``invalid_proposal``, ``proposer_unavailable``; 409 ``clip_not_ready``, ``too_many_proposals``.
    """
    _check(question, asked)
    waiting = ProposalRun.objects.filter(asked_in=asked_in, created_by=by, state__in=ACTIVE_STATES).count()
    if waiting >= MOST_WAITING:
        raise UserError(
            "too_many_proposals",
            f"{waiting} proposals of yours wait or go on.",
            "Wait until one has ended, or stop one.",
            status=409,
        )
    prompt = dataclasses.asdict(asked)
    return ProposalRun.objects.create(
        video=question.video,
        question=question,
        document=document,
        asked_in=asked_in,
        proposer=asked.proposer,
        prompt=prompt,
        start=asked.start,
        end=asked.end,
        direction=asked.direction,
        total=sum(one["end"] - one["start"] for one in passes_of(prompt)),
        created_by=by,
    )


def _check(question: VideoQuestion, asked: Asked) -> None:
    video = question.video
    if not video.is_ready or video.picture_index is None:
        raise UserError("clip_not_ready", "The clip is not prepared yet.", "Wait until it is.", status=409)
    known = {one["name"]: one for one in proposers()}
    source = known.get(asked.proposer)
    if source is None:
        raise _invalid("proposer", f"There is no proposer {asked.proposer[:40]!r}.", " or ".join(known))
    if not source["available"]:
        raise UserError("proposer_unavailable", source["why_not"], status=422)
    limits = limits_of(video)
    n = limits.frames or 0
    try:
        check_text(("label",), asked.label, LONGEST_LABEL)
        check_text(("text",), asked.text, LONGEST_LABEL)
        drawn = [("box", asked.frame, asked.box), ("box_end", asked.end, asked.box_end)]
        for name, frame, box in drawn:
            if box is not None:
                about = {"box": box, "occluded": False, "source": "human", "run": None}
                check_keyframe((name, str(frame)), about, limits)
    except InvalidChange as error:
        raise _invalid(error.path[0], error.sentence) from None
    is_gap = asked.direction == Direction.GAP
    last = asked.end if is_gap else asked.end - 1
    if not 0 <= asked.start <= last < n:
        raise _invalid(
            "end",
            f"Pictures {asked.start} to {last} are not in the clip, or in the wrong order.",
            f"It has pictures 0 to {n - 1}; the end comes after the start.",
        )
    if last - asked.start >= MOST_PICTURES:
        raise _invalid(
            "end", f"These are more than {MOST_PICTURES:,} pictures.", "Ask for them in several parts."
        )
    if bool(asked.text.strip()) == (asked.box is not None):
        raise _invalid("box", "A request has either a box or words.", "Draw a box around the object.")
    if asked.box is None and not source["text"]:
        raise _invalid(
            "text", f"{source['title']} cannot look for words.", "Draw a box, or choose a model that can."
        )
    if is_gap != (asked.box_end is not None):
        raise _invalid(
            "box_end", "A second box is for a gap between two boxes, and a gap needs both.", "Draw both."
        )
    if is_gap:
        if asked.end - asked.start < 2 or asked.box is None:
            raise _invalid(
                "end",
                f"There is no picture between {asked.start} and {asked.end}.",
                "Choose two boxes further apart.",
            )
    elif asked.box is not None:
        if not asked.start <= asked.frame < asked.end:
            raise _invalid(
                "frame",
                f"The box is on picture {asked.frame}, outside the pictures {asked.start} to {last}.",
                "Let the pictures begin or end with it.",
            )
        if all(one["end"] - one["start"] < 2 for one in passes_of(dataclasses.asdict(asked))):
            raise _invalid(
                "frame",
                f"In this direction there is no picture beside {asked.frame}.",
                "Choose more pictures, or the other direction.",
            )


def _invalid(name: str, message: str, remedy: str = "") -> UserError:
    return UserError("invalid_proposal", message, remedy, status=422, fields={name: [message]})


def cancel(*, run: ProposalRun) -> ProposalRun:
    """Have a run stopped: at once where nobody works on it, otherwise its worker does it within two seconds.

    What was found so far is kept. Nothing happens to a run that has ended.
    """
    with transaction.atomic():
        row = ProposalRun.objects.select_for_update().get(pk=run.pk)
        if not row.is_active:
            return row
        if lease_is_alive(row):
            row.cancel_requested_at = row.cancel_requested_at or timezone.now()
        else:
            set_state(row, RunState.CANCELLED, "Stopped.")
            row.result = result_of(row)
        row.save()
    return row


def execute(run_id: int, *, should_stop: StopAsked = never) -> str | None:
    """Take a run up, go on behind what is stored of it, write what came of it.

    Returns the state that it is left in; None when another worker has it or nothing is to be done.
    """
    return windows.execute(
        run_id,
        ProposalRun,
        video="video",
        watch=_Watch,
        work=_propose,
        end=_end,
        should_stop=should_stop,
    )


def _propose(run: ProposalRun, folder: Path, heart: Heartbeat, watch: "_Watch") -> None:
    video = run.video
    source = windows.checked_file(files.path_of(video.sha256))
    is_model = run.proposer != OPENCV
    device = settings.SAM3_DEVICE if is_model else "cpu"
    weights = sam3_weights() if is_model else None
    limits = dataclasses.replace(LONG, file_bytes=WINDOWS_BYTES)
    if is_model:
        limits = MODEL if device == "cpu" else ON_CARD
    sandbox.run(
        TASK,
        limits=limits,
        on_progress=lambda share, words: heart.progress(int(share * run.total), run.total),
        is_cancelled=watch.is_over,
        path=str(source.absolute()),
        out=str(folder),
        index=sandbox.packed(PictureIndex.from_bytes(bytes(video.picture_index or b""))),
        size=[video.facts["width"], video.facts["height"]],
        proposer={
            "name": run.proposer,
            "weights": "" if weights is None else str(weights.absolute()),
            "device": device,
        },
        prompt=prompts_of(run.prompt),
        passes=passes_of(run.prompt),
        state=run.carry,
    )


class _Watch(windows.Watch):
    unreadable = "The proposer gave an answer that could not be read. Try again."
    most_bytes = WINDOWS_BYTES

    def __init__(
        self, lease: Lease, run: ProposalRun, folder: Path, heart: Heartbeat, should_stop: StopAsked
    ) -> None:
        super().__init__(lease, run, folder, heart, should_stop)
        self._boxes: dict[str, Any] = run.boxes

    def read(self, window: Any) -> dict[str, Any]:
        self._boxes = merged({} if window["fresh"] else self._boxes, window["objects"])
        return {"boxes": self._boxes, "carry": window["state"], "version": window["version"]}


def _end(lease: Lease, run: ProposalRun, state: str, message: str = "") -> str | None:
    """Write the end of a run, with the tracks of what was found so far unless it only waits again."""
    result: dict[str, Any] = {}
    if state in {RunState.DONE, RunState.CANCELLED}:
        result = result_of(ProposalRun.objects.get(pk=lease.run_id))
    if state == RunState.DONE and not result["tracks"]:
        message = "The object was not found in any of these pictures."

    def change(row: ProposalRun) -> None:
        row.result = result
        if state == RunState.DONE:
            row.done = row.total

    return windows.finish(lease, run, state, message, change)
