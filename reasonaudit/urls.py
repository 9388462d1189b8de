"""Addresses: each app brings its own; the API is mounted under /api/v1/."""

from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="auditing:dataset_list"), name="home"),
    path("accounts/", include("reasonaudit.accounts.urls")),
    path("api/v1/", include("reasonaudit.api.v1")),
    path("", include("annotation.urls")),
    path("", include("auditing.urls")),
]
