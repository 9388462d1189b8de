"""DP-05: versions are not below the floors, forbidden packages are absent, start-up files are known."""

import re
import site
import sysconfig
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import reasonaudit

TABLE = tomllib.loads(
    (Path(reasonaudit.__file__).parent / "docs" / "floors.toml").read_text(encoding="utf-8")
)
ROOT = Path(__file__).resolve().parents[2]


def numbers(version: str) -> tuple[int, ...]:
    """Leading numbers of a version: "9.1.2.post2" -> (9, 1, 2)."""
    return tuple(int(part) for part in re.match(r"\d+(?:\.\d+)*", version)[0].split("."))


def code_lines(text: str) -> list[str]:
    """Lines that Python runs at every start (see the documentation of `site`)."""
    return [line for line in text.splitlines() if line.startswith(("import ", "import\t"))]


@pytest.mark.parametrize("package", TABLE["packages"])
def test_dp_05_installed_version_is_not_below_the_floor(package: str) -> None:
    floor = TABLE["packages"][package]["floor"]
    assert numbers(metadata.version(package)) >= numbers(floor), TABLE["packages"][package]["why"]


@pytest.mark.parametrize("package", TABLE["packages"])
def test_dp_05_pyproject_does_not_allow_less_than_the_floor(package: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lower = package.lower()
    for line in project["dependencies"]:
        name, *_ = re.split(r"[\[<>=!~ ]", line)
        if name.lower() == lower:
            allowed = re.search(r"[>=]=\s*([\d.]+)", line)
            assert allowed is not None, f"{line} has no lower bound"
            assert numbers(allowed[1]) >= numbers(TABLE["packages"][package]["floor"])


@pytest.mark.parametrize("package", TABLE["forbidden"])
def test_dp_05_forbidden_packages_are_absent(package: str) -> None:
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version(package)


def test_dp_05_no_unknown_start_up_file_runs_code() -> None:
    folders = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    if site.ENABLE_USER_SITE:
        folders.add(Path(site.getusersitepackages()))
    unknown = {
        path.name: lines
        for folder in folders
        for path in folder.glob("*.pth")
        if (lines := code_lines(path.read_text(encoding="utf-8")))
        and path.name not in TABLE["start_up_files"]
    }
    assert unknown == {}
    for folder in folders:
        for name in ("sitecustomize.py", "usercustomize.py"):
            assert not (folder / name).exists(), f"{name} runs at every start"


def test_dp_05_start_up_files_that_run_code_are_recognised() -> None:
    assert code_lines("/some/folder\nimport os; os.system('x')\n# import\n") == ["import os; os.system('x')"]
