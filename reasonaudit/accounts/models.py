"""Users with one role each; API tokens and invitations, both kept as hashes."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone


class Role(models.TextChoices):
    """What a person does here; the permission matrix says what each role may reach."""

    PHYSICIAN = "physician", "Physician"
    ANNOTATOR = "annotator", "Annotator"
    ADJUDICATOR = "adjudicator", "Adjudicator"
    RESEARCHER = "researcher", "Researcher"
    MANAGER = "manager", "Manager"
    ADMIN = "admin", "Administrator"


class User(AbstractUser):
    """A person who logs in. There is no sign-up: accounts are made by invitation, by a command or by the demo.

    `second_factor_at` says since when a login needs a code besides the password; None while it needs none.
    """

    role = models.CharField(max_length=12, choices=Role, default=Role.PHYSICIAN)
    second_factor_at = models.DateTimeField(null=True, blank=True, editable=False)

    @property
    def standing(self) -> str:
        """The role that counts: Django's superusers stand where administrators do."""
        return str(Role.ADMIN) if self.is_superuser else self.role

    def _get_session_auth_hash(self, secret: Any = None) -> str:
        """Django's hash of the password, and the second factor with it.

        Setting one up, or taking it away, ends every login that was made without it (or with it).
        """
        base: str = super()._get_session_auth_hash(secret)  # type: ignore[misc]
        return base if self.second_factor_at is None else f"{base}.{self.second_factor_at.timestamp():.6f}"


def hash_of(secret: str) -> str:
    """The stored form of a token or link. Both are long and random, so a plain SHA-256 is enough."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


class ApiToken(models.Model):
    """Access of a program in a user's name. Only the hash is stored; the token is shown once, when it is made."""

    class Scope(models.TextChoices):
        READ = "read", "Read"
        EXPORT = "export", "Export only"
        WRITE = "write", "Read, export and write"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    token_sha256 = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=6, choices=Scope, default=Scope.READ)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)

    @classmethod
    def issue(cls, user: User, name: str, scope: str, days: int = 90) -> tuple["ApiToken", str]:
        """Make a token that expires after `days`; returns the row and the token itself, which is stored nowhere."""
        token = "ra_" + secrets.token_urlsafe(32)
        row = cls.objects.create(
            user=user,
            name=name,
            token_sha256=hash_of(token),
            scope=scope,
            expires_at=timezone.now() + timedelta(days=days),
        )
        return row, token


class Invitation(models.Model):
    """A link that makes one account of a role, or one member of a study. Shown once; stored as a hash."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        USED = "used", "Used"
        REVOKED = "revoked", "Revoked"
        EXPIRED = "expired", "Expired"

    VALID_DAYS = 14

    token_sha256 = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=12, choices=Role)
    email = models.EmailField(blank=True)
    note = models.CharField(max_length=200, blank=True)
    study = models.ForeignKey(
        "annotation.Study", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    part = models.CharField(
        max_length=12,
        blank=True,
        choices=[("physician", "Labels"), ("adjudicator", "Adjudicates"), ("lead", "Leads")],
    )
    seniority = models.CharField(
        max_length=8, blank=True, choices=[("senior", "Senior"), ("junior", "Junior")]
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="invitations")
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            # A part without a study, or a study without a part, means nothing.
            models.CheckConstraint(
                condition=models.Q(study=None, part="", seniority="")
                | (models.Q(study__isnull=False) & ~models.Q(part="")),
                name="invitation_part_with_study",
            )
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} ({self.role})"

    @property
    def state(self) -> "Invitation.State":
        """What has become of the link by now."""
        if self.accepted_at is not None:
            return self.State.USED
        if self.revoked_at is not None:
            return self.State.REVOKED
        return self.State.EXPIRED if self.expires_at <= timezone.now() else self.State.OPEN
