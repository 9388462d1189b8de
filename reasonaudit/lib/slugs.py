"""Addresses made from names."""

from collections.abc import Set
from typing import Any

from django.db.models import QuerySet
from django.utils.text import slugify

# Room for the number that tells two of the same name apart.
NUMBER = 8


def free_slug(rows: QuerySet[Any], name: str, *, instead: str, reserved: Set[str] = frozenset()) -> str:
    """An address for `name` that no row of `rows` has, and that fits the field `slug` of their model.

    Parameters
    ----------
    instead
        What stands for a name without a single usable letter (slugs are ASCII).
    reserved
        Addresses that pages have at the same place.
    """
    longest = rows.model._meta.get_field("slug").max_length or 50
    base = slugify(name)[: longest - NUMBER].strip("-") or instead
    taken = set(rows.filter(slug__startswith=base).values_list("slug", flat=True)) | reserved
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug
