"""A socket of the tests, spoken to as an ASGI server would.

Channels' own communicator cannot be imported without the Daphne server, which this project does not use.
"""

import json
from typing import Any
from urllib.parse import unquote, urlsplit

from asgiref.testing import ApplicationCommunicator


class SocketClient(ApplicationCommunicator):
    """One connection of a browser to an ASGI application."""

    def __init__(
        self, application: Any, address: str, headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        parts = urlsplit(address)
        scope = {
            "type": "websocket",
            "path": unquote(parts.path),
            "query_string": parts.query.encode(),
            "headers": headers or [],
            "subprotocols": [],
        }
        super().__init__(application, scope)

    async def connect(self, timeout: float = 5) -> bool:
        """Open it; whether the application accepted. If not it is ended, as a server does."""
        await self.send_input({"type": "websocket.connect"})
        accepted: bool = (await self.receive_output(timeout))["type"] == "websocket.accept"
        if not accepted:
            await self.disconnect(1006)
        return accepted

    async def send_json(self, content: Any) -> None:
        """Send a value as JSON text."""
        await self.send_text(json.dumps(content))

    async def send_text(self, text: str) -> None:
        """Send a text frame."""
        await self.send_input({"type": "websocket.receive", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary frame."""
        await self.send_input({"type": "websocket.receive", "bytes": data})

    async def receive_json(self, timeout: float = 5) -> Any:
        """Next JSON message of the application; fails on anything else."""
        output = await self.receive_output(timeout)
        assert output["type"] == "websocket.send", output
        return json.loads(output["text"])

    async def receive_close(self, timeout: float = 5) -> int:
        """Code of the close message that comes next; the application is ended after it, as a server does.

        A connection that is left open is cancelled with the test's event loop, and the channel layer sometimes
        swallows that: the loop would then wait for ever.
        """
        output = await self.receive_output(timeout)
        assert output["type"] == "websocket.close", output
        await self.disconnect(output["code"])
        return int(output["code"])

    async def disconnect(self, code: int = 1000) -> None:
        """Go away and wait for the application to end."""
        await self.send_input({"type": "websocket.disconnect", "code": code})
        await self.wait(5)
