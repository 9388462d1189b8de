"""An exported benchmark: the same bytes twice, checked by its own verifier, pseudonyms only, safe in spreadsheets."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from auditing.formats import benchmark_bundle as bundle
from auditing.services.anchor import exports
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.annotation import factories as make
from tests.auditing.services.anchor import builders
from tests.auditing.services.anchor.whole_benchmark import whole

pytestmark = pytest.mark.django_db


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def test_twice_the_same_bytes_which_the_verifier_in_the_folder_takes(tmp_path):
    made = whole()
    first = exports.export_benchmark(made, tmp_path / "a", by=None)
    exports.export_benchmark(made, tmp_path / "b", by=None)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == [
        "SHA256SUMS", "answers.csv", "answers.jsonl", "benchmark.json", "benchmark.schema.json", "data-card.md",
        "difficulty.jsonl", "grounding.jsonl", "items.jsonl", "manifest.json", "ratings.csv", "ratings.jsonl",
        "references.jsonl", "taxonomy.jsonl", "verify.py",
    ]  # fmt: skip
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    done = subprocess.run([sys.executable, tmp_path / "a" / "verify.py"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"Every file is as it was written.\n")
    assert first.manifest["counts"] == {
        "items": 2, "references": 3, "answers": 7, "ratings": 9, "difficulty": 5, "taxonomy": 3, "grounding": 1,
    }  # fmt: skip


def test_every_line_is_as_the_schema_in_the_folder_says(tmp_path):
    exports.export_benchmark(whole(), tmp_path, by=None)
    schema = json.loads((tmp_path / "benchmark.schema.json").read_bytes())
    for name, kind in bundle.LINES.items():
        check = jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{kind}"})
        found = rows(tmp_path, name)
        assert found
        for row in found:
            check.validate(row)
    check = jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/benchmark"})
    check.validate(json.loads((tmp_path / "benchmark.json").read_bytes()))


def test_people_stand_in_no_file_by_name_and_ratings_say_what_they_are_about(tmp_path):
    exports.export_benchmark(whole(), tmp_path, by=None)
    for path in tmp_path.iterdir():
        text = path.read_text("utf-8")
        assert "ann-secret" not in text
        assert "ben-secret" not in text
        assert "Kim" not in text
    found = rows(tmp_path, bundle.RATINGS)
    # Ben rated first, then Ann; whoever came as rater-7 stays that; the other one from a file gets the next number.
    by = [(row["person"], row["value"]) for row in found if row["person"]]
    assert by == [("rater-1", 5), ("rater-2", 3), ("rater-3", 2), ("rater-7", 1)]
    (old,) = [row for row in found if row["about"]]
    assert (old["model"], old["facet"], old["value"]) == ("model-b", "divergence", 3)
    assert old["about"]["answer_sha256"] == "a" * 64
    missing = {(row["judge"], row["status"], row["why"]) for row in found if row["value"] is None}
    assert missing == {("openai:judge-b", "invalid", "no_rating"), ("openai:judge-b", "error", "timeout")}


def test_an_item_says_its_clip_its_level_and_who_decided_and_sorted(tmp_path):
    exports.export_benchmark(whole(), tmp_path, by=None)
    first, second = rows(tmp_path, bundle.ITEMS)
    assert first["video"] == {
        "title": "Clip 0001", "sha256": first["video"]["sha256"], "duration_us": 4_000_000, "pictures": 100,
        "rate": None, "width": 640, "height": 360, "licence": "CC BY 4.0", "attribution": "Tests",
    }  # fmt: skip
    assert len(first["video"]["sha256"]) == 64
    assert (first["difficulty"], first["verdict"]["votes"]) == ("hard", [1, 1])
    assert first["review"] == {
        "decision": "rejected", "fault": "judge", "level": "easy", "note": "No.", "version": 1, "person": "rater-2",
    }  # fmt: skip
    assert (first["category"], first["category_by"]) == ("Gaming", {"source": None, "person": "rater-1"})
    assert (second["difficulty"], second["verdict"]["stale"], second["review"]) == ("", 3, None)
    assert second["category_by"] == {"source": "openai:sorter", "person": None}
    assert second["annotation_source"] == "human"


def test_tables_are_safe_in_a_spreadsheet_and_the_manifest_says_so(tmp_path):
    written = exports.export_benchmark(whole(), tmp_path, by=None)
    with (tmp_path / "ratings.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 9
    assert table[0]["words"] == '\'=HYPERLINK("x")'
    assert (table[0]["by"], table[0]["rater"], table[0]["value"]) == ("person", "rater-1", "5")
    assert [row["current"] for row in table].count("false") == 1
    with (tmp_path / "answers.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    assert "'@It is B.\u2028Final Answer: B" in texts
    escaped = {entry["name"]: entry.get("escaped") for entry in written.manifest["files"]}
    assert (escaped["ratings.csv"], escaped["answers.csv"]) == (True, True)


def test_the_card_counts_and_text_of_people_cannot_pose_as_its_headings(tmp_path):
    made = whole(name="# Mine\n## Yours | <b>")
    exports.export_benchmark(made, tmp_path, by=None)
    card = (tmp_path / "data-card.md").read_text("utf-8")
    assert card.startswith("# Mine ## Yours \\| &lt;b>\n")
    assert "| openai:judge-a | divergence | 2 |" in card
    assert "| people | answer | 4 |" in card
    assert "4 people stand in these files" in card
    assert "Missing: 1 no_rating, 1 timeout." in card
    assert "CC BY 4.0" in card


def test_an_export_is_an_event_and_nothing_to_export_is_refused(tmp_path):
    user = make.user("researcher")
    made = whole()
    exports.export_benchmark(made, tmp_path / "a", by=user)
    event = Event.objects.filter(stream__name="exports").latest("pk")
    assert (event.action, event.subject_type, event.actor_id) == ("export", "benchmark", user.pk)
    made.items.all().delete()
    with pytest.raises(UserError, match="has no item"):
        exports.export_benchmark(made, tmp_path / "b", by=user)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="other files"):
        exports.export_benchmark(made, tmp_path / "c", by=user)


def test_more_items_take_no_more_queries_within_a_piece(tmp_path, django_assert_max_num_queries):
    made = builders.benchmark(12)
    for number in range(1, 13):
        item = builders.item(made, number)
        builders.rating(builders.answer(item), reference=builders.reference(item))
    with django_assert_max_num_queries(40):
        exports.export_benchmark(made, tmp_path, by=None)
