"""Numbers in addresses and forms."""


def whole_number(text: str | None) -> int | None:
    """The number that `text` writes in ASCII digits, or None; more than nine digits name no row."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None
