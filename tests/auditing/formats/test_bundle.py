"""A folder of files with checksums."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditing.formats.bundle import BundleError, main, verify, write_bundle

FILES = {"audits.jsonl": b"{}\n", "segments.csv": b'"a"\n', "graphml/1.graphml": b"<graphml/>\n"}


def test_rp_07_the_manifest_lists_every_file_with_its_checksum(tmp_path):
    write_bundle(
        tmp_path / "out", FILES, {"schema": "x/1"}, escaped=["segments.csv"], volatile={"run.json": b"1"}
    )
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    listed = {entry["name"]: entry for entry in manifest["files"]}
    assert listed["segments.csv"] == {
        "name": "segments.csv",
        "bytes": 4,
        "sha256": hashlib.sha256(b'"a"\n').hexdigest(),
        "escaped": True,
    }
    assert listed["run.json"] == {"name": "run.json", "volatile": True}
    assert verify(tmp_path / "out") == []


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_rp_07_standard_tools_can_check_it(tmp_path):
    write_bundle(tmp_path, FILES, {})
    done = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stdout.count(": OK") == 4


def test_rp_07_a_line_end_that_became_a_vertical_tab_is_found(tmp_path):
    write_bundle(tmp_path, FILES, {"schema": "x/1"})
    sums = tmp_path / "SHA256SUMS"
    sums.write_bytes(sums.read_bytes().replace(b"\n", b"\x0b", 1))
    assert verify(tmp_path)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([*FILES, "manifest.json", "SHA256SUMS"]), st.integers(0, 10_000), st.integers(0, 7))
def test_rp_07_a_flipped_bit_is_found(name, place, bit):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_bundle(root, FILES, {"schema": "x/1"})
        data = bytearray((root / name).read_bytes())
        data[place % len(data)] ^= 1 << bit
        (root / name).write_bytes(bytes(data))
        assert verify(root)


@pytest.mark.parametrize("name", [*FILES, "manifest.json", "SHA256SUMS"])
def test_rp_07_a_missing_file_is_found(tmp_path, name):
    write_bundle(tmp_path, FILES, {})
    (tmp_path / name).unlink()
    assert any(name in problem for problem in verify(tmp_path))


def test_rp_07_an_extra_file_is_found(tmp_path):
    write_bundle(tmp_path, FILES, {})
    (tmp_path / "graphml" / "2.graphml").write_bytes(b"")
    assert verify(tmp_path) == ["graphml/2.graphml is not part of the bundle."]


def test_rp_08_written_twice_it_has_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_bundle(
            tmp_path / name, dict(reversed(FILES.items())) if name == "b" else FILES, {"z": 1, "a": 2}
        )
    first, second = (
        {p.name: p.read_bytes() for p in (tmp_path / n).rglob("*") if p.is_file()} for n in ("a", "b")
    )
    assert first == second


def test_an_earlier_bundle_is_replaced_without_remains(tmp_path):
    write_bundle(tmp_path, FILES, {})
    write_bundle(tmp_path, {"audits.jsonl": b"new\n"}, {})
    assert verify(tmp_path) == []
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == [
        "SHA256SUMS",
        "audits.jsonl",
        "manifest.json",
    ]


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.doc").write_bytes(b"years of work")
    with pytest.raises(BundleError, match=r"thesis\.doc"):
        write_bundle(tmp_path, FILES, {})
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.doc"]


def test_a_manifest_made_by_somebody_else_cannot_delete_outside_the_folder(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("keep me")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"files": [{"name": "../outside.txt"}]}))
    write_bundle(folder, FILES, {})
    assert outside.read_text() == "keep me"


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", ""])
def test_names_outside_the_folder_are_refused(tmp_path, name):
    with pytest.raises(BundleError, match="no name for a file"):
        write_bundle(tmp_path, {name: b""}, {})


def test_the_check_needs_the_standard_library_only(tmp_path):
    write_bundle(tmp_path, FILES, {})
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(root)!r}); "
         "from auditing.formats.bundle import main; sys.exit(main(sys.argv[1:]))", str(tmp_path)],
        capture_output=True, text=True, check=False, env={"PATH": os.environ.get("PATH", "")},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "Every file is as it was written.\n")


def test_exit_codes_of_the_check(tmp_path, capsys):
    assert main([]) == 2
    assert main([str(tmp_path)]) == 1
    assert "missing or damaged" in capsys.readouterr().err
