"""Run all tests in parts, as many at once as there are cores, each with a database of its own; then those in a browser.

One test process keeps one core busy, whatever the machine has. Parts are processes of their own because asynchronous
tests leave connections behind that workers inside one run would share. Browser tests wait for pages and count seconds,
so nothing runs beside them. The words of a part are printed when it has ended, in one piece.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

TESTS = Path(__file__).parent
OWN = ("trust", "videos", "annotation", "auditing/services", "auditing/views")
BESIDE = ("benchmarks", "browser")
NOTHING_RUN = 5
MOST_AT_ONCE = 4
"""Whatever the machine says: a container may have fewer cores than it shows, and each part takes 0.7 GB."""


def parts() -> list[list[str]]:
    """Return what each part is given to run, the longest first; every folder but the browser's is in exactly one."""
    longest, *others = [[str(TESTS / name)] for name in OWN]
    rest = [
        str(path)
        for top in (TESTS, TESTS / "auditing")
        for path in sorted(top.iterdir())
        if path.name not in (*BESIDE, "auditing", "__pycache__")
        and str(path.relative_to(TESTS)) not in OWN
        and (path.is_dir() or path.name.startswith("test_"))
    ]
    return [longest, rest, *others]


def run(arguments: list[str]) -> tuple[int, str]:
    """Return the exit status of one test process and its words."""
    names = " ".join(str(Path(name).relative_to(TESTS)) for name in arguments)
    say(f"--- {names}: begun")
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, "-m", "not browser"],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return done.returncode, f"--- {names}: {time.monotonic() - began:.0f} s\n{done.stdout}"


def say(words: str) -> None:
    """Print in one piece: several parts do so at once."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def main() -> int:
    """Return 0 where every part passed."""
    codes = []
    with ThreadPoolExecutor(min(MOST_AT_ONCE, os.cpu_count() or 1)) as pool:
        for ended in as_completed([pool.submit(run, part) for part in parts()]):
            code, words = ended.result()
            say(words)
            codes.append(code)
    browser = [sys.executable, "-m", "pytest", str(TESTS / "browser"), "-m", "browser"]
    codes.append(subprocess.run(browser, check=False).returncode)
    return max(0 if code == NOTHING_RUN else abs(code) for code in codes)


if __name__ == "__main__":
    sys.exit(main())
