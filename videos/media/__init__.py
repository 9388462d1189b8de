"""Media files: what they hold, their pictures and sound, and what the pages need made from them.

FFmpeg (through PyAV) reads untrusted files only inside a child process, see `sandbox`. Callers use `client`,
which runs each task there and gives back plain values; the other modules are what the child runs.
"""
