"""Sockets of auditing: the progress of one run, of either kind."""

from typing import Any

from channels.db import database_sync_to_async

from auditing.events import group_of
from auditing.selectors.judges import judge_progress_of
from auditing.selectors.runs import progress_of
from reasonaudit.lib.sockets import CheckedConsumer

NO_SUCH_RUN = 4404


class RunProgressConsumer(CheckedConsumer):
    """Sends the state of a run on connection and at every change; any message from the browser asks for it again."""

    kind = "audit"

    async def opened(self) -> None:
        """Join the run's group, then send its state: a change between the two is sent twice, never lost."""
        self.run_id: int = self.scope["url_route"]["kwargs"]["pk"]
        await self.channel_layer.group_add(group_of(self.run_id, self.kind), self.channel_name)
        await self._send_state()

    async def received(self, content: dict[str, Any]) -> None:
        """Send the state as the database has it."""
        await self._send_state()

    async def closed(self, code: int) -> None:
        """Leave the group."""
        await self.channel_layer.group_discard(group_of(self.run_id, self.kind), self.channel_name)

    async def run_progress(self, event: dict[str, Any]) -> None:
        """Pass a message of the worker on."""
        await self.send_json(event["progress"])

    async def _send_state(self) -> None:
        progress = await database_sync_to_async(self.read_progress)()
        if progress is None:
            await self.close(code=NO_SUCH_RUN)
        else:
            await self.send_json(progress)

    def read_progress(self) -> dict[str, Any] | None:
        """Return the state of the run now, or None if there is none."""
        return progress_of(self.run_id)


class JudgeProgressConsumer(RunProgressConsumer):
    """The same for the run of a judge."""

    kind = "judge"

    def read_progress(self) -> dict[str, Any] | None:
        """Return the state of the judge's run now, or None if there is none."""
        return judge_progress_of(self.run_id)
