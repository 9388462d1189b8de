"""Run everything a local installation needs as one foreground process: database, messages, worker and web server."""

import fcntl
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
from typing import IO, Any

from django.db import OperationalError

from reasonaudit.lib import embedded

HOST = "127.0.0.1"
LAST_PORT = 65535
WEB, WORKER = "The web server", "The worker"
# A worker that was killed is started again; one that ends so soon cannot run at all.
SHORTEST_LIFE = 10.0


def record_path() -> Path:
    """Where the running launcher notes its process id and port, for `stop`."""
    return embedded.var_dir() / "launcher.json"


def free_port(wanted: int) -> int:
    """`wanted` if nothing listens there, else the next free port.

    Raises
    ------
    SystemExit
        If `wanted` is no port, or none of the 20 ports from it on is free.
    """
    if not 1 <= wanted <= LAST_PORT:
        raise SystemExit(f"{wanted} is not a port. Choose one from 1024 to {LAST_PORT} with --port.")
    last = min(wanted + 19, LAST_PORT)
    for port in range(wanted, last + 1):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise SystemExit(f"Ports {wanted} to {last} are all in use or not allowed. Choose another with --port.")


def running_elsewhere() -> dict[str, Any] | None:
    """Record of a launcher of this checkout that is still alive, else None.

    A launcher holds a lock on its record: a process id alone may belong to another program by now.
    """
    try:
        with record_path().open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                record: dict[str, Any] = json.load(file)
                return record
    except (OSError, ValueError):
        return None
    return None


def claim_record(port: int) -> IO[str]:
    """Write the record of this launcher and lock it until the returned file is closed.

    Raises
    ------
    BlockingIOError
        If another launcher of this checkout has it.
    """
    file = record_path().open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise
    write_record(file, port, [])
    return file


def write_record(file: IO[str], port: int, children: list[int]) -> None:
    """Note this process, its port and the process ids of its children in the locked record."""
    file.truncate(0)
    file.write(json.dumps({"pid": os.getpid(), "port": port, "children": children}))
    file.flush()


def end_leftovers() -> bool:
    """End web server, worker and message server that a killed launcher left running. True if there were any."""
    if running_elsewhere():
        return False
    try:
        left: list[int] = json.loads(record_path().read_text(encoding="utf-8"))["children"]
    except (OSError, ValueError, KeyError):
        return False
    record_path().unlink(missing_ok=True)
    ended = [embedded.end_process(pid, signal.SIGTERM) for pid in left if is_child(pid)]
    return embedded.stop_valkey() or any(ended)


def is_child(pid: int) -> bool:
    """Whether a process is a web server or worker of this program: the number may be another's by now."""
    command = embedded.command_of(pid)
    return "reasonaudit.asgi:application" in command or "manage.py worker" in command


def wait_until_answering(
    address: str, children: dict[str, subprocess.Popen[bytes]], patience: float = 60.0
) -> None:
    """Return once the web server answers its health page.

    Raises
    ------
    SystemExit
        If a child process ended or the server stayed silent for `patience` seconds.
    """
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        for name, child in children.items():
            if child.poll() is not None:
                raise SystemExit(f"{name} could not start; its message stands above.")
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=2):  # noqa: S310 (own loopback address)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"The web server did not answer within {patience:.0f} s.")


def watch(children: dict[str, subprocess.Popen[bytes]], start: Callable[[str], None]) -> str:
    """Return the name of the child that ended for good; until then, `start` a worker anew that was killed.

    The runs of a killed worker go on in the new one as soon as the old one counts as dead.
    """
    started = dict.fromkeys(children, time.monotonic())
    while True:
        for name, child in list(children.items()):
            if child.poll() is None:
                continue
            if name != WORKER or time.monotonic() - started[name] < SHORTEST_LIFE:
                return name
            print(
                f"The worker ended unexpectedly ({ending(child)}); it is started again. Its runs go on "
                "in half a minute.",
                file=sys.stderr,
                flush=True,
            )
            start(name)
            started[name] = time.monotonic()
        time.sleep(0.5)


def ending(child: subprocess.Popen[bytes]) -> str:
    """How a child ended, in words: its exit code, or the signal that killed it."""
    code = child.returncode
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


def run(*, port: int, prepare: Callable[[], None], announce: Callable[[str], None]) -> None:
    """Start the services, call `prepare`, start worker and web server, call `announce(address)`, wait for the end.

    Ends at Ctrl-C or SIGTERM; children and embedded services end with it.

    Raises
    ------
    SystemExit
        If it runs already, no port is free, or the web server or worker cannot be kept running.
    """
    other = running_elsewhere()
    if other:
        raise SystemExit(
            f"reasonaudit already runs from this folder at http://{HOST}:{other['port']} (process {other['pid']}). "
            "Use it, or end it with `make stop`."
        )
    end_leftovers()
    port = free_port(port)
    try:
        record = claim_record(port)
    except BlockingIOError:
        raise SystemExit("reasonaudit is being started from this folder already.") from None
    address = f"http://{HOST}:{port}"

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    # A closed terminal ends everything too; `nohup` ignores it on purpose.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, end)
    valkey = embedded.start_valkey_unless_external()
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        try:
            prepare()
        except OperationalError as error:
            reason = " ".join(str(error).split())
            raise SystemExit(f"The database cannot be used: {reason} Is DATABASE_URL right?") from None
        web = ["-m", "uvicorn", "reasonaudit.asgi:application", "--host", HOST, "--port", str(port)]
        quiet = ["--no-access-log", "--log-level", "warning", "--lifespan", "off", "--ws-max-size", "65536"]
        # Longer than people pause: a page that saves now and then keeps its connection.
        quiet += ["--timeout-keep-alive", "75"]
        commands = {
            WEB: [sys.executable, *web, *quiet],
            WORKER: [sys.executable, str(embedded.ROOT / "manage.py"), "worker"],
        }

        def start(name: str) -> None:
            # Own process groups: Ctrl-C reaches this process alone, which then ends the children in order.
            children[name] = subprocess.Popen(commands[name], cwd=embedded.ROOT, start_new_session=True)  # noqa: S603
            write_record(record, port, [child.pid for child in children.values()])

        for name in commands:
            start(name)
        wait_until_answering(address, children)
        announce(address)
        lost = watch(children, start)
        raise SystemExit(
            f"{lost} ended unexpectedly ({ending(children[lost])}), so everything was stopped. "
            "Its message, if it left one, stands above. Start again: nothing that was stored is lost."
        )
    except KeyboardInterrupt:
        print("\nStopping …", flush=True)
    finally:
        for ending_signal in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(ending_signal, signal.SIG_IGN)
        end_children(list(children.values()))
        embedded.forget_dead_handles(embedded.postgres_dir())
        if valkey is not None:
            valkey.stop()
        record_path().unlink(missing_ok=True)
        record.close()


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
