"""Addresses of what is judged: segments of traces."""

from django.urls import URLPattern

app_name = "annotation"
urlpatterns: list[URLPattern] = []
