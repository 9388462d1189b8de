"""Making data sets."""

from typing import Any

from django.db import transaction

from annotation.models import Dataset
from reasonaudit.lib.errors import UserError
from reasonaudit.lib.slugs import free_slug


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
        slug = free_slug(Dataset.objects.all(), name, instead="data-set")
        return Dataset.objects.create(name=name, slug=slug, created_by=by, **fields)
