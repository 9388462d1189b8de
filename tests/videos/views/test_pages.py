"""Pages of videos: empty states, forms that keep what was typed, progress that asks again, errors with a remedy."""

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.videos.app_fixtures import a_set, client_of, stored, user
from tests.videos.factories import picture_index
from videos.models import MediaRun, Video, VideoQuestion, VideoSet

pytestmark = pytest.mark.django_db
LIST = reverse("videos:set_list")


def page(video_set: VideoSet, name: str = "set_detail") -> str:
    return reverse(f"videos:{name}", args=[video_set.slug])


def of(video: Video, name: str = "video_detail") -> str:
    return reverse(f"videos:{name}", args=[video.public_id])


def html(response) -> str:
    assert response.status_code in {200, 409, 422}, response.status_code
    return response.content.decode()


def ready(**fields: Any) -> Video:
    index = picture_index(50)
    facts = {
        "width": 320, "height": 180, "coded_width": 320, "coded_height": 180, "rotation": 0, "sar_num": 1, "sar_den": 1,
        "container": "mov,mp4", "codec": "h264", "pixel_format": "yuv420p", "mean_rate": 25.0, "is_constant": True,
        "longest_gop": 12, "verified": 50, "damaged": 0, "has_audio": False, "warnings": ["A remark <b>."],
    }  # fmt: skip
    given: dict[str, Any] = {
        "picture_index": index.to_bytes(), "picture_count": 50, "duration_us": index.duration_us, "facts": facts,
    }  # fmt: skip
    return stored(uuid.uuid4().bytes, **{**given, **fields})


def test_without_a_set_the_page_says_what_to_do(visitor: Client) -> None:
    text = html(visitor.get(LIST))
    assert "No video set yet" in text
    assert reverse("videos:set_create") in text


def test_a_set_is_made_and_listed_with_its_counts(visitor: Client) -> None:
    made = visitor.post(reverse("videos:set_create"), {"name": "Street scenes", "licence": "CC BY 4.0"})
    street = VideoSet.objects.get()
    assert made.url == page(street)
    assert "No video in this set yet" in html(visitor.get(made.url))
    ready(into=street)
    Video.objects.filter(pk=ready(into=street).pk).update(state=Video.State.REFUSED)
    cells = re.findall(r'<td class="r">([\d,]+)</td>', html(visitor.get(LIST)))
    assert cells[:3] == ["2", "1", "1"], "videos, ready, refused or failed"


def test_a_name_that_is_taken_comes_back_with_what_was_typed(visitor: Client) -> None:
    a_set("Street")
    answer = visitor.post(reverse("videos:set_create"), {"name": "Street", "description": "Two walks"})
    assert answer.status_code == 422
    text = html(answer)
    assert "Another video set has this name." in text
    assert "Two walks" in text
    assert VideoSet.objects.count() == 1


def test_settings_of_a_set_are_changed(visitor: Client) -> None:
    street = a_set("Street")
    assert 'value="Street"' in html(visitor.get(page(street, "set_change")))
    assert visitor.post(page(street, "set_change"), {"name": "Road", "licence": ""}).url == page(street)
    street.refresh_from_db()
    assert (street.name, street.slug, street.licence) == ("Road", "street", "")


def test_the_form_alone_takes_several_files(visitor: Client) -> None:
    street = a_set("Street")
    address = page(street, "set_upload")
    form = html(visitor.get(address))
    assert "multiple" in form
    assert 'enctype="multipart/form-data"' in form
    assert f'data-begin="{reverse("api:video-upload-list", args=[street.slug])}"' in form
    files = [SimpleUploadedFile("a.mp4", b"one", "text/html"), SimpleUploadedFile("b.mp4", b"two")]
    done = visitor.post(address, {"videos": files}, follow=True)
    assert "2 videos received" in html(done)
    assert sorted(Video.objects.values_list("file_name", "state")) == [
        ("a.mp4", "uploaded"),
        ("b.mp4", "uploaded"),
    ]
    assert MediaRun.objects.count() == 2
    again = visitor.post(address, {"videos": [SimpleUploadedFile("c.mp4", b"one")]}, follow=True)
    assert "c.mp4 is in the set already, as a." in html(again)


def test_ih_06_files_that_cannot_be_taken_are_named_and_the_others_stay(visitor: Client, settings) -> None:
    settings.MEDIA_MAX_BYTES = 10
    files = [
        SimpleUploadedFile("fine.mp4", b"x"),
        SimpleUploadedFile("large.mp4", b"x" * 11),
        SimpleUploadedFile("empty.mp4", b""),
    ]
    answer = visitor.post(page(a_set(), "set_upload"), {"videos": files})
    assert answer.status_code == 422
    text = html(answer)
    assert "large.mp4 has 11 bytes; the limit is 10" in text
    assert "empty.mp4 has no content" in text
    assert Video.objects.get().file_name == "fine.mp4"
    assert visitor.post(page(VideoSet.objects.get(), "set_upload"), {}).status_code == 422


def test_ih_12_names_and_titles_are_text(visitor: Client) -> None:
    video = ready(title="<script>alert(1)</script>", file_name='"><img src=x onerror=alert(1)>.mp4')
    for address in (page(video.video_set), of(video), of(video, "video_remove"), of(video, "video_change")):
        text = html(visitor.get(address))
        assert "<script>alert" not in text
        assert "<img src=x" not in text


def test_a_set_asks_again_while_something_waits(visitor: Client) -> None:
    video = ready()
    assert "hx-trigger" not in html(visitor.get(page(video.video_set)))
    Video.objects.filter(pk=video.pk).update(state=Video.State.PREPARING)
    MediaRun.objects.create(video=video, kind="prepare", state="running", done=40, total=100)
    text = html(visitor.get(page(video.video_set)))
    assert 'hx-trigger="every 3s"' in text
    assert "Being prepared, 40\u00a0%" in text
    assert 'hx-trigger="every 3s"' in html(visitor.get(of(video)))


def test_a_refused_video_says_why_and_can_be_tried_again(visitor: Client) -> None:
    video = ready(
        state=Video.State.REFUSED, message="It holds no picture. Choose a film.", picture_index=None
    )
    assert "It holds no picture. Choose a film." in html(visitor.get(page(video.video_set)))
    text = html(visitor.get(of(video)))
    assert "It holds no picture. Choose a film." in text
    assert of(video, "video_again") in text
    assert "<video" not in text
    assert visitor.post(of(video, "video_again")).url == of(video)
    video.refresh_from_db()
    assert video.state == Video.State.UPLOADED
    assert MediaRun.objects.count() == 1


def test_a_ready_video_shows_its_player_its_times_and_whom_to_name(visitor: Client) -> None:
    video = ready(attribution="A. Maker")
    text = html(visitor.get(of(video)))
    assert f'src="{reverse("api:video-play", args=[video.public_id])}"' in text
    assert "evenly spaced" in text
    assert "00:02.000" in text
    assert "A. Maker" in text
    assert "CC BY 4.0" in text
    assert "A remark &lt;b&gt;." in text
    assert video.sha256 in text


def test_a_playback_file_is_asked_for_from_the_page(visitor: Client) -> None:
    video = ready(needs_proxy="the pictures are vp9, not h264")
    text = html(visitor.get(of(video)))
    assert "because the pictures are vp9, not h264" in text
    assert "<video" not in text
    assert visitor.post(of(video, "video_playback")).url == of(video)
    assert "waits for a worker" in html(visitor.get(of(video)))
    MediaRun.objects.update(state="running", done=10, total=50)
    assert "10 of 50 pictures" in html(visitor.get(of(video)))
    MediaRun.objects.update(state="failed", message="Out of memory.")
    assert "Out of memory." in html(visitor.get(of(video)))
    Video.objects.update(proxy={"sha256": "a" * 64, "width": 320, "height": 180})
    assert "You see the playback file, 320" in html(visitor.get(of(video)))


def test_a_video_is_removed_after_being_asked(visitor: Client) -> None:
    video = ready()
    assert "cannot be undone" in html(visitor.get(of(video, "video_remove")))
    assert Video.objects.exists()
    done = visitor.post(of(video, "video_remove"), {"reason": "Wrong"}, follow=True)
    assert f"{video.title} was removed." in html(done)
    assert not Video.objects.exists()
    assert visitor.get(of(video)).status_code == 404


def test_a_video_with_questions_says_why_it_stays(visitor: Client) -> None:
    video = ready()
    VideoQuestion.objects.create(
        video_set=video.video_set, video=video, external_id="q", number=1, text="Who?"
    )
    assert "1 question hangs on" in html(visitor.get(of(video, "video_remove")))
    answer = visitor.post(of(video, "video_remove"))
    assert answer.status_code == 409
    assert "would lose their picture" in html(answer)
    assert Video.objects.exists()


def test_words_of_a_video_are_changed(visitor: Client) -> None:
    video = ready()
    assert visitor.post(of(video, "video_change"), {"title": "Walk", "licence": "CC0"}).url == of(video)
    video.refresh_from_db()
    assert (video.title, video.licence) == ("Walk", "CC0")
    assert visitor.post(of(video, "video_change"), {"title": ""}).status_code == 422


class TestQuestions:
    def send(self, visitor: Client, video_set: VideoSet, *items: dict):
        file = SimpleUploadedFile("items.json", json.dumps(items).encode())
        return visitor.post(page(video_set, "questions_import"), {"file": file})

    def test_a_file_is_shown_and_then_imported_once(self, visitor: Client) -> None:
        video = ready(file_name="walk.mp4")
        one_item = {"id": "q", "video": "walk", "question": "Who <b> throws?", "answer": "She"}
        sent = self.send(visitor, video.video_set, one_item)
        text = html(visitor.get(sent.url))
        assert "read without a problem" in text
        assert "Who &lt;b&gt; throws?" in text
        assert not VideoQuestion.objects.exists()
        done = visitor.post(sent.url, follow=True)
        assert "Imported 1 question from items.json." in html(done)
        question = VideoQuestion.objects.get()
        assert "Who &lt;b&gt; throws?" in html(visitor.get(page(video.video_set) + "?tab=questions"))
        one = html(visitor.get(reverse("videos:question_detail", args=[question.public_id])))
        assert "Who &lt;b&gt; throws?" in one
        assert "Final Answer: She" in one
        assert "Who &lt;b&gt; throws?" in html(visitor.get(of(video)))
        assert visitor.get(sent.url).url == page(video.video_set, "questions_import"), "it was used up"

    def test_problems_are_listed_and_nothing_can_be_imported(self, visitor: Client) -> None:
        video = ready(file_name="walk.mp4")
        sent = self.send(visitor, video.video_set, {"id": "q", "video": "run", "question": "Who?"})
        text = html(visitor.get(sent.url))
        assert "nothing can be imported" in text
        assert "no video called &#x27;run&#x27;" in text
        assert visitor.post(sent.url).status_code == 422
        assert not VideoQuestion.objects.exists()

    def test_how_a_file_is_read_is_said_and_may_be_changed(self, visitor: Client) -> None:
        video = ready(file_name="fox.mp4")
        row = {"video": "fox", "question": "How often?", "candidates": ["1", "<2>"], "answer": "<2>"}
        sent = self.send(visitor, video.video_set, row)
        text = html(visitor.get(sent.url))
        assert "Read as Animal-Bench." in text
        assert "Files of MVBench look the same" in text
        assert "animal-bench:items-1" in text
        assert "1<br>&lt;2&gt;" in text
        assert visitor.post(sent.url, {"action": "read", "shape": "mvbench"}).url == sent.url
        text = html(visitor.get(sent.url))
        assert "Read as MVBench." in text
        assert '<option value="mvbench" selected>' in text
        # What is stored is what was looked at, whatever is sent along.
        visitor.post(sent.url, {"action": "import", "shape": "own"})
        assert VideoQuestion.objects.get().external_id == "mvbench:items-1"

    def test_a_shape_that_there_is_not_changes_nothing(self, visitor: Client) -> None:
        video = ready(file_name="walk.mp4")
        sent = self.send(visitor, video.video_set, {"id": "q", "video": "walk", "question": "Who?"})
        refused = visitor.post(sent.url, {"action": "read", "shape": "<b>"})
        assert refused.status_code == 422
        assert "Read as reasonaudit questions." in html(refused)
        assert not VideoQuestion.objects.exists()

    def test_questions_with_a_problem_may_be_left_out(self, visitor: Client) -> None:
        video = ready(file_name="walk.mp4")
        items = [{"id": name, "video": name, "question": "Who?"} for name in ("run<b>", "walk")]
        sent = self.send(visitor, video.video_set, *items)
        assert "nothing can be imported" in html(visitor.get(sent.url))
        visitor.post(sent.url, {"action": "read", "leave_out": "on"})
        text = html(visitor.get(sent.url))
        assert "What is left was read without a problem." in text
        assert "no video called &#x27;run&lt;b&gt;&#x27;" in text
        done = visitor.post(sent.url, {"action": "import"}, follow=True)
        assert "Imported 1 question from items.json, 1 left out." in html(done)
        assert VideoQuestion.objects.get().external_id == "walk"

    def test_a_set_without_questions_says_what_to_do(self, visitor: Client) -> None:
        video = ready(file_name="walk.mp4")
        film = {"class": "WrapGift", "annotation": [{"label": "cut", "segment": [1, 2]}]}
        sent = self.send(visitor, video.video_set, {"database": {"walk": film}})
        text = html(visitor.get(sent.url))
        assert "annotation file of COIN" in text
        assert "write questions of your own" in text
        assert "nothing can be imported" in text

    def test_a_kept_file_is_its_persons_and_its_sets(self, visitor: Client) -> None:
        video = ready(file_name="walk.mp4")
        sent = self.send(visitor, video.video_set, {"id": "q", "video": "walk", "question": "Who?"})
        assert client_of(user("admin")).get(sent.url).status_code == 302
        other = a_set("Other")
        assert visitor.get(sent.url.replace(video.video_set.slug, other.slug)).status_code == 302

    def test_an_empty_tab_says_what_to_do(self, visitor: Client) -> None:
        assert "Bring in the videos first" in html(visitor.get(page(a_set()) + "?tab=questions"))
        video = ready(into=a_set("Full"))
        assert "No question in this set yet" in html(visitor.get(page(video.video_set) + "?tab=questions"))

    def test_no_file_is_an_error_of_the_form(self, visitor: Client) -> None:
        assert visitor.post(page(a_set(), "questions_import"), {}).status_code == 422


class TestServerFolder:
    @pytest.fixture
    def folder(self, settings, tmp_path: Path) -> Path:
        place = tmp_path / "server"
        (place / "a").mkdir(parents=True)
        (place / "a" / "walk.mp4").write_bytes(b"film")
        (place / "notes.txt").write_text("x")
        (place / "link.mp4").symlink_to("/etc/passwd")
        settings.MEDIA_IMPORT_FOLDER = str(place)
        return place

    def test_only_what_lies_in_the_folder_is_offered_and_taken(self, visitor: Client, folder: Path) -> None:
        from procrastinate.contrib.django.models import ProcrastinateJob

        street = a_set()
        text = html(visitor.get(page(street, "set_upload")))
        assert 'value="a/walk.mp4"' in text
        assert "notes.txt" not in text
        assert "link.mp4" not in text
        for name in ("../server/a/walk.mp4", "/etc/passwd", "link.mp4", "notes.txt", "a/../a/walk.mp4"):
            done = visitor.post(page(street, "set_from_server"), {"name": name}, follow=True)
            assert "has no video called" in html(done)
        assert not ProcrastinateJob.objects.exists()
        done = visitor.post(page(street, "set_from_server"), {"name": "a/walk.mp4"}, follow=True)
        assert "1 video is copied" in html(done)
        (job,) = ProcrastinateJob.objects.all()
        from videos import tasks

        tasks.bring_in(**job.args)
        assert Video.objects.get().file_name == "a/walk.mp4"

    def test_without_the_setting_there_is_no_such_form(self, visitor: Client) -> None:
        assert "server's folder" not in html(visitor.get(page(a_set(), "set_upload")))


def test_the_way_to_videos_is_shown_to_those_who_may_go(visitor: Client) -> None:
    assert f'href="{LIST}"' in html(visitor.get(LIST))
    home = client_of(user("annotator")).get(reverse("annotation:study_list"))
    assert f'href="{LIST}"' not in html(home)


def test_lists_ask_the_database_a_fixed_number_of_times(
    visitor: Client, django_assert_max_num_queries
) -> None:
    street = a_set("Street")
    for _ in range(12):
        ready(into=street)
    with django_assert_max_num_queries(14):
        visitor.get(page(street))
    for number in range(5):
        a_set(f"Set {number}")
    with django_assert_max_num_queries(10):
        visitor.get(LIST)
