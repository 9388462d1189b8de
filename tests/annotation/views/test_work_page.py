"""The list of a person's own work is called by one name, whatever is in it."""

import re

import pytest
from django.test import Client

from tests.annotation import factories, video_factories
from tests.annotation.desk import BACKEND

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["cases", "questions", "both", "nothing"])
def test_menu_heading_and_title_of_the_list_say_the_same(kind: str) -> None:
    user = factories.user("physician")
    if kind in {"cases", "both"}:
        study = factories.study()
        factories.assignment(factories.item(study), factories.member(study, user))
    if kind in {"questions", "both"}:
        videos = video_factories.study()
        factories.assignment(videos.items.first(), factories.member(videos, user))
    client = Client()
    client.force_login(user, backend=BACKEND)
    page = client.get("/my-cases/").content.decode()
    names = {
        re.search(pattern, page)[1].strip()  # type: ignore[index]
        for pattern in (
            r'<a href="/my-cases/"[^>]*>([^<]+)</a>',
            r"<h1>([^<]+)</h1>",
            r"<title>([^·<]+)",
            r'<span aria-current="page">([^<]+)</span>',
        )
    }
    assert names == {"My work"}
