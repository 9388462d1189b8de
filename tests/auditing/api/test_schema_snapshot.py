"""The API's description may not change unnoticed.

After a wanted change: `.venv/bin/python manage.py spectacular --validate --fail-on-warn --file
tests/auditing/api/schema.yaml`, then look at the difference before committing it.
"""

from pathlib import Path

import yaml
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

SNAPSHOT = Path(__file__).with_name("schema.yaml")


def test_the_schema_is_the_one_that_was_agreed_on():
    made = SchemaGenerator().get_schema(request=None, public=True)
    validate_schema(made)
    agreed = yaml.safe_load(SNAPSHOT.read_text(encoding="utf-8"))
    assert yaml.safe_load(yaml.safe_dump(made)) == agreed, __doc__
