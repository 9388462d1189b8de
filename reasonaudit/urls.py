"""Addresses: each app brings its own; the API is mounted under /api/v1/."""

from django.urls import include, path

from reasonaudit.health import healthz, readyz
from reasonaudit.home import home

urlpatterns = [
    path("", home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("accounts/", include("reasonaudit.accounts.urls")),
    path("api/v1/", include("reasonaudit.api.v1")),
    # Higher apps first: their fixed addresses (studies/import/) come before names of a lower one (studies/<slug>/).
    path("", include("auditing.urls")),
    path("", include("annotation.urls")),
    path("", include("videos.urls")),
]

handler400 = "reasonaudit.errors.bad_request"
handler403 = "reasonaudit.errors.permission_denied"
handler404 = "reasonaudit.errors.page_not_found"
handler500 = "reasonaudit.errors.server_error"
