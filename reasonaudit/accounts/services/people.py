"""Changing other people's accounts: role, access, second factor. Each change has a reason and is recorded."""

from django.db import transaction
from django.db.models import Q

from reasonaudit.lib.errors import UserError

from .. import second_factor
from ..events import account_event
from ..models import Role, User
from ..ranks import may_manage

ADMINS = Q(is_active=True) & (Q(role=Role.ADMIN) | Q(is_superuser=True))


@transaction.atomic
def user_role_change(user: User, *, role: str, by: User, reason: str) -> User:
    """Give someone else another role. Only administrators may."""
    user = _lock(user, by=by, reason=reason)
    if by.standing != Role.ADMIN:
        raise UserError("forbidden", "Only administrators change roles.", status=403)
    if role not in Role.values:
        raise UserError("unknown_role", "This role does not exist.", f"Use one of: {', '.join(Role.values)}.")
    before = user.standing
    if role == user.role:
        raise UserError("nothing_to_do", f"The role is {user.get_role_display()} already.", status=409)
    if before == Role.ADMIN and role != Role.ADMIN:
        _keep_an_admin(user)
    user.role = role
    # Django's own flags are another way to the same power: a role that is taken away is gone.
    user.is_superuser = user.is_staff = False
    user.save(update_fields=["role", "is_superuser", "is_staff"])
    account_event("user.role", actor=by, subject=user, reason=reason, from_state=before, to_state=role)
    return user


@transaction.atomic
def user_deactivate(user: User, *, by: User, reason: str) -> User:
    """Switch an account off: logins, tokens and open invitations of this person end at once; the work stays."""
    user = _lock(user, by=by, reason=reason)
    if not user.is_active:
        raise UserError("nothing_to_do", "The account is switched off already.", status=409)
    if user.standing == Role.ADMIN:
        _keep_an_admin(user)
    user.is_active = False
    user.save(update_fields=["is_active"])
    account_event("user.off", actor=by, subject=user, reason=reason, from_state="active", to_state="off")
    return user


@transaction.atomic
def user_activate(user: User, *, by: User, reason: str) -> User:
    """Switch an account on again, with the password and role that it had."""
    user = _lock(user, by=by, reason=reason)
    if user.is_active:
        raise UserError("nothing_to_do", "The account is active already.", status=409)
    user.is_active = True
    user.save(update_fields=["is_active"])
    account_event("user.on", actor=by, subject=user, reason=reason, from_state="off", to_state="active")
    return user


@transaction.atomic
def second_factor_reset(user: User, *, by: User, reason: str) -> User:
    """Take away the second factor of someone who lost phone and backup codes. Only administrators may."""
    user = _lock(user, by=by, reason=reason)
    if by.standing != Role.ADMIN:
        raise UserError("forbidden", "Only administrators reset a second factor.", status=403)
    if user.second_factor_at is None:
        raise UserError("nothing_to_do", "The account has no second factor.", status=409)
    second_factor.switch_off(user, by=by, reason=reason)
    return user


def _lock(user: User, *, by: User, reason: str) -> User:
    """The row, locked together with all administrators' rows: two of them cannot switch each other off at once.

    Nobody changes themselves here, so nobody raises themselves either; nobody changes those beside or above them.
    """
    if not reason.strip():
        raise UserError(
            "reason_needed", "A reason is needed.", "Say in a few words why.", fields={"reason": ["Needed."]}
        )
    list(User.objects.select_for_update().filter(ADMINS).order_by("pk").values_list("pk"))
    locked = User.objects.select_for_update().get(pk=user.pk)
    if locked.pk == by.pk:
        raise UserError(
            "not_oneself",
            "Nobody changes their own role or access.",
            "Ask another administrator.",
            status=403,
        )
    if not may_manage(by.standing, locked.standing):
        raise UserError("forbidden", "Your role may not change this account.", status=403)
    return locked


def _keep_an_admin(user: User) -> None:
    if not User.objects.filter(ADMINS).exclude(pk=user.pk).exists():
        raise UserError(
            "last_admin",
            "This is the last administrator.",
            "Make another account an administrator first.",
            status=409,
        )
