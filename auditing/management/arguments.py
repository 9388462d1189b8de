"""Arguments that the offline commands share, and what they mean."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings as django_settings
from django.core.management.base import CommandParser

from auditing.services.offline.errors import UsageError

_NO_SERVER = (
    "No address of a model server is known. Give --base-url URL (manage.py serve_llm serves at "
    "http://localhost:8000/v1), or set the variable LLM_BASE_URL."
)


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of the description and uses the width of a page."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=100)


def add_input_arguments(parser: CommandParser) -> None:
    """Add files, format and how to read them."""
    group = parser.add_argument_group("input")
    group.add_argument("files", nargs="+", type=Path, metavar="FILE", help="trace files")
    group.add_argument(
        "--format", metavar="F", help="format of the files; recognised from the content if not given"
    )
    group.add_argument(
        "--index-base", type=int, choices=(0, 1), help="number of the first segment in the files"
    )
    group.add_argument(
        "--domain", choices=("clinical", "mathematical", "general"), help="for traces that name none"
    )
    group.add_argument("--limit", type=positive, metavar="N", help="read at most N traces")
    group.add_argument(
        "--skip-bad", action="store_true", help="leave out what has problems instead of stopping"
    )


def add_labeller_arguments(parser: CommandParser) -> None:
    """Add where relation labels come from."""
    group = parser.add_argument_group("relation labels")
    group.add_argument(
        "--labeller",
        metavar="L",
        help="stored (relations in the file), local (the model that comes along), openai:MODEL (a server), "
        "scripted:FILE or replay:DIR; if not given: stored where the file has relations, else local",
    )
    group.add_argument(
        "--base-url",
        metavar="URL",
        help="address of the model server (else the variable LLM_BASE_URL); its key is read from LLM_API_KEY",
    )
    group.add_argument(
        "--concurrency", type=positive, metavar="N", help="calls in flight (else LLM_CONCURRENCY)"
    )
    group.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="folder for replies and labels; a second run asks only what is missing "
        "(default for servers: a folder under var/)",
    )
    group.add_argument("--no-cache", action="store_true", help="ask a server anew and keep nothing")


def add_audit_arguments(parser: CommandParser) -> None:
    """Add the settings of the audit."""
    group = parser.add_argument_group("audit")
    group.add_argument(
        "--max-premises",
        type=positive,
        metavar="K",
        help="largest premise set (default 2; stored ones count whatever their size unless this is given)",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PARAM=VALUE",
        help="another parameter, such as tau=4; may be repeated",
    )
    group.add_argument(
        "--window",
        type=positive,
        metavar="W",
        help="premises from the context and the last W segments only: fewer calls, not exact",
    )


def add_judge_arguments(parser: CommandParser) -> None:
    """Add who judges."""
    group = parser.add_argument_group("judge")
    group.add_argument(
        "--judge", required=True, metavar="J", help="openai:MODEL (a server) or replay:DIR (recorded replies)"
    )
    group.add_argument(
        "--base-url",
        metavar="URL",
        help="address of the model server (else the variable LLM_BASE_URL); its key is read from LLM_API_KEY",
    )
    group.add_argument(
        "--concurrency", type=positive, metavar="N", help="calls in flight (else LLM_CONCURRENCY)"
    )
    group.add_argument(
        "--cache", type=Path, metavar="DIR", help="folder for replies (default: a folder under var/)"
    )
    group.add_argument("--no-cache", action="store_true", help="ask a server anew and keep nothing")
    group.add_argument(
        "--prompt-dir",
        type=Path,
        metavar="DIR",
        help="folder with judge-clinical.txt or judge-mathematical.txt (else JUDGE_PROMPT_DIR, else ours)",
    )


def add_bootstrap_arguments(parser: CommandParser) -> None:
    """Add how intervals are made."""
    group = parser.add_argument_group("evaluation")
    group.add_argument("--seed", type=whole, default=0, metavar="S", help="of the bootstrap (default 0)")
    group.add_argument(
        "--resamples",
        type=whole,
        default=1000,
        metavar="B",
        help="bootstrap draws (default 1000, 0 for none)",
    )


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    return _at_least(1, text)


def whole(text: str) -> int:
    """Read a whole number of at least 0."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
    return value


def value_of(name: str, text: str) -> Any:
    """Read the value of a parameter: a number, true, false, none (no limit on a distance), or a word."""
    word = text.strip()
    if name in ("tau", "d_max_threshold", "span_threshold") and word.lower() in ("none", "null", "inf"):
        return None
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    try:
        value = json.loads(word)
    except ValueError:
        return word
    return value if isinstance(value, int | float) else word


def pairs(entries: Sequence[str], flag: str) -> dict[str, str]:
    """Read entries NAME=VALUE.

    Raises
    ------
    UsageError
        If an entry has no equals sign or a name is given twice.
    """
    found: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        name = name.strip()
        if not equals or not name or not value.strip():
            raise UsageError(f"{flag} {entry!r}: write NAME=VALUE, such as {flag} tau=4.")
        if name in found:
            raise UsageError(f"{flag} {name} is given twice.")
        found[name] = value
    return found


def audit_settings(options: dict[str, Any]) -> Any:
    """Return the `AuditSettings` that the arguments describe."""
    from auditing.core.parameters import AuditParameters
    from auditing.services.offline.auditing import AuditSettings

    given = {name: value_of(name, value) for name, value in pairs(options["set"], "--set").items()}
    largest = options["max_premises"]
    if largest is None:
        largest = given.get("m_max")
    elif given.get("m_max", largest) != largest:
        raise UsageError("--max-premises and --set m_max do not agree; give one of them.")
    if largest is not None:
        given["m_max"] = largest
    order = options.get("order") or "eager"
    if order == "lazy" and options["window"] is not None:
        raise UsageError("--window goes with --order eager: the lazy order is exact and a window is not.")
    try:
        parameters = AuditParameters.from_dict(given)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return AuditSettings(
        parameters=parameters,
        max_premises=largest,
        order=order,
        window=options["window"],
        max_calls=django_settings.AUDIT_MAX_CALLS_PER_TRACE,
    )


def host_of(url: str) -> str:
    """Return the host that an address names, "" where it cannot be read."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # the guard will say what is wrong with it
        return ""


def judge_choice(options: dict[str, Any]) -> Any:
    """Return the `JudgeChoice` of the arguments."""
    from auditing.services.offline.judging import JudgeChoice

    spec, cache = options["judge"], options["cache"]
    folder = options["prompt_dir"] or django_settings.JUDGE_PROMPT_DIR
    base_url = None
    hosts = list(django_settings.LLM_ALLOWED_HOSTS)
    if spec.startswith("openai:"):
        base_url = options["base_url"] or django_settings.LLM_BASE_URL
        if not base_url:
            raise UsageError(_NO_SERVER)
        # Whoever types a command here is the operator, who may name private addresses.
        hosts.append(host_of(base_url))
        if cache is None:
            cache = django_settings.VAR / "judge-replies"
    elif options["base_url"] is not None:
        raise UsageError(f"--base-url goes with --judge openai:MODEL, not with {spec}.")
    if options["no_cache"]:
        if options["cache"] is not None:
            raise UsageError("--cache and --no-cache contradict each other; give one of them.")
        cache = None
    return JudgeChoice(
        spec=spec,
        base_url=base_url,
        api_key=django_settings.LLM_API_KEY,
        allowed_hosts=tuple(host for host in hosts if host),
        concurrency=options["concurrency"] or django_settings.LLM_CONCURRENCY,
        cache=cache,
        prompt_folder=Path(folder) if folder else None,
    )


def labeller_choice(options: dict[str, Any], traces: Sequence[Any]) -> Any:
    """Return the `LabellerChoice` of the arguments; if none is named, stored relations come first."""
    from auditing.services.offline.auditing import STORED, LabellerChoice

    spec = options["labeller"] or (STORED if any(trace.relations for trace in traces) else "local")
    cache = options["cache"]
    base_url = options["base_url"]
    hosts = list(django_settings.LLM_ALLOWED_HOSTS)
    if spec.startswith("openai:"):
        base_url = base_url or django_settings.LLM_BASE_URL
        if not base_url:
            raise UsageError(_NO_SERVER)
        # Whoever types a command here is the operator, who may name private addresses.
        hosts.append(host_of(base_url))
        if cache is None:
            cache = django_settings.VAR / "replies"
    if options["no_cache"]:
        if options["cache"] is not None:
            raise UsageError("--cache and --no-cache contradict each other; give one of them.")
        cache = None
    return LabellerChoice(
        spec=spec,
        base_url=base_url,
        api_key=django_settings.LLM_API_KEY,
        allowed_hosts=tuple(host for host in hosts if host),
        concurrency=options["concurrency"] or django_settings.LLM_CONCURRENCY,
        cache=cache,
    )
