"""One scripted server per module, as in the tests of the labellers."""

from tests.auditing.llm.conftest import scripted_process, server

__all__ = ["scripted_process", "server"]
