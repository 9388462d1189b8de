"""What every form that has a model asked shares: which server, when to pause, and what it costs."""

from collections.abc import Iterable
from typing import Any

from django import forms

from annotation.views.forms import ServiceForm

MONEY = ("price_prompt", "price_completion", "max_cost")


class ServerForm(ServiceForm):
    """Which server is asked; only an `admin` may say it."""

    base_url = forms.URLField(
        label="Server address",
        required=False,
        assume_scheme="http",
        help_text="An OpenAI-compatible address ending in /v1. Empty means the server of the settings.",
    )

    def __init__(self, *args: Any, admin: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not admin:
            del self.fields["base_url"]


class AskingForm(ServerForm):
    """Server, limits and prices, in the terms of `RunOptions`."""

    max_calls = forms.IntegerField(
        label="Pause after so many calls", required=False, min_value=1, help_text="Empty means no limit."
    )
    price_prompt = forms.DecimalField(
        label="Price of a million prompt tokens", required=False, min_value=0, help_text="In your currency."
    )
    price_completion = forms.DecimalField(
        label="Price of a million completion tokens",
        required=False,
        min_value=0,
        help_text="In your currency.",
    )
    max_cost = forms.DecimalField(
        label="Pause at this cost",
        required=False,
        min_value=0,
        help_text="In your currency; needs both prices.",
    )

    def options_given(
        self, names: Iterable[str], nothing: tuple[object, ...] = (None, "", False)
    ) -> dict[str, Any]:
        """Those of a valid form's fields that say something, money as text; a 0 equals False and counts as it does."""
        data = self.cleaned_data
        options = {name: data[name] for name in names if data.get(name) not in nothing}
        return {name: str(value) if name in MONEY else value for name, value in options.items()}
