"""What the offline commands share: arguments, messages, exit codes. They use no database and need no login.

Exit codes: 0 fine, 1 the data have problems, 2 wrong use, 3 the labeller failed.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings as django_settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from auditing.services.offline.errors import OfflineError, UsageError


class Error(CommandError):
    """Ends a command with one sentence on standard error and an exit code."""


class OfflineCommand(BaseCommand):
    """A command that works on files only."""

    requires_system_checks: Sequence[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs.setdefault("formatter_class", HelpFormatter)
        return super().create_parser(prog_name, subcommand, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verbosity"] < 2:
            # A progress bar and lines of a log do not go together; -v 2 shows the log.
            logging.getLogger("auditing").setLevel(logging.ERROR)
        try:
            code = self.work(options)
        except OfflineError as error:
            raise Error(str(error), returncode=error.exit_code) from None
        except KeyboardInterrupt:
            raise Error("Interrupted. Answers so far are in the cache; the same command goes on from there.",
                        returncode=130) from None  # fmt: skip
        except BrokenPipeError:
            # The reader of a pipe (head, less) has enough. Keep Python from complaining when it closes the stream.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        if code:
            sys.exit(code)

    def work(self, options: dict[str, Any]) -> int:
        """Do what the command is for; returns the exit code."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Write a line to standard error."""
        self.stderr.write(_printable(text, self.stderr), style_func=str)

    def out(self, text: str) -> None:
        """Write a line to standard output."""
        self.stdout.write(_printable(text, self.stdout))

    def out_bytes(self, data: bytes) -> None:
        """Write bytes to standard output as they are, whatever the locale says."""
        raw = getattr(self.stdout._out, "buffer", None)
        if raw is None:
            self.stdout.write(data.decode("utf-8"), ending="")
            return
        self.stdout.flush()
        raw.write(data)
        raw.flush()


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of the description and uses the width of a page."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=100)


def _printable(text: str, stream: Any) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def add_input_arguments(parser: CommandParser) -> None:
    """Add files, format and how to read them."""
    group = parser.add_argument_group("input")
    group.add_argument("files", nargs="+", type=Path, metavar="FILE", help="trace files")
    group.add_argument("--format", metavar="F", help="format of the files; recognised from the content if not given")
    group.add_argument("--index-base", type=int, choices=(0, 1), help="number of the first segment in the files")
    group.add_argument("--domain", choices=("clinical", "mathematical", "general"), help="for traces that name none")
    group.add_argument("--limit", type=positive, metavar="N", help="read at most N traces")
    group.add_argument("--skip-bad", action="store_true", help="leave out what has problems instead of stopping")


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
    group.add_argument("--concurrency", type=positive, metavar="N", help="calls in flight (else LLM_CONCURRENCY)")
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
        help="largest premise set (default 2; stored premise sets count whatever their size unless this is given)",
    )
    group.add_argument("--set", action="append", default=[], metavar="PARAM=VALUE",
                       help="another parameter, such as tau=4 or contradiction_scope=none; may be repeated")  # fmt: skip
    group.add_argument("--window", type=positive, metavar="W",
                       help="premises only from the context and the W segments before the target: fewer calls, not exact")  # fmt: skip


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def whole(text: str) -> int:
    """Read a whole number of at least 0."""
    return 0 if text.strip() == "0" else positive(text)


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


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # the guard will say what is wrong with it
        return ""


def labeller_choice(options: dict[str, Any], traces: Sequence[Any]) -> Any:
    """Return the `LabellerChoice` that the arguments describe; without one, stored relations win over the local model."""
    from auditing.services.offline.auditing import STORED, LabellerChoice

    spec = options["labeller"] or (STORED if any(trace.relations for trace in traces) else "local")
    cache = options["cache"]
    base_url = options["base_url"]
    hosts = list(django_settings.LLM_ALLOWED_HOSTS)
    if spec.startswith("openai:"):
        base_url = base_url or django_settings.LLM_BASE_URL
        if not base_url:
            raise UsageError(
                "No address of a model server is known. Give --base-url URL (manage.py serve_llm serves at "
                "http://localhost:8000/v1), or set the variable LLM_BASE_URL."
            )
        # Whoever types a command here is the operator, who may name private addresses.
        hosts.append(_host(base_url))
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


def read_traces(command: OfflineCommand, options: dict[str, Any]) -> Any:
    """Read the files, print remarks and problems, and return what was loaded.

    Raises
    ------
    OfflineError
        If there are problems and they are not to be skipped, or nothing is left.
    """
    from annotation.formats.records import ReadOptions
    from auditing.services.offline.loading import load, refuse

    loaded = load(
        options["files"],
        format_name=options["format"],
        options=ReadOptions(options["index_base"], options["domain"], options["limit"]),
    )
    report(command, loaded.notes, loaded.problems)
    refuse(loaded.problems, skip_bad=options["skip_bad"], traces=len(loaded.traces))
    return loaded


def report(command: OfflineCommand, notes: Sequence[str], problems: Sequence[Any]) -> None:
    """Write remarks and problems to standard error, one a line."""
    for note in notes:
        command.say(note)
    for problem in problems:
        command.say(str(problem))


def labelled_set(command: OfflineCommand, options: dict[str, Any], settings: Any, traces: list[Any]) -> Any:
    """Label the traces with a progress bar on standard error; remarks go there too."""
    from auditing.management.progress import Progress
    from auditing.services.offline.auditing import STORED, label_traces, too_large
    from auditing.services.offline.loading import refuse

    choice = labeller_choice(options, traces)
    if options["labeller"] is None:
        command.say(f"Relation labels: {choice.spec}. Say --labeller to choose another.")
    if choice.spec != STORED:
        refused = too_large(traces, settings)
        report(command, [], [problem for _, problem in refused])
        large = {trace.id for trace, _ in refused}
        traces = [trace for trace in traces if trace.id not in large]
        refuse([problem for _, problem in refused], skip_bad=options["skip_bad"], traces=len(traces))
    progress = Progress(sys.stderr, quiet=bool(options.get("json")))
    try:
        found = label_traces(traces, choice, settings, progress)
    finally:
        progress.close()
    report(command, [found.quality_note] if found.quality_note else [], [])
    report(command, found.remarks, [])
    return found


def audits_from_files(command: OfflineCommand, options: dict[str, Any]) -> list[Any]:
    """Return the audits that the files hold, and audit the files that hold traces.

    Raises
    ------
    OfflineError
        If a file has problems, or a trace is there twice.
    """
    from auditing.formats.audits import AuditsError, looks_like_audits, read_audits
    from auditing.services.offline.auditing import audited
    from auditing.services.offline.loading import read_bytes

    audits: list[Any] = []
    traces: list[Path] = []
    for path in options["files"]:
        data = read_bytes(path)
        if isinstance(data, bytes) and looks_like_audits(data):
            try:
                audits += read_audits(data, str(path))
            except AuditsError as error:
                raise OfflineError(str(error)) from None
        else:
            traces.append(path)
    if traces:
        settings = audit_settings(options)
        loaded = read_traces(command, {**options, "files": traces})
        audits += audited(labelled_set(command, options, settings, loaded.traces).traces)
    seen: set[str] = set()
    for audit in audits:
        if audit["id"] in seen:
            raise OfflineError(f"Trace {audit['id']} is there twice and would count twice. Give each trace once.")
        seen.add(audit["id"])
    return audits
