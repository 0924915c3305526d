"""What the intruder knows and looks for: records, released rows, and people who are not in the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints, UnnumberedError
from ppdm_flow.requirements.numeric_linkage.codes import UNKNOWN, Codes
from ppdm_flow.requirements.numeric_linkage.truth import Truth

PAIRS = 1_000_000_000
"""At most so many pairs of records and released rows are compared in each way,"""
LEAST = 1000
"""or those of so many records, where the rows are more."""
Columns = Sequence[tuple[str, str]]
"""Released columns, each with the attribute that it tells of."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the intruder knows: ``attributes``, of at most ``sample`` records, and others: the file ``control``.

    Known are the original records, or the people of the file ``against``, whose rows have the same ``key``.
    """

    attributes: tuple[str, ...]
    sample: int
    control: str | None = None
    against: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """``numbers`` (people, attributes), NaN where there is none, and the ``codes`` (people, columns) of categories."""

    numbers: Floats
    codes: Ints

    def whole(self) -> npt.NDArray[np.bool_]:
        """Return of whom everything is known, (people,)."""
        return np.asarray(~(np.isnan(self.numbers).any(axis=1) | (self.codes == UNKNOWN).any(axis=1)))


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """``known`` (records, attributes) and ``released`` (rows, attributes) numbers, NaN where there is none.

    ``codes`` are those of categories, ``truth`` says whose records and rows are. ``chosen`` are the records that are
    looked for, out of ``whole``; ``others`` (others, attributes) are the control group, None where there is none.
    """

    known: Floats
    released: Floats
    codes: Codes
    truth: Truth
    chosen: Ints
    whole: int
    others: Floats | None


def lookup(wanted: Wanted, known: People, released: People, truth: Truth, control: People | None) -> Lookup:
    """Choose who is looked for. Raises UnnumberedError where there is nobody."""
    rows = len(released.numbers)
    chosen, whole = sampled(known.whole() & (truth.row >= 0), wanted.sample, rows)
    others = None
    if control is not None:
        try:
            some = sampled(control.whole(), wanted.sample, rows)[0]
        except UnnumberedError:
            text = "Nobody in the control group has all the numbers that records are to be found by."
            raise UnnumberedError(text) from None
        others = People(control.numbers[some], control.codes[some])
    outside = np.zeros((0, known.codes.shape[1]), np.int64) if others is None else others.codes
    codes = Codes.of(known.codes, released.codes, outside, truth)
    return Lookup(
        known.numbers, released.numbers, codes, truth, chosen, whole, None if others is None else others.numbers
    )


def sampled(known: npt.NDArray[np.bool_], most: int, rows: int) -> tuple[Ints, int]:
    """Return the places of ``known`` records that are looked for among ``rows`` rows, and of how many they are some.

    The sample is the same every time, and no larger than PAIRS and LEAST say. Raises UnnumberedError of none.
    """
    most = min(most, max(LEAST, PAIRS // max(1, rows)))
    whole = np.flatnonzero(known)
    if not len(whole):
        raise UnnumberedError("No released row is of a record with all the numbers that records are to be found by.")
    if len(whole) <= most:
        return whole, len(whole)
    return np.sort(np.random.default_rng(0).choice(whole, most, replace=False)), len(whole)
