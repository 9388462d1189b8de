"""Run everything a local installation needs as one foreground process: database, messages, worker and web server."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from reasonaudit.lib import embedded

HOST = "127.0.0.1"


def record_path() -> Path:
    """Where the running launcher notes its process id and port, for `stop`."""
    return embedded.var_dir() / "launcher.json"


def free_port(wanted: int) -> int:
    """`wanted` if nothing listens there, else the next free port.

    Raises
    ------
    SystemExit
        If none of the 20 ports from `wanted` on is free.
    """
    for port in range(wanted, wanted + 20):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise SystemExit(f"Ports {wanted} to {wanted + 19} are all in use. Choose another with --port.")


def running_elsewhere() -> dict[str, int] | None:
    """Record of a launcher of this checkout that is still alive, else None."""
    try:
        record: dict[str, int] = json.loads(record_path().read_text(encoding="utf-8"))
        os.kill(record["pid"], 0)
    except (OSError, ValueError, KeyError):
        return None
    return record if record["pid"] != os.getpid() else None


def wait_until_answering(
    address: str, children: list[subprocess.Popen[bytes]], patience: float = 60.0
) -> None:
    """Return once the web server answers its health page.

    Raises
    ------
    SystemExit
        If a child process ended or the server stayed silent for `patience` seconds.
    """
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        for child in children:
            if child.poll() is not None:
                raise SystemExit("The web server or the worker could not start; its message stands above.")
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=2):  # noqa: S310 (own loopback address)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"The web server did not answer within {patience:.0f} s.")


def run(*, port: int, prepare: Callable[[], None], announce: Callable[[str], None]) -> None:
    """Start the services, call `prepare`, start worker and web server, call `announce(address)`, wait for the end.

    Ends at Ctrl-C or SIGTERM, or when a child dies; children and embedded services end with it.
    """
    other = running_elsewhere()
    if other:
        raise SystemExit(
            f"reasonaudit already runs from this folder at http://{HOST}:{other['port']} (process {other['pid']}). "
            "Use it, or end it with `make stop`."
        )
    port = free_port(port)
    address = f"http://{HOST}:{port}"

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    valkey = embedded.start_valkey_unless_external()
    children: list[subprocess.Popen[bytes]] = []
    record_path().write_text(json.dumps({"pid": os.getpid(), "port": port}), encoding="utf-8")
    try:
        prepare()
        web = ["-m", "uvicorn", "reasonaudit.asgi:application", "--host", HOST, "--port", str(port)]
        quiet = ["--no-access-log", "--log-level", "warning", "--lifespan", "off", "--ws-max-size", "65536"]
        commands = [
            [sys.executable, *web, *quiet],
            [sys.executable, str(embedded.ROOT / "manage.py"), "worker"],
        ]
        # Own process groups: Ctrl-C reaches this process alone, which then ends the children in order.
        children += [subprocess.Popen(c, cwd=embedded.ROOT, start_new_session=True) for c in commands]  # noqa: S603
        wait_until_answering(address, children)
        announce(address)
        while all(child.poll() is None for child in children):
            time.sleep(0.5)
        print("The web server or the worker ended unexpectedly; stopping.", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nStopping …", flush=True)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_children(children)
        if valkey is not None:
            valkey.stop()
        record_path().unlink(missing_ok=True)


def end_children(children: list[subprocess.Popen[bytes]], patience: float = 12.0) -> None:
    """Ask the children to end, and kill those that do not within `patience` seconds."""
    for child in children:
        if child.poll() is None:
            child.terminate()
    deadline = time.monotonic() + patience
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
