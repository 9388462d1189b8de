"""What is needed to repeat a run (trust list, RP-01): code, libraries, data, prompt, model, parameters.

Every field is always there. What cannot be found out says "unknown"; what does not apply is null.
"""

import hashlib
import platform
import subprocess
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotation.models import Segment
from auditing.core.nli import Label
from auditing.core.segmentation import SEGMENTER_VERSION
from auditing.models import AuditRun, JudgeRun
from auditing.nli.protocol import RelationLabeller
from reasonaudit.lib.canonical import canonical_json

SCHEMA = "reasonaudit.run-manifest/1"
LIBRARIES = (
    "Django",
    "numpy",
    "scipy",
    "networkx",
    "onnxruntime",
    "tokenizers",
    "openai",
    "psycopg",
    "procrastinate",
)
UNKNOWN = "unknown"


def of_run(run: AuditRun, labeller: RelationLabeller | None) -> dict[str, Any]:
    """Return the manifest of a run that starts now; `labeller` is None for stored relations."""
    return {
        **start_of(SCHEMA),
        "dataset": dataset_content(run),
        "segmenter": SEGMENTER_VERSION,
        "guideline": None,
        "labels": [label.word for label in Label],
        "labeller": labeller_facts(run, labeller),
        "order": run.order,
        "seed": None,
        "parameters": run.parameters,
        "search_bounds": {name: run.parameters[name] for name in ("max_depth", "max_trees", "max_subtrees")},
        "options": run.labeller_options,
        "starts": [],
    }


def start_of(schema: str) -> dict[str, Any]:
    """Return how the manifest of every kind of run begins: what it is, when it starts, and with which software."""
    return {
        "schema": schema,
        "started_at": timezone.now().isoformat(timespec="seconds"),
        "code": dict(code_version()),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": dict(library_versions()),
    }


def with_start(existing: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest to store: the one of the first start, with every start since in `starts`.

    A resumed run may have been continued by other code than began it; both are named.
    """
    manifest = dict(existing or content)
    start = {name: content[name] for name in ("started_at", "code", "python", "libraries")}
    manifest["starts"] = [*manifest["starts"], start]
    return manifest


def labeller_facts(run: AuditRun, labeller: RelationLabeller | None) -> dict[str, Any]:
    """Return the labeller's identity in fixed fields; `reported` is filled once servers have answered."""
    identity: Mapping[str, Any] = labeller.identity() if labeller is not None else run.labeller_identity
    prompt = identity.get("prompt") or {}
    return {
        "spec": run.labeller,
        "kind": identity.get("kind", UNKNOWN),
        "model": identity.get("model", UNKNOWN),
        "revision": identity.get("revision") or (UNKNOWN if labeller is not None else None),
        "reported": [],
        "prompt_id": prompt.get("id"),
        "prompt_sha256": prompt.get("sha256"),
        "endpoint": identity.get("endpoint") or None,
        "sent": identity.get("params", {}),
        "identity": dict(identity),
        "quality_note": run.quality_note,
    }


def dataset_content(run: AuditRun | JudgeRun) -> dict[str, Any]:
    """Return what was audited or judged: the data set, how many traces, and one hash over all their content."""
    digest = hashlib.sha256()
    rows = run.run_traces.select_related("trace__case").order_by("trace_id")
    count = 0
    for row in rows.iterator(chunk_size=500):
        trace = row.trace
        segments = Segment.objects.filter(trace=trace, segmentation=row.segmentation).order_by("index")
        content = {
            "case": trace.case.external_id,
            "trace": trace.external_id,
            "domain": trace.case.domain,
            "segmentation": row.segmentation,
            "context_segments": trace.context_segments,
            "segments": list(segments.values_list("text_sha256", "gold", "error_kind")),
            "stored_relations": trace.stored_relations if row.segmentation == 1 else [],
        }
        digest.update(canonical_json(content) + b"\n")
        count += 1
    return {"slug": run.dataset.slug, "name": run.dataset.name, "traces": count, "sha256": digest.hexdigest()}


@cache
def library_versions() -> Mapping[str, str]:
    """Return the installed versions of the libraries that can change a result."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = UNKNOWN
    return found


@cache
def code_version() -> Mapping[str, Any]:
    """Return package version, git commit and whether files were changed since, and the hash of the locked packages."""
    root = Path(settings.ROOT)
    # The project runs from its folder and is not installed, so the version stands in its own file.
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return {
        "package": project["version"],
        "commit": commit or UNKNOWN,
        "dirty": UNKNOWN if commit is None or changes is None else bool(changes),
        "lock_sha256": lock_hash(root),
    }


def lock_hash(root: Path) -> str:
    """Return the SHA-256 over the lock files of the installation, or "unknown" where there are none."""
    files = sorted([*root.glob("requirements*.txt"), *root.glob("requirements/*.txt"), *root.glob("uv.lock")])
    if not files:
        return UNKNOWN
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git says, or None where there is no git or no repository."""
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", "-C", str(root), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
