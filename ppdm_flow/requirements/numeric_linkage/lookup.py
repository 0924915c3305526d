"""What the intruder knows and looks for: records, released rows, and people who are not in the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.exposure.numbers import Floats, Ints, UnnumberedError
from ppdm_flow.requirements.numeric_linkage.codes import UNKNOWN, Codes
from ppdm_flow.requirements.numeric_linkage.truth import Truth
from ppdm_flow.requirements.numeric_linkage.units import Units

PAIRS = 1_000_000_000
"""At most so many pairs of records and released rows are compared in each way,"""
LEAST = 1000
"""or those of so many records, where the rows are more."""
_TOO_MANY = 5
"""Times as many are refused: somebody in the sample has far more than others."""
Columns = Sequence[tuple[str, str]]
"""Released columns, each with the attribute that it tells of."""


@dataclass(frozen=True, slots=True)
class IntruderKnowledge:
    """What the intruder knows: ``attributes``, of at most ``sample`` records, and others: the file ``control``.

    Known are the original records, or the people of the file ``against``, whose rows have the same ``key``.
    """

    attributes: tuple[str, ...]
    sample: int
    control: str | None = None
    against: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LinkagePeople:
    """``numbers`` (people, attributes), NaN where there is none, and the ``codes`` (people, columns) of categories."""

    numbers: Floats
    codes: Ints

    def whole(self) -> npt.NDArray[np.bool_]:
        """Return of whom everything is known, (people,)."""
        return np.asarray(~(np.isnan(self.numbers).any(axis=1) | (self.codes == UNKNOWN).any(axis=1)))


@dataclass(frozen=True, slots=True, eq=False)
class LinkageNumbers:
    """``known`` (records, attributes) and ``released`` (rows, attributes) numbers, NaN where there is none.

    ``codes`` are those of categories, ``truth`` says whose records and rows are. ``units`` are looked for: records, or
    people where these are counted; then ``rows`` are records too, each for itself, unless that is the same. ``linked``:
    it is seen which released rows are one person's. ``complete`` are the records of which all is known; ``others``
    (others, attributes) are the control group, None where there is none.
    """

    known: Floats
    released: Floats
    codes: Codes
    truth: Truth
    units: Units
    rows: Units | None
    linked: bool
    complete: Ints
    others: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class LinkageInput:
    """What was read: ``known`` and ``released`` people, whose they are, the ``control`` group, and how they count.

    ``people``: people are counted, and not records; ``linked``: it is seen which released rows are one person's.
    """

    known: LinkagePeople
    released: LinkagePeople
    truth: Truth
    control: LinkagePeople | None
    people: bool
    linked: bool


def lookup(wanted: IntruderKnowledge, told: LinkageInput) -> LinkageNumbers:
    """Choose who is looked for. Raises UnnumberedError where there is nobody."""
    known, truth, rows = told.known, told.truth, len(told.released.numbers)
    some = known.whole() & (truth.row >= 0)
    units = chosen_units(some, wanted.sample, rows, truth, people=told.people)
    same = not told.people or (units.alone and units.whole == int(some.sum()))
    of_rows = None if same else chosen_units(some, wanted.sample, rows, truth, people=False)
    others = None
    if told.control is not None:
        try:
            outside = sampled(np.flatnonzero(told.control.whole()), wanted.sample, rows)
        except UnnumberedError:
            text = "Nobody in the control group has all the numbers that records are to be found by."
            raise UnnumberedError(text) from None
        others = LinkagePeople(told.control.numbers[outside], told.control.codes[outside])
    none = np.zeros((0, known.codes.shape[1]), np.int64)
    codes = Codes.of(known.codes, told.released.codes, none if others is None else others.codes, truth)
    return LinkageNumbers(
        known.numbers,
        told.released.numbers,
        codes,
        truth,
        units,
        of_rows,
        told.linked,
        np.flatnonzero(known.whole()),
        None if others is None else others.numbers,
    )


def chosen_units(some: npt.NDArray[np.bool_], sample: int, rows: int, truth: Truth, *, people: bool) -> Units:
    """Return a sample of units; ``some`` (records,) may be looked for.

    Raises UnnumberedError of none, and where somebody in the sample has far more records than others.
    """
    records = np.flatnonzero(some)
    if people:
        _, firsts, unit = np.unique(truth.whose[records], return_index=True, return_inverse=True)
        starts = np.sort(firsts)
        unit = np.searchsorted(starts, firsts[unit.reshape(-1)])  # people in the order of their first records
    else:
        starts = unit = np.arange(len(records))
    chosen = sampled(np.arange(len(starts)), sample, rows, len(records) / max(1, len(starts)))
    place = np.full(len(starts), -1)
    place[chosen] = np.arange(len(chosen))
    mine = np.flatnonzero(place[unit] >= 0)
    mine = mine[np.argsort(place[unit[mine]], kind="stable")]
    if len(mine) > _TOO_MANY * most_records(rows):
        raise UnnumberedError(
            "Somebody has too many rows to be looked for by each of them: keep fewer by `limit_rows`."
        )
    begins = np.searchsorted(place[unit[mine]], np.arange(len(chosen)))
    owned, sizes = np.unique(truth.owner, return_counts=True)
    own = sizes[np.searchsorted(owned, truth.whose[records[mine]])]
    return Units(records[mine], begins, len(starts), own)


def most_records(rows: int) -> int:
    """Return how many records may be looked for among so many rows."""
    return max(LEAST, PAIRS // max(1, rows))


def sampled(places: Ints, most: int, rows: int, records: float = 1.0) -> Ints:
    """Return those of ``places`` that are looked for among ``rows`` rows; each stands for so many ``records``.

    The sample is the same every time, and no larger than PAIRS and LEAST say. Raises UnnumberedError of none.
    """
    if not len(places):
        raise UnnumberedError("No released row is of a record with all the numbers that records are to be found by.")
    most = min(most, max(1, int(most_records(rows) / records)))
    if len(places) <= most:
        return places
    return np.sort(np.random.default_rng(0).choice(places, most, replace=False))
