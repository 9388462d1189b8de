"""What the tests of the app share: a media folder of their own, people, stored and prepared clips."""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, connections
from django.test import Client

from reasonaudit.accounts.models import User
from tests.videos.clips import make_clip, suffix
from videos.models import MediaRun, Video, VideoSet
from videos.selectors import access
from videos.services import preparation, runs, uploads


@pytest.fixture(autouse=True)
def media_folder(settings, tmp_path: Path) -> Path:
    settings.MEDIA_FOLDER = tmp_path / "media"
    settings.VAR = tmp_path
    settings.MEDIA_KEEP_FREE_BYTES = 0
    return settings.MEDIA_FOLDER


@pytest.fixture(autouse=True)
def _own_reasons_and_counts(monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(access, "_REASONS", [])
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def clean_queue(transactional_db) -> Iterator[None]:
    """No job is left for other tests: the tables of the queue are not emptied with the others."""

    def empty() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "TRUNCATE procrastinate_jobs, procrastinate_workers, procrastinate_periodic_defers CASCADE"
            )

    empty()
    yield
    empty()


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A clip of a kind (tests/videos/clips.py), made once."""
    folder = tmp_path_factory.mktemp("films")
    made: dict[tuple[str, float], Path] = {}

    def make(kind: str = "flash_beep", seconds: float = 2) -> Path:
        if (kind, seconds) not in made:
            path = folder / f"{kind}-{seconds}{suffix(kind)}"
            make_clip(path, kind, seconds)
            made[kind, seconds] = path
        return made[kind, seconds]

    return make


def user(role: str = "researcher") -> User:
    name = f"{role}-{uuid.uuid4().hex[:8]}"
    return User.objects.create_user(username=name, password="long enough for a test", role=role)


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def researcher(db) -> User:
    return user()


@pytest.fixture
def visitor(researcher: User) -> Client:
    return client_of(researcher)


def a_set(name: str = "Street") -> VideoSet:
    return VideoSet.objects.create(name=name, slug=name.lower().replace(" ", "-"), licence="CC BY 4.0")


def stored(content: bytes, *, into: VideoSet | None = None, name: str = "clip.mp4", **fields: Any) -> Video:
    """A video whose file is on disk and which the database takes for ready; nothing has looked into it."""
    video, _ = uploads.take_in(video_set=into or a_set(), pieces=[content], file_name=name)
    given = {
        "state": Video.State.READY,
        "media_type": "video/mp4",
        "facts": {"width": 4, "height": 4},
        **fields,
    }
    Video.objects.filter(pk=video.pk).update(**given)
    video.refresh_from_db()
    return video


def brought_in(path: Path, *, into: VideoSet | None = None) -> Video:
    """A real clip that waits for its preparation."""
    return uploads.take_in(video_set=into or a_set(), pieces=uploads.pieces_of(path), file_name=path.name)[0]


def prepared(path: Path, *, into: VideoSet | None = None) -> Video:
    """A real clip after its preparation, however that ended. Needs committed rows (`transaction=True`)."""
    video = brought_in(path, into=into)
    run, _ = runs.create(video=video, kind=MediaRun.Kind.PREPARE)
    preparation.prepare(run.pk)
    video.refresh_from_db()
    return video


async def in_thread(do: Callable[[], Any]) -> Any:
    """What `do` returns, done in a thread that keeps no connection to the test's database afterwards."""

    def done() -> Any:
        try:
            return do()
        finally:
            connections.close_all()

    return await asyncio.to_thread(done)
