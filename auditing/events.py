"""Messages about runs to the open pages.

The database is the truth and pages can always ask it; a message only saves them the asking. So a channel server that
is down or slow never stops a run.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)
SEND_SECONDS = 1.0


def group_of(run_id: int, kind: str = "audit") -> str:
    """Return the name of the channel group of a run; each kind of run counts its ids itself."""
    return f"{kind}-run-{run_id}"


async def send_progress(progress: Mapping[str, Any]) -> bool:
    """Send a progress object to the pages that watch its run; False when it could not be sent."""
    layer = get_channel_layer()
    if layer is None:
        return False
    message = {"type": "run.progress", "progress": dict(progress)}
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await layer.group_send(group_of(progress["id"], progress.get("kind", "audit")), message)
    except Exception as error:  # the transport's own errors are many, and none of them may reach the run
        logger.warning("Progress of run %s could not be sent: %s", progress["id"], type(error).__name__)
        return False
    return True


def send_progress_now(progress: Mapping[str, Any]) -> bool:
    """Send a progress object from synchronous code."""
    return async_to_sync(send_progress)(progress)
