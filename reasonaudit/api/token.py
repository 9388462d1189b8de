"""Login of programs: name, password and code against a token."""

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from reasonaudit.accounts.forms import LONGEST_TOKEN_DAYS
from reasonaudit.accounts.logins import check_login
from reasonaudit.accounts.models import ApiToken
from reasonaudit.accounts.services import token_issue
from reasonaudit.accounts.throttles import LoginThrottle


class TokenRequestSerializer(serializers.Serializer[Any]):
    """Who asks, and for what kind of token."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=4096, trim_whitespace=False, write_only=True)
    code = serializers.CharField(
        max_length=32,
        default="",
        allow_blank=True,
        write_only=True,
        help_text="Code of the second factor, where the account has one.",
    )
    name = serializers.CharField(max_length=100, default="API login")
    scope = serializers.ChoiceField(choices=ApiToken.Scope.choices, default=ApiToken.Scope.READ)
    days = serializers.IntegerField(min_value=1, max_value=LONGEST_TOKEN_DAYS, default=30)


class TokenView(APIView):
    """Gives a token once. A wrong password and an unknown name get the same answer, after the same work."""

    authentication_classes: list[Any] = []
    throttle_classes = [LoginThrottle]

    @extend_schema(
        request=TokenRequestSerializer,
        responses=inline_serializer(
            "Token",
            {
                "token": serializers.CharField(),
                "scope": serializers.CharField(),
                "expires_at": serializers.DateTimeField(),
            },
        ),
    )
    def post(self, request: Request) -> Response:
        """Make a token for the user who is named."""
        serializer = TokenRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        wanted = serializer.validated_data
        # The plain Django request: axes counts failures on it and answers for a locked name.
        user = check_login(
            request._request, username=wanted["username"], password=wanted["password"], code=wanted["code"]
        )
        row, token = token_issue(
            user, name=wanted["name"], scope=wanted["scope"], days=wanted["days"], by=user
        )
        return Response({"token": token, "scope": row.scope, "expires_at": row.expires_at}, status=201)
