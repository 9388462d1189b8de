"""One lock for one content, across processes: adding a clip and removing the last one of its kind never overlap."""

from django.db import connection

# Keeps these locks apart from others of the same database.
NAMESPACE = 0x7669


def lock_content(sha256: str) -> None:
    """Wait for the lock of a content and hold it until the transaction ends. RuntimeError outside a transaction."""
    if not connection.in_atomic_block:
        raise RuntimeError("The lock of a content lasts as long as a transaction, and there is none.")
    key = int(sha256[:8], 16) - 2**31
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [NAMESPACE, key])
