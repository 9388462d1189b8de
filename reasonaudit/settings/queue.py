"""Background jobs: Procrastinate in the same PostgreSQL, so that a job is enqueued with the rows it works on."""

import os

PROCRASTINATE_AUTODISCOVER_MODULE_NAME = "tasks"
# A worker that sends no heartbeat for this long is taken for dead and its jobs are started again.
STALLED_AFTER_SECONDS = float(os.environ.get("STALLED_AFTER_SECONDS", "30"))
