"""Chance that can be repeated: draws that depend on a seed and on words, and on nothing else.

SHA-256 of the seed and the words is read as a number. The same study gives the same draw on any machine, whatever was
drawn before and in whatever order rows are stored.
"""

import hashlib


def draw(seed: int, *words: object) -> int:
    """A number below 2**64, uniform over unlike words."""
    text = "\x1f".join(map(str, (seed, *words)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def item_numbers(seed: int, count: int, taken: set[int]) -> list[int]:
    """`count` numbers for new items of a study, unlike each other and those `taken`, all with the same digits.

    They are drawn from a range at least twice as large as needed, so that a number tells neither when an item was
    added nor of what kind it is (AB-04).
    """
    digits = 3
    while 9 * 10 ** (digits - 1) < 2 * (len(taken) + count):
        digits += 1
    low, span = 10 ** (digits - 1), 9 * 10 ** (digits - 1)
    found: list[int] = []
    used, turn = set(taken), 0
    while len(found) < count:
        number = low + draw(seed, "number", turn) % span
        turn += 1
        if number not in used:
            used.add(number)
            found.append(number)
    return found
