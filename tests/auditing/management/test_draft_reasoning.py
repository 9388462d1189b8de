"""The command that drafts for a set."""

import io

import pytest
from django.core.management import CommandError, call_command

from auditing.services.drafts import sources
from tests.auditing.drafting.test_reading import PLAIN
from tests.videos import factories as videos
from videos.models import GeneratedDocument

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("draft_models")]


def run(*arguments: object) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("draft_reasoning", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def drafter(says, monkeypatch):
    made = says(PLAIN)
    monkeypatch.setattr(sources, "build", lambda spec, takes_pictures: made)
    return made


def test_every_question_of_a_set_gets_a_version_for_everybody_and_only_once(drafter) -> None:
    clip = videos.video()
    for _ in range(2):
        videos.question(clip)
    slug = clip.video_set.slug
    out, err = run(slug, "--dry-run")
    assert "writer would draft for 2 questions: 2 calls" in out
    assert not GeneratedDocument.objects.exists()
    assert drafter.script.asked == []
    out, err = run(slug)
    assert "2 of 2 questions have a draft; 0 of them from a stored reply." in out
    assert "2 of 2 questions" in err
    assert list(GeneratedDocument.objects.values_list("asked_in", flat=True)) == [None, None]
    out, _ = run(slug)
    assert "would draft for 0 questions: no call. 2 have a version" in out
    run(slug, "--again")
    assert GeneratedDocument.objects.count() == len(drafter.script.asked) == 2


def test_questions_without_a_draft_are_named_and_the_command_ends_with_1(drafter) -> None:
    clip = videos.video()
    question = videos.question(clip)
    drafter.script.answers[:] = ["No."]
    with pytest.raises(CommandError, match="1 questions have no draft") as ended:
        run(clip.video_set.slug)
    assert ended.value.returncode == 1
    assert question.external_id


def test_a_set_or_a_model_that_is_not_there_is_wrong_use(drafter) -> None:
    clip = videos.video()
    for arguments in (["nowhere"], [clip.video_set.slug, "--connection", "gpt"]):
        with pytest.raises(CommandError) as refused:
            run(*arguments)
        assert refused.value.returncode == 2
