"""The interface of a generalization: a map from values to labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class UnplacedError(Exception):
    """Some values have no label. ``values`` is how many; ``what`` says what is wrong with them, without naming any."""

    def __init__(self, code: str, values: int, what: str, advice: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.values = values
        self.what = what
        self.advice = advice


class Coarsening(Protocol):
    """A picklable map, made when the step is fitted."""

    def labels(self, values: Sequence[str]) -> list[str]:
        """Return the label of each distinct value. Raises UnplacedError where some have none."""
        ...

    def describe(self) -> str:
        """Return a few words on the method."""
        ...
