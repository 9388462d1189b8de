"""`manage.py import_traces` and `export_audits`, with the database."""

import json

import pytest

from annotation.models import Dataset, Segment, Trace
from auditing.core.parameters import AuditParameters
from auditing.formats.bundle import verify
from auditing.models import AuditResult, AuditRun
from auditing.services import execution, runs
from reasonaudit.lib.models import RunState
from tests.auditing import golden

pytestmark = pytest.mark.django_db(transaction=True)


def audited_run(dataset: Dataset) -> AuditRun:
    """Audit the stored relations of a data set, as the worker does."""
    run = runs.create(
        dataset=dataset,
        traces=list(Trace.objects.filter(case__dataset=dataset)),
        labeller="stored",
        options={},
        parameters=AuditParameters(),
        order="eager",
        by=None,
    )
    execution.execute(run.pk)
    run.refresh_from_db()
    return run


@pytest.fixture
def imported(run, tmp_path):
    path = golden.write(tmp_path / "two.jsonl", golden.trace(), golden.trace("other", "mathematical"))
    done = run("import_traces", path, "--data-set", "Wounds")
    assert done.code == 0
    assert (
        "2 traces of 2 cases with 14 segments, 12 gold labels and 14 relations imported into wounds."
        in done.out
    )
    return Dataset.objects.get(slug="wounds")


def test_import_adds_to_a_data_set_of_that_name(run, imported, tmp_path):
    done = run(
        "import_traces", golden.write(tmp_path / "c.jsonl", golden.trace("third")), "--data-set", "Wounds"
    )
    assert done.code == 0
    assert Trace.objects.filter(case__dataset=imported).count() == 3


def test_importing_the_same_again_is_refused(run, imported, tmp_path):
    done = run("import_traces", tmp_path / "two.jsonl", "--data-set", "wounds")
    assert done.code == 1
    assert "in the data set already" in done.err
    assert Trace.objects.count() == 2


def test_one_bad_line_in_one_file_imports_nothing_of_any(run, tmp_path):
    bad = golden.trace("bad")
    bad["relations"][0]["label"] = "maybe"
    good = golden.write(tmp_path / "good.jsonl")
    path = golden.write(tmp_path / "bad.jsonl", golden.trace("fine"), bad)
    done = run("import_traces", good, path, tmp_path / "none.jsonl", "--data-set", "Mixed")
    assert done.code == 1
    assert f"{path}, line 2, field relations" in done.err
    assert "none.jsonl: there is no such file" in done.err
    assert "2 problems; nothing was imported" in done.err
    assert (Dataset.objects.count(), Trace.objects.count(), Segment.objects.count()) == (0, 0, 0)


def test_export_of_a_run_is_what_the_command_line_says_of_the_same_file(run, imported, tmp_path):
    audit = audited_run(imported)
    assert audit.state == RunState.DONE
    done = run("export_audits", "--run", audit.pk, "--out", tmp_path / "db", "--graphml")
    assert done.code == 0, done.err
    assert "2 traces, 14 segments and 14 relations" in done.out
    assert verify(tmp_path / "db") == []
    run("audit", tmp_path / "two.jsonl", "--out", tmp_path / "offline", "--graphml")
    lines = {}
    for name in ("db", "offline"):
        lines[name] = {
            (row := json.loads(line))["id"]: row for line in (tmp_path / name / "audits.jsonl").open()
        }
    assert lines["db"] == lines["offline"]
    found = {s["index"]: s["label"] for s in lines["db"]["wound"]["segments"] if s["label"]}
    assert found == golden.LABELS
    for name in ("segments.csv", "relations.csv", "summary.json", "audits.schema.json"):
        assert (tmp_path / "db" / name).read_bytes() == (tmp_path / "offline" / name).read_bytes()


def test_rp_08_exporting_twice_gives_the_same_bytes(run, imported, tmp_path):
    audit = audited_run(imported)
    written = []
    for name in ("a", "b"):
        assert run("export_audits", "--run", audit.pk, "--out", tmp_path / name).code == 0
        written.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    assert written[0] == written[1]
    manifest = json.loads(written[0]["manifest.json"])
    assert manifest["schema"] == "reasonaudit.export/1"
    assert manifest["runs"][0]["labeller"] == "stored"
    assert manifest["counts"]["traces"] == 2


def test_the_traces_of_an_export_can_be_imported_again(run, imported, tmp_path):
    audit = audited_run(imported)
    run("export_audits", "--run", audit.pk, "--out", tmp_path / "out")
    done = run("import_traces", tmp_path / "out" / "traces.jsonl", "--data-set", "Again")
    assert done.code == 0
    texts = []
    for slug in ("wounds", "again"):
        rows = Segment.objects.filter(trace__case__dataset__slug=slug).order_by("trace__external_id", "index")
        texts.append(list(rows.values_list("text", "gold")))
    assert texts[0] == texts[1]
    again = audited_run(Dataset.objects.get(slug="again"))
    assert run("export_audits", "--run", again.pk, "--out", tmp_path / "out2").code == 0
    assert (tmp_path / "out2" / "audits.jsonl").read_bytes() == (
        tmp_path / "out" / "audits.jsonl"
    ).read_bytes()


def test_a_data_set_gives_the_newest_result_of_every_trace(run, imported, tmp_path):
    audited_run(imported)
    newer = audited_run(imported)
    done = run("export_audits", "--data-set", "wounds", "--out", tmp_path / "out")
    assert done.code == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert [one["id"] for one in manifest["runs"]] == [newer.pk]
    assert manifest["counts"]["traces"] == 2


def test_a_run_that_has_not_ended_is_refused(run, imported, tmp_path):
    audit = audited_run(imported)
    AuditRun.objects.filter(pk=audit.pk).update(state=RunState.PAUSED)
    done = run("export_audits", "--run", audit.pk, "--out", tmp_path / "out")
    assert done.code == 1
    assert f"Run {audit.pk} is paused" in done.err
    assert not (tmp_path / "out").exists()
    assert run("export_audits", "--run", audit.pk, "--out", tmp_path / "out", "--unfinished").code == 0


def test_a_damaged_result_is_not_exported(run, imported, tmp_path):
    audit = audited_run(imported)
    result = AuditResult.objects.filter(run=audit).first()
    result.relations[0][2] = "neutral"
    result.save()
    done = run("export_audits", "--run", audit.pk, "--out", tmp_path / "out")
    assert done.code == 1
    assert "is not what its relations give" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--run", "999999"], "There is no run 999999"),
        (["--data-set", "none"], "There is no data set 'none'. There are: wounds."),
        (["--data-set", "wounds"], "Data set wounds has no results. Audit its traces first."),
    ],
)
def test_nothing_to_export_is_one_sentence(run, imported, tmp_path, arguments, words):
    done = run("export_audits", *arguments, "--out", tmp_path / "out")
    assert done.code == 1
    assert words in done.err


def test_a_folder_with_other_files_is_left_alone(run, imported, tmp_path):
    audit = audited_run(imported)
    done = run("export_audits", "--run", audit.pk, "--out", tmp_path)
    assert done.code == 1
    assert "holds other files" in done.err
