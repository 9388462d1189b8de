"""`manage.py probe_run`: ask some relations of a run again and say how many labels changed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from auditing.llm.errors import LLMPaused
from auditing.models import AuditRun
from auditing.services.probe import in_words, probe_run
from reasonaudit.lib.errors import UserError


class Command(BaseCommand):
    """Greedy decoding on a server is not always repeatable; this measures it."""

    help = "Ask a random sample of a run's labelled relations again, past every cache, and say how many labels changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=int, metavar="ID", help="the run, as in the address of its page")
        parser.add_argument(
            "--sample", type=int, default=100, metavar="K", help="how many to ask (default 100)"
        )
        parser.add_argument("--seed", type=int, default=0, help="of the random choice (default 0)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["sample"] < 1:
            raise CommandError("--sample must be at least 1.")
        run = AuditRun.objects.filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"There is no run {options['run']}. The page Runs lists them.")
        try:
            result = probe_run(run, sample=options["sample"], seed=options["seed"])
        except (UserError, LLMPaused) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(in_words(result))
