"""Clients of the API tests."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client


@pytest.fixture
def as_role(db):
    def log_in(role: str) -> Client:
        user = get_user_model().objects.create_user(
            username=f"a-{role}", password="correct horse battery", role=role
        )
        client = Client()
        client.force_login(user)
        return client

    return log_in


@pytest.fixture
def client(as_role) -> Client:
    return as_role("researcher")
