"""Version 1 of the API: each app brings its own addresses."""

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView

from . import schema  # noqa: F401 (registers the security scheme)
from .token import TokenView

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("token/", TokenView.as_view(), name="token"),
    path("", include("videos.api.v1.urls")),
    path("", include("annotation.api.v1.urls")),
    path("", include("auditing.api.v1.urls")),
]
