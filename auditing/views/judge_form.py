"""The form that starts a direct judge."""

from dataclasses import dataclass
from typing import Any

from django import forms

from reasonaudit.lib.errors import UserError


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """What a judge's form decided, in the terms of the services."""

    judge: str
    options: dict[str, Any]
    name: str


class JudgeForm(forms.Form):
    """Model, limits and prices of a judge's run. `admin` may also say which server is asked."""

    model = forms.CharField(
        label="Model", max_length=150, help_text="Its name at the server. Each segment is one call."
    )
    base_url = forms.URLField(
        label="Server address",
        required=False,
        assume_scheme="http",
        help_text="An OpenAI-compatible address ending in /v1. Empty means the server of the settings.",
    )
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
    skip_refused = forms.BooleanField(label="Leave out traces that cannot be judged", required=False)
    name = forms.CharField(
        label="Name of the run", required=False, max_length=200, help_text="Empty means its number and model."
    )

    def __init__(self, *args: Any, admin: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not admin:
            del self.fields["base_url"]

    @property
    def option_fields(self) -> list[forms.BoundField]:
        """Fields that save calls or money, for the folded part of the form."""
        return [self[name] for name in ("max_calls", "price_prompt", "price_completion", "max_cost", "name")]

    def add_user_error(self, error: UserError) -> None:
        """Put what a service refused beside its field, or above the form."""
        names = {("model" if name == "judge" else name): why for name, why in error.fields.items()}
        for name, why in names.items():
            if name in self.fields:
                self.add_error(name, str(why))
        if not any(name in self.fields for name in names):
            self.add_error(None, str(error))

    def choice(self) -> JudgeChoice:
        """The decision of a valid form."""
        data = self.cleaned_data
        wanted = ("base_url", "max_calls", "price_prompt", "price_completion", "max_cost", "skip_refused")
        options = {name: data[name] for name in wanted if data.get(name) not in (None, "", False)}
        for name in ("price_prompt", "price_completion", "max_cost"):
            if name in options:
                options[name] = str(options[name])
        return JudgeChoice(f"openai:{data['model']}", options, data["name"])
