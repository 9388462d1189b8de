"""The house keeps its own rules: layers, templates, files, documents."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.template import engines

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    ".ci", ".editorconfig", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
    "annotation", "auditing",
    "fixtures", "manage.py", "pyproject.toml", "reasonaudit", "requirements", "static", "templates", "tests", "videos",
}  # fmt: skip


def tracked_files() -> list[Path]:
    """Files of the project as git lists them; skips where there is no repository."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_contracts_have_no_exceptions() -> None:
    assert "ignore_imports" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_top_level_holds_only_what_the_layout_names() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked_files()} <= TOP_LEVEL


@pytest.mark.parametrize(
    "name", sorted(str(p.relative_to(ROOT / "templates")) for p in (ROOT / "templates").rglob("*.html"))
)
def test_every_template_compiles(name: str) -> None:
    engines["django"].get_template(name)


@pytest.mark.parametrize(
    "name", sorted(str(p.relative_to(ROOT / "templates")) for p in (ROOT / "templates").rglob("*.html"))
)
def test_ih_13_templates_have_no_inline_script_style_or_handler(name: str) -> None:
    text = (ROOT / "templates" / name).read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*(\bsrc=|application/json))", text), "inline script"
    assert not re.search(r"\sstyle\s*=|<style|\son[a-z]+\s*=\s*[\"']|\|\s*safe\b|autoescape off", text), (
        "inline style, handler or unescaped text"
    )


def test_no_machine_path_or_registry_in_tracked_files() -> None:
    machine_path = re.compile(r"(?<![\w.$}/:-])/(?:work|root|farm|home)/")
    registry = re.compile(r"(registry\.npmjs|files\.pythonhosted|pypi\.org/simple)")
    bad = []
    for path in tracked_files():
        if path.suffix in {".onnx", ".png", ".woff2"} or path == Path(__file__):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        bad += [
            f"{path.relative_to(ROOT)}: {m.group(0)}"
            for m in (*machine_path.finditer(text), *registry.finditer(text))
        ]
    assert bad == []


def test_dp_06_no_dangerous_call() -> None:
    """No `mark_safe`, `shell=True`, `pickle`, `yaml.load`, `eval`, `exec`, `.extra(` or `.raw(` in product code."""
    bad = []
    for package in ("reasonaudit", "auditing", "annotation", "videos"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    names = [a.name for a in node.names] + [getattr(node, "module", None) or ""]
                    if (
                        any(n.split(".")[0] in {"pickle", "marshal", "shelve"} for n in names)
                        or "mark_safe" in names
                    ):
                        bad.append(f"{path.relative_to(ROOT)}:{node.lineno} import")
                if isinstance(node, ast.Call):
                    called = (
                        node.func.attr
                        if isinstance(node.func, ast.Attribute)
                        else getattr(node.func, "id", "")
                    )
                    shell = any(
                        k.arg == "shell" and getattr(k.value, "value", None) is True for k in node.keywords
                    )
                    builtin = isinstance(node.func, ast.Name) and called in {"eval", "exec", "mark_safe"}
                    method = isinstance(node.func, ast.Attribute) and called in {"extra", "raw"}
                    if shell or builtin or method:
                        bad.append(f"{path.relative_to(ROOT)}:{node.lineno} {called}")
    assert bad == []


@pytest.mark.parametrize("package", ["core", "judging", "llm", "nli", "prompts"])
def test_adapters_and_core_load_without_django(package: str) -> None:
    """The science runs where Django is not even installed."""
    code = f"import sys, pkgutil, importlib, auditing.{package} as p\n" + (
        "for m in pkgutil.walk_packages(p.__path__, p.__name__ + '.'): importlib.import_module(m.name)\n"
        "assert 'django' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_lock_file_names_no_download_address() -> None:
    assert '"resolved"' not in (ROOT / "static" / "package-lock.json").read_text(encoding="utf-8")
