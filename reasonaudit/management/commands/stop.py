"""Stop everything that this checkout left running."""

import os
import signal
import time
from typing import Any

from django.core.management import BaseCommand

from reasonaudit import launcher
from reasonaudit.lib import embedded


class Command(BaseCommand):
    """`manage.py stop`: the app first, then what a killed one left behind: web server, worker, database, messages."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        running = launcher.running_elsewhere()
        if running:
            os.kill(running["pid"], signal.SIGTERM)
            deadline = time.monotonic() + 20
            while launcher.running_elsewhere() and time.monotonic() < deadline:
                time.sleep(0.2)
        leftovers = launcher.end_leftovers()
        database = embedded.stop_postgres()
        messages = embedded.stop_valkey()
        self.stdout.write(
            "Stopped." if running or leftovers or database or messages else "Nothing was running."
        )
