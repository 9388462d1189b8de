"""Making studies, their settings, opening and closing. People and items have modules of their own."""

from typing import Any

from django.db import IntegrityError, transaction

from annotation.core.labels import has_word, storable
from annotation.core.states import State
from annotation.models import Assignment, Dataset, Study, StudyMember
from annotation.selectors.checklist import checklist
from annotation.selectors.studies import TRACE_SETTINGS
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.slugs import free_slug
from videos.models import VideoSet

from .adjudications import item_settle
from .guidelines import default_guideline, guideline_draft_save
from .items import item_gold_set, item_overlap_set, item_remove, items_add, new_seed, questions_add
from .members import member_add, member_remove
from .moves import items_lock

__all__ = [
    "item_gold_set", "item_overlap_set", "item_remove", "items_add", "member_add", "member_remove",
    "questions_add", "study_change", "study_close", "study_create", "study_open", "study_reopen", "study_slug",
]  # fmt: skip

LONGEST_NAME = 200
LONGEST_DESCRIPTION = 5000
LONGEST_REASON = 1000
MOST_OVERLAP = 10
SETTINGS = (
    "name", "description", "blinding", "overlap", "in_order", "training_pass", "recheck_percent",
)  # fmt: skip
# They are part of how labels come about, so they stay as they were when the first one was given.
FIXED_ONCE_OPEN = frozenset({"blinding", "in_order", "recheck_percent"})
# Refining a question takes minutes, so one person each is the rule.
VIDEO_OVERLAP = 1
# Names of pages at the place of a study's address.
RESERVED_SLUGS = frozenset({"import", "new"})


def study_create(
    *,
    name: str,
    by: Any,
    dataset: Dataset | None = None,
    video_set: VideoSet | None = None,
    **settings: Any,
) -> Study:
    """Make a study on a data set or on a set of videos, with a default guideline as its first draft, led by its maker.

    `settings` are description, blinding, overlap, in_order, training_pass (0 to 1) and recheck_percent; a study of
    videos does without some (see `TRACE_SETTINGS`). Raises `UserError` with what is wrong by field.
    """
    if (dataset is None) == (video_set is None):
        words = "Choose either a data set or a set of videos."
        raise UserError(
            "one_of_two",
            f"A study is about one of two things, and {'none' if dataset is None else 'both'} was chosen.",
            words,
            fields={"dataset": words, "video_set": words},
        )
    videos = video_set is not None
    _check_names(settings, videos)
    fields = {**_defaults(videos), **settings, "name": name}
    _check(fields)
    with transaction.atomic():
        fields["name"] = name.strip()
        if Study.objects.filter(name=fields["name"]).exists():
            raise UserError(
                "study_exists",
                f"There is a study named {fields['name']!r} already.",
                "Choose another name.",
                fields={"name": "Another study has this name."},
            )
        try:
            with transaction.atomic():
                study = Study.objects.create(
                    dataset=dataset,
                    video_set=video_set,
                    slug=study_slug(name),
                    seed=new_seed(),
                    created_by=by,
                    **fields,
                )
        except IntegrityError:
            raise UserError(
                "study_exists",
                "A study of this name was made just now.",
                "Load the list of studies.",
                status=409,
            ) from None
        about = {"dataset": dataset.slug} if dataset else {"video_set": video_set.slug if video_set else ""}
        _event(study, by, "study.create", data={**_shown(fields), **about})
        guideline_draft_save(study=study, by=by, **default_guideline(videos=videos))
        member_add(study=study, user=by, part=StudyMember.Part.LEAD, by=by)
    return study


def study_change(*, study: Study, by: Any, **changed: Any) -> Study:
    """Change settings; those that decide how labels come about only while the study is being set up.

    A lower overlap settles items that wait for people who will not come.
    """
    with transaction.atomic():
        row = _locked(study)
        _check_names(changed, row.is_video)
        old = {name: getattr(row, name) for name in SETTINGS}
        new = {name: value for name, value in changed.items() if value != old[name]}
        _check({**old, **new})
        _check_time(row, set(new))
        if not new:
            return row
        if "name" in new:
            new["name"] = new["name"].strip()
        for name, value in new.items():
            setattr(row, name, value)
        row.save(update_fields=[*new, "updated_at"])
        if "overlap" in new:
            waiting = Assignment.objects.filter(item__study=row, item__overlap=None, state=State.SUBMITTED)
            items = items_lock(waiting.values_list("item", flat=True))
            # All of them before the first event: whoever saves a label holds the work and then waits for the events.
            list(Assignment.objects.select_for_update(of=("self",)).filter(item__in=items).order_by("pk"))
            for item in items:
                item_settle(item, by)
        _event(
            row,
            by,
            "study.change",
            data={"old": _shown({name: old[name] for name in new}), "new": _shown(new)},
        )
    return row


def study_open(*, study: Study, by: Any) -> Study:
    """Let people label. Raises `UserError` naming what is missing."""
    with transaction.atomic():
        row = _locked(study)
        missing = [check.words for check in checklist(row) if check.needed and not check.done]
        if missing:
            raise UserError(
                "not_ready",
                f"The study cannot be opened yet: {'; '.join(missing)}.",
                "The list on the study's page leads to each.",
                status=409,
            )
        return _to_stage(row, Study.Stage.DRAFT, Study.Stage.OPEN, by)


def study_close(*, study: Study, by: Any, reason: str = "") -> Study:
    """End labelling: those who label write nothing any more; decisions and release go on."""
    with transaction.atomic():
        return _to_stage(_locked(study), Study.Stage.OPEN, Study.Stage.CLOSED, by, _reason(reason))


def study_reopen(*, study: Study, by: Any, reason: str) -> Study:
    """Let people label again; it needs a reason."""
    if not has_word(reason):
        raise UserError("no_reason", "Say why the study is opened again.", fields={"reason": "Say why."})
    with transaction.atomic():
        return _to_stage(_locked(study), Study.Stage.CLOSED, Study.Stage.OPEN, by, _reason(reason))


def study_slug(name: str) -> str:
    """An address for a study's name that no other study has."""
    return free_slug(Study.objects.all(), name, instead="study", reserved=RESERVED_SLUGS)


def _to_stage(row: Study, from_stage: str, to_stage: str, by: Any, reason: str = "") -> Study:
    if row.stage != from_stage:
        raise UserError(
            "wrong_stage",
            f"The study is {row.get_stage_display().lower()} by now.",
            "Load the page again to see how it stands; nothing was changed.",
            status=409,
        )
    row.stage = to_stage
    row.save(update_fields=["stage", "updated_at"])
    _event(row, by, "study.change", from_state=from_stage, to_state=to_stage, reason=reason)
    return row


def _locked(study: Study) -> Study:
    return Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def _defaults(videos: bool) -> dict[str, Any]:
    names = [name for name in SETTINGS if not (videos and name in TRACE_SETTINGS)]
    found = {name: getattr(Study(), name) for name in names}
    return {**found, "overlap": VIDEO_OVERLAP} if videos else found


def _check_names(settings: dict[str, Any], videos: bool) -> None:
    """A study of videos has no settings of traces: stored, they would seem to mean something."""
    if videos and (wrong := sorted(TRACE_SETTINGS & settings.keys())):
        raise UserError(
            "not_for_videos",
            f"A study of videos has no such settings: {', '.join(wrong)}.",
            "Leave them out.",
            fields=dict.fromkeys(wrong, "Only studies of traces have this."),
        )


def _check(fields: dict[str, Any]) -> None:
    wrong: dict[str, str] = {}
    name = fields["name"].strip()
    if not has_word(name) or len(name) > LONGEST_NAME or not storable(name):
        wrong["name"] = f"Use 1 to {LONGEST_NAME} characters."
    if len(fields["description"]) > LONGEST_DESCRIPTION or not storable(fields["description"]):
        wrong["description"] = f"At most {LONGEST_DESCRIPTION:,} characters fit."
    if fields.get("blinding", Study.Blinding.BLIND) not in Study.Blinding.values:
        wrong["blinding"] = "Choose one of the three."
    for field, low, high, unit in (
        ("overlap", 1, MOST_OVERLAP, " people"),
        ("training_pass", 0, 1, ""),
        ("recheck_percent", 0, 100, " per cent"),
    ):
        if field in fields and not low <= fields[field] <= high:
            wrong[field] = f"It must be between {low} and {high}{unit}."
    if wrong:
        raise UserError("bad_settings", "The study was not saved.", "See beside the fields.", fields=wrong)


def _check_time(row: Study, names: set[str]) -> None:
    fixed = set() if row.stage == Study.Stage.DRAFT else names & FIXED_ONCE_OPEN
    if row.stage == Study.Stage.CLOSED:
        fixed = names - {"name", "description"}
    if fixed:
        raise UserError(
            "settings_fixed",
            f"The study is {row.get_stage_display().lower()}, so these stay: {', '.join(sorted(fixed))}.",
            "They are part of how the labels came about. Make another study to label in another way.",
            status=409,
            fields=dict.fromkeys(fixed, "It stays as it was when the study was opened."),
        )


def _reason(text: str) -> str:
    text = text.strip()
    if len(text) > LONGEST_REASON or not storable(text):
        raise UserError(
            "bad_reason",
            f"A reason has at most {LONGEST_REASON:,} characters.",
            fields={"reason": "Shorten it."},
        )
    return text


def _shown(fields: dict[str, Any]) -> dict[str, Any]:
    """Settings as an event keeps them: shares as text, so that their bytes are the same everywhere."""
    return {name: str(value) if isinstance(value, float) else value for name, value in fields.items()}


def _event(study: Study, by: Any, action: str, **more: Any) -> None:
    record_event(
        stream=f"study:{study.pk}", actor=by, action=action, subject_type="study", subject_id=study.pk, **more
    )
