"""Every test here has models that draft; some have a server too."""

import pytest

from tests.auditing.llm.conftest import scripted_process, server  # noqa: F401


@pytest.fixture(autouse=True)
def _models(draft_models: None) -> None:
    pass
