"""Forms of the account pages."""

from typing import Any

from django import forms

from .models import ApiToken

LONGEST_TOKEN_DAYS = 365


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(max_length=100, label="Name", help_text="What will use it, for example: notebook.")
    scope = forms.ChoiceField(choices=ApiToken.Scope.choices, initial=ApiToken.Scope.READ, label="May")
    days = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_TOKEN_DAYS,
        initial=90,
        label="Valid for days",
        help_text="At most 365.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.widget.attrs["class"] = "form-select" if name == "scope" else "form-control"
