"""A small server of embeddings; each test says what it answers."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


class EmbeddingServer:
    """Its address, the requests it got, and `answer`, a function of a request's document."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.answer: Answer = vectors


def vectors(document: dict[str, Any]) -> tuple[int, bytes]:
    """Answer with [length of the text, 1] for every text, last text first."""
    data = [
        {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0]}
        for index, text in enumerate(document["input"])
    ]
    return 200, json.dumps({"object": "list", "data": data[::-1], "model": document["model"]}).encode()


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """Run a server in a thread."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            document = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, document))
            status, body = state.answer(document)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state = EmbeddingServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
