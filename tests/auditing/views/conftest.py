"""A logged-in client for the tests of pages."""

import pytest
from django.test import Client

from tests.auditing.views.rows import make_user


@pytest.fixture
def researcher(db):
    return make_user("researcher")


@pytest.fixture
def visitor(client: Client, researcher) -> Client:
    client.force_login(researcher)
    return client


@pytest.fixture
def admin_visitor(db) -> Client:
    client = Client()
    client.force_login(make_user("admin"))
    return client
