#!/usr/bin/env python
"""Command line of reasonaudit: `manage.py help` lists the commands."""

import os
import sys

# Work that needs no web server, no login and no database must not start one.
WITHOUT_DATABASE = {
    "ablate", "audit", "evaluate", "serve_llm", "stop", "help", "--help", "-h", "version", "--version",
    "collectstatic", "makemigrations", "spectacular",
}  # fmt: skip


def main() -> None:
    """Start the embedded database where the command needs one, then run the command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reasonaudit.settings.development")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit(
            "Django is not installed in this Python. Run `make setup`, then use `.venv/bin/python manage.py`."
        )
    if command not in WITHOUT_DATABASE and not {"--help", "-h"} & set(sys.argv[2:]):
        from reasonaudit.lib import embedded

        embedded.start_postgres_unless_external()
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
