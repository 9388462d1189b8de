"""What people do with a video besides working on it: try again, name it, remove it."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import ACTIVE_STATES
from videos.models import MediaRun, Video
from videos.services import files, runs
from videos.services.locks import lock_content
from videos.services.sets import stream_of

AGAIN = frozenset({Video.State.REFUSED, Video.State.FAILED, Video.State.UPLOADED})
LONGEST = {"title": 300, "licence": 200, "attribution": 5000}


def prepare_again(*, video: Video, by: Any) -> tuple[MediaRun, bool]:
    """Let a video that was refused or failed be prepared anew; returns the run and whether it is new.

    Raises `UserError` for one that is ready or being prepared.
    """
    with transaction.atomic():
        row = Video.objects.select_for_update().get(pk=video.pk)
        if row.state not in AGAIN:
            raise UserError(
                "video_not_waiting",
                f"{row.title} is {row.get_state_display().lower()}; there is nothing to try again.",
                status=409,
            )
        Video.objects.filter(pk=row.pk).update(
            state=Video.State.UPLOADED, message="", updated_at=timezone.now()
        )
        _tell(row, by, "video.prepare", from_state=row.state, to_state=Video.State.UPLOADED)
        return runs.create(video=row, kind=MediaRun.Kind.PREPARE, by=by)


def proxy_wanted(*, video: Video, by: Any) -> tuple[MediaRun | None, bool]:
    """Have the playback file made that does not exist yet; returns the run and whether it is new.

    (None, False) where the file is there. Raises `UserError` for a video that is not ready.
    """
    with transaction.atomic():
        row = Video.objects.select_for_update().get(pk=video.pk)
        if not row.is_ready:
            raise UserError(
                "video_not_ready",
                f"{row.title} cannot be played yet: {row.get_state_display().lower()}.",
                "Wait until it is ready.",
                status=409,
            )
        if row.proxy:
            return None, False
        return runs.create(video=row, kind=MediaRun.Kind.PROXY, by=by)


def video_change(*, video: Video, by: Any, title: str, licence: str, attribution: str) -> Video:
    """Change what is said of a video. Raises `UserError` naming the field that is wrong."""
    given = {"title": title.strip(), "licence": licence.strip(), "attribution": attribution.strip()}
    for name, text in given.items():
        longest = LONGEST[name]
        if len(text) > longest or "\x00" in text or (name == "title" and not text):
            raise UserError(
                f"bad_video_{name}",
                f"The {name} of a video may have {longest:,} characters; this one has {len(text):,}.",
                "Shorten it." if text else "Give the video a title.",
                fields={name: f"Use up to {longest:,} characters."},
            )
    with transaction.atomic():
        row = Video.objects.select_for_update().get(pk=video.pk)
        before = {name: getattr(row, name) for name in given}
        changed = {name: text for name, text in given.items() if before[name] != text}
        if changed:
            for name, text in changed.items():
                setattr(row, name, text)
            row.save(update_fields=[*changed, "updated_at"])
            _tell(
                row,
                by,
                "video.change",
                data={"before": {name: before[name] for name in changed}, "after": changed},
            )
    return row


def remove(*, video: Video, by: Any, reason: str = "") -> None:
    """Remove a video and, where no other set has the same content, its files.

    Raises `UserError` 409 where questions or work of people hang on it, or while a worker has it in hand.
    """
    sha256 = video.sha256
    with transaction.atomic():
        row = Video.objects.select_for_update().filter(pk=video.pk).first()
        if row is None:
            return
        if row.runs.filter(state__in=ACTIVE_STATES).exists():
            raise UserError(
                "video_in_hand",
                f"{row.title} is being worked on by the server.",
                "Wait until that is over, then remove it.",
                status=409,
            )
        _refuse_in_use(row)
        _tell(
            row,
            by,
            "video.remove",
            from_state=row.state,
            reason=reason,
            data={"file_name": row.file_name, "sha256": sha256, "bytes": row.bytes, "title": row.title},
        )
    forget_unused(sha256)


def _refuse_in_use(row: Video) -> None:
    questions = row.questions.count()
    words = f"{questions} question{'' if questions == 1 else 's'} of it"
    try:
        with transaction.atomic():
            row.runs.all().delete()
            row.delete()
    except ProtectedError as error:
        kinds = {type(one)._meta.verbose_name_plural for one in error.protected_objects}
        names = words if questions else ", ".join(sorted(str(kind) for kind in kinds))
        raise UserError(
            "video_in_use",
            f"{row.title} cannot be removed: {names} would lose their picture.",
            "Remove those first, or leave the video where it is.",
            status=409,
        ) from None


def forget_unused(sha256: str) -> bool:
    """Remove the files of a content that no video has any more; returns whether they were removed."""
    with transaction.atomic():
        lock_content(sha256)
        if Video.objects.filter(sha256=sha256).exists():
            return False
        files.forget(sha256)
        return True


def forget_orphans(is_old: Callable[[str], bool]) -> int:
    """Remove contents whose row was never written (a killed process); `is_old` spares what just arrives."""
    known = set(Video.objects.values_list("sha256", flat=True))
    return sum(
        forget_unused(sha256) for sha256 in list(files.contents()) if sha256 not in known and is_old(sha256)
    )


def _tell(
    row: Video,
    by: Any,
    action: str,
    *,
    from_state: str = "",
    to_state: str = "",
    reason: str = "",
    data: dict[str, Any] | None = None,
) -> None:
    record_event(
        stream=stream_of(row.video_set),
        actor=by,
        action=action,
        subject_type="video",
        subject_id=row.public_id,
        from_state=from_state,
        to_state=to_state,
        reason=reason,
        data=data,
    )
