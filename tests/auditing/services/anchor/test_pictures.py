"""Pictures of a real clip on their way to a model that answers about it."""

import json

import pytest

from auditing.models import BenchmarkItem, ModelAnswer
from auditing.services.anchor import benchmarks
from reasonaudit.lib.models import RunState
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.witness import Witness, carry_out, counts, make_run
from tests.videos.app_fixtures import _own_reasons_and_counts, film, media_folder, prepared  # noqa: F401
from tests.videos.factories import question
from videos.core.timebase import PictureIndex
from videos.core.tracks.model import Keyframe, Track
from videos.media import client
from videos.media.errors import MediaCancelled, MediaFailed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def item(film, settings) -> BenchmarkItem:  # noqa: F811
    settings.LLM_IMAGE_MODELS = ["witness"]
    clip = prepared(film())
    question(clip)
    made = benchmarks.create(name="Real", video_set=clip.video_set, parameters={"pictures": 3})
    return builders.item(made)


def images(model: Witness) -> list[int]:
    """How many pictures went along with each request."""
    parts = [json.loads(request.body())["messages"][-1]["content"] for request in model.asked]
    return [sum(isinstance(part, dict) and part["type"] == "image_url" for part in said) for said in parts]


def test_evenly_spaced_pictures_and_boxes_at_their_times_are_given(item):
    clip = item.question.video
    index = PictureIndex.from_bytes(bytes(clip.picture_index))
    width, height = clip.facts["width"], clip.facts["height"]
    box = (width / 4, height / 2, width / 2, height / 4)
    track = Track(
        "7c0d0c6e-5a0b-4b67-9f0e-2f6f7b1f5f0a",
        "dog",
        keyframes=(Keyframe(0, box),),
        visible=((0, index.n),),
    )
    builders.reference(item, content=builders.document(tracks={track.id: track.to_json()}))
    model = Witness()
    assert carry_out(make_run(item.benchmark, "answer"), model) == RunState.DONE
    assert images(model) == [3]
    lines = model.asked[0].inputs["boxes"][0].splitlines()
    assert len(lines) == 3, "one at each picture that is shown"
    assert all(line.startswith("- dog @ ") and line.endswith(": 25.0 50.0 50.0 25.0") for line in lines)


def test_all_takes_of_an_item_show_the_same_pictures_and_no_take_shows_any_without_video(item):
    model = Witness()
    carry_out(make_run(item.benchmark, "rollout", choices={"takes": 2}), model)
    assert images(model) == [3, 3]
    model = Witness()
    carry_out(make_run(item.benchmark, "answer", choices={"setting": "no_video"}), model)
    assert model.asked[0].inputs["withheld"] == ("pictures",)
    assert isinstance(json.loads(model.asked[0].body())["messages"][-1]["content"], str)


def test_the_same_pictures_make_the_same_request_so_a_known_reply_is_not_paid_for_again(item):
    carry_out(make_run(item.benchmark, "answer"), Witness())
    ModelAnswer.objects.all().delete()
    run, model = make_run(item.benchmark, "answer"), Witness()
    assert carry_out(run, model) == RunState.DONE
    assert model.asked == []
    assert counts(run) == (1, 1, 1, 0, 0, 0)
    assert ModelAnswer.objects.count() == 1


def test_pictures_that_cannot_be_made_are_a_reason_not_a_crash(item, monkeypatch):
    run = make_run(item.benchmark, "answer")

    def fail(*args, **kwargs):
        raise MediaFailed("The reader ended without a word.")

    monkeypatch.setattr(client, "save_pictures", fail)
    assert carry_out(run, Witness()) == RunState.PARTIAL
    row = run.items.get()
    assert row.state == RunState.FAILED
    assert row.message == "Its pictures could not be made. The reader ended without a word."
    assert not ModelAnswer.objects.exists()


def test_a_wish_to_stop_ends_the_making_of_pictures_and_nothing_of_the_item_is_stored(item, monkeypatch):
    run = make_run(item.benchmark, "answer")

    def slow(*args, is_cancelled, **kwargs):
        type(run).objects.filter(pk=run.pk).update(cancel_requested_at="2026-01-01T00:00:00Z")
        assert is_cancelled(), "the reader of pictures is told"
        raise MediaCancelled("Stopped.")

    monkeypatch.setattr(client, "save_pictures", slow)
    model = Witness()
    assert carry_out(run, model) == RunState.CANCELLED
    assert model.asked == []
    assert (run.items.get().state, counts(run)[:2]) == (RunState.QUEUED, (1, 0))


def test_a_lost_file_is_said_before_anything_is_asked(item):
    clip = item.question.video
    type(clip).objects.filter(pk=clip.pk).update(sha256="0" * 64)
    from auditing.services.anchor import planning

    told = planning.plan(
        benchmark=item.benchmark,
        step="answer",
        model="openai:witness",
        options={"base_url": "http://127.0.0.1:9/v1"},
    )
    assert (told.requests, len(told.refused)) == (0, 1)
    assert "is gone. Upload the clip again." in told.refused[0][1]
