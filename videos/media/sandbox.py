"""Run one media task in a confined child process and turn whatever happens into a value or a sentence.

The caller's process never loads a decoder. The child has its own session, an empty folder of its own as
working directory, a bare environment and the limits of `confine`; on time-out or cancel its whole group is
killed. A crash, a kill or an answer that is not one becomes MediaRefused or MediaFailed.
"""

import base64
import contextlib
import json
import os
import selectors
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from videos.core.timebase import PictureIndex
from videos.media.errors import MediaCancelled, MediaFailed, MediaRefused

_ROOT = Path(__file__).resolve().parents[2]
_ANSWER_BYTES = 128 * 2**20  # an index of 2,000,000 pictures is 11 MB, six hours of peaks 6 MB
_STDERR_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child may use. Seconds of processor and of the clock, bytes of address space and of one file."""

    cpu_seconds: int = 600
    wall_seconds: float = 1200.0
    memory_bytes: int = 4 * 2**30
    file_bytes: int = 64 * 2**30


@dataclass(slots=True)
class _Talk:
    """What a child has said so far."""

    answer: dict[str, Any] | None = None
    nonsense: bool = False
    received: int = 0
    tail: bytes = b""


def run(
    task: str,
    /,
    *,
    limits: Limits | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    is_cancelled: Callable[[], bool] | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Run `task` with JSON `arguments` in a child and return its result.

    `task` is a name of `worker.TASKS` or `module:function`. Raises MediaRefused, MediaFailed, MediaCancelled.
    """
    limits = limits or Limits()
    path = arguments.get("path")
    if path is not None:
        _check_regular(path)
    request = {
        "task": task,
        "arguments": arguments,
        "limits": {
            "cpu_seconds": limits.cpu_seconds,
            "memory_bytes": limits.memory_bytes,
            "file_bytes": limits.file_bytes,
        },
        "held": task == _HELD,
    }
    with tempfile.TemporaryDirectory(prefix="ra-media-") as folder:
        child = subprocess.Popen(
            [sys.executable, "-m", "videos.media.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
        patience = 0.0
        try:
            talk = _listen(child, json.dumps(request).encode() + b"\n", limits, on_progress, is_cancelled)
            patience = 5.0  # it has closed its outputs; an orderly end takes milliseconds
        finally:
            _end(child, patience)
    return _verdict(child.returncode, talk, limits)


def enforced() -> dict[str, bool]:
    """Return which parts of the confinement hold on this machine (`confine`), for the operator's page."""
    held: dict[str, bool] = run(_HELD, limits=Limits(cpu_seconds=20, wall_seconds=60))["held"]
    return held


_HELD = "videos.media.sandbox:nothing_task"


def nothing_task(report: Callable[[float, str], None]) -> dict[str, Any]:
    """Do nothing: the task of `enforced`."""
    return {}


def packed(index: PictureIndex) -> str:
    """Return an index as an argument for a task."""
    return base64.b64encode(index.to_bytes()).decode()


def unpacked(text: str) -> PictureIndex:
    """Return the index of `packed`."""
    return PictureIndex.from_bytes(base64.b64decode(text))


_Value = TypeVar("_Value", covariant=True)


class FromJson(Protocol[_Value]):
    """A class whose values can be read back from JSON (`facts`)."""

    def from_json(self, value: dict[str, Any]) -> _Value:
        """Return the value, or raise ValueError, TypeError or KeyError."""
        ...


def parsed(kind: FromJson[_Value], result: dict[str, Any]) -> _Value:
    """Return the result as `kind`; MediaFailed when the child answered with something else."""
    try:
        return kind.from_json(result)
    except (ValueError, TypeError, KeyError) as reason:
        raise MediaFailed("The media reader gave an answer that could not be read. Try again.") from reason


def _check_regular(path: str) -> None:
    """Refuse what is not an ordinary file: a pipe or a device would be read for ever."""
    try:
        mode = os.stat(path).st_mode
    except OSError as reason:
        raise MediaFailed("The file is not there or cannot be read.") from reason
    if not stat.S_ISREG(mode):
        raise MediaRefused("This is not an ordinary file.")


def _environment(folder: str) -> dict[str, str]:
    """Return a bare environment: no secrets of the server, one thread for numpy's own pools."""
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": folder,
        "TMPDIR": folder,
        "PYTHONPATH": str(_ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def _listen(
    child: "subprocess.Popen[bytes]",
    request: bytes,
    limits: Limits,
    on_progress: Callable[[float, str], None] | None,
    is_cancelled: Callable[[], bool] | None,
) -> _Talk:
    """Feed the request and read both outputs until they close, the time is over or the caller cancels."""
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    deadline = time.monotonic() + limits.wall_seconds
    talk, partial = _Talk(), bytearray()
    waiting = memoryview(request)
    for pipe in (child.stdin, child.stdout, child.stderr):
        os.set_blocking(pipe.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdin, selectors.EVENT_WRITE)
        selector.register(child.stdout, selectors.EVENT_READ)
        selector.register(child.stderr, selectors.EVENT_READ)
        while any(key.fileobj is not child.stdin for key in selector.get_map().values()):
            if is_cancelled is not None and is_cancelled():
                raise MediaCancelled("Stopped on request.")
            if time.monotonic() > deadline:
                raise MediaFailed(
                    f"Reading the file took longer than {limits.wall_seconds:g} seconds and was stopped. "
                    "It may be damaged; if other files are slow too, try again later."
                )
            ready = selector.select(timeout=0.2)
            if not ready and _ended(child):
                break  # something that it started still holds its outputs
            for key, _ in ready:
                if key.fileobj is child.stdin:
                    waiting = waiting[_write(child.stdin.fileno(), waiting) :]
                    if not waiting:
                        selector.unregister(child.stdin)
                        child.stdin.close()
                    continue
                block = os.read(key.fd, 1 << 16)
                if not block:
                    selector.unregister(key.fileobj)
                elif key.fileobj is child.stderr:
                    talk.tail = (talk.tail + block)[-_STDERR_BYTES:]
                else:
                    partial += block
                    talk.received += len(block)
                    if talk.received > _ANSWER_BYTES:
                        raise MediaFailed("The media reader's answer is too long and was dropped.")
                    *lines, rest = partial.split(b"\n") if b"\n" in block else [partial]
                    partial = bytearray(rest)
                    for line in lines:
                        _hear(bytes(line), talk, on_progress)
    talk.nonsense |= bool(partial.strip())
    return talk


def _write(descriptor: int, data: memoryview) -> int:
    """Write what fits. A child that has died takes nothing more: count all as written."""
    try:
        return os.write(descriptor, data)
    except BrokenPipeError:
        return len(data)


def _hear(line: bytes, talk: _Talk, on_progress: Callable[[float, str], None] | None) -> None:
    """Take one line of the child."""
    try:
        said = json.loads(line)
    except ValueError:
        talk.nonsense = True
        return
    if isinstance(said, dict) and isinstance(said.get("progress"), int | float):
        if on_progress is not None:
            on_progress(float(said["progress"]), str(said.get("words", "")))
    elif isinstance(said, dict) and len(said) == 1 and talk.answer is None:
        talk.answer = said
    else:
        talk.nonsense = True


def _end(child: "subprocess.Popen[bytes]", patience: float) -> None:
    """Kill what is left of the child's group after `patience` seconds, and collect the child."""
    deadline = time.monotonic() + patience
    while not _ended(child) and time.monotonic() < deadline:
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    child.wait()


def _ended(child: "subprocess.Popen[bytes]") -> bool:
    """Whether the child has ended. It is not collected: till then its number cannot go to another group."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _verdict(status: int, talk: _Talk, limits: Limits) -> dict[str, Any]:
    """Return the result, or raise what the child's words or its way of dying mean."""
    answer = talk.answer
    if answer is not None and not talk.nonsense and status == 0:
        if isinstance(answer.get("refused"), str):
            raise MediaRefused(answer["refused"])
        if isinstance(answer.get("failed"), str):
            raise MediaFailed(answer["failed"])
        if isinstance(answer.get("result"), dict):
            result: dict[str, Any] = answer["result"]
            return result
    if status == -signal.SIGXCPU:
        raise MediaRefused(
            f"Reading the file took more than {limits.cpu_seconds} seconds of processor time. It may be damaged."
        )
    if status in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGFPE, -signal.SIGILL):
        raise MediaRefused("The decoder crashed on this file. It is damaged or made to do harm.")
    if status == -signal.SIGKILL:
        raise MediaFailed("The media reader was killed, perhaps because memory ran out. Try again later.")
    # The child's words are for the log only: they may hold paths.
    note = talk.tail.decode("utf-8", "replace").strip()
    raise MediaFailed("The media reader stopped without an answer. Try again.") from RuntimeError(note)
