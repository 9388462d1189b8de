"""Who stands above whom, and who may be invited to what. Pure rules; the services apply them."""

from .models import Role

# Those who label stand side by side; each later rank may do all that an earlier one may.
RANKS: tuple[frozenset[str], ...] = (
    frozenset({Role.PHYSICIAN, Role.ANNOTATOR}),
    frozenset({Role.ADJUDICATOR}),
    frozenset({Role.RESEARCHER}),
    frozenset({Role.MANAGER}),
    frozenset({Role.ADMIN}),
)
# The part in a study that a role can be invited to.
PARTS: dict[str, str] = {
    Role.PHYSICIAN: "physician",
    Role.ANNOTATOR: "physician",
    Role.ADJUDICATOR: "adjudicator",
    Role.RESEARCHER: "lead",
    Role.MANAGER: "lead",
    Role.ADMIN: "lead",
}
# Whom a researcher may invite, to studies that they lead.
LABELLING_ROLES = frozenset({Role.PHYSICIAN, Role.ANNOTATOR, Role.ADJUDICATOR})


def rank(role: str) -> int:
    """Height of a role, 0 to 4; an unknown role has none (KeyError)."""
    for height, roles in enumerate(RANKS):
        if role in roles:
            return height
    raise KeyError(role)


def roles_to_invite(role: str, *, leads_study: bool) -> list[str]:
    """Roles, in the order of `Role`, that someone of `role` may invite to.

    `leads_study` says whether the invitation is for a study that they lead. Nobody invites above their own role;
    researchers only to their studies; those who label invite nobody.
    """
    if rank(role) < rank(Role.RESEARCHER):
        return []
    if role == Role.RESEARCHER:
        return [one for one in Role.values if one in LABELLING_ROLES] if leads_study else []
    return [one for one in Role.values if rank(one) <= rank(role)]


def may_manage(role: str, other: str) -> bool:
    """Whether someone of `role` may switch accounts of role `other` on and off: those below, or for admins all."""
    return role == Role.ADMIN or (role == Role.MANAGER and rank(other) < rank(role))
