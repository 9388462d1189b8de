"""Questions: what is read from a file, what is refused where, and all or nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.videos.app_fixtures import a_set, stored
from videos.core.document import validate
from videos.models import Video, VideoQuestion
from videos.services import question_imports
from videos.services.question_items import read


def item(**changes: Any) -> dict[str, Any]:
    given_item = {
        "id": "q-1",
        "video": "real/walk.mp4",
        "video_duration_s": 4.0,
        "category": "Sports",
        "question_type": "multiple-choice",
        "question": "Who throws?",
        "options": ["A. a woman", "B. a dog"],
        "answer": "A. a woman",
        "visual_cue": {
            "timeframe_s": [0.0, 1.5],
            "description": "She throws.",
            "analysis": "The ball flies.",
        },
        "audio_cue": {
            "timeframe_s": [[0.1, 0.2], [1, 2.0005]],
            "description": "A bark.",
            "analysis": "It waits.",
        },
        "final_answer": "a woman",
        "target_label": "woman",
        "seed_boxes": [{"time": 1.0, "box": [1, 2, 3, 4]}],
        "written_by": "by hand",
    }
    return {**given_item, **changes}


def data(*items: Any) -> bytes:
    return json.dumps(list(items)).encode()


def test_an_item_is_read_with_its_times_in_microseconds() -> None:
    found = read(data(item()))
    assert found.problems == []
    (one,) = found.items
    assert (one.id, one.video, one.question, one.answer) == (
        "q-1",
        "real/walk.mp4",
        "Who throws?",
        "A. a woman",
    )
    assert one.options == ["A. a woman", "B. a dog"]
    assert one.cot["visual"]["timeframe"]["intervals"] == [[0, 1_500_000]]
    assert one.cot["audio"]["timeframe"]["intervals"] == [[100_000, 200_000], [1_000_000, 2_000_500]]
    assert one.cot["audio"]["description"] == "A bark."
    assert one.cot["final_answer"] == "a woman"
    assert one.source == "by hand"
    assert one.meta == {"video_duration_s": 4.0, "seed_boxes": [{"time": 1.0, "box": [1, 2, 3, 4]}]}
    validate(question_imports.document_of(one))


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda one: json.dumps({"items": [one]}),
        lambda one: json.dumps({"data": [one]}),
        lambda one: json.dumps(one),
        lambda one: json.dumps(one) + "\n\n" + json.dumps({**one, "id": "q-2"}) + "\n",
        lambda one: "\ufeff" + json.dumps([one]),
    ],
)
def test_lists_objects_and_lines_are_all_taken(wrapped) -> None:
    found = read(wrapped(item()).encode())
    assert found.problems == []
    assert found.items[0].id == "q-1"


def test_names_that_others_use_are_known() -> None:
    other = {
        "qid": 7,
        "video_id": "walk",
        "text": "Who?",
        "correct_answer": "she",
        "choices": {"A": "she", "B": "he"},
    }
    (one,) = read(data(other)).items
    assert (one.id, one.video, one.question, one.answer) == ("7", "walk", "Who?", "she")
    assert one.options == ["A. she", "B. he"]


def test_reasoning_as_one_text_is_taken_apart() -> None:
    text = (
        "1. Visual Cue:\n- Timeframe: 00:01 - 00:02\n- Description: She throws.\n- Analysis: Seen.\n"
        "2. Audio Cue:\n- Timeframe: throughout\n- Description: A bark.\nFinal Answer: a woman"
    )
    bare = {name: value for name, value in item(trace_text=text).items() if not name.endswith("_cue")}
    del bare["final_answer"]
    (one,) = read(data(bare)).items
    assert one.cot["visual"]["timeframe"]["intervals"] == [[1_000_000, 2_000_000]]
    assert one.cot["audio"]["timeframe"]["whole"] is True
    assert one.cot["audio"]["analysis"] == ""
    assert one.cot["final_answer"] == "a woman"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"id": ""}, "id"),
        ({"id": None}, "id"),
        ({"id": "x" * 201}, "id"),
        ({"video": " "}, "video"),
        ({"question": None}, "question"),
        ({"question": ["Who?"]}, "question"),
        ({"question": "a\x00b"}, "question"),
        ({"question": "\ud800"}, "question"),
        ({"answer": {"a": 1}}, "answer"),
        ({"answer": "x" * 20_001}, "answer"),
        ({"options": "A or B"}, "options"),
        ({"options": [1, None, [2]]}, "options"),
        ({"visual_cue": "She throws."}, "visual_cue"),
        ({"visual_cue": {"timeframe_s": [2, 1]}}, "visual_cue.timeframe_s"),
        ({"visual_cue": {"timeframe_s": "1-2"}}, "visual_cue.timeframe_s"),
        ({"visual_cue": {"timeframe_s": [1, 2, 3]}}, "visual_cue.timeframe_s"),
        ({"visual_cue": {"timeframe_s": [-1, 2]}}, "visual_cue.timeframe_s"),
        ({"visual_cue": {"timeframe_s": [True, 2]}}, "visual_cue.timeframe_s"),
        ({"audio_cue": {"description": 1.5, "analysis": []}}, "audio_cue.analysis"),
        ({"video_duration_s": "four"}, "video_duration_s"),
        ({"video_duration_s": 10**400}, "video_duration_s"),
        ({"visual_cue": {"timeframe_s": [0, 10**400]}}, "visual_cue.timeframe_s"),
        ({"note": "a\x00b"}, ""),
    ],
)
def test_what_cannot_be_taken_is_named_with_item_and_field(changes: dict[str, Any], field: str) -> None:
    found = read(data(item(id="fine"), item(**changes)))
    assert [one.id for one in found.items] == ["fine"]
    (problem,) = found.problems
    assert (problem.item, problem.field) == (2, field)
    assert problem.message
    assert problem.remedy


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n",
        b"\xff\xfe",
        b"{",
        b'"text"',
        b"[NaN]",
        b"[]",
        b"[1]",
        b"[null, {}]",
        b"[" * 100_000,
        b"12\n13",
    ],
)
def test_ih_16_a_file_that_is_no_list_of_items_is_a_problem(content: bytes) -> None:
    found = read(content)
    assert found.items == []
    assert found.problems
    assert str(found.problems[0])[0].isupper()


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.integers(), st.lists, max_leaves=8)
)
def test_ih_16_whatever_stands_in_a_field_is_a_value_or_a_problem(value: Any) -> None:
    for name in ("id", "question", "options", "visual_cue", "video_duration_s", "difficulty", "extra"):
        found = read(json.dumps([item(**{name: value})], allow_nan=True).encode())
        assert len(found.items) + len(found.problems) == 1


def test_ih_16_a_number_beyond_what_the_database_holds_is_a_problem() -> None:
    found = read(json.dumps([item(note=7.25)]).replace("7.25", "1e999").encode())
    assert [str(one) for one in found.problems] == ["Item 1: an extra field cannot be stored. Remove it."]


def test_an_id_stands_for_one_question() -> None:
    found = read(data(item(), item(question="Another?")))
    assert [str(problem) for problem in found.problems] == [
        "Item 2, field id: 'q-1' is the id of item 1 as well. Give each question an id of its own."
    ]


@pytest.mark.django_db
class TestImport:
    def ready(self, **fields: Any) -> Video:
        return stored(b"film", name="real/walk.mp4", duration_us=4_000_000, **fields)

    def test_questions_are_stored_in_the_order_of_the_file(self) -> None:
        video = self.ready()
        found = question_imports.preview(
            video_set=video.video_set, data=data(item(), item(id="q-2", options=None))
        )
        assert (found.problems, found.notes) == ([], [])
        assert found.counts == {"questions": 2, "videos": 1, "choices": 1, "known": 0, "unanswered": 0}
        assert not VideoQuestion.objects.exists(), "a preview stores nothing"
        question_imports.commit(video_set=video.video_set, found=found)
        rows = list(VideoQuestion.objects.order_by("number"))
        shown = [(row.number, row.external_id, row.options is None) for row in rows]
        assert shown == [(1, "q-1", False), (2, "q-2", True)]
        assert rows[0].document["cot"]["visual"]["timeframe"]["intervals"] == [[0, 1_500_000]]
        assert rows[0].document["tracks"] == {}
        assert Event.objects.get(action="video_questions.import").data["questions"] == 2

    def test_a_video_may_be_called_by_any_of_its_names(self) -> None:
        video = self.ready()
        for name in (
            "real/walk.mp4",
            "walk.mp4",
            "walk",
            "other/place/walk.webm",
            "C:\\x\\walk.mp4",
            video.sha256,
        ):
            found = question_imports.preview(video_set=video.video_set, data=data(item(video=name)))
            assert [placed.video for placed in found.placed] == [video], name

    def test_an_unknown_and_an_ambiguous_video_are_problems(self) -> None:
        video = self.ready()
        stored(b"another", name="b/walk.mp4", into=video.video_set)
        found = question_imports.preview(
            video_set=video.video_set, data=data(item(video="run.mp4"), item(id="q-2", video="walk"))
        )
        assert [(one.item, one.field) for one in found.problems] == [(1, "video"), (2, "video")]
        assert "no video called 'run.mp4'" in found.problems[0].message
        assert "2 videos" in found.problems[1].message
        with pytest.raises(UserError) as refused:
            question_imports.commit(video_set=video.video_set, found=found)
        assert refused.value.code == "import_has_problems"
        exact = question_imports.preview(video_set=video.video_set, data=data(item(video="b/walk.mp4")))
        assert exact.problems == []

    def test_the_same_file_again_brings_nothing_and_a_changed_question_is_a_problem(self) -> None:
        video = self.ready()
        first = question_imports.preview(video_set=video.video_set, data=data(item()))
        question_imports.commit(video_set=video.video_set, found=first)
        again = question_imports.preview(video_set=video.video_set, data=data(item()))
        assert (again.counts["questions"], again.known, again.problems) == (0, 1, [])
        changed = question_imports.preview(video_set=video.video_set, data=data(item(answer="B. a dog")))
        assert [one.field for one in changed.problems] == ["id"]
        more = question_imports.preview(video_set=video.video_set, data=data(item(), item(id="q-9")))
        question_imports.commit(video_set=video.video_set, found=more)
        assert list(VideoQuestion.objects.values_list("number", flat=True).order_by("number")) == [1, 2]

    def test_two_imports_at_once_do_not_store_a_question_twice(self) -> None:
        video = self.ready()
        left = question_imports.preview(video_set=video.video_set, data=data(item()))
        right = question_imports.preview(video_set=video.video_set, data=data(item()))
        question_imports.commit(video_set=video.video_set, found=left)
        with pytest.raises(UserError) as refused:
            question_imports.commit(video_set=video.video_set, found=right)
        assert (refused.value.code, refused.value.status) == ("import_conflict", 409)

    def test_another_length_and_a_timeframe_behind_the_end_are_notes(self) -> None:
        video = self.ready()
        late = item(video_duration_s=5.2, visual_cue={"timeframe_s": [3, 9]})
        found = question_imports.preview(video_set=video.video_set, data=data(late))
        assert found.problems == []
        assert len(found.notes) == 2
        assert "lasts 5.2 s; the video here lasts 4.000 s" in found.notes[0]
        assert "ends at 9 s" in found.notes[1]

    def test_reasoning_that_no_document_may_hold_is_a_problem(self) -> None:
        video = self.ready()
        crowded = item(visual_cue={"timeframe": "x" * 3000})
        found = question_imports.preview(video_set=video.video_set, data=data(crowded))
        assert [one.field for one in found.problems] == ["cot.visual.timeframe"]


@pytest.mark.django_db
class TestPublicSets:
    ROW = {
        "video_name": "aB3_-dEfGhi_30",
        "question_text": "What makes the sound?",
        "multi_choice": ["dog", "car"],
        "answer": 1,
        "question_type": "Which",
    }

    def ready(self) -> Video:
        return stored(b"film", name="avqa/aB3_-dEfGhi_000030.mp4", duration_us=10_000_000)

    def test_a_row_of_a_set_is_a_question_about_a_video_under_its_other_name(self) -> None:
        video = self.ready()
        found = question_imports.preview(video_set=video.video_set, data=data({**self.ROW, "id": 4}))
        assert (found.problems, found.shape, found.read_as) == ([], "avqa", "AVQA")
        question_imports.commit(video_set=video.video_set, found=found)
        row = VideoQuestion.objects.get()
        assert (row.external_id, row.video, row.answer, row.source) == ("avqa:4", video, "car", "AVQA")
        assert row.options == ["dog", "car"]
        assert row.meta == {"answer_letter": "B"}
        assert row.document["cot"]["final_answer"] == "car"
        event = Event.objects.get(action="video_questions.import").data
        assert (event["shape"], event["left_out"]) == ("avqa", 0)
        again = question_imports.preview(video_set=video.video_set, data=data({**self.ROW, "id": 4}))
        assert (again.known, again.placed, again.problems) == (1, [], [])

    def test_what_has_a_problem_may_be_left_out_and_is_named_and_counted(self) -> None:
        video = self.ready()
        content = data(
            {**self.ROW, "id": 1, "video_name": "other"},
            {**self.ROW, "id": 2, "video_name": "other"},
            {**self.ROW, "id": 3, "answer": 7},
            {**self.ROW, "id": 4, "answer": None},
        )
        words = "Videos that the set Street does not have: 1, with 2 questions of the file about them."
        strict = question_imports.preview(video_set=video.video_set, data=content)
        assert [(one.item, one.field) for one in strict.problems] == [
            (1, "video"),
            (2, "video"),
            (3, "answer"),
        ]
        assert words in strict.notes
        found = question_imports.preview(video_set=video.video_set, data=content, leave_out=True)
        assert found.problems == []
        assert found.left_out == strict.problems
        assert words in found.notes
        assert found.counts == {"questions": 1, "videos": 1, "choices": 1, "known": 0, "unanswered": 1}
        question_imports.commit(video_set=video.video_set, found=found)
        assert VideoQuestion.objects.get().external_id == "avqa:4"
        assert Event.objects.get(action="video_questions.import").data["left_out"] == 3

    def test_a_problem_of_the_whole_file_is_never_left_out(self) -> None:
        video_set = self.ready().video_set
        for content, shape in ((b"", ""), (data({**self.ROW, "id": 4}), "lvbench")):
            found = question_imports.preview(video_set=video_set, data=content, shape=shape, leave_out=True)
            assert [one.item for one in found.problems] == [None]
            with pytest.raises(UserError):
                question_imports.commit(video_set=video_set, found=found)

    def test_a_film_that_is_cut_differently_shows_by_its_frames(self) -> None:
        video = stored(b"film", name="7.mp4", duration_us=4_000_000)
        film = {
            "info": {"video_path": "7.mp4", "fps": 25, "num_frame": 300},
            "global": [{"question": "Is there a dog?", "answer": "yes"}],
        }
        found = question_imports.preview(video_set=video.video_set, data=json.dumps(film).encode())
        assert "lasts 12 s; the video here lasts 4.000 s" in found.notes[0]


@pytest.mark.django_db
def test_items_written_for_real_clips(shared_data: Path) -> None:
    path = shared_data / "media" / "qa" / "items.json"
    if not path.is_file():
        pytest.skip("the items are not there")
    video_set = a_set()
    items = json.loads(path.read_text(encoding="utf-8"))
    for number, name in enumerate({one["video"] for one in items}):
        stored(str(number).encode(), name=name, into=video_set)
    found = question_imports.preview(video_set=video_set, data=path.read_bytes())
    assert found.problems == []
    assert len(found.placed) == len(items) == 8
    question_imports.commit(video_set=video_set, found=found)
    first = VideoQuestion.objects.get(external_id="own-001")
    assert first.document["cot"]["audio"]["timeframe"]["intervals"] == [[1_310_000, 6_090_000]]
    assert first.document["target_label"] == "woman"
