"""Addresses of data sets, traces and audit runs."""

from django.urls import URLPattern

app_name = "auditing"
urlpatterns: list[URLPattern] = []
