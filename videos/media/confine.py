"""What the child process takes away from itself before it opens a file that nobody trusts.

Enforced everywhere (POSIX): limits on processor time, address space, size of written files, open files and
core dumps; low priority; death with its parent (Linux). Network and starting of programs are taken away
twice, each where the kernel lets an ordinary process do it: an empty network namespace, and a seccomp filter
that answers `socket`, `connect`, `execve` and `ptrace` with "not permitted" (Linux on x86-64 and arm64).
Not enforced: reading other files that this user may read. Against that stand the list of formats and the
`file` protocol (`opening`), which leave a media file no way to name another file.
"""

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000

# Per machine: the audit number of the architecture (linux/audit.h) and the numbers of the refused calls:
# socket, connect, bind, execve, execveat, ptrace.
_CALLS = {
    "x86_64": (0xC000003E, (41, 42, 49, 59, 322, 101)),
    "aarch64": (0xC00000B7, (198, 203, 200, 221, 281, 117)),
}


def confine(limits: dict[str, int]) -> dict[str, bool]:
    """Apply `limits` (keys cpu_seconds, memory_bytes, file_bytes) to this process; say what holds."""
    with contextlib.suppress(OSError):
        os.nice(10)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, 64)
    _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
    memory = _limit(resource.RLIMIT_AS, limits["memory_bytes"])
    # SIGXCPU ends the process and tells the parent why; a second later the kernel would kill without a word.
    processor = _limit(resource.RLIMIT_CPU, limits["cpu_seconds"], grace=1)
    # A write over RLIMIT_FSIZE is then an OSError that a task can report, not a signal.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    held = {"memory": memory, "processor": processor, "network_namespace": False, "calls": False}
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        held["network_namespace"] = _leave_network(libc)
        held["calls"] = _refuse_calls(libc)
    return held


def _limit(kind: int, value: int, grace: int = 0) -> bool:
    """Lower a limit; a lower one that is there already stays."""
    _, hard = resource.getrlimit(kind)
    top = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
    try:
        resource.setrlimit(kind, (min(value, top), top))
    except (OSError, ValueError):
        return False
    return True


def _leave_network(libc: Any) -> bool:
    """Move into an empty network namespace. An ordinary user needs a user namespace for it, root does not."""
    flags = _CLONE_NEWNET if os.geteuid() == 0 else _CLONE_NEWNET | _CLONE_NEWUSER
    return bool(libc.unshare(flags) == 0)


def _refuse_calls(libc: Any) -> bool:
    """Install the filter for this thread and all it starts; so it must run before other threads exist."""
    known = _CALLS.get(platform.machine())
    if known is None or struct.calcsize("P") != 8:
        return False
    architecture, numbers = known
    load, equal, answer = 0x20, 0x15, 0x06  # BPF: load a word, jump if equal, return
    allow, not_permitted = 0x7FFF0000, 0x00050000 | 1
    # Struct seccomp_data: the call's number lies at 0, the architecture at 4. A foreign architecture (32-bit
    # calls on a 64-bit kernel) has other numbers, so all of its calls are refused.
    steps = [(load, 0, 0, 4), (equal, 1, 0, architecture), (answer, 0, 0, not_permitted), (load, 0, 0, 0)]
    for place, number in enumerate(numbers):
        steps.append((equal, len(numbers) - place, 0, number))
    steps += [(answer, 0, 0, allow), (answer, 0, 0, not_permitted)]
    program = b"".join(struct.pack("<HBBI", *step) for step in steps)
    code = ctypes.create_string_buffer(program, len(program))
    # Struct sock_fprog: a 16-bit count, padding, a pointer.
    header = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code)))
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0) == 0)
