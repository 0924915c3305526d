"""The common base of transforms without randomness."""

from __future__ import annotations


class DeterministicTransform:
    """A transform that draws nothing."""

    __slots__ = ()

    @property
    def draws_per_row(self) -> int:
        """None."""
        return 0
