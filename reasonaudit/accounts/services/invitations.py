"""Invitations: a link makes one account, or one member of a study, and is then spent."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Study
from annotation.services.studies import member_add
from reasonaudit.lib import access
from reasonaudit.lib.errors import UserError

from ..events import account_event
from ..models import Invitation, User, hash_of
from ..ranks import PARTS, roles_to_invite
from .users import user_create

NEW_ONE = "Ask the person who sent it for a new one."
# What has become of a link: code, sentence, what to do.
SPENT = {
    Invitation.State.USED: (
        "invitation_used", "This invitation was used already.", f"If it was you who used it, log in. If not: {NEW_ONE}",
    ),
    Invitation.State.REVOKED: ("invitation_revoked", "This invitation was withdrawn.", NEW_ONE),
    Invitation.State.EXPIRED: ("invitation_expired", "This invitation has expired.", NEW_ONE),
}  # fmt: skip


def leads(user: User, study: Study) -> bool:
    """Whether the user leads the study, by the same facts that the permission matrix uses."""
    facts = access.facts("study", user, {"slug": study.slug})
    return facts is not None and "lead" in facts.relations


def invitable_roles(user: User, study: Study | None) -> Sequence[str]:
    """Roles that the user may invite to, into the study if there is one."""
    leads_it = study is not None and leads(user, study)
    if study is not None and not leads_it:
        return []
    return roles_to_invite(user.standing, leads_study=leads_it)


@transaction.atomic
def invitation_create(
    *, by: User, role: str, study: Study | None = None, seniority: str = "", email: str = "", note: str = ""
) -> tuple[Invitation, str]:
    """Make an invitation; returns the row and the secret of its link, which is stored nowhere."""
    if role not in invitable_roles(by, study):
        raise UserError(
            "may_not_invite",
            "You may not invite to this role here.",
            "Invite to a role that is not above your own; researchers invite people to studies that they lead.",
            status=403,
            fields={"role": ["Not allowed."]},
        )
    if study is not None and study.stage == Study.Stage.CLOSED:
        raise UserError("study_closed", "The study is closed, so nobody can join it.", status=409)
    secret = secrets.token_urlsafe(32)
    row = Invitation.objects.create(
        token_sha256=hash_of(secret),
        role=role,
        email=email,
        note=note,
        study=study,
        part=PARTS[role] if study is not None else "",
        seniority=seniority if study is not None and PARTS[role] == "physician" else "",
        created_by=by,
        expires_at=timezone.now() + timedelta(days=Invitation.VALID_DAYS),
    )
    account_event("invitation.made", actor=by, subject=row, role=role, **_study_of(row))
    return row, secret


@transaction.atomic
def invitation_revoke(invitation: Invitation, *, by: User) -> None:
    """Make an open link useless."""
    row = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if row.state != Invitation.State.OPEN:
        raise UserError(
            "invitation_closed", f"The invitation is {row.state.label.lower()} already.", status=409
        )
    row.revoked_at = timezone.now()
    row.save(update_fields=["revoked_at"])
    account_event("invitation.revoked", actor=by, subject=row)


def invitation_open(secret: str, *, lock: bool = False) -> Invitation:
    """The invitation of a link, still good; raises UserError that says what has become of it.

    It is good no longer than the person who made it may still invite: an account that was switched off, or lost its
    role or its study, leaves no door behind.
    """
    rows = Invitation.objects.filter(token_sha256=hash_of(secret))
    row = (rows.select_for_update() if lock else rows.select_related("study", "created_by")).first()
    if row is None:
        raise UserError(
            "invitation_unknown",
            "This invitation link is not known.",
            "Check that you copied all of it, or ask the person who sent it.",
            status=404,
        )
    state = row.state
    if state == Invitation.State.OPEN and not _still_backed(row):
        state = Invitation.State.REVOKED
    if state != Invitation.State.OPEN:
        code, sentence, remedy = SPENT[state]
        raise UserError(code, sentence, remedy, status=410)
    if row.study is not None and row.study.stage == Study.Stage.CLOSED:
        raise UserError("study_closed", "The study of this invitation is closed.", status=410)
    return row


@transaction.atomic
def invitation_accept_new(secret: str, *, username: str, name: str, password: str) -> User:
    """Make the account that the invitation is for, and the member of its study."""
    row = invitation_open(secret, lock=True)
    if User.objects.filter(username__iexact=username).exists():
        raise _name_taken()
    try:
        with transaction.atomic():
            user = user_create(
                username=username,
                role=row.role,
                password=password,
                email=row.email,
                name=name,
                invitation=row.pk,
                invited_by=row.created_by_id,
            )
    except IntegrityError as error:
        raise _name_taken() from error
    _accept(row, user)
    return user


@transaction.atomic
def invitation_accept_as(secret: str, *, user: User) -> Invitation:
    """Join the invitation's study with an account that exists and has the same role."""
    row = invitation_open(secret, lock=True)
    if why_not := why_not_as(row, user):
        raise UserError(
            "wrong_account", why_not, "Log out to make another account with this link.", status=409
        )
    _accept(row, user)
    return row


def why_not_as(invitation: Invitation, user: User) -> str:
    """Why someone who is logged in cannot accept with that account; "" if they can."""
    if invitation.study is None:
        return "This invitation makes a new account, and you are logged in with one."
    if user.role != invitation.role:
        wanted, own = invitation.get_role_display(), user.get_role_display()
        return f"This invitation is for the role {wanted}, and your account has the role {own}."
    return ""


def _accept(row: Invitation, user: User) -> None:
    row.accepted_at, row.accepted_by = timezone.now(), user
    row.save(update_fields=["accepted_at", "accepted_by"])
    if row.study is not None:
        member_add(study=row.study, user=user, part=row.part, seniority=row.seniority, by=row.created_by)
    account_event("invitation.accepted", actor=user, subject=row, role=row.role, **_study_of(row))


def _still_backed(row: Invitation) -> bool:
    return row.created_by.is_active and row.role in invitable_roles(row.created_by, row.study)


def _study_of(row: Invitation) -> dict[str, Any]:
    return {} if row.study_id is None else {"study": row.study_id, "part": row.part}


def _name_taken() -> UserError:
    sentence = "This user name cannot be had. Choose another one."
    return UserError("name_taken", sentence, status=409, fields={"username": [sentence]})
