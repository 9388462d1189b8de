"""XML of unknown origin into a tree of small nodes, and text into XML.

Document type declarations and entities are refused as a whole: no format here uses them, and they are the way in
which XML reads files, calls addresses and grows without bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

from videos.formats.log import check_size
from videos.formats.scene import FormatError

MAX_DEPTH = 40
MAX_ELEMENTS = 1_500_000
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Node:
    """An element: its name without namespace, attributes, children, own text, and the line where it starts."""

    __slots__ = ("attributes", "children", "line", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str], line: int) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[Node] = []
        self.text = ""
        self.line = line

    def get(self, name: str, default: str = "") -> str:
        """An attribute, or the default."""
        return self.attributes.get(name, default)

    def all(self, name: str) -> Iterator[Node]:
        """The children of this name."""
        return (child for child in self.children if child.name == name)

    def first(self, *path: str) -> Node | None:
        """The first descendant along a path of names, or None."""
        node: Node | None = self
        for name in path:
            node = next(node.all(name), None) if node is not None else None
        return node

    def words(self, *path: str) -> str:
        """The text of that descendant without surrounding space; "" if it is not there."""
        node = self.first(*path)
        return node.text.strip() if node is not None else ""


def parse(data: bytes) -> Node:
    """The root element. FormatError for anything that is not well formed, too deep, too large, or declares entities."""
    check_size(data)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    stack: list[Node] = []
    roots: list[Node] = []
    number = 0

    def refuse(*_: object) -> int:
        raise FormatError(
            "the XML declares a document type or an entity, which is not read.",
            line=parser.CurrentLineNumber,
            remedy="Export the file again without a DOCTYPE.",
        )

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal number
        number += 1
        if number > MAX_ELEMENTS:
            raise FormatError(f"more than {MAX_ELEMENTS:,} XML elements.", remedy="Split the file.")
        if len(stack) >= MAX_DEPTH:
            raise FormatError(f"XML nested more than {MAX_DEPTH} levels deep.", line=parser.CurrentLineNumber)
        node = Node(name.rsplit(":", 1)[-1], attributes, parser.CurrentLineNumber)
        (stack[-1].children if stack else roots).append(node)
        stack.append(node)

    def end(_: str) -> None:
        stack.pop()

    def characters(text: str) -> None:
        node = stack[-1]
        # Text between children is white space in all formats here; text before the first child is the content.
        if not node.children:
            node.text += text

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        line = getattr(error, "lineno", None)
        raise FormatError(f"not well-formed XML: {error}.", line=line, remedy="Export it again.") from None
    return roots[0]


def escape(text: str) -> str:
    """Text for the content of an element or an attribute in double quotes.

    Characters that XML 1.0 cannot hold become U+FFFD; line breaks are written as references, because attributes
    would turn them into spaces and parsers turn carriage returns into line feeds.
    """
    text = _ILLEGAL.sub("\ufffd", text)
    for character, reference in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&quot;"),
        ("\r", "&#13;"),
        ("\n", "&#10;"),
        ("\t", "&#9;"),
    ):
        text = text.replace(character, reference)
    return text
