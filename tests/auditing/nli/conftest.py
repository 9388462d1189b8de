"""One scripted server per module, as in the tests of the providers."""

from tests.auditing.llm.conftest import scripted_process, server

__all__ = ["scripted_process", "server"]
