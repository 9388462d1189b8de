"""Making and changing sets of videos."""

from typing import Any

from django.db import IntegrityError, transaction

from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.slugs import free_slug
from videos.models import VideoSet

LONGEST_TEXT = 5000
# Names of pages at the place of a set's address.
RESERVED_SLUGS = frozenset({"new"})
LONGEST = {"name": 200, "description": LONGEST_TEXT, "licence": 200, "attribution": LONGEST_TEXT}


def stream_of(video_set: VideoSet) -> str:
    """Name of the chain of events that tells what was done to a set and its videos."""
    return f"video-set:{video_set.pk}"


def set_create(*, name: str, by: Any = None, **fields: str) -> VideoSet:
    """Make an empty set with an address made from its name.

    `fields` are description, licence and attribution. Raises `UserError` naming the field that is wrong.
    """
    given = _checked({"name": name, **fields})
    with transaction.atomic():
        _refuse_taken(given["name"])
        rows = VideoSet.objects.all()
        slug = free_slug(rows, given["name"], instead="video-set", reserved=RESERVED_SLUGS)
        try:
            with transaction.atomic():
                row = VideoSet.objects.create(slug=slug, created_by=by, **given)
        except IntegrityError:
            raise UserError(
                "video_set_exists",
                "A set of this name was made just now.",
                "Load the list of video sets.",
                status=409,
            ) from None
        _tell(row, by, "video_set.create", given)
    return row


def set_change(*, video_set: VideoSet, by: Any, **fields: str) -> VideoSet:
    """Change name, description, licence or attribution; the address stays. Raises `UserError` as `set_create`."""
    given = _checked(fields)
    with transaction.atomic():
        row = VideoSet.objects.select_for_update().get(pk=video_set.pk)
        if "name" in given and given["name"] != row.name:
            _refuse_taken(given["name"])
        changed = {name: value for name, value in given.items() if getattr(row, name) != value}
        if not changed:
            return row
        before = {name: getattr(row, name) for name in changed}
        for name, value in changed.items():
            setattr(row, name, value)
        row.save()
        _tell(row, by, "video_set.change", {"before": before, "after": changed})
    return row


def _tell(row: VideoSet, by: Any, action: str, data: dict[str, Any]) -> None:
    record_event(
        stream=stream_of(row), actor=by, action=action, subject_type="video_set", subject_id=row.pk, data=data
    )


def _checked(fields: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in fields.items():
        if name not in LONGEST:
            raise TypeError(f"A video set has no field {name!r}.")
        text = value.strip()
        longest = LONGEST[name]
        if len(text) > longest or "\x00" in text or (name == "name" and not text):
            least = 1 if name == "name" else 0
            raise UserError(
                f"bad_video_set_{name}",
                f"The {name} of a video set needs {least} to {longest:,} characters; this one has {len(text):,}.",
                "Shorten it." if text else "Give it a short name.",
                fields={name: f"Use {least} to {longest:,} characters."},
            )
        found[name] = text
    return found


def _refuse_taken(name: str) -> None:
    if VideoSet.objects.filter(name=name).exists():
        raise UserError(
            "video_set_exists",
            f"There is a video set named {name!r} already.",
            "Add to it, or choose another name.",
            fields={"name": "Another video set has this name."},
        )
