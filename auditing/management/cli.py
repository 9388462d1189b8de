"""What the offline commands share: messages, exit codes, reading and labelling; no database, no login.

Exit codes: 0 fine, 1 the data have problems, 2 wrong use, 3 the labeller failed.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from auditing.management.arguments import HelpFormatter, audit_settings, labeller_choice
from auditing.services.offline.errors import OfflineError


class Error(CommandError):
    """Ends a command with one sentence on standard error and an exit code."""


class OfflineCommand(BaseCommand):
    """A command that works on files only."""

    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the line breaks of the description."""
        kwargs.setdefault("formatter_class", HelpFormatter)
        return super().create_parser(prog_name, subcommand, **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command; every known failure is one sentence and an exit code."""
        _open_closed_streams(self)
        if options["verbosity"] < 2:
            # A progress bar and lines of a log do not go together; -v 2 shows the log.
            logging.getLogger("auditing").setLevel(logging.ERROR)
        try:
            code = self.work(options)
            self.stdout.flush()
        except OfflineError as error:
            raise Error(str(error), returncode=error.exit_code) from None
        except KeyboardInterrupt:
            sentence = "Interrupted. If there is a cache, the same command goes on from where it stopped."
            raise Error(sentence, returncode=130) from None
        except BrokenPipeError:
            _drop_output()  # the reader of the pipe (head, less) has enough
            code = 0
        except OSError as error:  # files of their own are handled where they are read and written
            _drop_output()
            sentence = f"Cannot write to standard output: {error.strerror or error}. Write it elsewhere."
            raise Error(sentence) from None
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


def _open_closed_streams(command: BaseCommand) -> None:
    """Let a command that was started with a closed stream (`2>&-`, some schedulers) write into nothing."""
    for wrapper, name in ((command.stdout, "stdout"), (command.stderr, "stderr")):
        if wrapper._out is None:
            nothing = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for as long as the process lives)
            wrapper._out = nothing
            setattr(sys, name, nothing)


def _drop_output() -> None:
    """Send what is still buffered nowhere: closing the stream must not fail a second time."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _printable(text: str, stream: Any) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


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


def chosen(
    command: OfflineCommand, options: dict[str, Any], settings: Any, traces: list[Any]
) -> tuple[Any, list[Any]]:
    """Return the labeller choice, and the traces that are not too large for it.

    Raises
    ------
    OfflineError
        If a trace is too large and is not to be skipped, or none is left.
    """
    from auditing.services.offline.auditing import STORED, too_large
    from auditing.services.offline.loading import refuse

    choice = labeller_choice(options, traces)
    if options["labeller"] is None:
        command.say(f"Relation labels: {choice.spec}. Say --labeller to choose another.")
    if choice.spec == STORED:
        return choice, traces
    refused = too_large(traces, settings)
    problems = [problem for _, problem in refused]
    report(command, [], problems)
    large = {trace.id for trace, _ in refused}
    fit = [trace for trace in traces if trace.id not in large]
    refuse(problems, skip_bad=options["skip_bad"], traces=len(fit))
    return choice, fit


def labelled_set(command: OfflineCommand, options: dict[str, Any], settings: Any, traces: list[Any]) -> Any:
    """Label the traces with a progress bar on standard error; remarks go there too."""
    from auditing.management.progress import Progress
    from auditing.services.offline.auditing import label_traces

    choice, fit = chosen(command, options, settings, traces)
    progress = Progress(sys.stderr, quiet=bool(options.get("json")))
    try:
        found = label_traces(fit, choice, settings, progress)
    finally:
        progress.close()
    report(command, [found.quality_note] if found.quality_note else [], [])
    report(command, found.remarks, [])
    return found


def split_files(files: Sequence[Path]) -> tuple[list[Any], list[Path]]:
    """Return the audits that some of the files hold, and the other files, which hold traces."""
    from auditing.formats.audits import AuditsError, looks_like_audits, read_audits
    from auditing.services.offline.loading import read_bytes

    audits: list[Any] = []
    traces: list[Path] = []
    for path in files:
        data = read_bytes(path)
        if isinstance(data, bytes) and looks_like_audits(data):
            try:
                audits += read_audits(data, str(path))
            except AuditsError as error:
                raise OfflineError(str(error)) from None
        else:
            traces.append(path)
    return audits, traces


def audits_from_files(command: OfflineCommand, options: dict[str, Any]) -> list[Any]:
    """Return the audits that the files hold, and audit the files that hold traces.

    Raises
    ------
    OfflineError
        If a file has problems, or a trace is there twice.
    """
    from auditing.services.offline.auditing import audited

    audits, traces = split_files(options["files"])
    if traces:
        settings = audit_settings(options)
        loaded = read_traces(command, {**options, "files": traces})
        audits += audited(labelled_set(command, options, settings, loaded.traces).traces)
    _refuse_twice([audit["id"] for audit in audits])
    return audits


def labelled_from_files(
    command: OfflineCommand, options: dict[str, Any], settings: Any, grid: Sequence[Any]
) -> list[Any]:
    """Return labelled traces with every relation that any setting of the grid needs.

    Raises
    ------
    OfflineError
        If a file has problems, or an earlier audit lacks relations that a setting needs.
    """
    from auditing.services.offline.ablation import require_labelled, widened
    from auditing.services.offline.auditing import with_parameters
    from auditing.services.offline.documents import labelled_from_document

    audits, files = split_files(options["files"])
    try:
        found = [labelled_from_document(audit) for audit in audits]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise OfflineError(f"An earlier audit cannot be read: {error}") from None
    require_labelled(found, grid)
    if files:
        loaded = read_traces(command, {**options, "files": files})
        labelled = labelled_set(command, options, widened(settings, grid), loaded.traces)
        found += [with_parameters(trace, settings.parameters) for trace in labelled.traces]
    _refuse_twice([trace.record.id for trace in found])
    return found


def _refuse_twice(ids: Sequence[str]) -> None:
    for name, count in Counter(ids).items():
        if count > 1:
            raise OfflineError(
                f"Trace {name} is there {count} times and would count so. Give each trace once."
            )
