"""Addresses of the API's version 1: traces, runs, relations, results."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
