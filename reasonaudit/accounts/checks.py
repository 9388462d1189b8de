"""What `manage.py check --deploy` looks for beyond Django's own checks: Django 5.2 knows no content policy."""

from typing import Any

from csp.constants import NONE, SELF
from django.conf import settings
from django.core.checks import Error, Tags, register

WANTED = {
    "default-src": [SELF],
    "script-src": [SELF],
    "style-src": [SELF],
    "object-src": [NONE],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}


@register(Tags.security, deploy=True)
def content_security_policy(app_configs: Any, **_: Any) -> list[Error]:
    """The policy is enforced, and its strict parts are as strict as the project needs them."""
    policy = getattr(settings, "CONTENT_SECURITY_POLICY", None) or {}
    directives = policy.get("DIRECTIVES", {})
    found = [
        Error(
            f"The content security policy allows {directives.get(name)} as {name}, not just {sources}.",
            hint="See reasonaudit/settings/csp.py.",
            id="reasonaudit.E001",
        )
        for name, sources in WANTED.items()
        if list(directives.get(name) or []) != sources
    ]
    if "csp.middleware.CSPMiddleware" not in settings.MIDDLEWARE:
        found.append(Error("The content security policy is not sent.", id="reasonaudit.E002"))
    return found
