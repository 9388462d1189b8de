"""Writing a study's guideline: one draft at a time, and published versions that stay as they are."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation.core.labels import has_word, storable
from annotation.models import Gold, GuidelineVersion, Study
from annotation.selectors.guidelines import draft_of, newest
from reasonaudit.lib.canonical import sha256_of
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

DEFAULTS = Path(__file__).resolve().parents[1] / "guidelines"
LONGEST_TEXT = 60_000
LONGEST_QUESTION = 500
LONGEST_NOTE = 1000
LONGEST_REASON = 80
MOST_REASONS = 12
CODE = re.compile(r"[a-z0-9_]{1,40}")

Reasons = Mapping[str, list[dict[str, str]]]


def default_guideline(*, videos: bool = False) -> dict[str, Any]:
    """The guideline that a new study, of traces or of videos, starts from: `text`, `question` and `reasons`."""
    name = "videos-v1" if videos else "default-v1"
    text = (DEFAULTS / f"{name}.md").read_text(encoding="utf-8")
    return {"text": text, **json.loads((DEFAULTS / f"{name}.json").read_text(encoding="utf-8"))}


def guideline_draft_save(
    *,
    study: Study,
    text: str,
    question: str,
    reasons: Reasons,
    by: Any,
    change_note: str = "",
    seen: str | None = None,
) -> GuidelineVersion:
    """Store the draft, made if there is none. Published versions are not touched.

    `seen` is what `seen_of` gave for the draft that the writer began with; None overwrites whatever is there.

    Raises
    ------
    UserError
        With what is wrong by field, for blank or too long texts and unusable reasons; 409 ``draft_changed`` where
        somebody else has saved, or published, the draft since.
    """
    # Browsers send line ends of two characters.
    text, question = text.replace("\r\n", "\n"), " ".join(question.split())
    _check_texts(text, question, change_note)
    checked = checked_reasons(reasons)
    if study.is_video and any(checked.values()):
        raise UserError(
            "bad_reasons", "A study of videos has no labels, so it has no reasons for them either."
        )
    with transaction.atomic():
        _locked(study)
        row = draft_of(study)
        if seen is not None and seen != seen_of(row):
            raise UserError(
                "draft_changed",
                "Somebody else has changed the draft since you opened it, so yours was not saved.",
                "Keep a copy of your text, load the page again and put it in there.",
                status=409,
            )
        if row is None:
            last = newest(study)
            row = GuidelineVersion(study=study, number=last.number + 1 if last else 1, created_by=by)
        row.text, row.question, row.reasons, row.change_note = text, question, checked, change_note.strip()
        row.save()
    return row


def guideline_publish(*, study: Study, by: Any, number: int | None = None) -> GuidelineVersion:
    """Publish the draft: from now on it is shown beside the work, and never changes.

    `number` is the version that the person saw; None takes whatever is the draft. From version 2 on the draft must say
    what changed. Raises `UserError`.
    """
    with transaction.atomic():
        _locked(study)
        row = draft_of(study)
        if row is None or (number is not None and row.number != number):
            raise UserError(
                "no_draft",
                "There is no such draft to publish: it was published meanwhile.",
                "Load the page again.",
                status=409,
            )
        last = newest(study)
        if last is not None and not has_word(row.change_note):
            raise UserError(
                "no_change_note",
                f"Say what changed since version {last.number}.",
                "Those who label read it before they go on.",
                fields={"change_note": "Say in a sentence what changed."},
            )
        if last is not None and _content(last) == _content(row):
            raise UserError(
                "nothing_changed", f"The draft says the same as version {last.number}.", status=409
            )
        row.published_at = timezone.now()
        row.save(update_fields=["published_at"])
        record_event(
            stream=f"study:{study.pk}",
            actor=by,
            action="guideline.publish",
            subject_type="guideline",
            subject_id=row.number,
            version=row.number,
            reason=row.change_note,
            data={"sha256": sha256_of(_content(row))},
        )
    return row


def seen_of(draft: GuidelineVersion | None) -> str:
    """A mark of what a draft says, to notice that somebody else has changed it; "" for no draft."""
    return "" if draft is None else sha256_of([draft.number, draft.change_note, _content(draft)])


def checked_reasons(reasons: Reasons) -> dict[str, list[dict[str, str]]]:
    """Reasons as they are stored: for each label a list of `{"code", "words"}`; a missing code is made of the words."""
    found: dict[str, list[dict[str, str]]] = {}
    taken: set[str] = set()
    for label in Gold.values:
        rows = found.setdefault(label, [])
        for reason in reasons.get(label, ()):
            words = " ".join(str(reason.get("words", "")).split())
            code = str(reason.get("code", "")) or slugify(words).replace("-", "_")[:40]
            if not has_word(words) or len(words) > LONGEST_REASON or not storable(words):
                raise _bad(label, f"a reason needs 1 to {LONGEST_REASON} characters")
            if not CODE.fullmatch(code):
                raise _bad(label, f"the code of {words!r} may hold small letters, digits and _ only")
            if code in taken:
                raise _bad(
                    label, f"{words!r} is there twice; write it in other words or give it its own code"
                )
            taken.add(code)
            rows.append({"code": code, "words": words})
        if len(rows) > MOST_REASONS:
            raise _bad(label, f"at most {MOST_REASONS} reasons fit beside the work")
    if set(reasons) - set(Gold.values):
        raise UserError("bad_reasons", "Reasons belong to Correct, Uncertain or Incorrect.")
    return found


def _bad(label: str, what: str) -> UserError:
    sentence = f"Reasons for {Gold(label).label}: {what}."
    return UserError("bad_reasons", sentence, fields={f"reasons_{label}": sentence})


def _check_texts(text: str, question: str, change_note: str) -> None:
    fields: dict[str, str] = {}
    for name, value, longest in (
        ("text", text, LONGEST_TEXT),
        ("question", question, LONGEST_QUESTION),
        ("change_note", change_note, LONGEST_NOTE),
    ):
        if not storable(value):
            fields[name] = "It holds a character that cannot be stored; remove it."
        elif len(value) > longest:
            fields[name] = f"It has {len(value):,} characters; at most {longest:,} fit."
        elif name != "change_note" and not has_word(value):
            fields[name] = "It must not be empty."
    if fields:
        raise UserError(
            "bad_guideline", "The guideline was not saved.", "See beside the fields.", fields=fields
        )


def _content(row: GuidelineVersion) -> dict[str, Any]:
    return {"text": row.text, "question": row.question, "reasons": row.reasons}


def _locked(study: Study) -> Study:
    return Study.objects.select_for_update(no_key=True).get(pk=study.pk)
