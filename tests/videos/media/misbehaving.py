"""Tasks for the sandbox that do what a broken or hostile decoder might do."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def answer(report: Any, value: Any) -> Any:
    print("a library that chats on standard output")
    return value


def told_progress(report: Any) -> dict[str, Any]:
    report(0.25, "A quarter")
    time.sleep(0.3)
    report(7.0, "More than all")
    return {}


def spin(report: Any) -> dict[str, Any]:
    while True:
        pass


def sleep_with_child(report: Any, note: str) -> dict[str, Any]:
    child = os.fork()
    if child:
        Path(note).write_text(f"{os.getpid()} {child}")
        report(0.5, "Sleeping")
    time.sleep(60)
    return {}


def leave_child(report: Any, note: str) -> dict[str, Any]:
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    Path(note).write_text(str(child))
    return {"left": True}


def crash(report: Any) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def killed(report: Any) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def vanish(report: Any) -> dict[str, Any]:
    print("/srv/secret/path", file=sys.stderr)
    os._exit(3)


def scribble(report: Any) -> dict[str, Any]:
    for descriptor in range(3, 12):
        try:
            os.write(descriptor, b"this is not JSON\n")
        except OSError:
            continue
    return {}


def devour(report: Any) -> dict[str, Any]:
    return {"held": len(bytearray(3 * 2**30))}


def write_much(report: Any) -> dict[str, Any]:
    with open("much", "wb") as file:
        for _ in range(64):
            file.write(bytes(2**20))
            file.flush()
    return {}


def escape(report: Any, port: int) -> dict[str, Any]:
    tried: dict[str, Any] = {"environment": sorted(os.environ), "folder": os.getcwd(), "files": os.listdir()}
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
        tried["network"] = "reached"
    except OSError as reason:
        tried["network"] = type(reason).__name__
    try:
        subprocess.run(["/bin/true"], check=True)
        tried["program"] = "ran"
    except OSError as reason:
        tried["program"] = type(reason).__name__
    return tried


def read_all(report: Any, folder: str) -> dict[str, Any]:
    """Probe and index every file of a folder; say for each what came out."""
    from videos.media import index, probe
    from videos.media.errors import MediaRefused

    found = {}
    for path in sorted(Path(folder).iterdir()):
        try:
            probe.probe(str(path))
            found[path.name] = str(index.read_index(str(path)).index.n)
        except MediaRefused as reason:
            found[path.name] = f"refused: {reason}"
        except Exception as reason:
            found[path.name] = f"unexpected: {reason!r}"
    return found
