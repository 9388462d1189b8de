"""One scripted server per module, as in the tests of the providers."""

import pytest

pytest.register_assert_rewrite("tests.auditing.nli.server_checks")

from tests.auditing.llm.conftest import scripted_process, server  # noqa: E402

__all__ = ["scripted_process", "server"]
