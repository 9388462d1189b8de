"""GraphML, read back with networkx."""

import io
import re

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from auditing.formats.graphml import write_graphml


def trace(*texts: str, relations=()) -> dict:
    segments = [
        {"index": i, "text": text, "context": i == 1, "gold": None, "label": None if i == 1 else "orphan"}
        for i, text in enumerate(texts, 1)
    ]
    return {"id": "t<1>", "segments": segments, "relations": list(relations)}


def test_a_hyperedge_is_a_node_between_its_premises_and_its_target():
    #  S1 --+
    #       +--> [entailment] --> S3      S2 --> [neutral] --> S3 is left out
    #  S2 --+
    relations = [
        [[2], 3, "neutral", False, "neutral", "valid"],
        [[1, 2], 3, "entailment", True, None, "valid"],
        [[1], 2, None, False, "missing", "invalid:not_json"],
    ]
    graph = nx.read_graphml(io.BytesIO(write_graphml(trace("a & b", "<c>", "d", relations=relations))))
    assert set(graph.nodes) == {"S1", "S2", "S3", "R:1+2>3"}
    assert set(graph.edges) == {("S1", "R:1+2>3"), ("S2", "R:1+2>3"), ("R:1+2>3", "S3")}
    assert graph.nodes["S1"]["text"] == "a & b"
    assert graph.nodes["S1"]["context"] is True
    assert graph.nodes["S2"]["text"] == "<c>"
    assert graph.nodes["R:1+2>3"] == {"kind": "relation", "relation_label": "entailment", "kept": True}


def test_neutral_and_missing_relations_on_request():
    relations = [
        [[1], 2, "neutral", False, "neutral", "valid"],
        [[2], 3, None, False, "missing", "error:timeout"],
    ]
    data = write_graphml(trace("a", "b", "c", relations=relations), with_neutral=True)
    graph = nx.read_graphml(io.BytesIO(data))
    assert graph.nodes["R:1>2"]["reason"] == "neutral"
    assert graph.nodes["R:2>3"]["reason"] == "missing"


@given(st.text(min_size=1))
def test_any_text_gives_xml_that_can_be_read(text):
    graph = nx.read_graphml(io.BytesIO(write_graphml(trace("context", text))))
    # XML 1.0: tab, line ends, and everything from space on but surrogates and the two last of the plane.
    allowed = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
    assert (graph.nodes["S2"].get("text") or "") == allowed
