"""Models that draft, and a server in the settings that nobody listens at."""

from collections.abc import Callable

import pytest

from auditing.drafting.llm import LLMDrafter
from auditing.llm.providers.scripted import Scripted
from tests.auditing.drafting.script import Script


@pytest.fixture
def draft_models(settings) -> None:
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    settings.LLM_DRAFT_MODELS = ["writer", "seer"]
    settings.LLM_IMAGE_MODELS = ["seer"]
    settings.LLM_DRAFT_PICTURES = 3
    settings.DRAFT_PROMPT_DIR = ""
    settings.ELICIT_PROMPT_DIR = ""


@pytest.fixture
def says() -> Callable[..., LLMDrafter]:
    """A drafter that answers in turn; its requests are in `.script.asked`."""

    def make(*answers: object, takes_pictures: bool = False) -> LLMDrafter:
        script = Script(*answers)
        drafter = LLMDrafter(Scripted(script, name="writer"), "writer", takes_pictures=takes_pictures)
        drafter.script = script  # type: ignore[attr-defined]
        return drafter

    return make
