"""Template tags of every page."""

from django import template

register = template.Library()
