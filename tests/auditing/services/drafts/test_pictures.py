"""Pictures of a real clip on their way to a model."""

import base64
import io
import json

import pytest
from PIL import Image

from auditing.services.drafts import runs
from auditing.services.drafts.execution import execute
from reasonaudit.lib.models import RunState
from tests.auditing.drafting.test_reading import PLAIN
from tests.videos.app_fixtures import _own_reasons_and_counts, film, media_folder, prepared  # noqa: F401
from tests.videos.factories import question
from videos.core.cot import format_clock
from videos.core.timebase import PictureIndex
from videos.models import GeneratedDocument
from videos.selectors.documents import limits_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_evenly_spaced_pictures_go_with_their_clip_times_and_the_version_names_them(film, says) -> None:  # noqa: F811
    video = prepared(film())
    run = runs.create(kind="reasoning", questions=[question(video)], connection="seer")
    drafter = says(PLAIN, takes_pictures=True)
    assert execute(run.pk, drafter=drafter) == RunState.DONE
    parts = json.loads(drafter.script.asked[0].body())["messages"][-1]["content"]
    images = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert len(images) == 3
    sizes = [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size for url in images]
    assert {max(size) <= 768 for size in sizes} == {True}
    source = GeneratedDocument.objects.get().source
    index = PictureIndex.from_bytes(bytes(video.picture_index))
    end = format_clock(limits_of(video).duration_us)
    # The middle pictures of three equal parts.
    wanted = [index.n // 6, 3 * index.n // 6, 5 * index.n // 6]
    assert [one["frame"] for one in source["pictures"]] == wanted
    assert [one["time_us"] for one in source["pictures"]] == [index.clip_us(frame) for frame in wanted]
    assert source["warnings"] == [
        "The visual timeframe \u201c00:01 - 00:03\u201d reaches beyond the end of the clip at "
        f"{end}; it was cut there.",
        "The clip has no transcript: what is said in it was not sent.",
    ]
