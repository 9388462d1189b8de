"""`manage.py draft_reasoning`: versions of the reasoning, or target labels, by a model for all questions of a set."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db.models import Q

from auditing.drafting.protocol import KINDS, REASONING
from auditing.management.arguments import HelpFormatter
from auditing.management.cli import Error
from auditing.models import DraftItem
from auditing.services.drafts import execution, planning, runs
from auditing.services.runs import request_cancel
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.models import RunState
from videos.models import VideoSet

DESCRIPTION = """\
Let a model write, for each question of a set, the reasoning (visual cue, audio cue, final answer) or the
target label, as a version that everybody who works on the question may compare with theirs and take over.
Nothing that people made is changed. Models are named in LLM_DRAFT_MODELS; those in LLM_IMAGE_MODELS also get
pictures of the clip.

A question that has a version by the same model and prompt is left out; --again looks at all of them and writes
a new version where the transcript, the pictures or the question changed. Every reply is kept: a second
run pays only for what is missing.

Exit codes: 0 fine; 1 some questions got no draft; 2 wrong use.
"""
MOST_SHOWN = 10


class Command(BaseCommand):
    """Draft for a set."""

    help = DESCRIPTION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, formatter_class=HelpFormatter, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("set_name", metavar="SET", help="name (or address) of the set")
        parser.add_argument("--kind", choices=KINDS, default=REASONING, help=f"default: {REASONING}")
        parser.add_argument(
            "--connection", default="", metavar="MODEL", help="one of LLM_DRAFT_MODELS (default: its first)"
        )
        parser.add_argument("--again", action="store_true", help="also questions that have such a version")
        parser.add_argument("--dry-run", action="store_true", help="only say how many calls it would take")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["set_name"]
        video_set = VideoSet.objects.filter(Q(name=name) | Q(slug=name)).first()
        if video_set is None:
            known = ", ".join(VideoSet.objects.order_by("slug").values_list("slug", flat=True)[:20])
            raise Error(f"There is no video set {name!r}. Sets: {known or 'none'}.", returncode=2)
        try:
            planned = planning.plan(
                video_set=video_set,
                kind=options["kind"],
                connection=options["connection"],
                again=options["again"],
            )
            self.stdout.write(planned.in_words())
            if options["dry_run"] or not planned.questions:
                return
            run = runs.create(
                kind=options["kind"], questions=planned.questions, connection=options["connection"]
            )
        except UserError as error:
            raise Error(str(error), returncode=2) from None
        try:
            execution.execute(run.pk, on_progress=self._progress)
        except KeyboardInterrupt:
            request_cancel(run)
            raise Error(
                "Stopped. What was drafted is kept; the same command goes on with the rest."
            ) from None
        run.refresh_from_db()
        missing = list(
            DraftItem.objects.filter(run=run).exclude(state=RunState.DONE).select_related("question")
        )
        for item in [item for item in missing if item.message][:MOST_SHOWN]:
            self.stderr.write(f"{item.question.external_id}: {item.message}", style_func=str)
        self.stdout.write(
            f"{run.done:,} of {run.total:,} questions have a draft; {run.cached:,} of them from a stored reply."
        )
        if missing:
            raise Error(f"{len(missing):,} questions have no draft. {run.message}".strip())

    def _progress(self, through: int, total: int) -> None:
        self.stderr.write(f"{through:,} of {total:,} questions", style_func=str)
