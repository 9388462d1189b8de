"""The form that starts a direct judge."""

from dataclasses import dataclass
from typing import Any

from django import forms

from auditing.views.asking_forms import MONEY, AskingForm
from reasonaudit.lib.errors import UserError


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """What a judge's form decided, in the terms of the services."""

    judge: str
    options: dict[str, Any]
    name: str


class JudgeForm(AskingForm):
    """Model, limits and prices of a judge's run. `admin` may also say which server is asked."""

    model = forms.CharField(
        label="Model", max_length=150, help_text="Its name at the server. Each segment is one call."
    )
    skip_refused = forms.BooleanField(label="Leave out traces that cannot be judged", required=False)
    name = forms.CharField(
        label="Name of the run", required=False, max_length=200, help_text="Empty means its number and model."
    )

    # Errors are listed in this order.
    field_order = ("model", "base_url", "max_calls", *MONEY, "skip_refused", "name")

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
        options = self.options_given(("base_url", "max_calls", *MONEY, "skip_refused"))
        return JudgeChoice(f"openai:{data['model']}", options, data["name"])
