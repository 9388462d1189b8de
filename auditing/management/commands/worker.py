"""Takes background jobs from the database and carries them out, until it is stopped."""

import asyncio
import contextlib
import logging
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector

from auditing import tasks

logger = logging.getLogger(__name__)

HEARTBEATS_PER_STALL = 4
# Time for running jobs to end by themselves after Ctrl-C or SIGTERM; then they are told to stop, which takes about
# two seconds. Both together stay below the ten seconds that service managers wait.
SHUTDOWN_SECONDS = 1.0


class Command(BaseCommand):
    """`manage.py worker`: several of them, on several machines, may serve one database."""

    help = "Carry out background jobs (audit runs, model answers)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the options."""
        parser.add_argument(
            "--concurrency",
            type=int,
            default=2,
            metavar="N",
            help="jobs at once in this process (default 2); a run with the local model already uses every core",
        )
        parser.add_argument("--until-idle", action="store_true", help="end when no job is left")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until SIGTERM, SIGINT, or (with --until-idle) until no job is left."""
        connector = app.connector
        assert isinstance(connector, DjangoConnector)
        with app.replace_connector(connector.get_worker_connector()):
            asyncio.run(self._serve(options["concurrency"], wait=not options["until_idle"]))

    async def _serve(self, concurrency: int, *, wait: bool) -> None:
        stall = float(settings.STALLED_AFTER_SECONDS)
        async with app.open_async():
            await tasks.reap()
            reaper = asyncio.create_task(self._reap_for_ever(stall / 2))
            try:
                await app.run_worker_async(
                    concurrency=max(1, concurrency),
                    wait=wait,
                    update_heartbeat_interval=stall / HEARTBEATS_PER_STALL,
                    stalled_worker_timeout=stall,
                    fetch_job_polling_interval=min(5.0, stall),
                    shutdown_graceful_timeout=SHUTDOWN_SECONDS,
                )
            finally:
                reaper.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await reaper

    async def _reap_for_ever(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await tasks.reap()
            except Exception:  # a database that is away for a while must not end the worker
                logger.exception("Looking for jobs of dead workers failed; trying again")
