"""The one function that puts untrusted text into a prompt.

Reasoning traces, questions and cues come from models and files and may hold instructions. A fenced text
stands between two marker lines that carry a code. The code is a keyed hash (HMAC-SHA-256) of all texts of the
call: the same call gives the same bytes, so a run can be repeated, yet a text cannot hold its own code, since
changing the text changes it. Inside the text, whatever looks like a marker, or like a control token of a chat
template (some servers read ``<|im_end|>`` in a message as the end of the message), is taken apart by a space.

A fence is a help, not a proof: a model may still follow what it reads. What bounds the damage is that only
four labels can come back, in a form that is checked (`auditing.nli.label_reply`).
"""

import hashlib
import hmac
import re
from collections.abc import Iterable

FENCE_VERSION = "fence-1"

_UNSEEN = "[\u200b-\u200d\u2060\ufeff]*"
_OPEN, _CLOSE = (
    "<\uff1c\ufe64\u2039\u27e8\u3008\u300a\u226a\u00ab",
    ">\uff1e\ufe65\u203a\u27e9\u3009\u300b\u226b\u00bb",
)
_MARKER_LIKE = re.compile(f"(?:[{_OPEN}]{_UNSEEN}){{3,}}|(?:[{_CLOSE}]{_UNSEEN}){{3,}}")
_CONTROL_TOKEN = re.compile(
    "[<\uff1c](?=[|\uff5c])"  # <|im_start|>, <|eot_id|>, and the full-width bars of some templates
    r"|(?<=[|\uff5c])[>\uff1e]"
    r"|<(?=/?[A-Za-z_][A-Za-z_0-9]*>)"  # <s>, </s>, <think>, <start_of_turn>
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\])"
)
# Controls other than tab and line feed; text-direction overrides; invisible "tag" letters.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def fence_code(texts: Iterable[str], *, purpose: str, secret: bytes = b"", digits: int = 32) -> str:
    """Return the code of a call: hexadecimal digits that depend on every text, in order.

    Parameters
    ----------
    texts
        All untrusted texts of the call.
    purpose
        Keeps codes of different use apart (``fence``, ``check``).
    secret
        A key of the installation. Without one, somebody who writes all texts and knows this code can compute
        the codes (for the 8-digit check code that takes some four thousand million tries, not more).
    """
    mac = hmac.new(secret, f"{FENCE_VERSION}:{purpose}".encode(), hashlib.sha256)
    for text in texts:
        data = text.encode("utf-8", errors="surrogatepass")
        mac.update(len(data).to_bytes(8, "big") + data)
    return mac.hexdigest()[:digits]


def neutralise(text: str) -> str:
    """Take look-alikes of markers and control tokens apart, and remove hidden characters."""
    text = _HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _MARKER_LIKE.sub(lambda found: " ".join(found.group()), text)
    return _CONTROL_TOKEN.sub(
        lambda found: f" {found.group()}" if found.group() in ">\uff1e" else f"{found.group()} ", text
    )


def fence(name: str, text: str, code: str) -> str:
    """Return an untrusted text between its marker lines.

    Parameters
    ----------
    name
        What the text is, in capitals (``PREMISE 1``, ``TARGET``); trusted.
    text
        The untrusted text.
    code
        From `fence_code` over all texts of the call.
    """
    return f"<<<{name} {code}>>>\n{neutralise(text)}\n<<<END {name} {code}>>>"
