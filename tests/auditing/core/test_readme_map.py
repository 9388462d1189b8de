"""The table in `auditing/core/README.md` names functions and tests that exist."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "auditing" / "core" / "README.md"
ROW = re.compile(r"^\| [^|]+ \| [^|]+ \| `([\w.]+)` \| `([\w./]+)::(\w+)` \| [^|]+ \|$", re.MULTILINE)
ROWS = ROW.findall(README.read_text(encoding="utf-8"))


def test_every_line_of_the_table_is_read() -> None:
    lines = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    headers = [line for line in lines if line.startswith("| paper |")]
    assert len(ROWS) == len(lines) - len(headers) > 20


@pytest.mark.parametrize(("function", "path", "test"), ROWS)
def test_row_exists(function: str, path: str, test: str) -> None:
    module, _, name = function.rpartition(".")
    assert callable(getattr(importlib.import_module(f"auditing.core.{module}"), name))
    beside = Path(__file__).parent / path
    file = beside if beside.is_file() else ROOT / path
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_core_module_is_in_the_table_and_opens_with_its_source() -> None:
    paths = (
        path.relative_to(README.parent) for path in README.parent.rglob("*.py") if path.stem != "__init__"
    )
    modules = {".".join(path.with_suffix("").parts) for path in paths}
    named = {function.rpartition(".")[0] for function, _, _ in ROWS}
    # The two flip modules are the inner part of what_if.
    assert modules - named == {"flip_search", "flip_patterns"}
    for module in modules:
        text = importlib.import_module(f"auditing.core.{module}").__doc__ or ""
        assert re.search(r"Paper:|Sources?:", text), f"auditing.core.{module} does not name its source"


def test_example_in_the_readme_runs() -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    scope: dict[str, object] = {}
    exec(code.group(1), scope)
    assert scope["result"].labels == {2: "Supported", 3: "Supported"}  # type: ignore[attr-defined]
