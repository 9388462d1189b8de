"""The child process: `python -m videos.media.worker`, one task, then the end.

In: one JSON line on standard input, {"task", "arguments", "limits"}. Out: JSON lines on standard output,
{"progress": share, "words": text} any number of times, then one of {"result": {...}}, {"refused": sentence},
{"failed": sentence}. What libraries print goes to standard error and is never shown to anybody.

The process confines itself before it imports a decoder, so nothing that reads a file runs unconfined.
"""

import errno
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from videos.media.confine import confine
from videos.media.errors import MediaFailed, MediaRefused

TASKS = {
    "probe": "videos.media.probe:probe_task",
    "index": "videos.media.index:index_task",
    "proxy": "videos.media.proxy:proxy_task",
    "peaks": "videos.media.audio:peaks_task",
    "spectrogram": "videos.media.spectrogram:spectrogram_task",
    "strip": "videos.media.thumbnails:strip_task",
    "crops": "videos.media.thumbnails:crops_task",
    "pictures": "videos.media.frames:pictures_task",
}

Report = Callable[[float, str], None]


def main() -> int:
    """Run the task of standard input; return the exit status, 0 when an answer was written."""
    # The answer's channel is moved away from number 1, where C libraries print.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(line: dict[str, Any]) -> None:
        channel.write(json.dumps(line, allow_nan=False) + "\n")
        channel.flush()

    request = json.loads(sys.stdin.readline())
    held = confine(request["limits"])
    say(_answer(request, held, _every(0.2, say)))
    return 0


def _answer(request: dict[str, Any], held: dict[str, bool], report: Report) -> dict[str, Any]:
    """Run the task; turn what the file or the disk is to blame for into a sentence, let the rest end in a trace."""
    try:
        result = _task(request["task"])(report=report, **request["arguments"])
        return {"result": {"held": held} if request["held"] else result}
    except MediaRefused as reason:
        return {"refused": str(reason)}
    except MediaFailed as reason:
        return {"failed": str(reason)}
    except MemoryError:
        megabytes = request["limits"]["memory_bytes"] // 2**20
        return {
            "refused": f"Reading the file needs more than {megabytes} MB of memory. Make its pictures smaller."
        }
    except OSError as reason:
        if reason.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        return {"failed": "There is no room on the disk for what is made from the file."}
    except Exception as reason:
        # FFmpeg's own errors that no task expected (no import here: the decoder is loaded when confined).
        if type(reason).__module__.partition(".")[0] != "av":
            raise
        return {
            "refused": "Reading stopped in the middle: the file is damaged or uses something unknown here."
        }


def _task(name: str) -> Callable[..., dict[str, Any]]:
    """Return the function of a task; `module:function` names one outside the list (other adapters)."""
    module, _, function = TASKS.get(name, name).partition(":")
    found: Callable[..., dict[str, Any]] = getattr(importlib.import_module(module), function)
    return found


def _every(seconds: float, say: Callable[[dict[str, Any]], None]) -> Report:
    """Return a report function that lets one line through in `seconds`; the rest is dropped."""
    last = -seconds

    def report(share: float, words: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= seconds:
            last = now
            say({"progress": round(min(max(share, 0.0), 1.0), 4), "words": words})

    return report


if __name__ == "__main__":
    sys.exit(main())
