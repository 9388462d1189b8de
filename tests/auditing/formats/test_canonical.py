"""One value, one spelling."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditing.formats.canonical import json_document, json_line, json_lines

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def test_keys_are_sorted_and_schema_comes_first():
    value = {"traces": 1, "id": 2, "schema": "x/1"}
    assert json_line(value) == b'{"schema":"x/1","id":2,"traces":1}\n'


def test_whole_floats_are_written_as_integers():
    assert json_line([1.0, -0.0, 0.1, 2.5e-7]) == b"[1,0,0.1,2.5e-07]\n"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_defined_must_be_none(value):
    with pytest.raises(ValueError, match="None"):
        json_line({"ratio": value})


def test_every_reader_sees_the_same_lines():
    # U+2028, U+2029 and U+0085 end a line for str.splitlines, but not for `wc` or a JSON reader.
    data = json_lines([{"text": "a\u2028b\u2029c\u0085d\ne"}, {"text": "f"}])
    assert len(data.decode("utf-8").splitlines()) == 2
    assert json.loads(data.splitlines()[0])["text"] == "a\u2028b\u2029c\u0085d\ne"


@given(JSON_VALUES)
def test_rp_08_values_survive_and_order_of_keys_does_not_matter(value):
    def turned(item):
        if isinstance(item, dict):
            return {key: turned(item[key]) for key in reversed(list(item))}
        return [turned(part) for part in item] if isinstance(item, list) else item

    line = json_line(value)
    assert json.loads(line) == value
    assert json_line(turned(value)) == line
    assert json.loads(json_document(value)) == value
