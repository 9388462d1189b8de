"""Users with one role each, and API tokens kept as hashes."""

import hashlib
import secrets
from datetime import timedelta

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
    """A person who logs in. There is no sign-up: accounts are made by an administrator or by the demo."""

    role = models.CharField(max_length=12, choices=Role, default=Role.PHYSICIAN)


class ApiToken(models.Model):
    """Access of a program in a user's name. Only the hash is stored; the token is shown once, when it is made."""

    class Scope(models.TextChoices):
        READ = "read", "Read"
        WRITE = "write", "Read and write"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    token_sha256 = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=5, choices=Scope, default=Scope.READ)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)

    @staticmethod
    def hash(token: str) -> str:
        """The stored form of a token. Tokens are long and random, so a plain SHA-256 is enough."""
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def issue(cls, user: User, name: str, scope: str, days: int = 90) -> tuple["ApiToken", str]:
        """Make a token that expires after `days`; returns the row and the token itself, which is stored nowhere."""
        token = "ra_" + secrets.token_urlsafe(32)
        row = cls.objects.create(
            user=user,
            name=name,
            token_sha256=cls.hash(token),
            scope=scope,
            expires_at=timezone.now() + timedelta(days=days),
        )
        return row, token
