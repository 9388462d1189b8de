"""Arguments that `grapheval` and `grapheval_study` share, and what they mean."""

from __future__ import annotations

import sys
from dataclasses import fields
from functools import partial
from typing import Any

from django.conf import settings as django_settings
from django.core.management.base import CommandParser

from annotation.formats.chains import ANSWER_KINDS
from auditing.management.arguments import host_of, pairs, positive, value_of
from auditing.services.offline.errors import UsageError

GROUPS = ("graph", "distance", "consensus", "uncertainty")


def add_chain_arguments(parser: CommandParser) -> None:
    """Add how files are read, how facts are made and embedded, and the weights."""
    group = parser.add_argument_group("input")
    group.add_argument(
        "--format", metavar="F", help="format of the files; recognised from the content if not given"
    )
    group.add_argument("--limit", type=positive, metavar="N", help="score at most N questions")
    group.add_argument(
        "--skip-bad", action="store_true", help="leave out what has problems instead of stopping"
    )
    group.add_argument(
        "--answer-kind",
        choices=ANSWER_KINDS,
        help="how answers are compared; if not given, as the file says or as its gold answers look",
    )
    group = parser.add_argument_group("facts")
    group.add_argument(
        "--sentences", action="store_true", help="sentences as facts, also where facts came with the chains"
    )
    group.add_argument(
        "--embedder",
        default="minilm",
        metavar="E",
        help="minilm (the model that comes along, the default), sentence-transformers:PATH_OR_NAME or openai:MODEL",
    )
    group.add_argument(
        "--base-url",
        metavar="URL",
        help="address of the server of openai:MODEL (else the variable LLM_BASE_URL); its key is read from LLM_API_KEY",
    )
    group = parser.add_argument_group("weights")
    for name in ("alpha", "beta", "gamma", "tau"):
        group.add_argument(f"--{name}", type=float, metavar="X", help=f"{name} (default: the paper's)")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PARAM=VALUE",
        help="another parameter, such as fact_edges=all_pairs; may be repeated",
    )


def chain_settings(options: dict[str, Any]) -> Any:
    """Return the `Settings` of the arguments.

    Raises
    ------
    UsageError
        If a value is none, or the address of a server is missing or not needed.
    """
    from auditing.services.offline.grapheval import Settings

    base_url, hosts = options["base_url"], list(django_settings.LLM_ALLOWED_HOSTS)
    if options["embedder"].startswith("openai:"):
        base_url = base_url or django_settings.LLM_BASE_URL
        if not base_url:
            raise UsageError(
                "No address of a server for embeddings is known. Give --base-url URL, or set the variable LLM_BASE_URL."
            )
        # Whoever types a command here is the operator, who may name private addresses.
        hosts.append(host_of(base_url))
    elif base_url is not None:
        raise UsageError(f"--base-url goes with --embedder openai:MODEL, not with {options['embedder']}.")
    return Settings(
        parameters=parameters_of(options),
        embedder=options["embedder"],
        sentences=options["sentences"],
        answer_kind=options["answer_kind"],
        base_url=base_url,
        api_key=django_settings.LLM_API_KEY,
        allowed_hosts=tuple(host for host in hosts if host),
    )


def parameters_of(options: dict[str, Any]) -> Any:
    """Return the `StudyParameters` of the arguments.

    Raises
    ------
    UsageError
        If a name is unknown, given twice, or a value is outside its range.
    """
    from auditing.core.grapheval.parameters import StudyParameters

    defaults = StudyParameters()
    owner = {entry.name: group for group in GROUPS for entry in fields(type(getattr(defaults, group)))}
    given = {name: value_of("", value) for name, value in pairs(options["set"], "--set").items()}
    for name in ("alpha", "beta", "gamma", "tau"):
        if options[name] is not None:
            if name in given:
                raise UsageError(f"--{name} and --set {name} are both given; give one of them.")
            given[name] = options[name]
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in owner:
            raise UsageError(f"Unknown parameter {name!r}; use one of {', '.join(owner)}.")
        values.setdefault(owner[name], {})[name] = value
        _check_kind(name, value, getattr(getattr(defaults, owner[name]), name))
    try:
        return StudyParameters.from_dict(values)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _check_kind(name: str, value: object, default: object) -> None:
    """Raise `UsageError` where a value is of another kind than the parameter's default."""
    if isinstance(default, bool):
        fits, kind = isinstance(value, bool), "true or false"
    elif isinstance(default, str):
        fits, kind = isinstance(value, str), "a word"
    else:
        fits, kind = isinstance(value, int | float) and not isinstance(value, bool), "a number"
    if not fits:
        raise UsageError(f"{name} must be {kind}, not {value!r}.")


def scored_files(command: Any, options: dict[str, Any], settings: Any) -> tuple[Any, Any]:
    """Read the files, score their questions with progress on standard error; returns the set and what was read.

    Raises
    ------
    OfflineError
        If there are problems and they are not to be skipped, or nothing is left.
    """
    from auditing.management import cli
    from auditing.management.progress import Progress
    from auditing.services.offline import grapheval
    from auditing.services.offline.loading import load, refuse

    loaded = load(options["files"], format_name=options["format"], without_steps=True)
    cli.report(command, loaded.notes, loaded.problems)
    refuse(loaded.problems, skip_bad=options["skip_bad"], traces=len(loaded.traces))
    questions = grapheval.questions_of(loaded.traces, settings, limit=options["limit"])
    shown: dict[str, Progress] = {}

    def told(what: str, tally: Any) -> None:
        # A line's time left counts from its first news: the second stage begins when the first one is done.
        if what not in shown:
            shown[what] = Progress(sys.stderr, quiet=options["json"], what=what)
        shown[what](tally)

    try:
        found = grapheval.score_questions(
            questions, settings, embedding=partial(told, "texts"), scoring=partial(told, "questions")
        )
    finally:
        for line in shown.values():
            line.close()
    return found, loaded
