"""Who takes part in a study, and as what."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.core.labels import has_word, storable
from annotation.core.states import Part, State
from annotation.models import Assignment, Study, StudyMember
from annotation.selectors.studies import leads_everywhere, part_words
from reasonaudit.lib.chain import record_event
from reasonaudit.lib.errors import UserError

from .moves import assignments_move, items_lock

# The roles of accounts that may take a part. Whoever leads every study by role can neither label nor adjudicate.
ROLES_OF_PARTS: Mapping[str, frozenset[str]] = {
    StudyMember.Part.PHYSICIAN: frozenset({"physician", "annotator"}),
    StudyMember.Part.ADJUDICATOR: frozenset({"adjudicator", "physician"}),
    StudyMember.Part.LEAD: frozenset({"researcher", "manager", "admin"}),
}
LETTERS = {StudyMember.Part.PHYSICIAN: "P", StudyMember.Part.ADJUDICATOR: "A", StudyMember.Part.LEAD: "L"}
LONGEST_PSEUDONYM = 40
LONGEST_REASON = 1000
# What a person who leaves had not handed in.
UNFINISHED = (State.ASSIGNED, State.DRAFT, State.RETURNED)


def member_add(
    *, study: Study, user: Any, part: str, by: Any, seniority: str = "", pseudonym: str = ""
) -> StudyMember:
    """Give a user a part in a study; somebody who left and had the same part comes back.

    Raises
    ------
    UserError
        The user's role does not go with the part, the account is switched off, the user has another part already, or
        the pseudonym is taken.
    """
    _check(study, user, part, seniority, pseudonym)
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        row = StudyMember.objects.select_for_update().filter(study=study, user=user).first()
        if row is not None and (row.active or row.part != part):
            was = "has" if row.active else "had"
            raise UserError(
                "has_a_part",
                f"{user.get_username()} {was} a part in this study already: {part_words(study, row.part).lower()}.",
                "A person has one part in a study, so that nobody settles their own work.",
                status=409,
            )
        if row is None:
            name = pseudonym.strip() or _free_pseudonym(study, part)
            if StudyMember.objects.filter(study=study, pseudonym=name).exists():
                raise UserError(
                    "pseudonym_taken",
                    f"Somebody in this study is called {name} already.",
                    "Choose another pseudonym, or leave it empty.",
                    fields={"pseudonym": f"Somebody in this study is called {name} already."},
                )
            row = StudyMember(study=study, user=user, part=part, pseudonym=name)
        row.active, row.seniority = True, seniority
        row.save()
        _event(row, "member.add", by, data={"pseudonym": row.pseudonym, "part": part, "seniority": seniority})
    return row


def member_remove(*, member: StudyMember, by: Any, reason: str) -> StudyMember:
    """End a person's part. Work that was not handed in is withdrawn and can go to others; what was handed in stays.

    Raises `UserError` without a reason, for somebody who left already and for the only lead.
    """
    if not has_word(reason) or len(reason) > LONGEST_REASON or not storable(reason):
        raise UserError(
            "no_reason",
            f"Say why {member.pseudonym} leaves the study.",
            f"A sentence of at most {LONGEST_REASON:,} characters; it is kept with the study.",
            fields={"reason": "Say why."},
        )
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=member.study_id)
        own = Assignment.objects.filter(member=member, state__in=UNFINISHED)
        items_lock(own.values_list("item", flat=True))
        rows = list(own.select_related("item").select_for_update(of=("self",)).order_by("pk"))
        row = StudyMember.objects.select_for_update().get(pk=member.pk)
        if not row.active:
            raise UserError("left_already", f"{row.pseudonym} has left already.", status=409)
        if row.part == StudyMember.Part.LEAD and not _other_leads(row):
            raise UserError(
                "only_lead",
                f"{row.pseudonym} is the only lead of this study.",
                "Add another lead first.",
                status=409,
            )
        row.active = False
        row.save(update_fields=["active", "updated_at"])
        assignments_move(
            rows, State.WITHDRAWN, part=Part.LEAD, by=by, reason=f"left the study: {reason.strip()}"
        )
        _event(row, "member.remove", by, reason=reason.strip(), data={"withdrawn": len(rows)})
    return row


def _check(study: Study, user: Any, part: str, seniority: str, pseudonym: str) -> None:
    name = user.get_username()
    if part not in ROLES_OF_PARTS:
        raise UserError("unknown_part", f"There is no part called {part!r}.", fields={"part": "Choose one."})
    if seniority not in {"", *StudyMember.Seniority.values}:
        raise UserError("unknown_seniority", f"There is no seniority called {seniority!r}.")
    if not user.is_active:
        raise UserError(
            "switched_off", f"The account of {name} is switched off.", "An administrator can switch it on."
        )
    words = part_words(study, part).lower()
    wanted = ROLES_OF_PARTS[part]
    if user.role not in wanted or (part != StudyMember.Part.LEAD and leads_everywhere(user)):
        more = " and leads no study by role" if user.role in wanted else ""
        roles = " or ".join(sorted(wanted))
        sentence = f"{name} cannot take this part: whoever {words} here needs the role {roles}{more}."
        remedy = "Choose another part or another person; administrators change roles."
        raise UserError("wrong_role", sentence, remedy, fields={"user": f"{sentence} {remedy}"})
    if len(pseudonym) > LONGEST_PSEUDONYM or not storable(pseudonym) or pseudonym.strip() == name:
        raise UserError(
            "bad_pseudonym",
            f"A pseudonym has at most {LONGEST_PSEUDONYM} characters and is not the user name.",
            "Leave it empty to get the next number.",
            fields={
                "pseudonym": f"Use at most {LONGEST_PSEUDONYM} characters and not the user name, or leave it empty."
            },
        )


def _free_pseudonym(study: Study, part: str) -> str:
    taken = set(StudyMember.objects.filter(study=study).values_list("pseudonym", flat=True))
    letter, number = LETTERS[StudyMember.Part(part)], 1
    while f"{letter}{number}" in taken:
        number += 1
    return f"{letter}{number}"


def _other_leads(row: StudyMember) -> bool:
    others = StudyMember.objects.filter(study=row.study_id, part=StudyMember.Part.LEAD, active=True)
    return others.exclude(pk=row.pk).exists()


def _event(row: StudyMember, action: str, by: Any, *, reason: str = "", data: Any = None) -> None:
    record_event(
        stream=f"study:{row.study_id}",
        actor=by,
        action=action,
        subject_type="member",
        subject_id=row.pk,
        reason=reason,
        data=data,
    )
