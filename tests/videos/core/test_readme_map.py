"""The table in `videos/core/README.md` names functions and tests that exist."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "videos" / "core" / "README.md"
ROW = re.compile(r"^\| [^|]+ \| [^|]+ \| `([\w.]+)` \| `([\w./]+)::(\w+)` \| [^|]+ \|$", re.MULTILINE)
ROWS = ROW.findall(README.read_text(encoding="utf-8"))


def test_every_line_of_the_table_is_read() -> None:
    lines = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(ROWS) == len(lines) - 1 > 20


@pytest.mark.parametrize(("function", "path", "test"), ROWS)
def test_row_exists(function: str, path: str, test: str) -> None:
    module, name = function.split(".")
    assert callable(getattr(importlib.import_module(f"videos.core.{module}"), name))
    tree = ast.parse((Path(__file__).parent / path).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_core_module_is_in_the_table_and_opens_with_its_source() -> None:
    modules = {path.stem for path in README.parent.glob("*.py")} | {"tracks"}
    modules -= {"__init__"}
    assert modules == {function.split(".")[0] for function, _, _ in ROWS}
    for module in modules:
        text = importlib.import_module(f"videos.core.{module}").__doc__ or ""
        assert re.search(r"Paper:|Sources?:", text), f"videos/core/{module} does not name its source"


def test_example_in_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    exec(code.group(1), {})
    assert capsys.readouterr().out == "5 (10.0, 0.0, 10.0, 10.0)\n"
