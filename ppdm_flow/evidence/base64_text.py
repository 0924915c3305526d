"""Base64 as RFC 4648 has it, section 4: padded, and each value in one spelling."""

from __future__ import annotations

import base64
import binascii

from ppdm_flow.evidence.malformed import MalformedError


def encode(data: bytes) -> str:
    """Return the standard, padded spelling."""
    return base64.b64encode(data).decode("ascii")


def decode(text: str) -> bytes:
    r"""Return the bytes. Raises MalformedError unless ``text`` is what :func:`encode` makes of them.

    >>> decode("AQI=")
    b'\x01\x02'
    """
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeError, binascii.Error):
        raise MalformedError("is not base64") from None
    if encode(data) != text:
        raise MalformedError("is not base64 in its one spelling")
    return data
