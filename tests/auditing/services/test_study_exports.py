"""A study goes out with everything that people did, and comes back the same (DS-18, RP-07, RP-08, PR-04)."""

import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.formats import study_bundle
from annotation.models import AdjudicationDecision, Assignment, SegmentLabel, Study, Submission, Trace
from annotation.services.labels import notes_save
from auditing.formats.bundle import verify
from auditing.formats.csv_view import unescape
from auditing.formats.verdicts import VerdictRecord, write_verdicts
from auditing.services.judging import imports as judging
from auditing.services.study_exports import export_study
from auditing.services.study_imports import import_study, read_archive, read_folder
from reasonaudit.lib.chain import verify_all
from reasonaudit.lib.errors import UserError
from tests.annotation import factories

pytestmark = pytest.mark.django_db
# These tell of this installation or of this act, not of the study.
OWN = {"events.jsonl", "manifest.json", "SHA256SUMS"}
HOSTILE = '=cmd|"/c calc"!A1 <script>alert(1)</script> é 🩺 line\nbreak'


def study(name: str = "Round one") -> Study:
    """A study in every state that matters: agreement, disagreement, decision, revision, flag, cannot judge."""
    scene = factories.study_with_work(items=3, physicians=2, segments=4, name=name)
    scene.study.description = "A study | with a # heading"
    scene.study.save()
    first, second = scene.work[0], scene.work[1]
    factories.submission(first[0], ["correct", "incorrect", "uncertain"])
    factories.submission(first[1], ["correct", "correct", "cannot_judge"])
    factories.decision(scene.items[0], 3, "incorrect", by=scene.adjudicator, note=HOSTILE, matches="A")
    factories.label(
        second[0], 2, "incorrect", comment=HOSTILE, spans=[[0, 5]], reasons=["contradicts_case"], flagged=True
    )
    factories.label(first[0], 2, "uncertain", round=2, unblinded=True, reason="The audit made me look again.")
    factories.item(scene.study, kind="gold", expected={2: "correct", 3: "uncertain"})
    factories.item(scene.study, kind="training", expected={2: "incorrect"})
    _judge(scene.items[0].trace, scene.study)
    return scene.study


def _judge(trace: Trace, of: Study) -> None:
    """What a judge said of a case, read from a file; one reply was no verdict."""
    said = [(2, "trustworthy", "valid"), (3, None, "invalid:refusal")]
    lines = [
        VerdictRecord(trace.case.external_id, trace.external_id, index, "judge-x", verdict, status=status)
        for index, verdict, status in said
    ]
    preview = judging.read(write_verdicts(lines), "verdicts.jsonl", of.dataset)
    judging.commit(preview, of.dataset)


def rename(row: Study) -> None:
    """Make room for an import under the same names."""
    row.dataset.name, row.dataset.slug = "Old data", "old-data"
    row.dataset.save()
    row.name, row.slug = "Old study", "old-study"
    row.save()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_ds_18_an_exported_study_imports_as_the_same_study(tmp_path: Path) -> None:
    original = study()
    export_study(original, tmp_path / "a", by=None)
    rename(original)
    made = import_study(read_folder(tmp_path / "a"), by=factories.user("manager"))
    export_study(made.study, tmp_path / "b", by=None)
    left, right = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert set(left) == set(right)
    assert [name for name in left if name not in OWN and left[name] != right[name]] == []
    assert made.labels == SegmentLabel.objects.filter(assignment__item__study=original).count()
    assert made.decisions == 1
    assert left["verdicts.jsonl"].count(b"\n") == 2
    assert all(problem is None for _, problem in verify_all())


def test_ds_18_people_get_the_accounts_that_are_named(tmp_path: Path) -> None:
    original = study()
    export_study(original, tmp_path, by=None)
    rename(original)
    physician = factories.user()
    made = import_study(read_folder(tmp_path), by=None, people={"P3": physician.username})
    assert made.study.members.get(pseudonym="P3").user == physician
    assert made.study.members.get(pseudonym="P4").user is None


@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        ({"P3": "nobody-here"}, "There is no account 'nobody-here' here."),
        ({"P99": "x"}, "The export knows nobody called 'P99'."),
    ],
)
def test_ds_18_unknown_people_are_named_and_nothing_is_stored(
    tmp_path: Path, people: dict[str, str], sentence: str
) -> None:
    original = study()
    export_study(original, tmp_path, by=None)
    rename(original)
    with pytest.raises(UserError, match=sentence):
        import_study(read_folder(tmp_path), by=None, people=people)
    assert Study.objects.count() == 1


def test_ds_18_a_file_that_names_unknown_annotators_says_where(tmp_path: Path) -> None:
    export_study(study(), tmp_path, by=None)
    files = contents(tmp_path)
    files["labels.jsonl"] = files["labels.jsonl"].replace(b'"member":"P3"', b'"member":"P9"')
    with pytest.raises(UserError) as caught:
        import_study(files, by=None)
    listed = caught.value.fields["files"]
    assert listed[0].startswith(
        "labels.jsonl, line 1, field member: 'P9' is not one of the people in members.jsonl."
    )
    assert Study.objects.count() == 1


def test_rp_08_exporting_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    row = study()
    export_study(row, tmp_path / "a", by=None)
    export_study(row, tmp_path / "b", by=factories.user("researcher"))
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_rp_07_the_check_that_comes_along_needs_nothing_else(tmp_path: Path) -> None:
    export_study(study(), tmp_path, by=None)
    command = [sys.executable, "-I", "-S", str(tmp_path / "verify.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "Every file is as it was written.\n"), done.stderr
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(labels.read_bytes().replace(b"incorrect", b"uncertain", 1))
    broken = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (broken.returncode, broken.stderr) == (1, "labels.jsonl is not as it was written.\n")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_rp_07_any_corruption_is_found(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    source = tmp_path_factory.getbasetemp() / "exported"
    if not source.exists():
        export_study(study(), source, by=None)
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(source, folder, dirs_exist_ok=True)
    name = data.draw(st.sampled_from(sorted(path.name for path in folder.iterdir())))
    how = data.draw(st.sampled_from(["flip", "remove", "extra"]))
    path = folder / name
    if how == "flip" and path.stat().st_size:
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(bytes(content))
    elif how in {"remove", "flip"}:
        path.unlink()
    else:
        (folder / "extra.txt").write_bytes(b"")
    assert verify(folder) != []


def test_pr_04_people_stand_in_an_export_by_pseudonym_only(tmp_path: Path) -> None:
    row = study()
    names = ("zqx-user", "Zqxfirst", "Zqxlast", "zqx@example.org")
    for member in row.members.all():
        user = member.user
        user.username, user.first_name, user.last_name, user.email = (f"{name}{user.pk}" for name in names)
        user.save()
    export_study(row, tmp_path, by=row.members.first().user)
    everything = b"".join(contents(tmp_path).values()).lower()
    assert b"zqx" not in everything


def test_pr_04_a_persons_own_notes_stay_here(tmp_path: Path) -> None:
    row = study()
    for assignment in Assignment.objects.filter(item__study=row):
        notes_save(assignment=assignment, by=assignment.member.user, notes="zqx, ask at home")
    export_study(row, tmp_path, by=None)
    assert b"zqx" not in b"".join(contents(tmp_path).values())


def test_ih_14_the_table_is_a_view_whose_cells_run_nothing(tmp_path: Path) -> None:
    export_study(study(), tmp_path, by=None)
    import csv

    rows = list(csv.reader(io.StringIO((tmp_path / "labels.csv").read_text(encoding="utf-8"))))
    comments = [row[rows[0].index("comment")] for row in rows[1:]]
    assert not any(comment.startswith(("=", "+", "-", "@")) for comment in comments)
    assert HOSTILE in [unescape(comment) for comment in comments]
    listed = {
        entry["name"]: entry for entry in json.loads((tmp_path / "manifest.json").read_bytes())["files"]
    }
    assert listed["labels.csv"]["escaped"] is True
    labels = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_bytes().splitlines()]
    assert HOSTILE in [label["comment"] for label in labels]


def test_the_shape_of_uroreason_carries_the_reference_labels(tmp_path: Path) -> None:
    export_study(study(), tmp_path, by=None)
    lines = [json.loads(line) for line in (tmp_path / "uroreason.jsonl").read_bytes().splitlines()]
    # Three main items and a hidden gold one; training is not part of it.
    assert len(lines) == 4
    assert [segment.get("gold") for segment in lines[0]["segments"]] == [None, "correct", "incorrect", None]
    references = [
        json.loads(line) for line in (tmp_path / "reference_labels.jsonl").read_bytes().splitlines()
    ]
    first = [row["status"] for row in references if row["item"] == 1]
    assert first == ["unanimous", "adjudicated", "open"]


def test_ds_17_an_export_of_a_changed_submission_is_refused(tmp_path: Path) -> None:
    from django.db import connection

    row = study()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "UPDATE annotation_submission SET labels = '[]' WHERE id = %s", [Submission.objects.first().pk]
        )
        cursor.execute("SET session_replication_role = DEFAULT")
    with pytest.raises(UserError, match="is not what was handed in"):
        export_study(row, tmp_path, by=None)
    assert not (tmp_path / "SHA256SUMS").exists()


def test_drafts_of_decisions_are_not_exported(tmp_path: Path) -> None:
    row = study()
    decided = AdjudicationDecision.objects.get()
    adjudicator = row.members.get(part="adjudicator")
    factories.decision(decided.item, 4, "correct", by=adjudicator, number=0, note="not yet")
    export_study(row, tmp_path, by=None)
    assert b"not yet" not in (tmp_path / "decisions.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../evil.txt", "which no export has"),
        ("a/b.txt", "which no export has"),
        ("C:evil", "which no export has"),
    ],
)
def test_ih_07_archives_with_odd_names_are_refused(name: str, sentence: str) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(UserError, match=sentence):
        read_archive(buffer.getvalue())


def test_ih_07_bombs_and_links_are_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.txt", b"0" * 20_000_000)
    with pytest.raises(UserError, match="which no export has"):
        read_archive(buffer.getvalue())
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(UserError, match="which no export has"):
        read_archive(buffer.getvalue())
    with pytest.raises(UserError, match="not a ZIP archive"):
        read_archive(b"no archive")


def test_problems_of_a_bundle_name_file_line_and_field(tmp_path: Path) -> None:
    export_study(study(), tmp_path, by=None)
    good = contents(tmp_path)

    def problems(**changed: tuple[bytes, bytes]) -> list[str]:
        files = dict(good)
        for name, (old, new) in changed.items():
            file = f"{name}.jsonl"
            assert old in files[file]
            files[file] = files[file].replace(old, new, 1)
        return [str(problem) for problem in study_bundle.read(files)[1]]

    assert problems(labels=(b'"label":"correct"', b'"label":"maybe"'))[0].startswith(
        "labels.jsonl, line 1, field label"
    )
    assert "not valid JSON" in problems(items=(b"{", b"{{"))[0]
    assert "no reasoning segment" in problems(labels=(b'"index":2', b'"index":99'))[0]
    assert "there is no trace" in problems(items=(b'"trace":"', b'"trace":"x'))[0]
    assert "not those that were handed in" in problems(submissions=(b"incorrect", b"uncertain"))[0]
    missing = {name: data for name, data in good.items() if name != "members.jsonl"}
    assert str(study_bundle.read(missing)[1][0]).startswith("members.jsonl: the file is missing.")
