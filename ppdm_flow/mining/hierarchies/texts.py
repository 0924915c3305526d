"""Prefixes and dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ppdm_flow.mining.hierarchies.coarsening import UnplacedError


@dataclass(frozen=True, slots=True)
class Prefix:
    """Keeps ``length`` characters and writes ``mask`` for the others, up to ``width``: the length of the longest value.

    So all values that begin alike have one label, whatever their own length. A value that has less than ``length``
    characters is a beginning of its own, and stays. Without a ``width`` the values at hand give it.

    >>> Prefix(3).labels(["53715"])
    ['537**']
    >>> Prefix(3).labels(["250", "250.1", "25"])
    ['250**', '250**', '25']
    """

    length: int
    mask: str = "*"
    width: int | None = None

    def over(self, values: Sequence[str]) -> Prefix:
        """Return the same over all these values: parts of them have the labels that they have together."""
        return replace(self, width=max(map(len, values), default=0))

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return the masked values."""
        width = self.over(values).width if self.width is None else self.width
        rest = self.mask * max(0, (width or 0) - self.length)
        return [v if len(v) < self.length else v[: self.length] + rest for v in values]

    def describe(self) -> str:
        """Return how much is kept."""
        return f"first {self.length} characters"


@dataclass(frozen=True, slots=True)
class DatePart:
    """Truncates dates (ISO 8601, or ``format`` as in strptime) to a ``unit``: year, month, quarter or decade.

    >>> DatePart("quarter").labels(["2024-05-17"])
    ['2024-Q2']
    """

    unit: str
    format: str | None = None

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return ``2024``, ``2024-03``, ``2024-Q1`` or ``2020s``."""
        read = [self._date(v) for v in values]
        dates = [d for d in read if d is not None]
        if len(dates) < len(read):
            spelling = "in ISO 8601 form" if self.format is None else f"of the form `{self.format}`"
            raise UnplacedError("PPF786", len(read) - len(dates), f"are not dates {spelling}", "say how with `format:`")
        return [self._label(d) for d in dates]

    def describe(self) -> str:
        """Return the unit."""
        return f"dates by {self.unit}"

    def _date(self, text: str) -> datetime | None:
        try:
            if self.format is None:
                return datetime.fromisoformat(text.strip())
            return datetime.strptime(text.strip(), self.format).replace(tzinfo=UTC)
        except ValueError:
            return None

    def _label(self, date: datetime) -> str:
        if self.unit == "decade":
            return f"{date.year // 10 * 10:04d}s"
        if self.unit == "quarter":
            return f"{date.year:04d}-Q{(date.month + 2) // 3}"
        return f"{date.year:04d}" if self.unit == "year" else f"{date.year:04d}-{date.month:02d}"
