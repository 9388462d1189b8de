"""One's own account: facts, password, API tokens."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from .. import second_factor
from ..events import account_event
from ..forms import TokenForm
from ..services import token_issue, token_revoke


class PasswordChangeView(auth_views.PasswordChangeView):
    """Change of one's own password; all other sessions of the user end."""

    template_name = "accounts/password.html"
    success_url = reverse_lazy("accounts:account")
    extra_context = {"heading": "Change password"}

    def form_valid(self, form: Any) -> HttpResponse:
        """Save and say so."""
        response = super().form_valid(form)
        account_event("password.changed", actor=self.request.user, subject=self.request.user)
        messages.success(self.request, "Your password was changed. Other sessions of yours have ended.")
        return response


class SetPasswordView(auth_views.PasswordResetConfirmView):
    """Page behind the one-time link that `create_user` prints."""

    template_name = "accounts/password.html"
    success_url = reverse_lazy("accounts:login")
    extra_context = {"heading": "Set your password"}

    def form_valid(self, form: Any) -> HttpResponse:
        """Save and say so."""
        response = super().form_valid(form)
        if self.user is not None:
            account_event("password.set", actor=self.user, subject=self.user)
        messages.success(self.request, "Your password is set. Log in with it.")
        return response


@require_GET
def account(request: Any) -> HttpResponse:
    """The user's own account: name, role, second factor, ways on."""
    context = {
        "codes_left": second_factor.backup_codes_left(request.user),
        "second_factor_required": second_factor.is_required(request.user),
    }
    return render(request, "accounts/account.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: Any) -> HttpResponse:
    """List of the user's API tokens; POST makes one and shows it, this once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    new_token = None
    if request.method == "POST" and form.is_valid():
        _, new_token = token_issue(request.user, **form.cleaned_data, by=request.user)
        form = TokenForm()
    rows = request.user.api_tokens.order_by("-created_at")
    context = {"form": form, "tokens": rows, "new_token": new_token, "now": timezone.now()}
    return render(request, "accounts/tokens.html", context)


@require_POST
def token_revoke_view(request: Any, pk: int) -> HttpResponse:
    """Delete one of the user's own tokens; tokens of others are not found."""
    row = get_object_or_404(request.user.api_tokens, pk=pk)
    token_revoke(row, by=request.user)
    messages.success(request, f"The token “{row.name}” was revoked.")
    return redirect("accounts:tokens")
