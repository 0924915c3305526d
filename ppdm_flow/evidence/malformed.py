"""The error of evidence that is not as it has to be; it quotes nothing of what was read."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, NoReturn

from ppdm_flow.core.digests import canonical


class MalformedError(ValueError):
    """An envelope, statement or key is not of its form. The text says why, as the rest of a sentence."""


# JSON that has exactly one spelling: what equals its own canonical bytes, and nothing else.


SIZE_LIMIT = 64_000_000
"""Bytes: a release of some hundred thousand files."""


def parse(data: bytes) -> Any:
    """Return the value of canonical JSON: sorted keys, no spaces, UTF-8, shortest numbers.

    Raises MalformedError where a key stands twice, a number is not finite, or the bytes are not those that
    :func:`~ppdm_flow.core.digests.canonical` makes of the value.

    >>> parse(b'{"a":1}')
    {'a': 1}
    """
    if len(data) > SIZE_LIMIT:
        raise MalformedError(f"is larger than {SIZE_LIMIT // 1_000_000} MB")
    value = parse_once(data)
    try:
        canonical_form = canonical(value)
    except UnicodeError:
        raise MalformedError("is not UTF-8") from None
    except RecursionError:
        raise MalformedError("is nested too deeply") from None
    except ValueError:
        raise MalformedError("has a number that is not finite") from None
    if canonical_form != data:
        raise MalformedError("is not canonical JSON: keys in order, no spaces, each value in its one spelling")
    return value


def parse_once(data: bytes) -> Any:
    """Return the value of JSON in any spelling. Raises MalformedError where it is none, or a key stands twice."""
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_not_finite)
    except UnicodeError:
        raise MalformedError("is not UTF-8") from None
    except RecursionError:
        raise MalformedError("is nested too deeply") from None
    except MalformedError:
        raise
    except ValueError:
        raise MalformedError("is not JSON") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise MalformedError("has a key twice")
    return value


def _not_finite(_word: str) -> NoReturn:
    raise MalformedError("has a number that is not finite")


# Base64 as RFC 4648 has it, section 4: padded, and each value in one spelling.


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
