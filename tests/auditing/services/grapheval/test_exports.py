"""An archive of a study: whole, the same twice, safe in a spreadsheet, and without names of people."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from auditing.formats.verify_bundle import verify
from auditing.models import ChainJudgement, QuestionScore, ReasoningRun, ReasoningStudy, StudyChain
from auditing.services.grapheval import exports, parts, scoring
from reasonaudit.accounts.models import User
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import Event
from tests.auditing import grapheval_factories as rows
from tests.auditing.services.grapheval.fakes import FakeEmbedder

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> ReasoningStudy:
    study = rows.study(name="Ways", slug="ways")
    case = rows.case(study, "q1", title="=1+1", reference="A")
    for number, answer in enumerate("AAB", 1):
        rows.chain(study, case, number, steps=[f"Step {answer}", "So."], answer=answer)
    scoring.score_case(study, case, FakeEmbedder())
    first = StudyChain.objects.get(study=study, number=1)
    rows.chain(study, case, 1, role="alternative", steps=["Else."], answer="B", forbidden=first)
    ChainJudgement.objects.create(
        study=study,
        chain=first,
        kind="soundness",
        user=User.objects.create_user("jane.reviewer", role="reviewer"),
        answers={"sound": "yes"},
    )
    ReasoningRun.objects.create(study=study, step="score", model="minilm", manifest={"schema": "m"})
    return study


def read(study: ReasoningStudy, folder: Path) -> dict[str, bytes]:
    exports.export_study(study, folder, by=None)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def lines(data: bytes) -> list[dict]:
    return [json.loads(line) for line in data.splitlines()]


def test_everything_is_there_and_explained(study: ReasoningStudy, tmp_path: Path) -> None:
    files = read(study, tmp_path)
    readme = files["README.md"].decode()
    for name in files:
        assert name.replace("/1.npz", "/N.npz") in readme or name == "README.md", name
    (question,) = lines(files["questions.jsonl"])
    assert (question["question"], question["gold_normal"]) == ("q1", "A")
    chains = lines(files["chains.jsonl"])
    assert [(row["role"], row["chain"], row["forbidden"]) for row in chains] == [
        ("alternative", 1, 1),
        ("sample", 1, None),
        ("sample", 2, None),
        ("sample", 3, None),
    ]
    assert chains[1]["steps"][1] == {"index": 2, "text": "So.", "depends_on": [1]}
    assert [fact["text"] for fact in chains[1]["facts"]] == ["Step A", "So."]
    (score,) = lines(files["scores.jsonl"])
    assert (score["question"], score["votes"]["answer"]) == ("q1", "A")
    assert lines(files["runs.jsonl"])[0]["manifest"] == {"schema": "m"}
    assert json.loads(files["results.json"])["counts"]["chains"] == 3


def test_matrices_are_those_of_the_database(study: ReasoningStudy, tmp_path: Path) -> None:
    found = np.load(io.BytesIO(read(study, tmp_path)["matrices/1.npz"]))
    stored = parts.unpack(bytes(QuestionScore.objects.get(study=study).parts))
    assert stored is not None
    assert found["chain"].tolist() == [1, 2, 3]
    for name in ("nged", "terminal", "node_cost", "edge_cost"):
        assert np.array_equal(found[name], getattr(stored, name))
    assert np.array_equal(found["distances"], stored.distances(0.4, 5.0))


def test_twice_the_same_bytes_and_the_checksums_hold(study: ReasoningStudy, tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    assert read(study, first) == read(ReasoningStudy.objects.get(pk=study.pk), again)
    assert verify(first) == []
    (first / "chains.jsonl").write_bytes(b"")
    assert verify(first) == ["chains.jsonl is not as it was written."]


def test_the_export_is_written_into_the_chain_of_exports(study: ReasoningStudy, tmp_path: Path) -> None:
    user = User.objects.get()
    exports.export_study(study, tmp_path, by=user)
    event = Event.objects.get(stream__name="exports")
    assert (event.action, event.actor_id, event.subject_type, event.subject_id) == (
        "export",
        user.pk,
        "reasoning_study",
        "ways",
    )
    assert event.data["counts"] == {"questions": 1, "chains": 4, "judgements": 1, "runs": 1, "scores": 1}


def test_the_table_is_safe_in_a_spreadsheet(study: ReasoningStudy, tmp_path: Path) -> None:
    files = read(study, tmp_path)
    (row,) = csv.DictReader(io.StringIO(files["questions.csv"].decode()))
    assert row["title"] == "'=1+1"
    listed = {entry["name"]: entry for entry in json.loads(files["manifest.json"])["files"]}
    assert listed["questions.csv"]["escaped"] is True
    assert (row["vote"], row["vote_correct"], row["chains"]) == ("A", "true", "3")
    assert float(row["grcs"]) == pytest.approx(QuestionScore.objects.get(study=study).grcs)
    assert row["cota"] == ""


def test_people_stand_in_it_by_number(study: ReasoningStudy, tmp_path: Path) -> None:
    files = read(study, tmp_path)
    assert lines(files["judgements.jsonl"])[0]["by"] == "person 1"
    assert not any(b"jane" in data for data in files.values())


def test_a_study_without_chains_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no chain yet"):
        exports.export_study(rows.study(), tmp_path, by=None)
    assert not Event.objects.exists()
