"""Fixtures of the trust suite: users of every role, a clean cache."""

from collections.abc import Callable, Iterator

import pytest
from django.core.cache import cache
from django.test import Client

from reasonaudit.accounts.models import User

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
def login() -> Callable[[User], Client]:
    def log_in(user: User) -> Client:
        client = Client()
        response = client.post("/accounts/login/", {"username": user.username, "password": PASSWORD})
        assert response.status_code == 302, response.content
        return client

    return log_in
