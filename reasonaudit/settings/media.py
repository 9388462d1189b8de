"""Videos: where they lie, how large they may be, and how they are sent."""

import os
from pathlib import Path

from reasonaudit.lib import embedded

# Only the application's user may read this folder; its files are named by their hash.
MEDIA_FOLDER = Path(os.environ.get("MEDIA_FOLDER") or embedded.var_dir() / "media")
# One file, and all files of one person that are still on their way in.
MEDIA_MAX_BYTES = int(os.environ.get("MEDIA_MAX_BYTES", str(4 * 1024**3)))
MEDIA_MAX_INCOMING_BYTES = int(os.environ.get("MEDIA_MAX_INCOMING_BYTES", str(4 * MEDIA_MAX_BYTES)))
# An upload to which nobody adds a piece for this long is removed.
MEDIA_UPLOAD_HOURS = float(os.environ.get("MEDIA_UPLOAD_HOURS", "48"))
# This much of the disk stays free: the database needs room too.
MEDIA_KEEP_FREE_BYTES = int(os.environ.get("MEDIA_KEEP_FREE_BYTES", str(1024**3)))
# Films that are read at the same time by all workers together; the rest of a worker is left for audits.
MEDIA_JOBS_AT_ONCE = max(1, int(os.environ.get("MEDIA_JOBS_AT_ONCE", "1")))
# Runs that propose boxes at the same time: somebody waits for them, so films that are read do not stand before them.
PROPOSAL_JOBS_AT_ONCE = max(1, int(os.environ.get("PROPOSAL_JOBS_AT_ONCE", "1")))
# The folder of the SAM 3 weights (facebook/sam3 as the hub lays it out), empty: none; where it computes (cpu, cuda).
SAM3_WEIGHTS = os.environ.get("SAM3_WEIGHTS", "")
SAM3_DEVICE = os.environ.get("SAM3_DEVICE") or "cpu"
# A folder of this server whose videos researchers may bring in from the page of a set; empty: none.
MEDIA_IMPORT_FOLDER = os.environ.get("MEDIA_IMPORT_FOLDER", "")
# Where a front server sends files itself: the address of its internal location for MEDIA_FOLDER, with slashes at
# both ends ("/protected-media/"). Empty: this application sends them.
MEDIA_ACCEL_PREFIX = os.environ.get("MEDIA_ACCEL_PREFIX", "")
