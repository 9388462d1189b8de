"""Providers of chat completions: a real server, a script, stored replies."""
