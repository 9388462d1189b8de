"""IH-01, IH-06: files come in by pieces, within limits, and become a video only when they are whole."""

import errno
import hashlib
import os
import stat
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.videos.app_fixtures import a_set, user
from videos.models import Video, VideoUpload
from videos.services import files, uploads
from videos.services.uploads import clean_name

DATA = b"0123456789" * 10


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("walk.mp4", "walk.mp4"),
        ("real/walk.mp4", "real/walk.mp4"),
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\films\\walk.mp4", "C:/films/walk.mp4"),
        ("a\x00b.mp4", "ab.mp4"),
        ("a\r\nSet-Cookie: x.mp4", "aSet-Cookie: x.mp4"),
        ("walk\u202e4pm.exe", "walk4pm.exe"),
        ("e\u0301.mp4", "\u00e9.mp4"),
        ("\ud800.mp4", "?.mp4"),
        ("", "unnamed"),
        ("...", "..."),
        ("..", "unnamed"),
    ],
)
def test_ih_01_names_are_cleaned(given_name: str, kept: str) -> None:
    assert clean_name(given_name) == kept


@given(st.text(max_size=400))
def test_ih_01_no_name_leads_out_of_anywhere_or_breaks_a_line(name: str) -> None:
    kept = clean_name(name)
    assert 0 < len(kept) <= 300
    assert not kept.startswith("/")
    assert not {"..", ".", ""} & set(kept.split("/"))
    assert kept.isprintable() or all(ord(char) >= 32 for char in kept)
    kept.encode("utf-8")


def test_ih_01_a_long_name_keeps_its_ending() -> None:
    kept = clean_name("x" * 500 + ".mp4")
    assert len(kept) == 300
    assert kept.endswith("x.mp4")


def test_paths_are_made_of_hashes_only() -> None:
    for bad in ("", "../x", "A" * 64, "0" * 63, "0" * 64 + "/.."):
        with pytest.raises(ValueError, match="SHA-256"):
            files.path_of(bad)
    for bad in ("../source", ".hidden", "a/b", ""):
        with pytest.raises(ValueError, match="media file"):
            files.path_of("0" * 64, bad)


@pytest.mark.django_db
class TestPieces:
    def begun(self, size: int = len(DATA), name: str = "walk.mp4"):
        self.person = user()
        self.set = a_set()
        return uploads.begin(video_set=self.set, file_name=name, size=size, by=self.person)

    def send(self, upload: VideoUpload, offset: int, data: bytes) -> VideoUpload:
        return uploads.add_piece(upload=upload.public_id, by=self.person, offset=offset, data=data)

    def test_ih_06_pieces_become_a_video_that_only_the_application_may_read(self) -> None:
        upload = self.begun()
        assert self.send(upload, 0, DATA[:33]).received == 33
        assert self.send(upload, 33, DATA[33:]).received == 100
        video, new = uploads.finish(upload=upload.public_id, by=self.person)
        assert new
        digest = hashlib.sha256(DATA).hexdigest()
        assert (video.sha256, video.bytes, video.title, video.file_name) == (digest, 100, "walk", "walk.mp4")
        path = files.path_of(digest)
        assert path.read_bytes() == DATA
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert not VideoUpload.objects.exists()
        assert not list(files.incoming_path(uuid.uuid4()).parent.iterdir())
        assert Event.objects.filter(action="video.add", subject_id=str(video.public_id)).count() == 1

    def test_ih_06_a_piece_at_the_wrong_place_is_refused_and_says_where_to_go_on(self) -> None:
        upload = self.begun()
        self.send(upload, 0, DATA[:50])
        for offset in (0, 49, 51, 100):
            with pytest.raises(UserError) as refused:
                self.send(upload, offset, b"x")
            assert (refused.value.status, refused.value.fields) == (409, {"received": 50})
        self.send(upload, 50, DATA[50:])
        assert (
            uploads.finish(upload=upload.public_id, by=self.person)[0].sha256
            == hashlib.sha256(DATA).hexdigest()
        )

    def test_ih_06_more_than_was_announced_is_refused(self) -> None:
        upload = self.begun(size=10)
        with pytest.raises(UserError) as refused:
            self.send(upload, 0, b"x" * 11)
        assert refused.value.status == 413
        with pytest.raises(UserError):
            self.send(upload, 0, b"")

    def test_ih_06_a_piece_that_was_written_but_never_counted_is_written_over(self) -> None:
        """A server that dies between the file and the row leaves more bytes than the row says."""
        upload = self.begun()
        self.send(upload, 0, DATA[:10])
        with files.incoming_path(upload.public_id).open("ab") as file:
            file.write(b"X" * 20)
        self.send(upload, 10, DATA[10:])
        assert (
            uploads.finish(upload=upload.public_id, by=self.person)[0].sha256
            == hashlib.sha256(DATA).hexdigest()
        )

    def test_ih_06_bytes_that_the_disk_lost_are_asked_for_again(self) -> None:
        upload = self.begun()
        self.send(upload, 0, DATA)
        os.truncate(files.incoming_path(upload.public_id), 40)
        with pytest.raises(UserError) as refused:
            uploads.finish(upload=upload.public_id, by=self.person)
        assert (refused.value.status, refused.value.fields) == (409, {"received": 40})
        self.send(upload, 40, DATA[40:])
        assert uploads.finish(upload=upload.public_id, by=self.person)[1]

    def test_ih_06_an_unfinished_upload_is_no_video(self) -> None:
        upload = self.begun()
        self.send(upload, 0, DATA[:99])
        with pytest.raises(UserError) as refused:
            uploads.finish(upload=upload.public_id, by=self.person)
        assert refused.value.code == "upload_incomplete"
        assert not Video.objects.exists()

    def test_ih_06_another_hash_than_announced_is_refused(self) -> None:
        upload = self.begun()
        self.send(upload, 0, DATA)
        with pytest.raises(UserError) as refused:
            uploads.finish(upload=upload.public_id, by=self.person, sha256="0" * 64)
        assert refused.value.status == 422
        assert not Video.objects.exists()

    def test_the_same_file_goes_on_where_it_stopped(self) -> None:
        upload = self.begun()
        self.send(upload, 0, DATA[:60])
        again = uploads.begin(video_set=self.set, file_name="walk.mp4", size=100, by=self.person)
        assert (again.pk, again.received) == (upload.pk, 60)

    def test_an_upload_belongs_to_its_person(self) -> None:
        upload = self.begun()
        for action in (
            lambda: uploads.add_piece(upload=upload.public_id, by=user(), offset=0, data=b"x"),
            lambda: uploads.finish(upload=upload.public_id, by=user()),
            lambda: uploads.give_up(upload=upload.public_id, by=user()),
        ):
            with pytest.raises(UserError) as refused:
                action()
            assert refused.value.status == 404

    def test_ih_06_a_full_disk_is_said_and_the_piece_is_not_counted(self, monkeypatch) -> None:
        upload = self.begun()

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(uploads.os, "pwrite", full)
            with pytest.raises(UserError) as refused:
                self.send(upload, 0, DATA)
        assert (refused.value.code, refused.value.status) == ("disk_full", 507)
        upload.refresh_from_db()
        assert upload.received == 0
        self.send(upload, 0, DATA)
        assert uploads.finish(upload=upload.public_id, by=self.person)[1]


@pytest.mark.django_db(transaction=True)
def test_ih_06_what_was_given_up_is_removed(media_folder) -> None:
    person = user()
    upload = uploads.begin(video_set=a_set(), file_name="a.mp4", size=10, by=person)
    uploads.add_piece(upload=upload.public_id, by=person, offset=0, data=b"12345")
    path = files.incoming_path(upload.public_id)
    assert path.exists()
    uploads.give_up(upload=upload.public_id, by=person)
    assert not path.exists()
    assert not VideoUpload.objects.exists()


@pytest.mark.django_db
def test_ih_06_limits_of_a_file_a_person_and_the_disk(settings) -> None:
    person, video_set = user(), a_set()

    def refused(size: int) -> UserError:
        with pytest.raises(UserError) as found:
            uploads.begin(video_set=video_set, file_name=f"{size}.mp4", size=size, by=person)
        return found.value

    assert refused(0).code == "empty_file"
    settings.MEDIA_MAX_BYTES = 1000
    assert (refused(1001).code, refused(1001).status) == ("file_too_large", 413)
    settings.MEDIA_MAX_INCOMING_BYTES = 1500
    uploads.begin(video_set=video_set, file_name="a.mp4", size=1000, by=person)
    assert refused(501).code == "too_much_incoming"
    uploads.begin(video_set=video_set, file_name="b.mp4", size=501, by=user())
    settings.MEDIA_KEEP_FREE_BYTES = 10**18
    assert (refused(100).code, refused(100).status) == ("disk_full", 507)


@pytest.mark.django_db
def test_ih_06_a_stream_over_the_limit_is_cut_off_and_leaves_nothing(settings, media_folder) -> None:
    settings.MEDIA_MAX_BYTES = 100
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 30
            yield b"x" * 30

    with pytest.raises(UserError) as refused:
        uploads.take_in(video_set=a_set(), pieces=endless(), file_name="a.mp4")
    assert refused.value.status == 413
    assert read == 120
    assert not [path for path in media_folder.rglob("*") if path.is_file()]


@pytest.mark.django_db
def test_one_content_is_one_video_of_a_set_and_one_file_of_all_sets(media_folder) -> None:
    left, right = a_set("Left"), a_set("Right")
    first, new = uploads.take_in(video_set=left, pieces=[DATA], file_name="a.mp4")
    again, new_again = uploads.take_in(video_set=left, pieces=[DATA[:7], DATA[7:]], file_name="other.mp4")
    other, new_other = uploads.take_in(video_set=right, pieces=[DATA], file_name="a.mp4")
    assert (new, new_again, new_other) == (True, False, True)
    assert again == first
    assert other.pk != first.pk
    assert len([path for path in media_folder.rglob("*") if path.is_file()]) == 1


@pytest.mark.django_db
def test_ih_06_leftovers_go_after_a_day_and_uploads_when_nobody_comes_back(settings) -> None:
    person, video_set = user(), a_set()
    kept = uploads.begin(video_set=video_set, file_name="kept.mp4", size=10, by=person)
    left = uploads.begin(video_set=video_set, file_name="left.mp4", size=10, by=person)
    for upload in (kept, left):
        uploads.add_piece(upload=upload.public_id, by=person, offset=0, data=b"12345")
    stray = files.incoming_path(uuid.uuid4())
    stray.write_bytes(b"of a killed process")
    video, _ = uploads.take_in(video_set=video_set, pieces=[DATA], file_name="v.mp4")
    half = files.path_of(video.sha256).with_name(".tmp-1.mp4")
    half.write_bytes(b"half a film")
    assert uploads.expire() == 0, "what is fresh may belong to somebody"
    VideoUpload.objects.filter(pk=left.pk).update(
        updated_at=timezone.now() - timedelta(hours=settings.MEDIA_UPLOAD_HOURS + 1)
    )
    for path in files.root().rglob("*"):
        os.utime(path, (1, 1))
    uploads.expire()
    assert list(VideoUpload.objects.all()) == [kept]
    assert files.incoming_path(kept.public_id).exists()
    assert not files.incoming_path(left.public_id).exists()
    assert not stray.exists()
    assert not half.exists()
    assert files.path_of(video.sha256).read_bytes() == DATA


def test_a_file_that_could_not_be_made_whole_leaves_nothing(media_folder) -> None:
    def breaks(path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        files.make("a" * 64, "proxy.mp4", breaks)
    with pytest.raises(RuntimeError):
        files.make_folder("a" * 64, "spectrogram", lambda folder: breaks(folder / "0000.webp"))
    assert not [path for path in media_folder.rglob("*") if path.is_file()]
    assert not files.path_of("a" * 64, "spectrogram").exists()
