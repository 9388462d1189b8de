"""How the OpenAPI description names our token login."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Bearer ra_…`."""

    target_class = "reasonaudit.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Security scheme object of OpenAPI."""
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "ra_…",
            "description": "See POST /api/v1/token/.",
        }
