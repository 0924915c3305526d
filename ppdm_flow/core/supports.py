"""Supports: the least number of rows that something has to occur in, with its unit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from ppdm_flow.core.shares import plain_share

_WHOLE = re.compile(r"[+-]?[0-9][0-9_]{0,17}\Z")
_NUMBER = re.compile(r"[+-]?([0-9][0-9_]*\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\Z")
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class SupportBound:
    """A number of rows, or a share of them: exactly one of ``count`` (at least 1) and ``ratio`` (in (0, 1]) is given.

    >>> SupportBound(ratio=0.02).rows(12_960)
    260
    """

    count: int | None = None
    ratio: float | None = None

    def __post_init__(self) -> None:
        if (self.count is None) == (self.ratio is None):
            raise ValueError("must be either `count` or `ratio`")
        if self.count is not None and not 1 <= self.count <= _MOST:
            raise ValueError("must be a whole number of at least 1, for a `count`")
        if self.ratio is not None and not 0.0 < self.ratio <= 1.0:
            raise ValueError("must be above 0 and at most 1, for a `ratio`")

    def rows(self, total: int) -> int:
        """Return the number of rows out of ``total``, rounded up, at least 1; exact for a ratio as it is written."""
        if self.count is not None:
            return self.count
        return max(1, math.ceil(Fraction(repr(float(self.ratio or 0.0))) * total))

    def includes(self, other: SupportBound) -> bool:
        """Whether a support below ``other`` is below this, in tables of any size: False across units."""
        if self.count is not None and other.count is not None:
            return self.count >= other.count
        return self.ratio is not None and other.ratio is not None and self.ratio >= other.ratio

    @property
    def document(self) -> dict[str, int | float]:
        """The JSON form: ``{"count": 20}`` or ``{"ratio": 0.02}``."""
        return {"count": self.count} if self.count is not None else {"ratio": float(self.ratio or 0.0)}

    def __str__(self) -> str:
        return f"{self.count:,}" if self.count is not None else f"{100 * (self.ratio or 0.0):.6g}%"


def parsed(value: Any) -> SupportBound:
    """Read a support as a policy writes it: ``{count: 20}``, ``{ratio: 0.02}``, a bare whole number, decimal or ``2%``.

    Raises ValueError, in words for the writer of the policy, that quote nothing but the two keys.
    """
    if isinstance(value, SupportBound):
        return value
    if isinstance(value, Mapping):
        return _of_map(value)
    text = plain_share(str(value).strip())
    if isinstance(value, str) and text != value.strip():
        return SupportBound(ratio=float(text))
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        if _WHOLE.match(text):
            return SupportBound(count=int(text))
        if _NUMBER.match(text):
            return SupportBound(ratio=float(text))
    raise ValueError("must be `{count: ROWS}` or `{ratio: SHARE}`")


def refusal(value: Any) -> str:
    """Return why ``value`` is no support; empty where it is one."""
    try:
        parsed(value)
    except ValueError as error:
        return str(error)
    return ""


def _of_map(value: Mapping[Any, Any]) -> SupportBound:
    if any(key not in ("count", "ratio") for key in value):
        raise ValueError("must be `{count: ROWS}` or `{ratio: SHARE}`, and nothing else")
    if len(value) != 1:
        raise ValueError("must be either `count` or `ratio`" + (", not both" if value else ""))
    text = str(next(iter(value.values()))).strip()
    if "count" in value:
        if not _WHOLE.match(text):
            raise ValueError("must be a whole number of at least 1, for a `count`")
        return SupportBound(count=int(text))
    text = plain_share(text)
    if not _NUMBER.match(text):
        raise ValueError("must be above 0 and at most 1, for a `ratio`")
    return SupportBound(ratio=float(text))


Supported = Annotated[SupportBound, BeforeValidator(parsed), PlainSerializer(lambda support: support.document)]
"""The type of a support in a model: of the policy's, or of a plugin's parameters."""
