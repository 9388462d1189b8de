"""`manage.py benchmark`: made, filled, shown; every problem in words and nothing half imported."""

import json

import pytest

from auditing.models import Benchmark, ModelAnswer, Reference
from tests.annotation.video_scene import Scene
from tests.auditing.services.anchor import builders
from tests.videos import factories as videos
from videos.models import GeneratedDocument

pytestmark = pytest.mark.django_db
ANSWER = {"kind": "answer", "item": "q1", "model": "m", "text": builders.CHAIN}
RATING = {"kind": "rating", "item": "q1", "model": "m", "facet": "answer", "judge": "j"}


def written(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_benchmark_is_made_of_a_set_and_takes_new_questions(run):
    question = videos.question()
    of = question.video_set
    done = run("benchmark", "make", "--set", of.slug, "--name", "Dogs", "--parameters", '{"seed": 7}')
    assert done.code == 0
    assert f"Made dogs: 1 items of {of.name}." in done.out
    assert Benchmark.objects.get().parameters["seed"] == 7
    videos.question(question.video)
    assert "1 new items in dogs." in run("benchmark", "add", "dogs").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("make", "--set", "none", "--name", "A"), "There is no video set 'none'."),
        (("make", "--set", "{set}", "--name", "A", "--parameters", "x"), "no JSON"),
        (("make", "--set", "{set}", "--name", "A", "--parameters", "[]"), "no JSON object"),
        (("make", "--set", "{set}", "--name", " "), "Use 1 to 200 characters"),
        (("show", "none"), "There is no benchmark 'none'."),
        (("references", "{slug}", "--study", "none"), "There is no study 'none'."),
        (("references", "{slug}", "--generated", "m"), "Name the source"),
        (("references", "{slug}", "--questions", "--source", "human"), "--kind refined or generated"),
        (("references", "{slug}", "--generated", "m", "--source", "g"), "m has written no reasoning"),
        (("import", "{slug}", "no-such-file"), "Nothing was imported"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run, arguments, said):
    made = builders.benchmark(items=1)
    done = run("benchmark", *(part.format(slug=made.slug, set=made.video_set.slug) for part in arguments))
    assert done.code == 1
    assert said in done.err
    assert Benchmark.objects.count() == 1


def test_references_are_taken_from_each_source(run):
    scene = Scene(people=1)
    scene.hand_in(0)
    videos.question(scene.item.question.video, document={})
    run("benchmark", "make", "--set", scene.study.video_set.slug, "--name", "B")
    done = run("benchmark", "references", "b", "--study", scene.study.slug)
    assert "1 references taken, 0 unchanged, 1 left out." in done.out
    assert "Item 2: Nobody has handed in anything" in done.err
    done = run("benchmark", "references", "b", "--questions", "--source", "own", "--kind", "refined")
    assert "1 references taken" in done.out
    GeneratedDocument.objects.create(
        question=scene.item.question,
        number=1,
        kind="reasoning",
        document=builders.document(),
        source={"model": "m"},
    )
    done = run("benchmark", "references", "b", "--generated", "m", "--source", "generated")
    assert "1 references taken" in done.out
    assert sorted(Reference.objects.values_list("source", "kind", "writer")) == [
        ("generated", "generated", "m"),
        ("human", "refined", ""),
        ("own", "refined", ""),
    ]


def test_rows_are_imported_and_counted(run, tmp_path):
    made = builders.benchmark(items=2)
    path = written(
        tmp_path / "rows.jsonl", ANSWER, {**RATING, "rating": 4}, {**RATING, "judge": "k", "rating": 9}
    )
    done = run("benchmark", "import", made.slug, path)
    assert done.code == 0
    assert f"{path}: 1 answers, 2 ratings new or changed." in done.out
    assert "ratings without a value: 1 out_of_range" in done.out
    shown = run("benchmark", "show", made.slug, "--json")
    assert json.loads(shown.out) == {
        "items": 2,
        "references": {},
        "answers": {"m, full": 1},
        "rollouts": {},
        "ratings": {"j, answer": 1, "k, answer, missing": 1},
        "warnings": {},
    }
    assert "ratings: k, answer, missing: 1" in run("benchmark", "show", made.slug).out


def test_a_problem_stops_all_files_unless_such_rows_are_left_out(run, tmp_path):
    made = builders.benchmark(items=1)
    good = written(tmp_path / "good.jsonl", ANSWER)
    bad = written(tmp_path / "bad.jsonl", {**ANSWER, "take": 2}, {**ANSWER, "item": "none"})
    done = run("benchmark", "import", made.slug, good, bad)
    assert done.code == 1
    assert f"{bad}, line 2, field item: {made.name} has no item 'none'." in done.err
    assert "1 problem; nothing was imported." in done.err
    assert not ModelAnswer.objects.exists()
    done = run("benchmark", "import", made.slug, good, bad, "--skip")
    assert done.code == 0
    assert "left out: 1" in done.out
    assert ModelAnswer.objects.count() == 2


def test_a_benchmark_is_exported_and_restored_over_a_set(run, tmp_path):
    made = builders.benchmark(items=2, name="Dogs")
    builders.answer(builders.item(made))
    done = run("benchmark", "export", "dogs", "--out", str(tmp_path / "a"))
    assert done.code == 0
    assert "2 items" in done.out
    assert "read back and checked" in done.out
    folder = str(tmp_path / "a")
    again = run("benchmark", "restore", folder, "--set", made.video_set.slug, "--name", "Cats")
    assert again.code == 0
    assert "Made cats: 2 items, 0 references, 1 answers" in again.out
    assert ModelAnswer.objects.filter(item__benchmark__slug="cats").count() == 1
    elsewhere = videos.video_set("Elsewhere")
    bad = run("benchmark", "restore", folder, "--set", elsewhere.slug)
    assert bad.code == 1
    assert "items.jsonl, line 1, field video: Elsewhere has no clip" in bad.err
    (tmp_path / "a" / "items.jsonl").write_text("{}")
    damaged = run("benchmark", "restore", folder, "--set", made.video_set.slug)
    assert (damaged.code, Benchmark.objects.count()) == (1, 2)
    assert "items.jsonl is not as it was written" in damaged.err
    assert run("benchmark", "export", "none", "--out", str(tmp_path / "b")).code == 1
