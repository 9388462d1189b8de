"""Version 1 of the API: each app brings its own addresses."""

from django.urls import URLPattern, URLResolver

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = []
