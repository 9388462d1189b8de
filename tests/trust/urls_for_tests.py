"""A URLconf with one API view of its own under a route that the matrix gives to researchers (`api:run-list`).

The rules of tokens, bodies and errors are shown on it apart from what any real view does.
"""

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404
from django.urls import include, path
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from reasonaudit.lib.errors import UserError
from reasonaudit.urls import handler400, handler403, handler404, handler500  # noqa: F401

seen: list[tuple[str, int, Any]] = []


class Probe(APIView):
    """Notes what reaches it; raises what it is asked to."""

    def get(self, request: Any) -> Response:
        seen.append(("GET", request.user.pk, None))
        match request.query_params.get("raise"):
            case "user":
                raise UserError(
                    "too_many_segments", "The trace has 500 segments.", "Choose a smaller premise size."
                )
            case "user_page":
                raise UserError("gone", "The trace is gone.", status=410)
            case "404":
                raise Http404("secret row name")
            case "403":
                raise PermissionDenied("secret reason")
            case "django":
                raise ValidationError({"name": ["Too long."]})
            case "drf":
                raise serializers.ValidationError({"rows": [{"label": ["Unknown label."]}]})
            case "500":
                raise RuntimeError("canary-in-exception password=canary-password-1 Bearer canary-bearer-2")
        return Response({"ok": True})

    def post(self, request: Any) -> Response:
        seen.append(("POST", request.user.pk, request.data))
        return Response({"ok": True})


def page(request: Any) -> None:
    raise UserError("locked", "The segments of this trace are locked.", "Import it again.", status=409)


api = ([path("runs/", Probe.as_view(), name="run-list")], "api")
urlpatterns = [
    path("accounts/", include("reasonaudit.accounts.urls")),
    path("api/v1/", include(api)),
    path("", page, name="home"),
    path("", include("annotation.urls")),
    path("", include("auditing.urls")),
    path("", include("videos.urls")),
]
