"""An exported benchmark comes back the same; what is wrong with a bundle is named, and then nothing is stored."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditing.formats import benchmark_bundle as bundle
from auditing.formats.bundle import write_bundle
from auditing.models import Benchmark, BenchmarkItem, DifficultyReview, Rating
from auditing.selectors.benchmark_ratings import current
from auditing.services.anchor import bundle_import, difficulty, exports, grounding
from auditing.views.exports import archive
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.whole_benchmark import whole
from tests.videos import factories as videos
from videos.models import Video, VideoQuestion, VideoSet

pytestmark = pytest.mark.django_db


def elsewhere(of: VideoSet, **fields: Any) -> VideoSet:
    """A set with the same clips and no question, as another installation has it."""
    made = videos.video_set("Elsewhere")
    made.licence, made.attribution = of.licence, of.attribution
    made.save()
    for clip in Video.objects.filter(video_set=of).order_by("title"):
        videos.video(made, **{"title": clip.title, "sha256": clip.sha256, **fields})
    return made


def exported(folder: Path, made: Benchmark | None = None) -> Benchmark:
    found = made or whole()
    exports.export_benchmark(found, folder, by=None)
    return found


def rewritten(folder: Path, name: str, change: Callable[[list[Any]], None]) -> None:
    """The bundle with changed lines of a file and right checksums: only what the lines say is wrong."""
    rows = [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
    change(rows)
    files = {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.name not in ("manifest.json", "SHA256SUMS")
    }
    files[name] = b"".join(bundle.json_line(row) for row in rows)
    write_bundle(folder, files, {"schema": exports.SCHEMA})


def same_files(one: Path, other: Path) -> None:
    for name in (bundle.BENCHMARK, *bundle.LINES):
        assert (one / name).read_text("utf-8") == (other / name).read_text("utf-8"), name


def test_a_benchmark_comes_back_the_same_in_the_same_set_and_again(tmp_path):
    made = exported(tmp_path / "a")
    before = VideoQuestion.objects.count()
    again = bundle_import.commit(tmp_path / "a", made.video_set)
    assert (again.name, again.slug) == (made.name, f"{made.slug}-2")
    assert VideoQuestion.objects.count() == before
    exported(tmp_path / "b", again)
    same_files(tmp_path / "a", tmp_path / "b")
    third = bundle_import.commit(tmp_path / "b", made.video_set)
    exported(tmp_path / "c", third)
    same_files(tmp_path / "a", tmp_path / "c")


def test_a_benchmark_comes_back_the_same_where_nothing_but_the_clips_is(tmp_path):
    made = exported(tmp_path / "a")
    there = elsewhere(made.video_set)
    found = bundle_import.preview(tmp_path / "a", there)
    assert (found.problem_count, found.notes) == (0, ["2 questions that the set does not have will be made."])
    again = bundle_import.commit(tmp_path / "a", there, name="Another name")
    assert again.name == "Another name"
    assert list(VideoQuestion.objects.filter(video_set=there).values_list("external_id", "number")) == [
        ("q1", 1),
        ("q2", 1),
    ]
    exported(tmp_path / "b", again)
    for name in bundle.LINES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_what_came_back_counts_as_before(tmp_path):
    made = exported(tmp_path)
    again = bundle_import.commit(tmp_path, made.video_set)
    first, second = builders.item(again, 1), builders.item(again, 2)
    assert (first.difficulty, first.decision, first.annotation_source) == ("hard", "rejected", "human")
    assert (second.difficulty, second.category_by) == ("", "openai:sorter")
    assert (first.category, first.category_by) == ("Gaming", "imported:rater-1")
    rows = Rating.objects.filter(answer__item__benchmark=again)
    assert rows.count() == 9
    assert rows.filter(current()).count() == 8
    assert not rows.filter(user__isnull=False).exists()
    people = rows.filter(source__startswith="imported:").order_by("source").values_list("source", "value")
    assert list(people) == [
        ("imported:rater-1", 5),
        ("imported:rater-2", 3),
        ("imported:rater-3", 2),
        ("imported:rater-7", 1),
    ]
    answer, reference = first.answers.get(model="model-a", role="chain"), first.references.get(source="human")
    assert answer.sha256 == made.items.get(number=1).answers.get(model="model-a", role="chain").sha256
    assert not grounding.store(answer, reference, 0.5), "its score is known to be of these inputs"
    assert again.revision > 0


def test_a_decision_from_elsewhere_stays_when_the_item_is_judged_again_and_a_new_one_goes_before(tmp_path):
    made = exported(tmp_path / "a")
    item = builders.item(bundle_import.commit(tmp_path / "a", made.video_set))
    kept = {"decision": "rejected", "fault": "judge", "level": "easy", "note": "No.", "version": 1}
    difficulty.assess(item)
    row = DifficultyReview.objects.get(item=item)
    assert {name: getattr(row, name) for name in kept} == kept
    assert (row.user, row.source, row.person) == (None, "imported:rater-2", "rater-2")
    difficulty.review(item, decision="confirmed", version=1, by=make.user("researcher"))
    exported(tmp_path / "b", item.benchmark)
    row = json.loads((tmp_path / "b" / bundle.ITEMS).read_text("utf-8").splitlines()[0])
    # rater-1, -2, -3 and -7 are taken, two of them by people of this item.
    assert (row["review"]["decision"], row["review"]["person"]) == ("confirmed", "rater-4")


def test_an_import_is_one_event_and_one_of_the_questions_it_made(tmp_path):
    made = exported(tmp_path)
    user = make.user("researcher")
    before = set(Event.objects.values_list("pk", flat=True))
    again = bundle_import.commit(tmp_path, elsewhere(made.video_set), by=user)
    events = Event.objects.exclude(pk__in=before).order_by("pk")
    assert [(event.action, event.actor_id) for event in events] == [
        ("video_questions.import", user.pk),
        ("benchmark.import_bundle", user.pk),
    ]
    assert again.created_by == user


def test_clips_are_found_by_title_with_a_note_and_otherwise_missing(tmp_path):
    made = exported(tmp_path)
    there = videos.video_set("By title")
    videos.video(there, title="Clip 0001")
    found = bundle_import.preview(tmp_path, there)
    (problem,) = [one for one in found.problems if one.file == bundle.ITEMS]
    assert (problem.line, problem.field, problem.message) == (2, "video", "By title has no clip 'Clip 0002'")
    videos.video(there, title="Clip 0002")
    found = bundle_import.preview(tmp_path, there)
    assert found.problems == []
    assert any("2 clips were found by their title alone" in note for note in found.notes)
    videos.video(there, title="Clip 0002")
    (problem,) = bundle_import.preview(tmp_path, there).problems[:1]
    assert problem.message == "2 clips of By title are called 'Clip 0002'"
    assert Benchmark.objects.count() == 1, made


def test_a_score_over_a_clip_of_another_length_is_known_as_one_of_other_inputs(tmp_path):
    made = exported(tmp_path)
    again = bundle_import.commit(tmp_path, elsewhere(made.video_set, duration_us=9_000_000))
    item = builders.item(again)
    answer, reference = item.answers.get(model="model-a", role="chain"), item.references.get(source="human")
    assert grounding.store(answer, reference, 0.5), "it is compared anew"


def test_a_question_that_the_set_has_otherwise_is_a_problem_and_a_small_difference_a_note(tmp_path):
    made = exported(tmp_path)
    VideoQuestion.objects.filter(external_id="q1").update(answer="Another one.")
    VideoQuestion.objects.filter(external_id="q2").update(category="Sports")
    found = bundle_import.preview(tmp_path, made.video_set)
    problem = found.problems[0]
    assert (problem.line, problem.field) == (1, "question")
    assert problem.message == "the set has a question 'q1' already, and it has another answer"
    assert any("1 questions of the set have another category" in note for note in found.notes)


def test_boxes_beyond_the_clip_are_a_problem_of_their_line(tmp_path):
    made = exported(tmp_path)
    there = elsewhere(made.video_set, facts={"width": 20, "height": 20})
    found = bundle_import.preview(tmp_path, there)
    assert {problem.file for problem in found.problems} == {bundle.REFERENCES, bundle.ANSWERS}
    assert all(problem.field.startswith("document.tracks.") for problem in found.problems)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (bundle.RATINGS, lambda rows: rows[0].update(value=9), "line 1, field value"),
        (bundle.RATINGS, lambda rows: rows[0].update(person="Ann"), "line 1, field person"),
        (bundle.RATINGS, lambda rows: rows.append(dict(rows[0])), "the same is said in line 1"),
        (bundle.ANSWERS, lambda rows: rows.pop(0), "there is no such answer"),
        (bundle.REFERENCES, lambda rows: rows.pop(0), "has no reference"),
        (bundle.REFERENCES, lambda rows: rows[0].update(document={}), "A document is an object"),
        (bundle.ITEMS, lambda rows: rows[0]["question"].update(document={}), "A document is an object"),
        (bundle.ITEMS, lambda rows: rows.clear(), "the file has no item"),
    ],
)
def test_nothing_is_stored_where_a_line_does_not_fit(tmp_path, name, change, said):
    made = exported(tmp_path)
    there = elsewhere(made.video_set)
    rewritten(tmp_path, name, change)
    bundle_import.check(tmp_path)
    counts = [model.objects.count() for model in (Benchmark, BenchmarkItem, Rating, VideoQuestion, Event)]
    with pytest.raises(UserError) as caught:
        bundle_import.commit(tmp_path, there)
    assert caught.value.code == "import_has_problems"
    assert any(said in problem for problem in caught.value.fields["files"])
    assert counts == [
        model.objects.count() for model in (Benchmark, BenchmarkItem, Rating, VideoQuestion, Event)
    ]


def test_a_verdict_and_a_level_that_a_file_claims_are_not_believed(tmp_path):
    made = exported(tmp_path)

    def claim(rows: list[Any]) -> None:
        rows[0].update(difficulty="easy", verdict={"anything": 1}, category="Made up", annotation_source="ai")

    rewritten(tmp_path, bundle.ITEMS, claim)
    item = builders.item(bundle_import.commit(tmp_path, made.video_set))
    assert (item.difficulty, item.verdict["votes"]) == ("hard", [1, 1])
    assert (item.category, item.annotation_source) == ("Gaming", "human")


def test_parameters_that_cannot_be_are_a_problem(tmp_path):
    made = exported(tmp_path)
    path = tmp_path / bundle.BENCHMARK
    head = json.loads(path.read_bytes())
    head["parameters"]["pictures"] = 10_000
    path.write_text(json.dumps(head))
    (problem,) = bundle_import.preview(tmp_path, made.video_set).problems
    assert (problem.file, problem.field) == (bundle.BENCHMARK, "parameters")


def zipped(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "no_archive"),
        (b"PK\x03\x04 and no more", "no_archive"),
        (zipped({}), "export_damaged"),
        (zipped({"../outside.txt": b"x"}), "bad_archive"),
        (zipped({"/etc/passwd": b"x"}), "bad_archive"),
        (zipped({"a/b.jsonl": b"x"}), "bad_archive"),
        (zipped({"items.jsonl": b"0" * 50_000_000}), "bad_archive"),
        (zipped({f"{number}.txt": b"" for number in range(201)}), "archive_too_large"),
        (zipped({"manifest.json": b"{}", "SHA256SUMS": b""}), "export_damaged"),
    ],
)
def test_ih_hostile_archives_are_refused_before_anything_is_read(data, code):
    with pytest.raises(UserError) as caught, bundle_import.opened(data):
        pytest.fail("it was opened")
    assert caught.value.code == code


def test_ih_a_changed_byte_is_found_and_a_whole_archive_is_opened(tmp_path):
    exported(tmp_path)
    with bundle_import.opened(archive(tmp_path)) as folder:
        assert (folder / bundle.ITEMS).is_file()
    assert not folder.exists()
    data = bytearray((tmp_path / bundle.RATINGS).read_bytes())
    data[data.index(b'"value":5') + 8] = ord("1")
    (tmp_path / bundle.RATINGS).write_bytes(bytes(data))
    with pytest.raises(UserError, match=r"ratings\.jsonl is not as it was written"):
        bundle_import.check(tmp_path)


def test_another_export_is_no_benchmark(tmp_path):
    write_bundle(tmp_path, {"study.json": b"{}"}, {"schema": "reasonaudit.study-export/1"})
    with pytest.raises(UserError) as caught:
        bundle_import.check(tmp_path)
    assert caught.value.code == "no_benchmark"
    with pytest.raises(UserError) as caught:
        bundle_import.check(tmp_path / "nowhere")
    assert caught.value.code == "no_folder"
