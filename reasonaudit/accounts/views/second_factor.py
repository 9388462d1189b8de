"""Setting up the second factor, new backup codes, and switching it off."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from reasonaudit.lib.errors import UserError

from .. import second_factor as factor
from ..forms import AgainForm, CodeForm
from ..logins import check_again
from ..throttles import too_many_logins

NEW_KEY = "_new_second_factor"


@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: Any) -> HttpResponse:
    """Without one: QR code and secret, and the first code by POST. With one: what can be changed."""
    if request.user.second_factor_at is not None:
        if request.method == "POST":
            raise UserError("second_factor_exists", "This account has a second factor already.", status=409)
        return _page(request)
    key = request.session.get(NEW_KEY)
    if key is None:
        key = request.session[NEW_KEY] = factor.new_key()
    form = CodeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            codes = factor.set_up(request.user, key, form.cleaned_data["code"])
        except UserError as error:
            form.add_error("code", str(error))
        else:
            del request.session[NEW_KEY]
            # Every other login of this user ends: it was made without a code. This one goes on under a new key.
            update_session_auth_hash(request, request.user)
            return _show_codes(request, codes)
    context = {
        "form": form,
        "picture": factor.picture(request.user, key),
        "key_words": factor.key_words(key),
        "required": factor.is_required(request.user),
    }
    return render(request, "accounts/second_factor_new.html", context)


@require_POST
def second_factor_codes(request: Any) -> HttpResponse:
    """New backup codes, shown this once."""
    form = AgainForm(request.POST)
    return _again(request, form, "codes") or _show_codes(request, factor.renew_backup_codes(request.user))


@require_POST
def second_factor_off(request: Any) -> HttpResponse:
    """Switch it off, with password and code."""
    form = AgainForm(request.POST)
    if problem := _again(request, form, "off"):
        return problem
    factor.switch_off(request.user, by=request.user)
    update_session_auth_hash(request, request.user)
    messages.success(request, "The second factor is off. A login needs your password only.")
    return redirect("accounts:second_factor" if factor.is_missing(request.user) else "accounts:account")


def _again(request: Any, form: AgainForm, which: str) -> HttpResponse | None:
    """The page with what is wrong, or None where password and code are right."""
    if request.user.second_factor_at is None:
        raise UserError("second_factor_missing", "This account has no second factor.", status=409)
    if slow_down := too_many_logins(request):
        return slow_down
    if form.is_valid():
        try:
            check_again(request, request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            return None
    return _page(request, **{f"{which}_form": form})


def _page(request: HttpRequest, **forms: AgainForm) -> HttpResponse:
    context = {
        "codes_form": AgainForm(auto_id="codes_%s"),
        "off_form": AgainForm(auto_id="off_%s"),
        "codes_left": factor.backup_codes_left(request.user),  # type: ignore[arg-type]
        "required": factor.is_required(request.user),
        **forms,
    }
    return render(request, "accounts/second_factor.html", context)


def _show_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    return render(request, "accounts/backup_codes.html", {"codes": codes})
