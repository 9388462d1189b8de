"""Login, the account page, passwords and API tokens."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from reasonaudit.errors import error_page
from reasonaudit.lib.logs import security_event

from .forms import TokenForm
from .models import ApiToken
from .throttles import LoginThrottle


class LoginView(auth_views.LoginView):
    """Login page. Failures are counted and locked by django-axes, all logins of an address by a rate."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Log in."""
        throttle: Any = LoginThrottle()
        if not throttle.allow_request(request, self):
            seconds = int(throttle.wait() or 60)
            response = error_page(
                request, 429, "Too many logins from this address.", f"Try again in {seconds} seconds."
            )
            response.headers["Retry-After"] = str(seconds)
            return response
        return super().post(request, *args, **kwargs)


class PasswordChangeView(auth_views.PasswordChangeView):
    """Change of one's own password; all other sessions of the user end."""

    template_name = "accounts/password.html"
    success_url = reverse_lazy("accounts:account")
    extra_context = {"heading": "Change password"}

    def form_valid(self, form: Any) -> HttpResponse:
        """Save and say so."""
        response = super().form_valid(form)
        security_event("password.changed", user=self.request.user.pk)
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
        security_event("password.set", user=self.user.pk if self.user else None)
        messages.success(self.request, "Your password is set. Log in with it.")
        return response


@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """The user's own account: name, role, ways on."""
    return render(request, "accounts/account.html")


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: Any) -> HttpResponse:
    """List of the user's API tokens; POST makes one and shows it, this once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    new_token = None
    if request.method == "POST" and form.is_valid():
        row, new_token = ApiToken.issue(
            request.user, form.cleaned_data["name"], form.cleaned_data["scope"], form.cleaned_data["days"]
        )
        security_event("token.made", user=request.user.pk, token=row.pk, scope=row.scope)
        form = TokenForm()
    rows = request.user.api_tokens.order_by("-created_at")
    context = {"form": form, "tokens": rows, "new_token": new_token, "now": timezone.now()}
    return render(request, "accounts/tokens.html", context)


@require_POST
def token_revoke(request: Any, pk: int) -> HttpResponse:
    """Delete one of the user's own tokens; tokens of others are not found."""
    row = get_object_or_404(request.user.api_tokens, pk=pk)
    name = row.name
    row.delete()
    security_event("token.revoked", user=request.user.pk, token=pk)
    messages.success(request, f"The token “{name}” was revoked.")
    return redirect("accounts:tokens")
