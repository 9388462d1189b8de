"""Splitting a reasoning trace into segments.

Paper: "Reference-Free Evaluation of Reasoning in Open-Ended Question Answering" (Kohli et al.), section 4
says only that segments follow "natural punctuation boundaries". Decision D-1, in words: numbered or
bulleted lines are segments where there are at least two, else paragraphs between blank lines where there
are at least two, else sentences. Segments of the paper average 39.6 words, so one list item or paragraph
stays one segment. People may merge and split them before the audit.

A full stop ends a sentence unless it belongs to a number, an abbreviation, an initial, an enumerator or a
bracket; the rules read a bounded number of characters around each stop, so the time is linear in the length
of the text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

SEGMENTER_VERSION = "punctuation-1"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Curly and angle quotes, the two dashes and the wide marks are written as escapes: they look like ASCII ones.
_OPENING_QUOTES = "\"'\u201c\u2018\u00ab"
_TERMINATORS = frozenset(".!?\u2026")
_WIDE_TERMINATORS = frozenset("\u3002\uff01\uff1f")
_CLOSERS = frozenset("\"'\u201d\u2019\u00bb)]}*_")
_OPENERS = _OPENING_QUOTES + "([{*_-\u2013\u2014\u2022"
_BRACKETS = {")": "(", "]": "[", "}": "{", "\u201d": "\u201c"}
_MAX_BRACKET = 400
_MAX_TOKEN = 24

_NUMBERED = re.compile(
    r"([ \t]*)(?:[*_#>]{1,6}[ \t]*)?"
    r"(?:(?:step|stage|point)[ \t]{1,4}\d{1,3}\b|\(?\d{1,3}[.)](?=\s|[A-Z*_])|\(\d{1,3}\))",
    re.IGNORECASE,
)
_BULLET = re.compile(r"([ \t]*)(?:[-*+\u2022\u2023\u25aa\u25e6\u00b7\u2013\u2014][ \t]+)(?=\S)")

# Never the end of a sentence.
_TITLES = _words(
    """
    dr prof mr mrs ms st jr sr fig figs eq eqs ref refs ch vs cf e.g i.e viz approx ca resp incl
    excl esp dept univ vol pp eds dx tx rx hx sx fx
    """
)
# The end of a sentence only before a word that commonly starts one.
_DOSING = _words(
    """
    i.v iv i.m im s.c sc p.o po p.r pr s.l q.d qd b.i.d bid t.i.d tid q.i.d qid q.h qhs p.r.n
    prn o.d od o.s a.c p.c h.s n.p.o npo m.d ph.d b.p h.r
    """
)
# The end of a sentence before any word with a capital.
_UNITS = _words(
    """
    mm cm m km mg g kg mcg µg μg ug ng pg ml dl l cc mmol mol meq iu u hr hrs h min mins sec
    secs s wk wks mo mos yr yrs y etc a.m p.m am pm inc ltd co u.s u.k
    """
)
_BEFORE_NUMBER = _words("no nos art para tab")
_MONTHS = _words(
    """
    january february march april may june july august september october november december jan
    feb mar apr jun jul aug sep sept oct nov dec
    """
)
_STARTERS = _words(
    """
    the this that these those there he she it they we i you a an in on at no not if when while
    given however therefore thus hence because since after before his her its their our but and
    so as for with to from by patient patients both all such next then first second third
    finally overall based consider also although though despite what which who why how is are
    was were do does did under over during upon once only one two
    """
)


class Span(NamedTuple):
    """Half-open range of code points in the text that was split."""

    start: int
    end: int


def split(text: str) -> list[Span]:
    """Split a text into segments.

    Parameters
    ----------
    text : str
        Any text; it is not changed or normalised.

    Returns
    -------
    list of Span
        In order and without overlap; together they cover every character that is not white space, and
        ``text[start:end]`` is stripped and not empty. No span for an empty or blank text.
    """
    lines = list(_lines(text))
    starts = _item_starts(text, lines)
    blocks = list(_blocks(text, lines, starts))
    if len(blocks) > 1:
        return _merge_marks(text, blocks)
    return _merge_marks(text, [span for block in blocks for span in _sentences(text, block)])


def _lines(text: str) -> Iterator[Span]:
    position = 0
    for line in text.splitlines(keepends=True):
        yield Span(position, position + len(line))
        position += len(line)


def _item_starts(text: str, lines: list[Span]) -> frozenset[int]:
    """Return the lines that start a list item, by number; none if there are fewer than two.

    Numbered items come before bullets, and outer items before indented ones: what lies below an item is
    part of it.
    """
    for marker in (_NUMBERED, _BULLET):
        found = []
        for number, line in enumerate(lines):
            match = marker.match(text, line.start, line.end)
            if match is not None:
                found.append((len(match.group(1).expandtabs(4)), number))
        if len(found) > 1:
            outermost = min(indent for indent, _ in found)
            outer = frozenset(number for indent, number in found if indent <= outermost + 1)
            if len(outer) > 1:
                return outer
    return frozenset()


def _blocks(text: str, lines: list[Span], item_starts: frozenset[int]) -> Iterator[Span]:
    """Yield list items and paragraphs, stripped and not empty."""
    start: int | None = None
    end = 0
    in_item = after_blank = False
    for number, line in enumerate(lines):
        content = _strip(text, line)
        if content is None:
            after_blank = True
            continue
        indented = content.start > line.start
        opens_item = number in item_starts
        opens_paragraph = after_blank and not (in_item and indented)
        if start is not None and (opens_item or opens_paragraph):
            yield Span(start, end)
            start = None
        if start is None:
            start, in_item = content.start, opens_item
        end, after_blank = content.end, False
    if start is not None:
        yield Span(start, end)


def _strip(text: str, span: Span) -> Span | None:
    """Return the span without white space at its ends, or None if nothing is left."""
    piece = text[span.start : span.end]
    stripped = piece.strip()
    if not stripped:
        return None
    start = span.start + len(piece) - len(piece.lstrip())
    return Span(start, start + len(stripped))


def _sentences(text: str, block: Span) -> Iterator[Span]:
    """Yield the sentences of one block."""
    protected = _bracketed(text, block)
    start = position = block.start
    while position < block.end:
        character = text[position]
        if character not in _TERMINATORS and character not in _WIDE_TERMINATORS:
            position += 1
            continue
        first = position
        while position < block.end and (
            text[position] in _TERMINATORS or text[position] in _WIDE_TERMINATORS
        ):
            position += 1
        while position < block.end and text[position] in _CLOSERS:
            position += 1
        if protected[first - block.start]:
            continue
        if _ends_sentence(text, Span(start, block.end), first, position):
            content = _strip(text, Span(start, position))
            if content is not None:
                yield content
            start = position
    content = _strip(text, Span(start, block.end))
    if content is not None:
        yield content


def _bracketed(text: str, block: Span) -> bytearray:
    """Mark the characters inside matched, not overlong brackets or curly quotes."""
    depth_change = [0] * (block.end - block.start + 1)
    opened: list[tuple[str, int]] = []
    for offset, character in enumerate(text[block.start : block.end]):
        if character in "([{\u201c":
            opened.append((character, offset))
        elif character in _BRACKETS and opened and opened[-1][0] == _BRACKETS[character]:
            _, begin = opened.pop()
            if offset - begin <= _MAX_BRACKET:
                depth_change[begin] += 1
                depth_change[offset] -= 1
    marks = bytearray(len(depth_change))
    depth = 0
    for offset, change in enumerate(depth_change):
        depth += change
        marks[offset] = depth > 0
    return marks


def _ends_sentence(text: str, sentence: Span, first: int, after: int) -> bool:
    """Decide whether the terminators at `first`, with closing marks up to `after`, end the sentence."""
    mark = text[first]
    if mark in _WIDE_TERMINATORS:
        return True
    if after >= sentence.end:
        return True
    if not text[after].isspace():
        return False
    following = _next_word(text, after, sentence.end)
    if not following:
        return True
    capital = _starts_sentence(following)
    if mark != "." or after - first > 1:
        return capital
    token = _token_before(text, sentence.start, first)
    if _is_enumerator(text, sentence.start, first, token):
        return False
    return capital and _stop_is_final(token, following)


def _stop_is_final(token: str, following: str) -> bool:
    """Decide whether the stop after `token`, before a word that may start a sentence, is a full stop."""
    word, next_word = token.lower(), following.lower().strip(_OPENERS + ".,;:!?")
    common = next_word in _STARTERS
    if word in _TITLES:
        return False
    if word in _BEFORE_NUMBER and following[:1].isdigit():
        return False
    if word.isdigit() and next_word in _MONTHS:
        return False
    if word == "al":
        return common
    if word in _UNITS:
        return True
    if word in _DOSING:
        return common
    initial = len(token) == 1 and token.isalpha() and token.isupper()
    dotted = "." in word and all(len(part) == 1 and part.isalpha() for part in word.split("."))
    return common if initial or dotted else True


def _is_enumerator(text: str, start: int, stop: int, token: str) -> bool:
    """Whether the stop follows a number that opens the sentence, such as "2." or "Step 2."."""
    number_or_letter = (token.isdigit() and len(token) <= 3) or (len(token) == 1 and token.isalpha())
    if not number_or_letter or stop - start > 2 * _MAX_TOKEN:
        return False
    lead = text[start : stop - len(token)].strip(" \t\r\n*_#>(").lower()
    return lead in ("", "step", "stage", "point")


def _token_before(text: str, start: int, stop: int) -> str:
    """Return the characters before a stop back to white space or a bracket, at most `_MAX_TOKEN` of them."""
    begin = stop
    limit = max(start, stop - _MAX_TOKEN)
    while begin > limit and not text[begin - 1].isspace() and text[begin - 1] not in _OPENERS + "/":
        begin -= 1
    return text[begin:stop]


def _next_word(text: str, position: int, end: int) -> str:
    """Return the word after white space, at most `_MAX_TOKEN` characters of it."""
    while position < end and text[position].isspace():
        position += 1
    last = position
    while last < min(end, position + _MAX_TOKEN) and not text[last].isspace():
        last += 1
    return text[position:last]


def _starts_sentence(word: str) -> bool:
    """Whether a word can start a sentence: a capital anywhere ("pH"), a digit, or no case at all."""
    letters = word.lstrip(_OPENERS)
    if not letters:
        return True
    return not letters[0].islower() or any(character.isupper() for character in letters)


def _merge_marks(text: str, spans: list[Span]) -> list[Span]:
    """Join spans without a letter or digit, such as a stray dash or quote, to their neighbour."""
    merged: list[Span] = []
    held: int | None = None
    for span in spans:
        bare = not any(character.isalnum() for character in text[span.start : span.end])
        if bare and merged:
            merged[-1] = Span(merged[-1].start, span.end)
        elif bare:
            held = span.start if held is None else held
        else:
            merged.append(Span(span.start if held is None else held, span.end))
            held = None
    if held is not None:
        merged.append(Span(held, spans[-1].end))
    return merged
