"""A small check of an XML file against the parts of an XSD that EAF uses: no validator is among the dependencies.

Elements in order with minOccurs and maxOccurs, choices, required and unknown attributes, and the simple types that
occur. Keys and references are checked by the test itself.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

XS = "{http://www.w3.org/2001/XMLSchema}"
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
PATTERNS = {
    "xsd:long": r"-?\d+",
    "xsd:unsignedInt": r"\d+",
    "xsd:boolean": r"true|false|0|1",
    "xsd:ID": r"[A-Za-z_][\w.\-]*",
    "xsd:IDREF": r"[A-Za-z_][\w.\-]*",
    "xsd:dateTime": r"-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?",
}


class Schema:
    def __init__(self, text: bytes) -> None:
        self.root = ET.fromstring(text)
        self.types = {node.get("name"): node for node in self.root if node.tag.endswith("Type")}
        self.elements = {node.get("name"): node for node in self.root if node.tag == XS + "element"}

    def faults(self, document: bytes) -> list[str]:
        root = ET.fromstring(document)
        return self._element(self.elements[root.tag], root, root.tag)

    def _type(self, declaration: ET.Element) -> ET.Element | None:
        inner = declaration.find(XS + "complexType")
        return inner if inner is not None else self.types.get(declaration.get("type"))

    def _element(self, declaration: ET.Element, node: ET.Element, path: str) -> list[str]:
        kind = self._type(declaration)
        if kind is None:
            return self._value(declaration.get("type"), node.text or "", path)
        attributes = {a.get("name"): a for a in self._attributes(kind)}
        found = [
            f"{path}: {name} is missing"
            for name, a in attributes.items()
            if a.get("use") == "required" and name not in node.attrib
        ]
        for name, value in node.attrib.items():
            if name.startswith(XSI):
                continue
            if name not in attributes:
                found.append(f"{path}: unknown attribute {name}")
            else:
                found += self._value(attributes[name].get("type"), value, f"{path}@{name}")
        group = next(
            (kind.find(XS + name) for name in ("sequence", "choice") if kind.find(XS + name) is not None),
            None,
        )
        children = list(node)
        if group is None:
            return found + ([f"{path}: children where none are allowed"] if children else [])
        place, more = self._group(group, children, 0, path)
        if place < len(children):
            more.append(f"{path}: {children[place].tag} is not expected here")
        return found + more

    def _attributes(self, kind: ET.Element) -> list[ET.Element]:
        made = kind.findall(XS + "attribute")
        for extension in kind.iter(XS + "extension"):
            made += extension.findall(XS + "attribute")
            base = self.types.get(extension.get("base"))
            made += self._attributes(base) if base is not None else []
        for group in kind.findall(XS + "attributeGroup"):
            reference = self.root.find(f"{XS}attributeGroup[@name='{group.get('ref')}']")
            made += reference.findall(XS + "attribute") if reference is not None else []
        return made

    def _group(
        self, group: ET.Element, children: list[ET.Element], place: int, path: str
    ) -> tuple[int, list[str]]:
        found: list[str] = []
        members = [m for m in group if m.tag in (XS + "element", XS + "sequence", XS + "choice")]
        if group.tag == XS + "choice":
            for member in members:
                taken, faults = self._repeat(member, children, place, path)
                if taken > place:
                    return taken, faults
            return place, [] if group.get("minOccurs") == "0" else [f"{path}: none of a choice"]
        for member in members:
            place, faults = self._repeat(member, children, place, path)
            found += faults
        return place, found

    def _repeat(
        self, member: ET.Element, children: list[ET.Element], place: int, path: str
    ) -> tuple[int, list[str]]:
        least = int(member.get("minOccurs", "1"))
        most = member.get("maxOccurs", "1")
        found: list[str] = []
        number = 0
        while most == "unbounded" or number < int(most):
            if member.tag == XS + "element":
                if place >= len(children) or children[place].tag != member.get("name"):
                    break
                found += self._element(member, children[place], f"{path}/{children[place].tag}[{place}]")
                place += 1
            else:
                taken, faults = self._group(member, children, place, path)
                if taken == place:
                    break
                place, found = taken, found + faults
            number += 1
        if number < least and member.tag == XS + "element":
            found.append(f"{path}: {member.get('name')} is missing")
        return place, found

    def _value(self, kind: str | None, value: str, path: str) -> list[str]:
        pattern = PATTERNS.get(kind or "")
        return [f"{path}: {value!r} is no {kind}"] if pattern and not re.fullmatch(pattern, value) else []
