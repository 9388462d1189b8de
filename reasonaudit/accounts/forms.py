"""Forms of the account pages."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator

from .models import ApiToken, Invitation, Role, User

LONGEST_TOKEN_DAYS = 365
REASON_HELP = "Kept with the change."


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


class CodeForm(forms.Form):
    """A code of the second factor."""

    code = forms.CharField(
        max_length=32,
        label="Code",
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "inputmode": "text", "autocapitalize": "none"}
        ),
    )


class AgainForm(CodeForm):
    """Password and code once more, for what weakens the account."""

    password = forms.CharField(
        max_length=4096,
        strip=False,
        label="Password",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    field_order = ["password", "code"]


class ReasonForm(forms.Form):
    """Why something is done to another person's account."""

    reason = forms.CharField(max_length=500, label="Reason", help_text=REASON_HELP)


class RoleForm(ReasonForm):
    """Another role for someone."""

    role = forms.ChoiceField(choices=Role.choices, label="Role")
    field_order = ["role", "reason"]


class InvitationForm(forms.Form):
    """A new invitation. Which roles it offers depends on who invites and to what."""

    role = forms.ChoiceField(label="Role")
    seniority = forms.ChoiceField(
        required=False,
        label="Seniority",
        choices=[("", "Not said"), *Invitation._meta.get_field("seniority").flatchoices],
        help_text="Counts for people who label: agreement is given by pairs.",
    )
    email = forms.EmailField(
        required=False, label="E-mail", help_text="Optional; becomes the account's address. Nothing is sent."
    )
    note = forms.CharField(
        required=False,
        max_length=200,
        label="Note",
        help_text="Optional: for whom it is. Only the list shows it.",
    )

    def __init__(self, *args: Any, roles: Sequence[str], with_study: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["role"]
        field.choices = [(role, Role(role).label) for role in roles]
        if not with_study:
            del self.fields["seniority"]


class AcceptForm(forms.Form):
    """User name, name and password of somebody who was invited."""

    username = forms.CharField(
        max_length=150,
        label="User name",
        validators=[UnicodeUsernameValidator()],
        help_text="To log in with. Letters, digits and @ . + - _ only.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    name = forms.CharField(
        max_length=150,
        label="Your name",
        help_text="Shown to those who run the study. Exports and other people who label see a pseudonym.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password1 = forms.CharField(
        max_length=4096,
        strip=False,
        label="Password",
        help_text="At least 12 characters, not a common password and not like your name.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    password2 = forms.CharField(
        max_length=4096,
        strip=False,
        label="Password again",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_username(self) -> str:
        """The name in the one form in which names are compared (NFKC)."""
        return str(User.normalize_username(self.cleaned_data["username"]))

    def clean(self) -> dict[str, Any]:
        """Both passwords are the same, and good enough."""
        data = super().clean() or self.cleaned_data
        password = data.get("password1")
        if password and data.get("password2") and password != data["password2"]:
            self.add_error("password2", "The two passwords are not the same.")
        elif password:
            person = User(username=data.get("username", ""), first_name=data.get("name", ""))
            try:
                validate_password(password, person)
            except forms.ValidationError as error:
                self.add_error("password1", error)
        return data
