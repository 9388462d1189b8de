"""Making data sets."""

from typing import Any

from django.db import transaction
from django.utils.text import slugify

from annotation.models import Dataset
from reasonaudit.lib.errors import UserError

SLUG_LENGTH = 80


def dataset_create(*, name: str, by: Any = None, **fields: Any) -> Dataset:
    """Make an empty data set with an address made from its name.

    `fields` are description, licence, attribution and invented. Raises `UserError` for a blank or too long name and
    for a name that a data set already has.
    """
    name = name.strip()
    longest = Dataset._meta.get_field("name").max_length or 0
    if not name or len(name) > longest or "\x00" in name:
        raise UserError(
            "bad_dataset_name",
            f"The name of a data set needs 1 to {longest} characters.",
            "Give it a short name.",
            fields={"name": f"Use 1 to {longest} characters."},
        )
    with transaction.atomic():
        if Dataset.objects.filter(name=name).exists():
            raise UserError(
                "dataset_exists",
                f"There is a data set named {name!r} already.",
                "Add to it, or choose another name.",
                fields={"name": "Another data set has this name."},
            )
        return Dataset.objects.create(name=name, slug=_free_slug(name), created_by=by, **fields)


def _free_slug(name: str) -> str:
    stem = slugify(name)[: SLUG_LENGTH - 6] or "data-set"
    taken = set(Dataset.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return slug
