"""Fixtures of the trust suite: users of every role, a clean cache."""

import hashlib
import hmac
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from django.core.cache import cache
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from reasonaudit.accounts import second_factor
from reasonaudit.accounts.models import User
from tests.trust.worlds import empty_tables

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _empty_rate_counts() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def make_user(db: None) -> Callable[..., User]:
    def make(role: str = "researcher", username: str = "", **fields: object) -> User:
        return User.objects.create_user(username or f"{role}-user", password=PASSWORD, role=role, **fields)

    return make


@pytest.fixture
def same_keys(transactional_db: None) -> Callable[[], None]:
    """Empties every table and starts all keys at 1."""
    return empty_tables


@pytest.fixture
def login() -> Callable[[User], Client]:
    def log_in(user: User) -> Client:
        client = Client()
        response = client.post("/accounts/login/", {"username": user.username, "password": PASSWORD})
        assert response.status_code == 302, response.content
        return client

    return log_in


def app_code(key: str, steps: int = 0) -> str:
    """What an authenticator app shows for a hexadecimal secret, `steps` half-minutes from now (RFC 6238, by hand)."""
    counter = struct.pack(">Q", int(time.time()) // 30 + steps)
    digest = hmac.new(bytes.fromhex(key), counter, hashlib.sha1).digest()
    offset = digest[-1] & 0x0F
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06d}"


@dataclass
class Factor:
    """Secret and backup codes of a user who has a second factor."""

    key: str
    backup: list[str]

    @property
    def code(self) -> str:
        return app_code(self.key)


@pytest.fixture
def with_factor() -> Callable[[User], Factor]:
    """Gives a user a second factor whose present code is still unused."""

    def give(user: User) -> Factor:
        key = second_factor.new_key()
        backup = second_factor.set_up(user, key, app_code(key))
        TOTPDevice.objects.filter(user=user).update(last_t=-1)
        return Factor(key, backup)

    return give
