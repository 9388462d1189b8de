"""Find a Chromium for the browser tests, or install Debian's.

Usable before anything but Python is there: `python -m reasonaudit.lib.browser --install`.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = (
    "The browser tests need Chromium and none was found. Install the package 'chromium' (Debian, Ubuntu: "
    "'apt-get install chromium'), or set CHROMIUM to the program's path."
)


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome: `CHROMIUM` if set, else the first on the path."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if os.access(named, os.X_OK) else None
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def install_chromium() -> bool:
    """Install Debian's package where this process may. True if a browser is there afterwards."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    print("Installing Chromium for the browser tests …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            print(done.stderr.strip()[-2000:], file=sys.stderr)
            return False
    return find_chromium() is not None


if __name__ == "__main__":
    if not find_chromium() and not ("--install" in sys.argv and install_chromium()):
        sys.exit(REMEDY)
