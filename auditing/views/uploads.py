"""Uploaded files between preview and import: where they are kept, and how large they may be."""

from reasonaudit.lib.kept_files import KeptFiles

MAX_BYTES = 50 * 1024 * 1024
# `about` of a file is the form as it was filled in, by field name.
FILES = KeptFiles("uploads")
